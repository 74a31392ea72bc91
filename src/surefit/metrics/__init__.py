"""Metrics: how good predictions are, as values that add up.

A metric is a statistic of (truth, prediction, weight) and a way to finish it::

    rows --Metric.of--> statistic --(+)--> statistic --finish--> score

so a score over a table larger than memory is the score of its batches' sum, not a mean of scores.
``metric(y_true, y_pred)`` goes the same way in one go, and with ``by=`` once for each group of rows. Over a
source, ``surefit.assess`` predicts each batch as it passes and adds up the statistics of all metrics.

Few statistics serve many metrics: ``sums.py`` (means over rows), ``centred.py`` (variances), ``confusion.py``
(pairs of labels: all rates and agreements), ``score_table.py`` (scores by value: all curves and areas),
``partitions.py`` (parts of two partitions), ``absolute.py`` (values kept as they are, for quantiles).

Every metric is here under its registered name, ready to be called, and has scikit-learn's name, options and
value where scikit-learn has it::

    >>> from surefit import metrics
    >>> metrics.accuracy_score(["cat", "dog", "dog"], ["cat", "dog", "cat"], normalize=False)
    2.0

To add one: a file here, or a place in its family's, with a class that gives itself ``name``, ``task``,
``better``, ``statistic`` and ``finish``; options are the annotated parameters of its ``__init__``. Its
statistic has no ``name``: the laws of metrics test it with the metric's ``cases``. What intervals, tests of
models, searches, importances, studies and reports ask about it, it declares in the same class (``base.py``):
its ``words``, the range it is ``bounded`` by, the ``row_values`` whose mean it is, the ``share`` of rows that
it is, the test that models are ``compared_by``, and where it is ``told`` of by default (``usual.py``).
"""

from __future__ import annotations

from surefit.core.registry import members_door
from surefit.metrics.base import Metric as Metric

__getattr__, __dir__ = members_door(__name__, "metric", made=True)
