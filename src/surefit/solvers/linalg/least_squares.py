r"""Least squares from sums: the normal equations where they are safe, the triangular factor where they are
not.

Columns are first scaled to unit length, so that what is decided (rank, condition) does not depend on their
units. The condition number is that of the scaled matrix :math:`A = X D^{-1}`; the Gram matrix has its
square, and loses twice the digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix, Vector

# A Gram matrix of condition c gives coefficients to about c eps; beyond this the factor takes over.
SAFE_GRAM_CONDITION = 1e7

UNEVEN = 100.0  # lengths of columns whose ratio costs two digits

Method = Literal[
    "cholesky", "triangular factor", "minimum norm", "eigenvectors", "conjugate gradients", "active set"
]


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """A solution, and what it rests on.

    coef: (p, k). rank: of the scaled matrix. condition: its condition number, within its rank. singular:
    its singular values, None when they were not needed. null: (p, p - rank), directions in which the
    columns cancel. root: (p, rank) with root root' = the (pseudo-)inverse of X'X, for standard errors; of
    fewer rows than columns, (p, n) and the pseudo-inverse of X itself.
    """

    coef: Matrix
    rank: int
    condition: float
    method: Method
    root: Matrix
    null: Matrix
    singular: Vector | None = None
    residual_squares: Vector | None = None


def column_lengths(squares: Vector) -> Vector:
    """The length of each column from its sum of squares; 1 for a column of zeros."""
    lengths = np.sqrt(np.maximum(squares, 0.0))
    return np.where(lengths > 0, lengths, 1.0)


def from_gram(gram: Matrix, cross: Matrix) -> LeastSquares | None:
    """Solve ``gram @ coef = cross`` by Cholesky; None when the condition does not allow it."""
    p = len(gram)
    lengths = column_lengths(np.diagonal(gram))
    scaled = gram / lengths[:, None] / lengths
    factor, failed = linalg.lapack.dpotrf(scaled, lower=0, clean=1)
    if failed or p == 0:
        return None
    norm = np.abs(scaled).sum(axis=0).max()
    reciprocal, _ = linalg.lapack.dpocon(factor, norm)
    if reciprocal * SAFE_GRAM_CONDITION < 1:
        return None
    coef = linalg.cho_solve((factor, False), cross / lengths[:, None], check_finite=False)
    # One step of refinement against the unfactored matrix mends what the factorisation rounded.
    coef += linalg.cho_solve((factor, False), cross / lengths[:, None] - scaled @ coef, check_finite=False)
    root = linalg.solve_triangular(factor, np.eye(p), check_finite=False) / lengths[:, None]
    return LeastSquares(
        coef / lengths[:, None], p, float(np.sqrt(1 / reciprocal)), "cholesky", root, np.empty((p, 0))
    )


def from_factor(R: Matrix, cross: Matrix) -> LeastSquares:
    """Solve ``min |R w - cross|`` for the triangular factor of a matrix, of any rank; minimum norm if not
    full.
    """
    p = R.shape[1]
    lengths = column_lengths((R * R).sum(axis=0))
    U, s, Vt = linalg.svd(R / lengths, full_matrices=True, check_finite=False)
    cut = 8 * max(R.shape) * np.finfo(float).eps * (s[0] if len(s) else 0.0)
    rank = int((s > cut).sum())
    root = Vt[:rank].T / s[:rank] / lengths[:, None]
    coef = root @ (U[:, :rank].T @ cross)
    null = Vt[rank:].T / lengths[:, None]
    condition = float(s[0] / s[rank - 1]) if rank else 1.0
    if rank == p:
        return LeastSquares(coef, rank, condition, "triangular factor", root, null, s)
    coef = minimum_norm(coef, null)
    # The pseudo-inverse lives in the row space: what the null space would add to the root is taken out.
    return LeastSquares(coef, rank, condition, "minimum norm", minimum_norm(root, null), null, s)


def minimum_norm(coef: Matrix, null: Matrix) -> Matrix:
    """Subtract from each column what lies in the null space: the solution of least length, in the units of
    w.
    """
    if null.shape[1] == 0:
        return coef
    basis, _ = linalg.qr(null / np.linalg.norm(null, axis=0), mode="economic")
    moved: Matrix = coef - basis @ (basis.T @ coef)
    return moved


def wide(X: Matrix, Y: Matrix, across: Vector | None = None) -> LeastSquares:
    """The minimum-norm solution for fewer rows than columns, from the factor of the transpose.

    X' = Q R, so X = R'Q' and w = Q R'^+ Y. Where units are unlike, the rows of X' are sorted by length and
    its columns chosen by what is left of them, so that what is rounded stays small beside each column of X.
    across: a direction in which the rows cancel, as centred ones do; it is turned away first, lest rounding
    be taken for a row.
    """
    if across is not None:
        X, Y = reflected(across, X), reflected(across, Y)
    n, p = X.shape
    order, places = np.argsort(-(X * X).sum(axis=0), kind="stable"), np.arange(n)
    unlike = unlike_units(X)
    if unlike:
        Q, R, places = linalg.qr(X.T[order], mode="economic", pivoting=True, check_finite=False)
    else:  # which is quicker
        Q, R = linalg.qr(X.T[order], mode="economic", check_finite=False)
    U, s, Vt = linalg.svd(R, full_matrices=False, check_finite=False)
    tiny = 8 * max(n, p) * np.finfo(float).eps
    alike = R  # its rows must not be scaled: those of equal rows of X are rounding, and would be made large
    if unlike:
        alike = linalg.qr((X / column_lengths((X * X).sum(axis=0))).T, mode="r", check_finite=False)[0][:n]
    if 0 < n <= p and linalg.lapack.dtrcon(alike)[0] > tiny:
        rank, root = n, Q @ linalg.solve_triangular(R, np.eye(n), trans="T", check_finite=False)
    else:
        rank = int((s > tiny * s.max(initial=0.0)).sum())
        root = Q @ (U[:, :rank] / s[:rank]) @ Vt[:rank]
    inverse = np.empty((p, n))
    inverse[np.ix_(order, places)] = root
    coef = inverse @ Y
    coef += inverse @ (Y - X @ coef)  # what rounding left
    condition = float(s[0] / s[rank - 1]) if rank else 1.0
    return LeastSquares(coef, rank, condition, "minimum norm", inverse, np.empty((p, 0)), s)


def unlike_units(X: Matrix) -> bool:
    """Whether columns differ so much in length that products of the rows would cost digits."""
    squares = (X * X).sum(axis=0)
    return bool(squares.max(initial=0.0) > UNEVEN**2 * squares[squares > 0].min(initial=np.inf))


def reflected(across: Vector, rows: Matrix) -> Matrix:
    """Reflect rows so that the first of them holds what lies along ``across``, and leave that one out."""
    return _reflected(across, rows)[1:]


def reflected_back(across: Vector, rows: Matrix) -> Matrix:
    """Undo ``reflected``, for rows that had nothing along ``across``."""
    return _reflected(across, np.vstack([np.zeros(rows.shape[1]), rows]))


def _reflected(across: Vector, rows: Matrix) -> Matrix:
    normal = across / np.linalg.norm(across)
    normal[0] += np.copysign(1.0, normal[0])
    found: Matrix = rows - np.outer(normal, (normal @ rows) * (2 / (normal @ normal)))
    return found


def from_singular_gram(gram: Matrix, cross: Matrix) -> LeastSquares:
    """Solve normal equations that Cholesky cannot, when the data are not at hand for anything better.

    The eigenvectors of the scaled Gram matrix give a factor of it; half of the digits are lost on the way,
    which the cut for the rank allows for.
    """
    lengths = column_lengths(np.diagonal(gram))
    values, vectors = linalg.eigh(gram / lengths[:, None] / lengths, check_finite=False)
    cut = 8 * len(gram) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    kept = values > cut
    rank = int(kept.sum())
    root = vectors[:, kept] / np.sqrt(values[kept]) / lengths[:, None]
    null = vectors[:, ~kept] / lengths[:, None]
    root = minimum_norm(root, null)
    condition = float(np.sqrt(values[-1] / values[kept][0])) if rank else 1.0
    method: Method = "eigenvectors" if rank == len(gram) else "minimum norm"
    return LeastSquares(root @ (root.T @ cross), rank, condition, method, root, null)
