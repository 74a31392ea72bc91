"""Squared loss with a penalty of single coefficients: by columns in memory, or by sums of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from surefit.data.batches.batch import Batch
from surefit.solvers.linalg.column_order import is_tall, passes_pay
from surefit.solvers.squares.columns import SquaredColumns
from surefit.solvers.squares.sums import SquaredSums
from surefit.stats.moments import Moments

LARGEST_GRAM = 5000  # columns of a table that is read piece by piece: their Gram matrix is kept
Problem = SquaredColumns | SquaredSums


def squared_problems(
    rows: Batch | None, moments: Callable[[], Moments], *, fit_intercept: bool, single_fit: bool = False
) -> list[Problem]:
    """Return one problem per target, in the form that is the faster to solve for these rows.

    rows: all rows where they are in memory, else None. moments: sums up a table that is read piece by piece.
    single_fit: each problem is solved for one penalty, not along a path of them.

    A table that is not in memory is solved by its sums. Rows in memory were measured on one thread of a busy
    machine, for one lasso with a twentieth of the columns in use and 4, 20 and 100 rows per column. In C
    order and CSR (a tenth filled), sums took 0.4 to 2.8 of the time of passes with 50 to 400 columns, 0.9 in
    the median, and 1 to 1.8 with 800; and they serve further targets and penalties at next to no cost, which
    passes do not. In Fortran order sums took 0.8 to 3.6 of the time with 200 and 400 columns, 1.9 in the
    median, and 3 to 5 with 800, so that one fit of a large table is by passes (``passes_pay``).

    >>> tall, wide = Batch(np.eye(40, 3), np.ones(40)), Batch(np.eye(3, 40), np.ones(3))
    >>> [type(squared_problems(rows, Moments, fit_intercept=True)[0]).__name__ for rows in (tall, wide)]
    ['SquaredSums', 'SquaredColumns']
    """
    if rows is not None and by_columns_is_faster(rows, single_fit=single_fit):
        Y = np.asarray(rows.y, dtype=np.float64).reshape(len(rows), -1)
        return [SquaredColumns(rows.X, y, rows.weight, fit_intercept=fit_intercept) for y in Y.T]
    sums = moments() if rows is None else Moments.of(contiguous_rows(rows))
    return [SquaredSums.of(sums, target=k, fit_intercept=fit_intercept) for k in range(sums.targets)]


def by_columns_is_faster(rows: Batch, *, single_fit: bool = False) -> bool:
    """Whether passes over columns in memory cost less than the Gram matrix of all of them."""
    one_target = np.asarray(rows.y).reshape(len(rows), -1).shape[1] == 1
    return not is_tall(rows.X) or (single_fit and one_target and passes_pay(rows.X))


def contiguous_rows(rows: Batch) -> Batch:
    """Return the batch as moments and folds are taken from it: sparse rows as CSR, arrays contiguous."""
    X: Any = rows.X
    if sparse.issparse(X):
        X = X.tocsr()
    elif not X.flags.forc:
        X = np.ascontiguousarray(X)
    return replace(rows, X=X, y=np.ascontiguousarray(rows.y))
