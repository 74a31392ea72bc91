"""Trees: single ones, forests, boosted trees, and ensembles of any model.

A fit begins with ``rows``, which turns arrays, frames and sources into a matrix of numbers and codes of
levels, and with ``targets``, which turns classes and numbers into what the kernels take. ``growing`` calls
the native growers for rows in memory, ``streams`` grows the same trees from sums that passes over larger
tables add up. What is grown are the arrays of ``nodes``, one entry a node, kept in as few bytes as it
takes; the formulas of criteria stand beside them.

``trees`` are single decision trees, how every stored split is scored again without the grower, how they are
cut back, and what happens where values are missing; ``export`` writes them as text, JSON, SQL, Python and
boxes. ``forests`` average many trees and judge them by rows that they have not seen; ``boosting`` adds up
trees of binned columns, round by round; ``ensembles`` are bagging and AdaBoost of any base model.
``explain`` asks about fitted trees: how stable they are, how far from the best, and how well one mimics
another model. Each of these imports only from those named before it, but for ``export``, which knows no
estimator.

To add a criterion: its sums in ``cpp/kernels/split_criteria.h``, its formula in ``nodes/criteria.py`` and,
for one of classes, in ``targets/node_sums.py``, its name in the estimator; the laws compare them.
"""

__all__ = ["explain", "export", "forests", "trees"]
