r"""Principal axes: the directions along which centred rows A vary most, from rows or scatter.

The scatter :math:`M = A'A` has the squared singular values of A as eigenvalues. What A holds below about 1e-8
of its largest singular value is rounded away in M, unless it is only the units of the columns that differ:
then M is taken apart column by column scaled, and the small axes keep their digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix, Vector

Method = Literal["eigenvectors", "scaled factor", "singular vectors", "block Krylov"]

EPS = float(np.finfo(np.float64).eps)
_FAINT = 1e-5  # an eigenvalue below this share of the largest has lost five digits or more
_UNLIKE = 1e4  # column variances further apart than this are worth scaling for
_TIE = 1e-8  # entries closer than this are equal but for rounding


@dataclass(frozen=True, slots=True)
class PrincipalAxes:
    """The scatter along each axis, largest first, the axes as orthonormal rows, and the scatter in all.

    Axes without any scatter are left out; ``completed`` adds them.
    """

    scatter: Vector
    axes: Matrix
    total: float
    method: Method


def from_scatter(M: Matrix, count: int) -> PrincipalAxes:
    """Return the first ``count`` axes of a scatter matrix.

    >>> from_scatter(np.array([[2.0, 0.0], [0.0, 8.0]]), 1).axes
    array([[0., 1.]])
    """
    p = len(M)
    values, vectors = _eigen(M, count)
    diagonal = np.diagonal(M)
    varying = diagonal[diagonal > 0]
    total = float(diagonal.sum())
    if len(values) and values[-1] < _FAINT * values[0] and varying.max() > _UNLIKE * varying.min():
        return replace(_from_scaled(M, count), total=total)
    kept = values > 8 * p * EPS * max(values[0], 0.0) if len(values) else values > 0
    axes = signed(np.ascontiguousarray(vectors[:, kept].T))
    return PrincipalAxes(values[kept], axes, total, "eigenvectors")


def _eigen(M: Matrix, count: int) -> tuple[Vector, Matrix]:
    """The largest eigenvalues, falling, with their vectors as columns."""
    p = len(M)
    if count == 0:
        return np.empty(0), np.empty((p, 0))
    if 3 * count >= p:  # all of them cost less than a third chosen
        values, vectors = linalg.eigh(M, driver="evd", check_finite=False)
    else:
        values, vectors = linalg.eigh(M, subset_by_index=[p - count, p - 1], check_finite=False)
    return values[::-1][:count], vectors[:, ::-1][:, :count]


def _from_scaled(M: Matrix, count: int) -> PrincipalAxes:
    """Factor the correlations with pivoting, give the columns their units back, and decompose the factor."""
    p = len(M)
    units = np.sqrt(np.diagonal(M))
    units = np.where(units > 0, units, 1.0)
    factor, places, rank, _ = linalg.lapack.dpstrf(M / units[:, None] / units, tol=8 * p * EPS, lower=1)
    B = np.empty((p, rank))
    B[places - 1] = np.tril(factor)[:, :rank]
    return replace(from_rows(B.T * units, count), method="scaled factor")


def from_rows(A: Matrix, count: int) -> PrincipalAxes:
    """Return the first ``count`` axes of centred rows, by a singular value decomposition.

    >>> from_rows(np.array([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]]), 1).scatter
    array([16.])
    """
    _, singular, axes = linalg.svd(A, full_matrices=False, check_finite=False)
    largest = singular[0] if len(singular) else 0.0
    kept = np.flatnonzero(singular > 8 * max(A.shape) * EPS * largest)[:count]
    squares = singular**2
    return PrincipalAxes(
        squares[kept], signed(np.ascontiguousarray(axes[kept])), float(squares.sum()), "singular vectors"
    )


def signed(axes: Matrix) -> Matrix:
    """Turn each axis so that its largest entry is positive; of equal ones, the first."""
    if axes.size == 0:
        return axes
    size = np.abs(axes)
    first = np.argmax(size >= (1 - _TIE) * size.max(axis=1, keepdims=True), axis=1)
    turned: Matrix = axes * np.where(axes[np.arange(len(axes)), first] < 0, -1.0, 1.0)[:, None]
    return turned


def completed(found: PrincipalAxes, count: int) -> PrincipalAxes:
    """Add axes without scatter until there are ``count``, by a rule that depends on the span alone.

    The next axis is what the axes so far leave of the unit vector that they leave most of; of equal ones, the
    first. So rounding does not choose among the many directions in which nothing varies.
    """
    missing = count - len(found.axes)
    if missing <= 0:
        return found
    axes = np.vstack([found.axes, np.zeros((missing, found.axes.shape[1]))])
    left = 1.0 - (found.axes**2).sum(axis=0)
    for k in range(len(found.axes), count):
        j = int(np.argmax(left >= (1 - _TIE) * left.max()))
        axis = np.zeros(axes.shape[1])
        axis[j] = 1.0
        for _ in range(2):  # twice, since the first step leaves what rounding put back
            axis -= (axes[:k] @ axis) @ axes[:k]
        axes[k] = axis / np.linalg.norm(axis)
        left = np.maximum(left - axes[k] ** 2, 0.0)
        left[j] = 0.0
    axes[len(found.axes) :] = signed(axes[len(found.axes) :])
    return replace(found, axes=axes, scatter=np.append(found.scatter, np.zeros(missing)))
