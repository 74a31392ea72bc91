"""Trees and forests as arrays, and the formulas of their nodes.

``node_arrays`` is a tree with one entry a node, in a walk that goes left first; ``compact_tree``,
``compact_forest`` and ``forest_store`` keep the same in as few bytes as it takes, with ``leaf_slots`` and
``leaf_values`` for what leaves say, and ``node_facts`` adds up again what inner nodes would say.
``forest_arrays`` takes single trees out of a forest, ``surrogate_arrays`` are splits that stand in for
missing values, ``parameters`` is what an estimator learns, ``older_files`` reads earlier formats, and
``loaded_trees`` refuses what no fit can have left.
``criteria`` has impurities, gains and medians, ``candidate_splits`` lists all splits that a node allows.

To add a criterion, write its sums in ``cpp/kernels/split_criteria.h`` and its formula in ``criteria``.
"""

__all__ = [
    "candidate_splits",
    "compact_forest",
    "compact_tree",
    "criteria",
    "forest_arrays",
    "forest_store",
    "leaf_values",
    "loaded_trees",
    "node_arrays",
    "older_files",
    "parameters",
    "surrogate_arrays",
]
