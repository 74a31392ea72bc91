"""Random programmes of every awkward kind, and Clarabel's answers to them."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
from scipy import sparse

from surefit.solvers.program.data import Program

KINDS = [
    "plain",
    "repeated rows",
    "dependent equations",
    "unbounded variables",
    "scaled badly",
    "scaled tiny",
]


def random_program(kind: str, seed: int, *, linear: bool = False) -> Program:
    """Make a feasible programme; half of its inequalities touch one point, so that corners are crowded."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    n, inequalities = int(rng.integers(1, 12)), int(rng.integers(0, 20))
    equations = int(rng.integers(0, n // 2 + 2))
    root = rng.normal(size=(0 if linear else int(rng.integers(0, n + 1)), n))
    Q, c, inside = root.T @ root, rng.normal(size=n), rng.normal(size=n)
    A_ub, A_eq = rng.normal(size=(inequalities, n)), rng.normal(size=(equations, n))
    room = np.where(rng.random(inequalities) < 0.5, 0.0, rng.exponential(size=inequalities))
    if kind == "repeated rows" and inequalities > 2:
        A_ub[1], room[1] = A_ub[0], room[0]
    if kind == "dependent equations" and equations:
        A_eq = np.vstack([A_eq, A_eq.sum(axis=0), 2 * A_eq[:1]])
    b_ub, b_eq = A_ub @ inside + room, A_eq @ inside
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    if kind != "unbounded variables":
        lower, upper = np.minimum(inside, 0) - rng.exponential(size=n), np.maximum(inside, 0)
        lower, upper = (
            np.where(rng.random(n) < 0.8, side, end) for side, end in ((lower, -9.0), (upper, 9.0))
        )
    if kind == "scaled badly":
        columns, rows = 10.0 ** rng.uniform(-8, 8, size=n), 10.0 ** rng.uniform(-8, 8, size=inequalities)
        Q, c, lower, upper = Q * columns * columns[:, None], c * columns, lower / columns, upper / columns
        A_ub, A_eq, b_ub = rows[:, None] * A_ub * columns, A_eq * columns, rows * b_ub
    if kind == "scaled tiny":
        Q, c, b_ub, b_eq = 1e-12 * Q, 1e-24 * c, 1e-12 * b_ub, 1e-12 * b_eq
        lower, upper = 1e-12 * lower, 1e-12 * upper
    return Program.of(Q, c, A_ub, b_ub, A_eq, b_eq, [*zip(lower, upper, strict=True)])


def arguments(program: Program) -> dict[str, Any]:
    """Return the constraints as the front ends take them."""
    names = ("A_ub", "b_ub", "A_eq", "b_eq")
    bounds = [*zip(program.lower, program.upper, strict=True)]
    return {name: getattr(program, name) for name in names} | {"bounds": bounds}


def clarabel_value(program: Program) -> tuple[str, float]:
    """Return Clarabel's status and value."""
    identity = sparse.eye(len(program.c), format="csc")
    high, low = np.isfinite(program.upper), np.isfinite(program.lower)
    rows = sparse.vstack([sparse.csc_matrix(program.A_ub), identity[high], -identity[low]])
    right = np.concatenate([program.b_ub, program.upper[high], -program.lower[low]])
    cones = [clarabel.ZeroConeT(len(program.b_eq))] if len(program.b_eq) else []
    cones += [clarabel.NonnegativeConeT(len(right))] if len(right) else []
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    A = sparse.csc_matrix(sparse.vstack([sparse.csc_matrix(program.A_eq), rows]))
    Q = sparse.csc_matrix(sparse.triu(program.Q))
    b = np.concatenate([program.b_eq, right])
    found = clarabel.DefaultSolver(Q, program.c, A, b, cones, settings).solve()
    return str(found.status), float(found.obj_val)
