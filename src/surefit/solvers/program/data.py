"""A quadratic programme as it was given, checked; a linear one where Q is zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.arrays import Vector
from surefit.core.errors import DataError

DenseOrSparse = Any  # a two-dimensional array of floats, or a sparse matrix in compressed rows


@dataclass(frozen=True, slots=True)
class Program:
    """Minimise ½x'Qx + c'x with A_ub x ≤ b_ub, A_eq x = b_eq, lower ≤ x ≤ upper.

    >>> program = Program.of(None, [1.0, 2.0], A_eq=[[1.0, 1.0]], b_eq=[1.0], bounds=(0, None))
    >>> program.objective(np.array([1.0, 0.0]))
    1.0
    """

    Q: DenseOrSparse
    c: Vector
    A_ub: DenseOrSparse
    b_ub: Vector
    A_eq: DenseOrSparse
    b_eq: Vector
    lower: Vector
    upper: Vector

    @classmethod
    def of(
        cls,
        Q: Any,
        c: Any,
        A_ub: Any = None,
        b_ub: Any = None,
        A_eq: Any = None,
        b_eq: Any = None,
        bounds: Any = None,
    ) -> Program:
        """Check every part; Q counts by its symmetric half, which is all that x'Qx sees."""
        cost = _vector("c", c)
        n = len(cost)
        if n == 0:
            raise DataError("c is empty; give one cost a variable.")
        quadratic = _matrix("Q", np.zeros((n, n)) if Q is None else Q, n)
        if quadratic.shape[0] != n:
            raise DataError(f"Q has shape {quadratic.shape}, but c has {n} entries; give a square Q.")
        rows = [_rows(*named, n) for named in (("A_ub", A_ub, "b_ub", b_ub), ("A_eq", A_eq, "b_eq", b_eq))]
        lower, upper = _bounds(bounds, n)
        return cls(0.5 * (quadratic + quadratic.T), cost, *rows[0], *rows[1], lower, upper)

    @property
    def linear(self) -> bool:
        """Whether Q is zero."""
        return bool(self.Q.nnz == 0 if sparse.issparse(self.Q) else not self.Q.any())

    @property
    def is_sparse(self) -> bool:
        """Whether a matrix came sparse."""
        return any(sparse.issparse(part) for part in (self.Q, self.A_ub, self.A_eq))

    def objective(self, x: Vector) -> float:
        """Return ½x'Qx + c'x."""
        return float(0.5 * x @ (self.Q @ x) + self.c @ x)

    def gradient(self, x: Vector) -> Vector:
        """Return Qx + c."""
        slope: Vector = self.Q @ x + self.c
        return slope


@dataclass(frozen=True, slots=True)
class Multipliers:
    """The multiplier of each constraint: of A_ub, of A_eq (of either sign), and of the bounds."""

    ub: Vector
    eq: Vector
    lower: Vector
    upper: Vector

    def force(self, program: Program) -> Vector:
        """Return what the constraints add to the gradient: A_ub'λ + A_eq'ν - z_lower + z_upper."""
        total: Vector = program.A_ub.T @ self.ub + program.A_eq.T @ self.eq - self.lower + self.upper
        return total


def _rows(name: str, matrix: Any, target_name: str, target: Any, n: int) -> tuple[DenseOrSparse, Vector]:
    if (matrix is None) != (target is None):
        missing, given = (name, target_name) if matrix is None else (target_name, name)
        raise DataError(f"{given} is given without {missing}; give both or neither.")
    if matrix is None:
        return np.zeros((0, n)), np.zeros(0)
    rows, right = _matrix(name, matrix, n), _vector(target_name, target)
    if rows.shape[0] != len(right):
        raise DataError(
            f"{name} has {rows.shape[0]} rows and {target_name} {len(right)} entries; give one entry a row."
        )
    return rows, right


def _matrix(name: str, given: Any, n: int) -> DenseOrSparse:
    if sparse.issparse(given):
        matrix = sparse.csr_matrix(given, dtype=np.float64)
        entries = matrix.data
    else:
        matrix = _numbers(name, given)
        matrix = matrix.reshape(1, -1) if matrix.ndim == 1 else matrix
        entries = matrix
    if matrix.ndim != 2 or matrix.shape[1] != n:
        raise DataError(
            f"{name} has shape {matrix.shape}, but c has {n} entries; give one column a variable."
        )
    _require_finite(name, entries)
    return matrix


def _vector(name: str, given: Any) -> Vector:
    vector = np.atleast_1d(_numbers(name, given))
    if vector.ndim != 1:
        raise DataError(f"{name} has {vector.ndim} dimensions; give a vector.")
    _require_finite(name, vector)
    return vector


def _numbers(name: str, given: Any) -> Vector:
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must hold numbers only, in rows of one length.") from None


def _require_finite(name: str, entries: Vector) -> None:
    if not np.isfinite(entries).all():
        raise DataError(
            f"{name} holds NaN or infinity; give finite numbers, and leave out rows that bind nothing."
        )


def _bounds(bounds: Any, n: int) -> tuple[Vector, Vector]:
    """Read one (low, high) for all variables or one each, where None is no bound."""
    pairs: Sequence[Any] = [(None, None)] if bounds is None else bounds
    if len(pairs) == 2 and all(side is None or np.isscalar(side) for side in pairs):
        pairs = [tuple(pairs)]
    pairs = list(pairs) * n if len(pairs) == 1 else list(pairs)
    if len(pairs) != n or any(len(pair) != 2 for pair in pairs):
        raise DataError(f"bounds must be one (low, high) pair or {n} of them, with None for no bound.")
    lower = np.array([-np.inf if low is None else low for low, _ in pairs], dtype=np.float64)
    upper = np.array([np.inf if high is None else high for _, high in pairs], dtype=np.float64)
    wrong = np.isnan(lower) | np.isnan(upper) | (lower > upper) | (lower == np.inf) | (upper == -np.inf)
    if wrong.any():
        j = int(np.argmax(wrong))
        raise DataError(
            f"bounds[{j}] is ({lower[j]:g}, {upper[j]:g}), which no number is in; keep low below high."
        )
    return lower, upper
