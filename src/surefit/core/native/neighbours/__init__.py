"""Kernels that find near rows.

`near_rows` compares all pairs by Euclidean distance, in float32 first; `point_tree` searches a tree of
boxes or balls over the rows, or scans them, by any norm of differences. Both give the sets that float64
alone gives, equal distances by row number. `edit_distance` is for words. Values are sums without roots, as
``norms.py`` counts them.

To add one: the C++ kernel, its binding and test, and a file here of the same name.
"""

__all__ = ["edit_distance", "near_rows", "norms", "point_tree"]
