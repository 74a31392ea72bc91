"""Imputers: what to do about missing cells.

`missing_cells` says where cells are missing, whatever stands for that, `fill_values` finds the value that
fills the gaps of a column and proves it, and `simple_imputer` and `missing_indicator` are the estimators:
one fills gaps, one turns them into columns of their own. A fit gathers counts, means or quantiles in one
pass over the rows.

To add one: a file here with a class that derives from Transformer; the laws of the registry test it.
"""

__all__ = ["missing_indicator", "simple_imputer"]
