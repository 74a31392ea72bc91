r"""Other starts: a loss that is not convex has several local minima, and one descent finds one of them.

Least squares on about as few rows as determine the coefficients give starts that are far apart, as in robust
regression: many of them miss the rows that a start from all rows is drawn to. All go down together, by damped
steps :math:`(H_k + \mu_k D_k)^{-1} g_k` with the expected curvature, and the lowest few are told.

Where variances grow faster than squares of means, a row costs next to nothing once its mean is beyond all
numbers: the lowest local minimum may fit a few rows and give up all others. Such a minimum is no answer
while there is one with means in reach of the targets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.data.batches.batch import Batch
from surefit.losses.family_loss import FamilyLoss
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.subsample import every_nth
from surefit.stats.products import scores_of

SAMPLE, SQUARES = 2048, 500_000  # rows that starts are tried on, and cells of their second derivatives
ROWS_EACH = 20  # of the sample, for each coefficient at least
FIRST, MOST = (
    8,
    256,
)  # starts: where half of the first ones end in the known local minimum, and none below, all do
WORK = 4e9  # multiplications that all starts may take
SUBSETS = 1.0, 1.5  # rows that starts are drawn from in turns, for each coefficient
ROUNDS = 100
SAME = 1e-4  # of the objective: what starts that have not quite arrived in one local minimum differ by
TOLD = 4  # local minima
REACH = 1e3  # times the greatest target: means beyond explain no row
SLOW = 1e-8  # of it: a step that gains no more is the last
STUCK = 1e14  # of damping: no step goes down, and starts far out need much of it
GROUND = 1e-12  # of the greatest curvature: what makes a singular matrix a regular one
EPS = float(np.finfo(float).eps)


def lower_local_minima(objective: Objective, known: float, anywhere: bool = False) -> list[Vector]:
    """Return packed points that may lead below a known value, the lowest first; ``objective`` of few rows.

    anywhere: also such as have means out of reach of the targets.

    >>> from surefit.losses.families import InverseGaussian
    >>> from surefit.losses.links import Log
    >>> from surefit.penalties import NoPenalty
    >>> loss, y = FamilyLoss(InverseGaussian(), Log()), [1.0, 2.0, 4.0]
    >>> lower_local_minima(Objective.of_arrays([[0.0], [1.0], [2.0]], y, loss, NoPenalty()), 1.0)[0].round(6)
    array([0.693147, 0.      ])
    """
    slope = _Slope.of(objective)
    cost = ROUNDS * len(slope.A) * slope.A.shape[1] ** 2
    found = slope.ends(FIRST, ROUNDS // 4)
    alike = [abs(value - known) <= SAME * abs(known) for value, _ in found]
    below = any(value < known - SAME * abs(known) for value, _ in found)
    if below or sum(alike) < FIRST / 2:
        found = slope.ends(int(np.clip(WORK / cost, FIRST, MOST)), ROUNDS)
    lower: list[tuple[float, Vector]] = []
    for each, w in sorted(found, key=itemgetter(0)):
        if len(lower) == TOLD or not each < known - EPS * abs(known):
            break
        apart = not lower or each > lower[-1][0] + SAME * abs(each)
        if apart and (anywhere or is_in_reach(objective, slope.outer(w))):
            lower.append((each, w))
    return [slope.outer(w) for _, w in lower]


@dataclass(frozen=True, slots=True)
class _Slope:
    """Rows in columns of mean 0 and size 1, the intercept's last; weights of sum 1; what squares cost."""

    loss: FamilyLoss
    A: Matrix
    y: Vector
    s: Vector
    offset: Vector
    squares: Vector
    mean: Vector
    size: Vector

    @classmethod
    def of(cls, objective: Objective) -> _Slope:
        rows = objective.need_rows("the search for other local minima")
        loss = objective.loss
        assert isinstance(loss, FamilyLoss)
        spread, free = objective.spread, objective.fit_intercept
        mean = spread.mean if free else np.zeros(objective.columns)
        size = np.sqrt(spread.variance + (spread.mean - mean) ** 2)
        size = np.where(size > 0, size, 1.0)
        dense: Any = rows.X
        dense = dense.toarray() if sparse.issparse(dense) else np.asarray(dense, dtype=np.float64)
        A = (dense - mean) / size
        A = np.column_stack([A, np.ones(len(A))]) if free else A
        s = np.ones(len(A)) if rows.weight is None else np.asarray(rows.weight, dtype=np.float64)
        kept = s > 0
        squares = objective.penalty.quadratic(objective.columns)
        own = np.zeros(objective.columns) if squares is None else squares
        own = (np.diagonal(own) if own.ndim == 2 else own) / size**2
        none = np.zeros(len(A)) if rows.offset is None else np.asarray(rows.offset, dtype=np.float64)
        y = np.asarray(rows.y, dtype=np.float64)
        return cls(
            loss,
            np.ascontiguousarray(A[kept]),
            y[kept],
            s[kept] / s.sum(),
            none[kept],
            np.append(own, np.zeros(int(free))),
            mean,
            size,
        )

    def outer(self, w: Vector) -> Vector:
        """Return the packed point of the columns as they are."""
        coef = w[: len(self.size)] / self.size
        return coef if len(w) == len(coef) else np.append(coef, w[-1] - self.mean @ coef)

    def ends(self, count: int, rounds: int) -> list[tuple[float, Vector]]:
        """Return where some of the starts lead to, fits to the scores of few targets, and the value there."""
        z = self.loss.link.forward(_inside(self.y, self.loss)) - self.offset
        found, size = [], self.A.shape[1]
        for number in range(count):
            rng = np.random.Generator(np.random.Philox(number))
            some = rng.permutation(len(z))[: int(SUBSETS[number % len(SUBSETS)] * size)]
            found.append(np.linalg.lstsq(self.A[some], z[some])[0])
        W, value = self.down(np.column_stack(found), rounds)
        return [(float(value[k]), W[:, k]) for k in np.flatnonzero(np.isfinite(value))]

    def value(self, W: Matrix) -> Vector:
        """Return the objective of each column of W."""
        Z = self.A @ W + self.offset[:, None]
        each = self.loss.value(np.broadcast_to(self.y[:, None], Z.shape), Z)
        return np.asarray(self.s @ each + 0.5 * self.squares @ W**2)

    def down(self, W: Matrix, rounds: int) -> tuple[Vector, Vector]:
        """Take every column of W downhill, and return where each got to and its objective."""
        value, damping = self.value(W), np.full(W.shape[1], 1e-3)
        moving = np.flatnonzero(np.isfinite(value))
        for _ in range(rounds):
            if not len(moving):
                break
            there = W[:, moving] - self._steps(W[:, moving], damping[moving])
            reached, before = self.value(there), value[moving]
            falls = reached < before
            went = moving[falls]
            W[:, went], value[went] = there[:, falls], reached[falls]
            damping[moving] *= np.where(falls, 0.2, 8.0)
            slow = before - reached <= SLOW * np.abs(reached)
            still = np.where(falls, slow, damping[moving] > STUCK)
            moving = moving[~still]
        return W, value

    def _steps(self, W: Matrix, damping: Vector) -> Vector:
        Z = self.A @ W + self.offset[:, None]
        y = np.broadcast_to(self.y[:, None], Z.shape)
        slope = self.A.T @ (self.s[:, None] * self.loss.gradient(y, Z)) + self.squares[:, None] * W
        bend = self.s[:, None] * self.loss.curvature(y, Z)
        H = np.stack([(self.A.T * each) @ self.A for each in bend.T])
        own = np.einsum("kjj->kj", H)
        own += self.squares
        most = own.max(axis=1, initial=0.0)
        own += damping[:, None] * own + GROUND * most[:, None]
        fine = np.isfinite(H).all(axis=(1, 2)) & np.isfinite(slope).all(axis=0) & (most > 0)
        step = np.zeros_like(W)
        if fine.any():
            step[:, fine] = np.linalg.solve(H[fine], slope.T[fine][:, :, None])[:, :, 0].T
        return step


