"""Kernels of trees.

`tree_grow`, `tree_apply` and `tree_shuffle` grow one decision tree, send rows through it and exchange a
column;
`forest_columns`, `forest_draws`, `forest_grow` and `forest_walk` do so for many trees at once;
`bin_columns` makes codes of one byte from which `boost_gradients`, `boost_grow` and `boost_apply` build
boosted trees, and `level_sums` grows trees batch by batch. `node_random` and `count_distance` are the
arithmetic that all share. Tables come in as numbers or codes, and trees go out as arrays with an entry a
node.

To add one: the C++ kernel, its binding and test, and a file here of the same name, with its numpy twin.
"""

__all__ = [
    "bin_columns",
    "boost_apply",
    "boost_gradients",
    "boost_grow",
    "count_distance",
    "forest_columns",
    "forest_draws",
    "forest_grow",
    "forest_walk",
    "level_sums",
    "node_random",
    "tree_apply",
    "tree_grow",
    "tree_shuffle",
]
