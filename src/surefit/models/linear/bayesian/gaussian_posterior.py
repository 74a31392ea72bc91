r"""The posterior of a linear model with normal noise and a normal prior, from moments.

With rows taken from their mean m, the unknowns are w and the height :math:`h = b + m'w` at the mean, which a
flat prior on b leaves independent of w. In units of the noise variance, the posterior has the precision

.. math:: P = \begin{pmatrix} G + \Lambda + \kappa m m' & -\kappa m \\ -\kappa m' & W + \kappa \end{pmatrix},

with G the scatter of the columns, :math:`\Lambda` the precision of w and :math:`\kappa` that of b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.stats.moments import Moments


@dataclass(frozen=True, slots=True)
class Prior:
    """What is known of w beforehand, in units of the noise: mean, precision (p, p), and that of b.

    intercept: the precision of b, 0 for a flat prior; None for a model without b.
    """

    mean: Vector
    precision: Matrix
    intercept: float | None

    @property
    def flat(self) -> bool:
        """Whether b may be anything."""
        return self.intercept == 0.0

    def log_determinant(self) -> float:
        """Return that of the precision of what is not flat."""
        diagonal = np.diagonal(self.precision)
        plain = np.count_nonzero(self.precision) == len(diagonal)
        found = float(np.log(diagonal).sum() if plain else np.linalg.slogdet(self.precision)[1])
        return found + (float(np.log(self.intercept)) if self.intercept else 0.0)


@dataclass(frozen=True, slots=True)
class Equations:
    """P theta = right side, in steps from the prior mean, and what is needed to add up squares.

    centre: m, zeros without b. squares: of the targets after the prior mean, about their own mean with b.
    """

    P: Matrix
    right_side: Vector
    centre: Vector
    gram: Matrix
    cross: Vector
    squares: float
    weight: float
    target: float

    @classmethod
    def of(cls, moments: Moments, prior: Prior) -> Equations:
        """Set them up."""
        weight, mean, level = moments.weight, moments.mean_x, float(moments.mean_y[0])
        gram, cross = moments.gram, moments.cross[:, 0]
        squares = float(moments.target_scatter[0, 0])
        if prior.intercept is None:
            gram = gram + weight * np.outer(mean, mean)
            cross = cross + weight * level * mean
            squares += weight * level**2
        left = cross - gram @ prior.mean
        squares += float(prior.mean @ (gram @ prior.mean - 2.0 * cross))
        if prior.intercept is None:
            centre, target = np.zeros_like(mean), 0.0
            return cls(gram + prior.precision, left, centre, gram, left, max(squares, 0.0), weight, target)
        kappa, target = prior.intercept, level - float(mean @ prior.mean)
        if weight + kappa <= 0:
            raise DataError(
                "no rows are left, and an intercept with a flat prior has an improper posterior without "
                "rows: keep at least one row, or set intercept_precision."
            )
        side = -kappa * mean[:, None]
        inner = gram + prior.precision + kappa * np.outer(mean, mean)
        P = np.block([[inner, side], [side.T, np.full((1, 1), weight + kappa)]])
        right_side = np.append(left, weight * target)
        return cls(P, right_side, mean, gram, left, max(squares, 0.0), weight, target)

    def of_coefficients(self, prior: Prior) -> Matrix:
        """Return the precision of w alone, the height left to be whatever suits it."""
        p = len(self.centre)
        if len(self.right_side) == p:
            return self.P
        kappa = prior.intercept or 0.0
        pulled = kappa * (self.weight / (self.weight + kappa))
        return self.gram + prior.precision + pulled * np.multiply.outer(self.centre, self.centre)

    def height_for(self, step: Vector, prior: Prior) -> float:
        """Return the height that suits a step of w from the prior mean best."""
        kappa = prior.intercept or 0.0
        right_side = self.weight * self.target + kappa * float(self.centre @ step)
        return right_side / (self.weight + kappa) + float(self.centre @ prior.mean)

    def residual_squares(self, step: Vector) -> float:
        """Return the squared residuals, added up, at a step from the prior mean."""
        p = len(self.centre)
        w = step[:p]
        found = self.squares - float(w @ (2.0 * self.cross - self.gram @ w))
        if len(step) > p:
            found += self.weight * (self.target - float(step[p])) ** 2
        return max(found, 0.0)

    def prior_squares(self, step: Vector, prior: Prior) -> float:
        """Return how far a step is from the prior mean, in its units."""
        w = step[: len(self.centre)]
        found = float(w @ prior.precision @ w)
        if prior.intercept:
            found += prior.intercept * (float(step[-1]) - float(self.centre @ w)) ** 2
        return found


def inverse_root(P: Matrix, least: Matrix) -> tuple[Matrix, float]:
    """Return R with RR' the inverse of P, and log |P|; P is known to be at least ``least``.

    Columns are scaled first, so that their units do not matter. Where they depend on each other so that
    rounding hides what the prior adds, eigenvalues are held to what it must be.
    """
    if not len(P):  # where no column is left; LAPACK takes no empty matrix, and complains on the screen
        return P, 0.0
    size = np.sqrt(np.diagonal(P))
    scaled = P / size[:, None] / size
    factor, failed = linalg.lapack.dpotrf(scaled, lower=0, clean=1)
    logs = 2.0 * float(np.log(size).sum())
    if not failed:
        root = linalg.lapack.dtrtri(factor)[0] / size[:, None]
        return root, logs + 2.0 * float(np.log(np.diagonal(factor)).sum())
    values, vectors = np.linalg.eigh(scaled)
    floor = max(float(np.linalg.eigvalsh(least / size[:, None] / size)[0]), np.finfo(float).tiny)
    values = np.maximum(values, floor)
    return vectors / np.sqrt(values) / size[:, None], logs + float(np.log(values).sum())


@dataclass(frozen=True, slots=True)
class Posterior:
    """Mean (w, h) and R with RR' the covariance in units of the noise; the squares of misfit and prior.

    log_ratio: half of log |prior precision| - log |P|.
    """

    coef: Vector
    height: float
    root: Matrix
    squares: float
    log_ratio: float


def solve(moments: Moments, prior: Prior) -> Posterior:
    """Find the posterior."""
    equations = Equations.of(moments, prior)
    p = len(equations.centre)
    least = np.zeros_like(equations.P)
    least[:p, :p] = prior.precision
    if len(least) > p:
        least[p, p] = equations.weight
    root, log_determinant = inverse_root(equations.P, least)
    step = root @ (root.T @ equations.right_side)
    step = step + root @ (root.T @ (equations.right_side - equations.P @ step))
    squares = equations.residual_squares(step) + equations.prior_squares(step, prior)
    height = float(step[p] + equations.centre @ prior.mean) if len(step) > p else 0.0
    log_ratio = 0.5 * (prior.log_determinant() - log_determinant)
    return Posterior(prior.mean + step[:p], height, root, squares, log_ratio)


def misfit(moments: Moments, prior: Prior, found: Posterior) -> float:
    """Return how far a posterior is from solving its equations: of the mean, and of the covariance.

    The mean is measured by the change of the data that would make it exact, the covariance by P RR' - I in
    columns of length one.
    """
    equations = Equations.of(moments, prior)
    p = len(equations.centre)
    step = found.coef - prior.mean
    if len(equations.right_side) > p:
        step = np.append(step, found.height - float(equations.centre @ prior.mean))
    size = np.sqrt(np.diagonal(equations.P))
    reach = np.abs(equations.right_side / size).max(initial=0.0) + float(size @ np.abs(step))
    reach += np.sqrt(equations.squares + equations.weight * equations.target**2)
    left = np.abs(equations.right_side - equations.P @ step) / size
    mean = float(left.max(initial=0.0)) / reach if reach > 0 else 0.0
    whitened = equations.P @ found.root / size[:, None]
    identity = whitened @ (found.root.T * size) - np.eye(len(size))
    # What an inverse leaves grows with the condition, and is measured beside it.
    condition = float(np.sqrt((whitened**2).sum() * ((found.root * size[:, None]) ** 2).sum()))
    covariance = float(np.abs(identity).max(initial=0.0)) / max(condition, 1.0)
    changed = abs(equations.residual_squares(step) + equations.prior_squares(step, prior) - found.squares)
    scale = equations.squares + equations.weight * equations.target**2 + found.squares
    return max(mean, covariance, changed / scale if scale > 0 else 0.0)