def _inside(y: Vector, loss: FamilyLoss) -> Vector:
    """Move targets that no mean equals a little way inside."""
    if loss.family.means.high is not None:
        return (y + 0.5) / 2.0
    if loss.family.means.low is None:
        return y
    least = float(np.min(y[y > 0], initial=np.inf))
    return np.maximum(y, 0.5 * least if np.isfinite(least) else 1.0)


def few_rows(objective: Objective) -> Objective:
    """Return the objective over as many rows as starts are tried on; itself where it has no more."""
    size = objective.shape[0]
    return every_nth(objective, max(min(SAMPLE, SQUARES // size**2), ROWS_EACH * size))


def is_in_reach(objective: Objective, w: Vector) -> bool:
    """Whether no mean at a packed point is far beyond all targets; always, for families of bounded means.

    >>> from surefit.losses.families import InverseGaussian
    >>> from surefit.losses.links import Log
    >>> from surefit.penalties import NoPenalty
    >>> loss = FamilyLoss(InverseGaussian(), Log())
    >>> of = Objective.of_arrays([[0.0], [1.0]], [1.0, 5.0], loss, NoPenalty())
    >>> is_in_reach(of, np.array([1.0, 0.0])), is_in_reach(of, np.array([20.0, 0.0]))
    (True, False)
    """
    loss = objective.loss
    assert isinstance(loss, FamilyLoss)
    if loss.family.means.low is None or loss.family.means.high is not None:
        return True
    coef, intercept = objective.split(w)
    of = partial(_highest, loss=loss, w=coef, intercept=intercept)
    means, targets = np.max(list(objective.engine.map(of, objective.source)), axis=0)
    return bool(means <= REACH * targets)


def _highest(batch: Batch, loss: FamilyLoss, w: Vector, intercept: Any) -> tuple[float, float]:
    """Return the greatest mean and the greatest target of the rows that count."""
    kept = np.ones(len(batch), dtype=bool) if batch.weight is None else np.asarray(batch.weight) > 0
    with np.errstate(over="ignore"):
        mean = np.asarray(loss.link.inverse(scores_of(batch, w, intercept)))[kept]
    return float(np.max(mean, initial=0.0)), float(np.max(np.asarray(batch.y)[kept], initial=0.0))
