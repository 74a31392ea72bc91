"""Rows that pull a fit towards themselves, and columns that follow from others, as evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from surefit.core.arrays import Matrix
from surefit.data.batches.batch import Batch
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.solvers.linalg.least_squares import column_lengths
from surefit.stats.moments import Moments

CHEAP = 2e7  # multiplications that looking for such rows may cost, lest it outlast the fit
_BLOCK_ROWS = 512  # that stay in the cache from centring to squaring
DEPENDENT_COLUMNS = 1000  # eigenvectors of more take longer than a fit should for what it only reports


def leverage(
    source: Source, engine: Engine, moments: Moments, root: Matrix | None, centred: bool
) -> dict[str, NDArray[np.float64]]:
    """How much each row's own target moves its prediction, as evidence; nothing where it costs too much.

    ``root`` is L with LL' the (pseudo-)inverse of the normal equations.
    """
    if root is None or moments.rows * len(moments.mean_x) ** 2 > CHEAP:
        return {}
    of_rows = partial(_of_rows, root, moments, centred)
    if in_memory(source) is not None:
        return {"leverage": np.concatenate(list(engine.map(of_rows, source)))}
    return {
        "leverage": np.concatenate(
            [kept.spread() for kept in engine.map(partial(_large_leverage, of_rows), source)]
        )
    }


@dataclass(frozen=True, slots=True)
class _LeverageSummary:
    """Of the leverage of some rows: what is above one half, and the mean of all else."""

    rows: int
    places: NDArray[np.intp]
    values: NDArray[np.float64]
    others: float

    def spread(self) -> NDArray[np.float64]:
        """One number a row again."""
        found = np.full(self.rows, self.others)
        found[self.places] = self.values
        return found


def _large_leverage(of_rows: Callable[[Batch], NDArray[np.float64]], batch: Batch) -> _LeverageSummary:
    """Keep the large values alone, so that little is sent back: few rows have them."""
    values = of_rows(batch)
    (places,) = np.nonzero(values > 0.5)
    others = np.delete(values, places)
    return _LeverageSummary(len(values), places, values[places], float(others.mean()) if len(others) else 0.0)


def _of_rows(root: Matrix, moments: Moments, centred: bool, batch: Batch) -> NDArray[np.float64]:
    X: Any = batch.X
    found = np.empty(len(batch))
    for start in range(0, len(batch), _BLOCK_ROWS):
        some = slice(start, start + _BLOCK_ROWS)
        dense = X[some].toarray() if sparse.issparse(X) else X[some]
        inner = ((dense - moments.mean_x) if centred else dense) @ root
        found[some] = np.einsum("ij,ij->i", inner, inner)
    if centred:
        found += 1 / moments.weight
    return found if batch.weight is None else batch.weight * found


def inverse_root(penalised: Matrix) -> Matrix | None:
    """L with LL' the inverse of a positive definite matrix; None for any other."""
    lengths = column_lengths(np.diagonal(penalised))
    factor, failed = linalg.lapack.dpotrf(penalised / lengths[:, None] / lengths, lower=0, clean=1)
    return None if failed else linalg.lapack.dtrtri(factor)[0] / lengths[:, None]


def dependencies(gram: Matrix) -> Matrix | None:
    """Directions in which columns cancel but for rounding, in their own units; None for too many columns."""
    p = len(gram)
    if p > DEPENDENT_COLUMNS:
        return None
    lengths = column_lengths(np.diagonal(gram))
    scaled = gram / lengths[:, None] / lengths
    cut = 8 * p * np.finfo(float).eps
    factor, failed = linalg.lapack.dpotrf(scaled, lower=0, clean=1)
    if p and not failed:
        reciprocal, _ = linalg.lapack.dpocon(factor, np.abs(scaled).sum(axis=0).max())
        if reciprocal > p * cut:  # between the norms of dpocon and of eigenvalues lies a factor p at most
            return np.empty((p, 0))
    values, vectors = linalg.eigh(scaled, check_finite=False)
    found: Matrix = vectors[:, values <= cut * max(float(values.max(initial=0.0)), 0.0)] / lengths[:, None]
    return found
