"""A Gram matrix as the product of few columns, chosen one after the other, with the error that is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import RefusalError
from surefit.kernels.base import length
from surefit.kernels.conversion import as_kernel

MOST_COLUMNS = 1000  # by which equal rows are put in order


@dataclass(frozen=True, slots=True, eq=False)
class PivotedCholesky:
    """K is nearly F F' with the factor F (n, rank); pivots: the objects whose columns made it.

    error: the trace of K - F F'. It bounds every entry, the spectral and the nuclear norm of the difference,
    which is positive semi-definite. errors: the same after each column.
    """

    factor: Matrix
    pivots: NDArray[np.int64]
    errors: Vector

    @property
    def rank(self) -> int:
        """How many columns were needed."""
        return self.factor.shape[1]

    @property
    def error(self) -> float:
        """The trace of what is left."""
        return float(self.errors[-1])


def pivoted_cholesky(
    kernel: Any, X: Any, rank: int | None = None, *, tolerance: float = 1e-10
) -> PivotedCholesky:
    """Factorise the Gram matrix of X without forming it: one column a step, where the error is largest.

    rank: at most so many columns. tolerance: stop when the trace of the error is below this share of the
    trace of K. It takes n * rank values of the kernel.

    >>> from surefit.kernels import Linear
    >>> found = pivoted_cholesky(Linear(), [[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    >>> found.rank, found.pivots, found.error
    (2, array([2, 1]), 0.0)
    """
    compared: Any = as_kernel(kernel)
    if compared.takes == "gram":
        K = np.asarray(compared(X), dtype=np.float64)
        left, n = np.array(np.diagonal(K)), len(K)
    else:
        X = np.asarray(X) if isinstance(X, list) and compared.takes == "rows" else X
        left, n = np.array(compared.diagonal(X), dtype=np.float64), length(X)
    if (left < 0).any():
        raise RefusalError(
            "k(x, x) is negative for some objects: the kernel is indefinite and has no factor."
        )
    total, most = float(left.sum()), n if rank is None else min(int(rank), n)
    factor, errors = np.zeros((most, n)), [total]
    pivots: list[int] = []
    while len(pivots) < most and errors[-1] > tolerance * total:
        step = len(pivots)
        pivot = int(left.argmax()) if pivots else _first(left, None if compared.takes == "gram" else X)
        column = K[:, pivot] if compared.takes == "gram" else compared(X, X[pivot : pivot + 1])[:, 0]
        row = column - factor[:step, pivot] @ factor[:step]
        row /= np.sqrt(left[pivot])
        row[pivots] = 0.0
        factor[step] = row
        left = np.maximum(left - row**2, 0.0)
        left[[*pivots, pivot]] = 0.0
        pivots.append(pivot)
        errors.append(float(left.sum()))
    return PivotedCholesky(
        np.ascontiguousarray(factor[: len(pivots)].T), np.array(pivots, dtype=np.int64), np.array(errors)
    )


def _first(left: Vector, X: Any) -> int:
    """The first pivot: where several are equal, as for kernels of the distance, the least row, so that the
    order of rows does not matter.
    """
    alike = np.flatnonzero(left >= left.max() * (1 - 1e-12))
    rows = X[alike] if len(getattr(X, "shape", ())) == 2 and hasattr(X, "dtype") else None
    if len(alike) == 1 or rows is None or rows.dtype.kind not in "fiu" or rows.shape[1] > MOST_COLUMNS:
        return int(alike[0])
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    return int(alike[np.lexsort(rows.T[::-1])[0]])
