"""A programme in balanced units, with its equations in one place, and the way back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.arrays import Vector
from surefit.solvers.program.data import DenseOrSparse, Multipliers, Program
from surefit.solvers.program.definiteness import opposite_rows

ROUNDS = 12  # each takes the square root of what is out of balance


@dataclass(frozen=True, slots=True)
class ScaledProgram:
    """Minimise ½y'Qy + c'y with Gy ≤ h, Ay = b, lower ≤ y ≤ upper, where x = columns · length · y.

    Pairs of opposite inequalities and fixed variables have become equations: they have no inside for an
    interior point to be in.
    """

    Q: DenseOrSparse
    c: Vector
    G: DenseOrSparse
    h: Vector
    A: DenseOrSparse
    b: Vector
    lower: Vector
    upper: Vector
    columns: Vector
    g_rows: Vector
    a_rows: Vector
    length: float
    price: float  # the objective in these units is this times the user's
    kept: NDArray[np.intp]  # rows of A_ub that stay inequalities
    pairs: tuple[list[int], list[int]]
    fixed: NDArray[np.intp]
    source: Program

    @classmethod
    def of(cls, program: Program) -> ScaledProgram:
        """Bring rows and columns to like size by turns, then the right-hand sides, then the objective."""
        pairs = opposite_rows(program)
        kept = np.setdiff1d(np.arange(len(program.b_ub)), np.array([*pairs[0], *pairs[1]], dtype=np.intp))
        fixed = np.flatnonzero(program.lower == program.upper)
        wide = _sparse if program.is_sparse and len(program.c) + len(program.b_ub) > 300 else _dense
        Q, G = wide(program.Q), wide(program.A_ub[kept])
        stacked = [program.A_eq, program.A_ub[pairs[0]], sparse.eye(len(program.c), format="csr")[fixed]]
        A = wide(sparse.vstack([sparse.csr_matrix(part) for part in stacked], format="csr"))
        b = np.concatenate([program.b_eq, program.b_ub[pairs[0]], program.lower[fixed]])
        lower, upper = program.lower.copy(), program.upper.copy()
        lower[fixed], upper[fixed] = -np.inf, np.inf
        columns, g_rows, a_rows = np.ones(len(program.c)), np.ones(G.shape[0]), np.ones(len(b))
        h = program.b_ub[kept]
        for _ in range(ROUNDS):
            by_column = np.maximum.reduce([_largest(part, 0) for part in (Q, G, A)])
            column, g_row, a_row = _root(by_column), _root(_largest(G, 1)), _root(_largest(A, 1))
            Q, G, A = _scaled(Q, column, column), _scaled(G, g_row, column), _scaled(A, a_row, column)
            columns, g_rows, a_rows = columns * column, g_rows * g_row, a_rows * a_row
        h, b, lower, upper = g_rows * h, a_rows * b, lower / columns, upper / columns
        sides = np.concatenate([h, b, lower[np.isfinite(lower)], upper[np.isfinite(upper)]])
        length = float(np.abs(sides).max(initial=0.0)) or 1.0
        c = columns * program.c * length
        Q = Q * length**2
        price = 1.0 / (max(float(np.abs(c).max()), float(_largest(Q, 0).max())) or 1.0)
        return cls(
            Q * price,
            c * price,
            G,
            h / length,
            A,
            b / length,
            lower / length,
            upper / length,
            columns,
            g_rows,
            a_rows,
            length,
            price,
            kept,
            pairs,
            fixed,
            program,
        )

    def point(self, y: Vector) -> Vector:
        """Return y in the user's units, inside the bounds."""
        return np.clip(self.columns * self.length * y, self.source.lower, self.source.upper)

    def multipliers(self, g: Vector, a: Vector, lower: Vector, upper: Vector) -> Multipliers:
        """Return the prices in the user's units, one for each constraint as it was given."""
        unit = 1.0 / (self.price * self.length)
        ub = np.zeros(len(self.source.b_ub))
        ub[self.kept] = unit * self.g_rows * g
        every = unit * self.a_rows * a
        equations, (first, second) = len(self.source.b_eq), self.pairs
        paired, held = np.split(every[equations:], [len(first)])
        ub[first], ub[second] = np.maximum(paired, 0.0), np.maximum(-paired, 0.0)
        low, high = unit * lower / self.columns, unit * upper / self.columns
        low[self.fixed], high[self.fixed] = np.maximum(-held, 0.0), np.maximum(held, 0.0)
        return Multipliers(ub, every[:equations], low, high)


def _largest(matrix: DenseOrSparse, axis: int) -> Vector:
    if matrix.shape[axis] == 0 or matrix.shape[1 - axis] == 0:
        return np.zeros(matrix.shape[1 - axis])
    found = abs(matrix).max(axis=axis)
    return np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64).ravel()


def _root(size: Vector) -> Vector:
    factor: Vector = 1.0 / np.sqrt(np.where(size > 0, size, 1.0))
    return factor


def _scaled(matrix: DenseOrSparse, rows: Vector, columns: Vector) -> DenseOrSparse:
    if sparse.issparse(matrix):
        return sparse.diags(rows) @ matrix @ sparse.diags(columns)
    return rows[:, None] * matrix * columns


def _sparse(matrix: DenseOrSparse) -> DenseOrSparse:
    return sparse.csr_matrix(matrix)


def _dense(matrix: DenseOrSparse) -> DenseOrSparse:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix, dtype=np.float64)
