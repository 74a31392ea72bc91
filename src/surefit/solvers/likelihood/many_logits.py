r"""Logistic regressions of many targets on the same columns, learnt together.

Every target t has weights of its own, 0 for rows that it may not see, and minimises

.. math:: \frac1{W_t} \sum_i s_{it} f(y_{it}, w_t'x_i + b_t) + \frac1{2 C W_t} \|w_t\|^2 .

Conjugate gradients step for all of them at once, by two products with X, on the curvature that they share
before anything is learnt: that of a constant answer for all rows. Few steps do, the fewer the less there is
to learn. Targets that are done leave; one that is not after ``STEPS`` is for a method of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector

Targets = NDArray[np.bool_]

STEPS = 60
SMALL = 1e-16  # of the squared Newton step times the weight: its root bounds a row's error of probability
CLOSE = 1e-9  # relative to the loss of a constant: closer than any fit is asked to be
JITTER = 1e-13  # of unit columns: the shared curvature need only be near, but must have a factor
ONE_CLASS = (1e-300, 1.0 - np.finfo(float).eps)  # beyond, there is nothing to tell apart, nor to prove
STEEPEST = 0.25  # what the curvature of the loss never exceeds


class Logits(NamedTuple):
    """A row a target: the score of every row, and the duality gap relative to the loss of a constant."""

    scores: Vector
    gap: Vector


@dataclass(frozen=True, slots=True, eq=False)
class ManyLogits:
    """Centred columns, and the factor of the curvature that all targets start with.

    >>> X, targets = np.array([[-1.0], [0.0], [1.0], [2.0]]), np.array([[0, 0, 1, 1], [1, 0, 1, 0]]) == 1
    >>> found = ManyLogits.of(X, np.ones(4), C=1.0, share=0.5)(targets, np.ones((2, 4)))
    >>> found.scores.round(3), bool(found.gap.max() < 1e-12)
    (array([[-1.437, -0.479,  0.479,  1.437],
           [ 0.679,  0.226, -0.226, -0.679]]), True)
    """

    X: Matrix
    factor: Matrix
    unit: Vector
    curvature: float
    C: float
    intercept: bool

    @classmethod
    def of(cls, X: Matrix, weight: Vector, *, C: float, share: float, intercept: bool = True) -> Self:
        """Prepare the columns; ``share`` is about that of the second class among the rows of a target."""
        total = float(weight.sum())
        centred = X - weight @ X / total if intercept else X
        curvature = share * (1.0 - share) if intercept else STEEPEST
        hessian = curvature / total * ((centred.T * weight) @ centred)
        hessian[np.diag_indices_from(hessian)] += 1.0 / (C * total)
        unit = 1.0 / np.sqrt(np.diag(hessian))
        hessian *= unit[:, None] * unit
        hessian[np.diag_indices_from(hessian)] += JITTER
        factor = linalg.cholesky(hessian, lower=True, overwrite_a=True)
        return cls(centred, factor, unit, curvature, C, intercept)

    def __call__(self, targets: Targets, weights: Vector) -> Logits:
        """Learn each row of ``targets`` with its row of ``weights``; a gap of inf says that it failed."""
        scores, gap = np.empty(targets.shape), np.full(len(targets), np.inf)
        batch, place = _Batch.start(self, targets, weights), np.arange(len(targets))
        for _ in range(STEPS):
            done = batch.turn()
            # Leaving costs a copy of all that stay: those that are done wait until they are half.
            if 2 * np.count_nonzero(done) >= len(place):
                ended = batch.only(done)
                scores[place[done]], gap[place[done]] = ended.scores, ended.gap()
                batch, place, done = batch.only(~done), place[~done], done[~done]
                if not len(place):
                    break
            batch.move(~done)
        return Logits(scores, gap)

    def scaled(self, slopes: Vector) -> Vector:
        """The slopes by coefficients and intercept, over the shared curvature."""
        found = np.empty_like(slopes)
        columns = (slopes[:, :-1] * self.unit).T
        found[:, :-1] = linalg.cho_solve((self.factor, True), columns, check_finite=False).T * self.unit
        found[:, -1] = slopes[:, -1] / self.curvature
        return found


@dataclass(slots=True, eq=False)
class _Batch:
    """Where some of the targets are: a row each, of weights that add up to 1 and of all else."""

    shared: ManyLogits
    weight: Vector  # in all
    weights: Vector
    targets: Targets
    scores: Vector
    surplus: Vector  # of the probability over the target
    constant: Vector  # the loss of a constant
    point: Vector  # coefficients, then the intercept
    slopes: Vector
    before: Vector  # the slopes one step ago
    step: Vector
    squared: Vector  # length of the slopes before, by the shared curvature

    @classmethod
    def start(cls, shared: ManyLogits, targets: Targets, weights: Vector) -> _Batch:
        """Every target with its best constant."""
        weight = weights.sum(axis=1)
        point = np.zeros((len(targets), shared.X.shape[1] + 1))
        weights = weights / weight[:, None]
        share = np.full(len(targets), 0.5)
        if shared.intercept:
            share = np.clip(np.sum(weights, axis=1, where=targets), *ONE_CLASS)
        point[:, -1] = np.log(share) - np.log1p(-share)
        constant = -share * np.log(share) - (1.0 - share) * np.log1p(-share)
        scores = np.repeat(point[:, -1:], targets.shape[1], axis=1)
        nothing, one = np.zeros_like(point), np.ones(len(point))
        batch = cls(
            shared, weight, weights, targets, scores, scores, constant, point, nothing, nothing, nothing, one
        )
        batch.arrive(point, scores)
        return batch

    def only(self, kept: NDArray[np.bool_]) -> _Batch:
        """Some of them."""
        return _Batch(self.shared, *(getattr(self, name)[kept] for name in self.__slots__[1:]))

    def arrive(self, point: Vector, scores: Vector) -> None:
        """Take a point, whose scores are known, and look at its slopes."""
        chance = np.negative(scores)
        with np.errstate(over="ignore"):
            np.exp(chance, out=chance)
        chance += 1.0
        np.reciprocal(chance, out=chance)
        chance -= self.targets
        self.point, self.scores, self.surplus = point, scores, chance
        self.slopes = self.pull(self.weights * chance)
        self.slopes[:, :-1] += self.strength * point[:, :-1]

    def pull(self, residual: Vector) -> Vector:
        """What weighted residuals say to each coefficient, and to the intercept."""
        found = np.empty_like(self.point)
        found[:, :-1] = residual @ self.shared.X
        found[:, -1] = residual.sum(axis=1) if self.shared.intercept else 0.0
        return found

    @property
    def strength(self) -> Vector:
        """Of the penalty."""
        return 1.0 / (self.shared.C * self.weight[:, None])

    def turn(self) -> NDArray[np.bool_]:
        """Choose the next step; return who is near enough to need none."""
        ahead = self.shared.scaled(self.slopes)
        squared = _dot(self.slopes, ahead)
        again = np.maximum(squared - _dot(self.before, ahead), 0.0) / self.squared
        self.step = again[:, None] * self.step - ahead
        self.before, self.squared = self.slopes, np.maximum(squared, np.finfo(float).tiny)
        pull = self.slopes[:, :-1]
        gap = 0.5 * _dot(pull, pull) / self.strength[:, 0]  # about: nothing pulls at the intercept
        return (squared * self.weight <= SMALL) & (gap <= CLOSE * self.constant)

    def move(self, going: NDArray[np.bool_]) -> None:
        """Take Newton's step along the lines of those ``going``; a sure one where it leads too far."""
        self.step *= going[:, None]
        point, scores, step = self.point, self.scores, self.step
        change = step[:, :-1] @ self.shared.X.T
        change += step[:, -1:]
        paid = _dot(self.strength * step[:, :-1], step[:, :-1])
        squares = change * change
        squares *= self.weights
        chance = self.surplus + self.targets
        bend = _dot(squares, chance) - np.einsum("ij,ij,ij->i", squares, chance, chance) + paid
        slope = _dot(self.slopes, step)
        far = _ratio(-slope, bend)[:, None]
        self.arrive(point + far * step, scores + far * change)
        beyond = ~(np.abs(_dot(self.slopes, step)) <= 0.5 * np.abs(slope))
        if beyond.any():
            sure = _ratio(-slope, STEEPEST * squares.sum(axis=1) + paid)
            far[beyond, 0] = sure[beyond]
            self.arrive(point + far * step, scores + far * change)

    def loss(self) -> Vector:
        """The mean loss."""
        with np.errstate(divide="ignore"):
            return -_dot(self.weights, np.log1p(-np.abs(self.surplus)))

    def gap(self) -> Vector:
        """How much lower the objective can be at most, relative to the loss of a constant.

        The residuals are a dual point once they add up to 0: those of the heavier sign are shortened, and
        conjugates are convex and 0 at 0, so that this costs no more than its share of the loss.
        """
        dual = self.weights * self.surplus
        costs = np.zeros(len(dual))
        if self.shared.intercept:
            above, below = (np.sum(dual, axis=1, where=sign) for sign in (dual > 0, dual < 0))
            heavier = np.maximum(above, -below)
            shorter = _ratio(np.minimum(above, -below), heavier)
            dual = np.where((dual > 0) == (above > -below)[:, None], dual * shorter[:, None], dual)
            costs = (1.0 - shorter) * self.loss()
        left = self.pull(dual)[:, :-1] + self.strength * self.point[:, :-1]
        return (costs + 0.5 * _dot(left, left) / self.strength[:, 0]) / self.constant


def _dot(a: Vector, b: Vector) -> Vector:
    found: Vector = np.einsum("ij,ij->i", a, b)
    return found


def _ratio(a: Vector, b: Vector) -> Vector:
    """a / b, and 0 where there is no step to take."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
