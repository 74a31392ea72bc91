"""Kernels that go through a table column by column, rather than row by row.

`layout` says once what such a kernel asks of X (Fortran order or CSC), `columns_dot`, `column_facts` and
`column_gram` give products, facts and Gram matrices of chosen columns, `affine` shifts and scales columns
and says whether their cells are finite, and `finite` only looks. Arrays come in as the solvers and scalers
hold them and results go out as new arrays.

To add one: its kernel in cpp/kernels, its binding in cpp/bind, its test, and a file here with its face and
its numpy twin.
"""

__all__ = ["affine", "column_facts", "column_gram", "columns_dot", "finite", "layout"]
