"""Regressions that are robust to a few outlying rows.

``huber`` takes squares for most rows and absolute values for those far off, and learns the scale that tells
them apart; ``quantile`` fits the line below which a given share of the targets lies, and
``least_absolute_deviations`` is its median under a name of its own. All of them state a loss and a penalty,
and the road of ``common.mean_loss`` leads from a source to coefficients and a proof; nonsmooth losses need
all rows in memory.

To add one, write its loss in ``surefit.losses`` and an estimator here that names it.
"""

__all__ = ["quantile"]
