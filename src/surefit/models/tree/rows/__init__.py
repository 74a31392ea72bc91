"""Rows as trees take them.

``matrix`` makes a matrix of numbers and of codes of levels from arrays, frames and sources; ``bins`` cuts
its columns into at most 255 intervals, and ``bin_codes`` turns batches of a source into codes of those
bins, kept in files where there is room. ``column_levels`` finds levels and distributions of columns in one
pass, ``row_draws`` draws by seed and row number so that no cut into batches changes a draw, and
``zero_weight_classes`` leaves out rows that weigh nothing.

To add a kind of input, teach ``matrix`` to make it numbers and codes; all growers then take it.
"""

__all__ = ["bin_codes", "bins", "column_levels", "matrix", "row_draws", "zero_weight_classes"]
