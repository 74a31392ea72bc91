"""Weighted sums of kernel values, never more than a block of them in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled

Kind = Literal["linear", "poly", "rbf", "sigmoid", "gram"]
KINDS: dict[str, int] = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3, "gram": 4}


@dataclass(frozen=True, slots=True)
class PlainKernel:
    """A kernel that compiled code knows: of rows, or "gram", whose rows are kernel values themselves."""

    kind: Kind
    gamma: float = 1.0
    coef0: float = 0.0
    degree: float = 1.0

    @property
    def native(self) -> tuple[int, float, float, float]:
        """What the compiled functions take."""
        return KINDS[self.kind], float(self.gamma), float(self.coef0), float(self.degree)

    def values(self, X: Any, Y: Any) -> NDArray[np.float64]:
        """Return k(X, Y) by plain numpy."""
        inner = X @ Y.T
        inner = np.asarray(inner if isinstance(inner, np.ndarray) else inner.toarray())
        if self.kind == "linear":
            return inner
        if self.kind == "rbf":
            square = _squares(X)[:, None] + _squares(Y)[None, :] - 2 * inner
            return np.asarray(np.exp(-self.gamma * np.maximum(square, 0.0)))
        inner = self.gamma * inner + self.coef0
        if self.kind == "sigmoid":
            return np.asarray(np.tanh(inner))
        return np.asarray(inner ** (int(self.degree) if float(self.degree).is_integer() else self.degree))


def _squares(X: Any) -> NDArray[np.float64]:
    squares = X * X if isinstance(X, np.ndarray) else X.multiply(X)
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def point_arguments(X: Any) -> tuple[Any, ...]:
    """Return rows, dense or CSR, as the compiled functions take them: float64, and numbers of 64 bits."""
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X, dtype=np.float64), X.shape[1]
    indices, indptr = (np.ascontiguousarray(part, dtype=np.int64) for part in (X.indices, X.indptr))
    return np.ascontiguousarray(X.data, dtype=np.float64), indices, indptr, X.shape[1]


def kernel_sums(
    kernel: PlainKernel, points: Any, queries: Any, coef: Any, *, _threads: int | None = None
) -> NDArray[np.float64]:
    """Return for each query and each row of ``coef`` the sum of coef[t, j] k(query, points[j]): (m, k).

    >>> kernel_sums(PlainKernel("linear"), np.eye(2), np.array([[3.0, 4.0]]), np.array([[1.0, 10.0]]))
    array([[43.]])
    """
    native = compiled()
    if native is None:
        return kernel_sums_twin(kernel, points, queries, coef)
    out = np.zeros((queries.shape[0], len(coef)))
    if points.shape[0] and queries.shape[0]:
        native.kernel_sums(
            kernel.native,
            point_arguments(points),
            point_arguments(queries),
            np.ascontiguousarray(coef, dtype=np.float64),
            out,
            threads() if _threads is None else _threads,
        )
    return out


def kernel_sums_twin(kernel: PlainKernel, points: Any, queries: Any, coef: Any) -> NDArray[np.float64]:
    """Do the same by a matrix of all values."""
    return np.asarray(kernel.values(queries, points) @ np.asarray(coef, dtype=np.float64).T)
