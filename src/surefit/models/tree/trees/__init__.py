"""Single decision trees.

``base`` is what all share: parameters become rules, rows become leaves, and a fitted tree can be read and
exported; ``classifier`` and ``regressor`` are the estimators, which ``post_pruning`` lets cut back by a
validation set or by folds. ``proof`` scores every stored split again without the grower, ``surrogates``
are trees whose rows go on where a value is missing, by other columns or both ways. ``model_tree`` has
models in leaves and oblique splits, and ``multiway`` splits into as many branches as a column has levels.

To add an estimator, derive from ``post_pruning`` and a target of ``targets``, and let ``proof`` score its
splits.
"""

__all__ = ["base", "classifier", "model_tree", "multiway", "proof", "regressor"]
