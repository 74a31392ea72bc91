"""Least squares without a penalty or with a squared one.

A source is reduced to sums, to few dense rows or to products by pass (``centred_rows``); ``ridge_fit``
chooses between them and solves, ``orthogonality`` and ``ridge_gap`` prove the answer.
``linear_regression``, ``ridge``, ``ridge_classifier`` and ``ridge_cv`` are the estimators. To choose a
penalty, ``leave_one_out``, ``ridge_folds`` and ``content_folds`` predict rows from all others without
fitting anew, ``folds`` makes sources of folds where models are fitted anew, and ``ridge_scores`` compares.
Bounds and orders end the closed form: ``constrained_squares`` solves within them, ``constrained_cv``
chooses a penalty there, and ``separable_penalty`` solves for any penalty that is a sum over coefficients,
target by target.

To add an estimator, gather its sums in a pass, solve them here, and certify by residuals.
"""

__all__ = [
    "centred_rows",
    "constrained_cv",
    "constrained_squares",
    "content_folds",
    "folds",
    "linear_regression",
    "orthogonality",
    "ridge",
    "ridge_fit",
    "ridge_folds",
    "ridge_gap",
    "separable_penalty",
]
