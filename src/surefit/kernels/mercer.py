"""Kernels looked at on data: whether they are positive, centred, alike, and what width they want."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.kernels.base import length
from surefit.kernels.conversion import as_kernel
from surefit.kernels.rows import as_rows, distances

MEDIAN_ROWS = 1000  # whose distances are looked at


@dataclass(frozen=True, slots=True, eq=False)
class MercerCheck:
    """Whether a Gram matrix is one of a positive semi-definite kernel, and what shows that it is not.

    smallest: its least eigenvalue. vector: the eigenvector of it, weights of the objects whose image would
    have a negative squared length. asymmetry: the largest difference of k(x, y) and k(y, x).
    """

    holds: bool
    smallest: float
    largest: float
    vector: Vector
    asymmetry: float
    tolerance: float

    def __bool__(self) -> bool:
        return self.holds

    @property
    def statement(self) -> str:
        """One English sentence."""
        if self.asymmetry > self.tolerance:
            return f"The kernel is not symmetric: k(x, y) and k(y, x) differ by up to {self.asymmetry:.3g}."
        if self.holds:
            return (
                f"The Gram matrix is positive semi-definite: its least eigenvalue is {self.smallest:.3g}, "
                f"not below -{self.tolerance:.3g}."
            )
        return (
            f"The Gram matrix is not positive semi-definite: it has the eigenvalue {self.smallest:.3g}, "
            f"and its eigenvector weighs object {int(np.abs(self.vector).argmax())} most."
        )


def check_mercer(kernel: Any, X: Any, *, tolerance: float | None = None) -> MercerCheck:
    """Test on data whether a kernel is symmetric and positive semi-definite.

    kernel: a kernel, a name, a function of two objects, or "precomputed" for a Gram matrix X. tolerance: how
    far below 0 an eigenvalue may be; None takes the roundings of the largest. Data can only refute a kernel.

    >>> from surefit.kernels import Linear, Logistic
    >>> check_mercer(Linear(), [[1.0], [2.0], [3.0]]).holds
    True
    >>> check_mercer(Logistic(), [[1.0], [2.0], [3.0]]).statement
    'The Gram matrix is not positive semi-definite: it has the eigenvalue -0.0973, and its eigenvector \
weighs object 0 most.'
    """
    K = np.asarray(as_kernel(kernel)(X), dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise DataError("a Gram matrix is square: one row and one column for each object.")
    largest = float(np.abs(K).max(initial=0.0))
    # Rounding of entries, and of eigh, move eigenvalues by at most about n roundings of the norm.
    tol = float(len(K) ** 1.5 * np.finfo(np.float64).eps * max(largest, 1e-300) * 4)
    tol = tol if tolerance is None else float(tolerance)
    asymmetry = float(np.abs(K - K.T).max(initial=0.0))
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    holds = bool(asymmetry <= max(tol, 1e-10 * largest) and values[0] >= -tol)
    return MercerCheck(holds, float(values[0]), float(values[-1]), vectors[:, 0], asymmetry, tol)


def centred_gram(K: Any, training: Any = None) -> Matrix:
    """Return a Gram matrix as if the images of the training objects had mean 0.

    K: k(X, X); or k(new, X) with ``training`` as k(X, X).

    >>> centred_gram([[1.0, 0.0], [0.0, 1.0]])
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    K = np.asarray(K, dtype=np.float64)
    base = K if training is None else np.asarray(training, dtype=np.float64)
    columns = base.mean(axis=0)
    if training is None:
        rows = columns
        found = K - (rows[:, None] + columns[None, :]) + base.mean()
        return np.asarray((found + found.T) / 2)
    return np.asarray(K - K.mean(axis=1)[:, None] - columns[None, :] + base.mean())


def alignment(K: Any, L: Any, *, centred: bool = True) -> float:
    """Return the cosine of two Gram matrices: 1 where they say the same of all pairs.

    L: a Gram matrix, or a target y of which y y' is taken. centred: whether both are centred first.

    >>> round(alignment([[1.0, 0.2], [0.2, 1.0]], [1, -1]), 4)
    1.0
    """
    first, second = np.asarray(K, dtype=np.float64), np.asarray(L, dtype=np.float64)
    second = np.outer(second, second) if second.ndim == 1 else second
    if first.shape != second.shape:
        raise DataError(f"alignment compares matrices of one shape, not {first.shape} and {second.shape}.")
    if centred:
        first, second = centred_gram(first), centred_gram(second)
    lengths = np.linalg.norm(first) * np.linalg.norm(second)
    return float((first * second).sum() / lengths) if lengths > 0 else 0.0


def median_width(X: Any, *, random_state: int = 0) -> float:
    """Return the median distance of different rows, a first guess of a kernel's length scale.

    Of more than 1000 rows, 1000 are drawn. Rows that are all alike give 1.

    >>> median_width([[0.0], [1.0], [3.0]])
    2.0
    """
    rows = as_rows(X, "median_width")
    n = length(rows)
    if n > MEDIAN_ROWS:
        rows = rows[np.sort(np.random.default_rng(random_state).choice(n, MEDIAN_ROWS, replace=False))]
    found = distances(rows, None)
    found = found[np.triu_indices(len(found), 1)]
    found = found[found > 0]
    return float(np.median(found)) if found.size else 1.0
