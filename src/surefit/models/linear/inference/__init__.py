"""What fitted linear models can say with a probability.

``least_squares`` has errors, tests and intervals of unpenalised least squares, and ``least_squares_report``
turns them into a summary, intervals for rows, and measures of influence. For models by maximum likelihood,
``likelihood`` gives the value, the slopes of each row and the information at the fitted parameters;
``maximum_likelihood`` makes errors and tests of them, ``marginal_effects`` effects on the mean,
``likelihood_summary`` a table, and ``likelihood_report`` is the mixin by which an estimator offers all of
this. ``generalised_linear`` and ``class_likelihood`` say what the likelihoods of those families are,
``influence`` looks for rows that decide a fit.

To add inference for a family, write its likelihood as ``class_likelihood`` does and derive the estimator
from the mixin.
"""

__all__ = ["class_likelihood", "generalised_linear", "influence", "least_squares_report"]
