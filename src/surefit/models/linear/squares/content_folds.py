r"""Folds told from what is in a row, so that sums kept for each fold can grow, join and shrink exactly.

The number of a row changes when others come or go; its content does not. A hash of x sends equal rows to one
fold, whatever their order, their batch or their weight. The squared error of a fit on the rows of a fold
follows from that fold's moments,

.. math:: \sum_i s_i r_i^2 = S_{yy} - 2 w'S_{xy} + w'S_{xx}w + W (\bar y - \bar x'w - b)^2 ,

so choosing a penalty takes nothing but one set of moments a fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.models.linear.common.fold_moments import moments_of
from surefit.models.linear.squares.ridge_folds import fits_of_moments
from surefit.stats.base import Joint
from surefit.stats.moments import Moments

_CELLS = 2**17  # hashed at once, while they are in the cache


def fold_numbers(X: Any, folds: int) -> NDArray[np.intp]:
    """The fold of each row, by its content alone; of all formats, orders and precisions that hold it.

    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    >>> first, second, third = fold_numbers(X, 1000).tolist()
    >>> first == third, first == second
    (True, False)
    """
    found = np.empty(X.shape[0], dtype=np.intp)
    keys = _scrambled(np.arange(1, X.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    step = max(1, _CELLS // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        some = slice(start, start + step)
        block = X[some].toarray() if sparse.issparse(X) else X[some]
        # Adding 0 turns -0.0, which equals 0.0 but for its bits, into it.
        cells = (np.ascontiguousarray(block, dtype=np.float64) + 0.0).view(np.uint64)
        rows = (_scrambled(cells) * keys).sum(axis=1, dtype=np.uint64)
        found[some] = _scrambled(rows) % np.uint64(folds)
    return found


def _scrambled(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finish of splitmix64: each bit that goes in changes half of those that come out."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def moments_by_content(batch: Batch, folds: int) -> Joint:
    """The moments of each fold's rows."""
    number = fold_numbers(batch.X, folds)
    return Joint({str(fold): moments_of(batch, np.flatnonzero(number == fold)) for fold in range(folds)})


def whole(parts: Joint) -> Moments:
    """The moments of all rows."""
    return _sum(list(parts.members.values()))


def _sum(folds: Sequence[Any]) -> Moments:
    found: Moments = reduce(add, folds)
    return found


def _r2(squares: Matrix, fold: Moments) -> Matrix:
    scatter = np.diagonal(fold.target_scatter)[:, None]
    ratio = np.divide(squares, scatter, out=np.ones_like(squares), where=scatter > 0)
    return 1.0 - ratio


SCORES: dict[str | None, Callable[[Matrix, Moments], Matrix]] = {
    None: _r2,
    "r2": _r2,
    "neg_mean_squared_error": lambda squares, fold: -squares / fold.weight,
    "neg_root_mean_squared_error": lambda squares, fold: -np.sqrt(squares / fold.weight),
}


def scores(parts: Joint, alphas: Vector, fit_intercept: bool, scoring: str | None) -> Vector:
    """The score of each penalty on rows it was not fitted to: a mean over the folds that have any."""
    folds = [fold for fold in parts.members.values() if isinstance(fold, Moments) and fold.rows > 0]
    if len(folds) < 2:
        raise DataError(
            f"RidgeCV: {whole(parts).rows} rows fall into a single fold with folds='content', so no training "
            "rows are left: give more distinct rows, or more folds."
        )
    found = []
    for k, fold in enumerate(folds):
        # Adding up the others costs little, and unlike taking the fold away it never cancels.
        others = _sum(folds[:k] + folds[k + 1 :])
        coef, intercept = fits_of_moments(others, alphas, fit_intercept)
        squares = squared_errors(fold, coef, intercept)
        found.append(SCORES[scoring](squares, fold).mean(axis=0))
    return np.mean(found, axis=0)


def squared_errors(fold: Moments, coef: Matrix, intercept: Matrix) -> Matrix:
    """The weighted squared errors, (targets, alphas), of fits (p, targets, alphas) on the rows of a fold."""
    scatter = np.diagonal(fold.target_scatter)[:, None]
    through = np.einsum("jka,jka->ka", coef, np.tensordot(fold.gram, coef, axes=1))
    cross = np.einsum("jka,jk->ka", coef, fold.cross)
    offset = fold.mean_y[:, None] - np.tensordot(fold.mean_x, coef, axes=1) - intercept
    # What cancels leaves rounding of either sign where the fit is exact.
    spread: Matrix = np.maximum(scatter - 2 * cross + through, 0.0)
    return spread + fold.weight * offset**2
