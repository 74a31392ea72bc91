r"""Ridge regression from sums, from a factor, or from few rows, and for many penalties at once.

Minimise :math:`\|y - Xw\|^2 + \alpha \|w\|^2`. Primal and dual give the same answer,

.. math:: w = (X'X + \alpha I)^{-1} X'y = X' (XX' + \alpha I)^{-1} y,

at the cost of a square matrix with as many rows as X has columns, or as X has rows. Each target may have an
:math:`\alpha` of its own. The degrees of freedom are the trace of the hat matrix, :math:`p - \alpha \,
\mathrm{tr}(X'X + \alpha I)^{-1}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.solvers.linalg.least_squares import (
    SAFE_GRAM_CONDITION,
    from_factor,
    from_singular_gram,
    reflected,
    reflected_back,
    wide,
)

LIKE_SIZE = 100.0  # ratio of squared lengths


@dataclass(frozen=True, slots=True)
class RidgeSolution:
    """Coefficients (p, k), degrees of freedom of each target, and the condition number of the columns with
    :math:`\\sqrt{\\alpha} I` below them, scaled to one length.
    """

    coef: Matrix
    dof: Vector
    condition: float


def from_gram(gram: Matrix, cross: Matrix, strength: Vector) -> RidgeSolution | None:
    """Solve the normal equations by Cholesky; None when their condition does not allow it."""

    def one(alpha: float, targets: NDArray[np.intp]) -> RidgeSolution | None:
        penalised = gram + 0.0
        penalised.flat[:: len(gram) + 1] += alpha
        return _by_cholesky(penalised, cross[:, targets], alpha)

    return _for_each_strength(strength, len(gram), one)


def _by_cholesky(penalised: Matrix, right: Matrix, alpha: float) -> RidgeSolution | None:
    """Solve ``penalised @ coef = right``; the scale of the columns plays no part."""
    size = len(penalised)
    if size == 0 or not np.diagonal(penalised).min() > 0:
        return None
    lengths = np.sqrt(np.diagonal(penalised))[:, None]
    scaled = penalised / lengths / lengths.T
    factor, failed = linalg.lapack.dpotrf(scaled, lower=0, clean=1)
    if failed:
        return None
    reciprocal, _ = linalg.lapack.dpocon(factor, np.abs(scaled).sum(axis=0).max())
    if reciprocal * SAFE_GRAM_CONDITION < 1:
        return None
    right = right / lengths
    coef = linalg.cho_solve((factor, False), right, check_finite=False)
    # One step of refinement against the unfactored matrix mends what the factorisation rounded.
    coef += linalg.cho_solve((factor, False), right - scaled @ coef, check_finite=False)
    root = linalg.lapack.dtrtri(factor)[0] / lengths
    dof = size - alpha * float((root * root).sum())
    return RidgeSolution(coef / lengths, np.full(right.shape[1], dof), float(np.sqrt(1 / reciprocal)))


def from_data_factor(R: Matrix, cross: Matrix, strength: Vector) -> tuple[RidgeSolution, list[Matrix]]:
    r"""Solve from the triangular factor of the columns, with :math:`\sqrt{\alpha} I` stacked below it.

    Of no penalty, the shortest solution. Beside the solution: for each target a root L with LL' the
    (pseudo-)inverse of :math:`X'X + \alpha I`, for refinement.
    """
    p = R.shape[1]
    roots: list[Matrix] = [np.empty((0, 0))] * cross.shape[1]

    def one(alpha: float, targets: NDArray[np.intp]) -> RidgeSolution:
        stacked = np.vstack([np.hstack([R, cross[:, targets]]), np.zeros((p, p + len(targets)))])
        stacked[R.shape[0] :, :p].flat[:: p + 1] = np.sqrt(alpha)
        both = linalg.qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][:p]
        solution = from_factor(both[:, :p], both[:, p:])
        for target in targets:
            roots[target] = solution.root
        dof = solution.rank - alpha * float((solution.root * solution.root).sum())
        return RidgeSolution(solution.coef, np.full(len(targets), dof), solution.condition)

    found = _for_each_strength(strength, p, one)
    assert found is not None
    return found, roots


def from_singular_sums(gram: Matrix, cross: Matrix, strength: Vector) -> RidgeSolution:
    """Solve normal equations that Cholesky cannot, when the data are not at hand for anything better."""

    def one(alpha: float, targets: NDArray[np.intp]) -> RidgeSolution:
        solution = from_singular_gram(gram + alpha * np.eye(len(gram)), cross[:, targets])
        dof = solution.rank - alpha * float((solution.root * solution.root).sum())
        return RidgeSolution(solution.coef, np.full(len(targets), dof), solution.condition)

    found = _for_each_strength(strength, len(gram), one)
    assert found is not None
    return found


def from_rows(A: Matrix, Y: Matrix, strength: Vector, across: Vector | None = None) -> RidgeSolution:
    """Solve by the dual, for fewer rows than columns; A and Y are centred, with weights rooted in.

    Where the condition forbids it, by the shortest (w, u) with A w + sqrt(alpha) u = Y: the length of u is
    that of the residuals over sqrt(alpha). across: a direction in which the rows cancel.
    """
    kernel = A @ A.T

    def one(alpha: float, targets: NDArray[np.intp]) -> RidgeSolution:
        penalised = kernel.copy()
        penalised.flat[:: len(A) + 1] += alpha
        found = _by_cholesky(penalised, Y[:, targets], alpha)
        if found is not None:
            return RidgeSolution(A.T @ found.coef, found.dof, found.condition)
        rows, right = (A, Y) if across is None else (reflected(across, A), reflected(across, Y))
        beside = np.sqrt(alpha) * np.eye(len(rows)) if alpha > 0 else np.empty((len(rows), 0))
        best = wide(np.hstack([rows, beside]), right[:, targets])
        inverse = best.root[: A.shape[1]]
        dof = np.full(len(targets), float((rows * inverse.T).sum()))
        return RidgeSolution(best.coef[: A.shape[1]], dof, best.condition)

    found = _for_each_strength(strength, A.shape[1], one)
    assert found is not None
    return found


def _for_each_strength(
    strength: Vector, columns: int, solve: Callable[[float, NDArray[np.intp]], RidgeSolution | None]
) -> RidgeSolution | None:
    """Put together the solutions of the targets that share a penalty; None as soon as one is."""
    coef, dof, condition = np.empty((columns, len(strength))), np.empty(len(strength)), 1.0
    for alpha in np.unique(strength):
        (targets,) = np.nonzero(strength == alpha)
        found = solve(float(alpha), targets)
        if found is None:
            return None
        coef[:, targets], dof[targets] = found.coef, found.dof
        condition = max(condition, found.condition)
    return RidgeSolution(coef, dof, condition)


def descend(
    product: Callable[[Matrix], Matrix],
    diagonal: Vector,
    strength: Vector,
    coef: Matrix,
    gradient: Matrix,
) -> Iterator[tuple[Matrix, Matrix]]:
    r"""Conjugate gradients on the normal equations: yield coefficients and what is left, step by step.

    ``product`` multiplies by X'X in one pass over the rows; ``diagonal`` is that of X'X, whose scale is taken
    out where it differs much; ``gradient`` is :math:`X'y - (X'X + \alpha I) w` at ``coef``. What is left is
    carried along, not recomputed: whoever stops should look once more.
    """
    coef, gradient = coef.copy(), gradient.copy()
    size = diagonal[:, None] + strength
    # Columns of like size are better left alone: with fewer rows than columns, all that no row reaches keeps
    # one eigenvalue, and costs no iteration.
    if size.max(initial=0.0) < LIKE_SIZE * size.min(initial=np.inf):
        size = np.ones_like(size)
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    scaled = scale * gradient
    direction, power = scaled, (gradient * scaled).sum(axis=0)
    while True:
        image = product(direction) + strength * direction
        curvature = (direction * image).sum(axis=0)
        step = np.divide(power, curvature, out=np.zeros_like(power), where=curvature > 0)
        coef += step * direction
        gradient -= step * image
        yield coef, gradient
        scaled = scale * gradient
        new = (gradient * scaled).sum(axis=0)
        direction = scaled + np.divide(new, power, out=np.zeros_like(new), where=power > 0) * direction
        power = new


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Eigenvalues, never negative, and eigenvectors of a Gram matrix: one decomposition for all penalties."""

    values: Vector
    vectors: Matrix

    @classmethod
    def of(cls, gram: Matrix) -> Spectrum:
        """Decompose X'X, or XX'."""
        values, vectors = linalg.eigh(gram, check_finite=False)
        return cls(np.maximum(values, 0.0), vectors)

    @classmethod
    def across(cls, kernel: Matrix, known: Vector) -> Spectrum:
        """Decompose a matrix on what is orthogonal to ``known``, a vector of its null space.

        Lifted far above all others, its eigenvector comes last and is dropped, so that it cannot mix with
        others that have small eigenvalues.
        """
        unit = known / np.linalg.norm(known)
        lift = 2.0 * float(np.abs(kernel).sum(axis=0).max()) + 1.0
        values, vectors = linalg.eigh(kernel + lift * np.outer(unit, unit), check_finite=False)
        return cls(np.maximum(values[:-1], 0.0), vectors[:, :-1])

    @classmethod
    def of_rows(cls, A: Matrix, known: Vector | None) -> Spectrum:
        """Decompose AA', on what is orthogonal to ``known``, from A itself: small values keep their digits.

        A pivoted factor of sorted columns is graded as their units are, and Jacobi's method minds that.
        """
        rows = A if known is None else reflected(known, A)
        order = np.argsort(-(rows * rows).sum(axis=0), kind="stable")
        R, places = linalg.qr(rows.T[order], mode="r", pivoting=True, check_finite=False)
        graded, whole_range = 2, 0  # of a matrix D1 C D2 with C well-conditioned
        values, _, right, scale, _, failed = linalg.lapack.dgejsv(
            R[: len(rows)], joba=graded, jobr=whole_range
        )
        if failed:
            return cls.of(A @ A.T) if known is None else cls.across(A @ A.T, known)
        vectors = np.empty_like(right)
        vectors[places] = right
        vectors = vectors if known is None else reflected_back(known, vectors)
        return cls((values * (scale[0] / scale[1])) ** 2, vectors)

    def shrunk(self, alphas: Vector) -> Matrix:
        r"""The reciprocals :math:`1 / (\lambda_j + \alpha)`, one column a penalty; a pseudo-inverse for 0."""
        total = self.values[:, None] + alphas
        cut = 8 * len(self.values) * np.finfo(float).eps * self.values.max(initial=0.0)
        counts = (alphas > 0) | (self.values[:, None] > cut)
        return np.divide(1.0, total, out=np.zeros_like(total), where=counts)
