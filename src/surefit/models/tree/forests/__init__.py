"""Forests: means of many trees.

``base`` grows blocks of trees, judges them by rows out of bag until the loss settles, and certifies them
from their stored seeds; ``reading`` gives the single trees, importances, leaves and curves of a fitted
forest; ``classes`` and ``numbers`` add votes, and means with quantiles. The estimators are
``random_forest_classifier``, ``random_forest_regressor``, ``extra_trees_classifier`` and
``extra_trees_regressor``: they list parameters and criteria and little else.

To add a forest, derive from ``classes`` or ``numbers``, and name its criteria and defaults.
"""

__all__ = ["base"]
