"""Formulas such as ``y ~ a*b + C(c)``.

`formula` reads the text and says what it asks of a table, and `formula_preparer` is the estimator that
learns means, knots and levels of all rows together and makes the columns, for frames in memory and for
sources alike. Columns of a typed table come in, and a matrix with named columns goes out.

To add a function of formulas: name it in `formula`, and keep what it learns in the state of
`formula_preparer`.
"""

__all__ = ["formula", "formula_preparer"]
