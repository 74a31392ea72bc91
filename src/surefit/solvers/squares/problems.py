"""Squared loss with a penalty of single coefficients: by columns in memory, or by sums of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from surefit.data.batches.batch import Batch
from surefit.solvers.linalg.column_order import passes_pay
from surefit.solvers.squares.columns import SquaredColumns
from surefit.solvers.squares.sums import SquaredSums
from surefit.stats.moments import Moments

LARGEST_GRAM = 5000  # columns of a table that is read piece by piece: their Gram matrix is kept
NARROW = 400  # columns up to which one Gram matrix costs less than a few passes over the rows
Problem = SquaredColumns | SquaredSums


def squared_problems(
    rows: Batch | None, moments: Callable[[], Moments], *, fit_intercept: bool, single_fit: bool = False
) -> list[Problem]:
    """Return one problem per target, in the form that is the faster to solve for these rows.

    rows: all rows where they are in memory, else None. moments: sums up a table that is read piece by piece.
    single_fit: each problem is solved for one penalty, not along a path of them.

    A table that is not in memory is solved by its sums. Rows in memory were measured, on one thread for a
    lasso with a twentieth of the columns in use: with up to 400 columns and at least four times as many rows,
    sums take 0.3 to 0.8 of the time of passes over rows in C order or CSR, and serve every target and penalty
    at once; with 800 columns they take 2 to 5 times as long. Columns in Fortran order are passed over fast
    (``passes_pay``): for one target and one penalty sums take twice as long there.

    >>> tall, wide = Batch(np.eye(40, 3), np.ones(40)), Batch(np.eye(3, 40), np.ones(3))
    >>> [type(squared_problems(rows, Moments, fit_intercept=True)[0]).__name__ for rows in (tall, wide)]
    ['SquaredSums', 'SquaredColumns']
    """
    if rows is not None and by_columns_is_faster(rows, single_fit=single_fit):
        Y = np.asarray(rows.y, dtype=np.float64).reshape(len(rows), -1)
        return [SquaredColumns(rows.X, y, rows.weight, fit_intercept=fit_intercept) for y in Y.T]
    sums = moments() if rows is None else Moments.of(csr_rows(rows))
    return [SquaredSums.of(sums, target=k, fit_intercept=fit_intercept) for k in range(sums.targets)]


def by_columns_is_faster(rows: Batch, *, single_fit: bool = False) -> bool:
    """Whether passes over columns in memory cost less than the Gram matrix of all of them."""
    one_target = np.asarray(rows.y).reshape(len(rows), -1).shape[1] == 1
    return not is_tall(rows) or (single_fit and one_target and passes_pay(rows.X))


def is_tall(rows: Batch) -> bool:
    """Whether rows in memory are so many that one Gram matrix costs less than a few passes over them."""
    count, columns = rows.X.shape
    return bool(columns <= NARROW and count >= 4 * columns)


def csr_rows(rows: Batch) -> Batch:
    """Return the batch with a sparse matrix by rows, which folds and moments are taken from."""
    X: Any = rows.X
    return replace(rows, X=X.tocsr()) if sparse.issparse(X) and X.format != "csr" else rows
