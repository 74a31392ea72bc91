"""Whether a quadratic programme is convex, as it stands or where its equations hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import RefusalError
from surefit.solvers.program.data import DenseOrSparse, Program

# A matrix that is positive semidefinite on paper has eigenvalues above this times its size and rows.
ROUNDINGS = 32 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Curvature:
    """The least eigenvalue of Q with its eigenvector, and that of Q where all equations hold."""

    least: float
    direction: Vector
    within: float  # on the directions that no equation forbids
    free: Matrix | None  # an orthonormal basis of these, where Q alone is not convex


def curvature_of(program: Program) -> Curvature:
    """Return the curvature; rounding counts as zero.

    >>> program = Program.of([[4.0, 2.0], [2.0, 0.0]], [1.0, 0.0], A_eq=[[1.0, 1.0]], b_eq=[1.0])
    >>> found = curvature_of(program)
    >>> round(found.least, 4), found.within
    (-0.8284, 0.0)
    """
    n = len(program.c)
    if program.linear or _is_positive(program.Q):
        return Curvature(0.0, np.zeros(n), 0.0, None)
    Q = program.Q.toarray() if sparse.issparse(program.Q) else program.Q
    least, direction = _least(Q)
    if least >= 0:
        return Curvature(0.0, np.zeros(n), 0.0, None)
    equations = equations_of(program)
    if not len(equations):
        return Curvature(least, direction, least, None)
    free = linalg.null_space(equations / np.abs(equations).max(axis=1, keepdims=True).clip(1e-300))
    within = _least(free.T @ Q @ free, float(np.abs(Q).sum(axis=1).max()))[0] if free.shape[1] else 0.0
    return Curvature(least, direction, within, free)


def smallest_curvature(program: Program) -> float:
    """Return the least curvature along feasible directions: 0 or more is convex."""
    return curvature_of(program).within


def require_convex(program: Program) -> Curvature:
    """Refuse a programme whose objective is concave in a direction that the equations allow."""
    found = curvature_of(program)
    if found.within < 0:
        shown = np.array2string(found.direction, precision=4, threshold=6, max_line_width=200)
        where = ", also on the null space of its equations" if found.free is not None else ""
        raise RefusalError(
            f"Q is not positive semidefinite{where}: its eigenvalue {found.least:.6g} has the eigenvector "
            f"{shown}, along which the objective is concave; give a convex Q, or equations that rule it out."
        )
    return found


def equations_of(program: Program) -> Matrix:
    """Return the rows that are equations: of A_eq, pairs of opposite inequalities, and fixed variables."""
    rows = [_dense(program.A_eq)]
    first, _ = opposite_rows(program)
    rows.append(_dense(program.A_ub)[first])
    rows.append(np.eye(len(program.c))[program.lower == program.upper])
    return np.vstack(rows)


def opposite_rows(program: Program) -> tuple[list[int], list[int]]:
    """Return pairs of rows of A_ub that together say =: one is the other with both sides negated."""
    seen: dict[bytes, int] = {}
    first: list[int] = []
    second: list[int] = []
    matrix = _dense(program.A_ub) if program.A_ub.shape[0] * program.A_ub.shape[1] <= 1_000_000 else None
    for i in range(program.A_ub.shape[0] if matrix is not None else 0):
        assert matrix is not None
        row = np.append(matrix[i], program.b_ub[i]) + 0.0
        partner = seen.pop((-row + 0.0).tobytes(), None)
        if partner is None:
            seen[row.tobytes()] = i
        else:
            first.append(partner)
            second.append(i)
    return first, second


def _dense(matrix: DenseOrSparse) -> Matrix:
    dense: Matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    return dense


def _is_positive(Q: DenseOrSparse) -> bool:
    """Whether a factorisation proves that Q has no negative eigenvalue beyond rounding."""
    size = abs(Q).sum(axis=1).max()
    lift = ROUNDINGS * Q.shape[0] * size
    if sparse.issparse(Q):
        if (Q - sparse.diags(Q.diagonal())).nnz == 0:
            return bool(Q.diagonal().min() >= 0)
        lifted = sparse.csc_matrix(Q + lift * sparse.eye(Q.shape[0]))
        options = {"SymmetricMode": True}
        try:
            factor = sparse.linalg.splu(
                lifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options
            )
        except RuntimeError:
            return False
        # Without pivoting off the diagonal, the pivots have the signs of the eigenvalues.
        return bool(np.array_equal(factor.perm_r, factor.perm_c) and factor.U.diagonal().min() > 0)
    return bool(linalg.lapack.dpotrf(Q + lift * np.eye(len(Q)), lower=1, overwrite_a=1)[1] == 0)


def _least(Q: Matrix, size: float = 0.0) -> tuple[float, Vector]:
    values, vectors = linalg.eigh(Q, subset_by_index=[0, 0])
    rounding = ROUNDINGS * len(Q) * max(size, float(np.abs(Q).sum(axis=1).max()))
    return (float(values[0]) if values[0] < -rounding else 0.0), vectors[:, 0]
