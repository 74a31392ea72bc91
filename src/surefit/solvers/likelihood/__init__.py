"""Likelihoods that need a solver of their own.

``fisher_scoring`` is Newton's method with expected second derivatives, for losses that need not be convex:
``local_minima`` looks for lower ones from other starts. ``firth`` adds the determinant of the information,
``many_logits`` learns many two-class targets on the same columns at once. More than coefficients is learnt
by ``ancillary_parameters`` (thresholds, a dispersion) and ``scaled_newton`` (the scale of residuals), whose
coefficients ``constrained_model`` and ``constrained_newton`` keep within constraints.
``expectation_maximization`` climbs the likelihood of models with hidden variables, whatever they are.

To add one: a class below ``Solver``, abstract where it suits one model alone, which that model calls.
"""

__all__ = [
    "ancillary_parameters",
    "constrained_newton",
    "expectation_maximization",
    "firth",
    "fisher_scoring",
    "many_logits",
    "scaled_newton",
]
