"""Charts of how good a model is: errors, rates at thresholds, curves over rows or settings, and comparisons.

They take what an evaluation left behind, or targets and predictions. ``confusion``, ``curves``,
``residuals``, ``roc``, ``calibration`` and ``threshold`` draw one model, ``comparison`` and
``bias_variance`` several.

To add one: as said in the essay of ``plots``.
"""

__all__ = [
    "bias_variance",
    "calibration",
    "comparison",
    "confusion",
    "curves",
    "residuals",
    "roc",
    "threshold",
]
