"""Weight, mean and scatter of the rows of each component of a mixture of normal densities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.sums.mixture_sums import MixtureSums, NormalMixture, mixture_scores, mixture_sums
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic
from surefit.stats.cases import Trial

LOG_2_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, slots=True)
class ComponentMoments(Statistic):
    r"""With shares :math:`r_{ik}` in component k: :math:`N_k = \sum_i r_{ik}`, mean and scatter about it.

    likelihood is :math:`\sum_i s_i \log p(x_i)` of the mixture that gave the shares. scatter is (K, d, d), or
    (K, d) where columns are independent. Missing cells count with their expectation and its variance.
    """

    name = "component-moments"

    rows: int
    likelihood: float
    weight: Vector
    mean: Matrix
    scatter: NDArray[np.float64]

    @classmethod
    def of(cls, batch: Batch, **context: Any) -> ComponentMoments:
        """Share out every row among the components of ``mixture``, a :class:`NormalMixture`."""
        mixture: NormalMixture = context["mixture"]
        X: Any = batch.X
        if np.isnan(X.sum()) and np.isnan(X).any():
            return cls._about(len(batch), mixture.mean, _marginal_sums(X, batch.weight, mixture))
        return cls._about(len(batch), mixture.mean, mixture_sums(X, batch.weight, mixture))

    @classmethod
    def shared(cls, X: Matrix, shares: Matrix, centre: Vector, *, diagonal: bool) -> ComponentMoments:
        """The moments where the shares (weights included) are given; ``centre`` is near the rows."""
        deviation = X - centre
        first = shares.T @ deviation
        if diagonal:
            square = shares.T @ deviation**2
        else:
            square = np.stack([(share[:, None] * deviation).T @ deviation for share in shares.T])
        sums = MixtureSums(0.0, shares.sum(axis=0), first, square)
        return cls._about(len(X), np.broadcast_to(centre, first.shape), sums)

    @classmethod
    def _about(cls, rows: int, centre: Matrix, sums: MixtureSums) -> ComponentMoments:
        """From sums about some centre to those about the mean."""
        weight = sums.weight[:, None]
        step = np.divide(sums.first, weight, out=np.zeros_like(sums.first), where=weight > 0)
        scatter = sums.square - _outer(step, sums.weight, sums.square.ndim)
        return cls(rows, sums.likelihood, sums.weight, centre + step, scatter)

    def __add__(self, other: ComponentMoments) -> ComponentMoments:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        step = other.mean - self.mean
        scatter = self.scatter + other.scatter + _outer(step, self.weight * share, self.scatter.ndim)
        return ComponentMoments(
            self.rows + other.rows,
            self.likelihood + other.likelihood,
            weight,
            self.mean + step * share[:, None],
            scatter,
        )

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Two components, with and without independent columns, and rows with gaps."""
        means = np.array([[2.0, 3.0, 4.0, 3.0], [4.0, 3.0, 2.0, 3.0]])
        factor = np.stack([0.7 * np.eye(4) + np.triu(np.full((4, 4), 0.1), 1), 0.5 * np.eye(4)])
        offset = np.array([-1.0, -2.0])
        yield Trial("numbers", {"mixture": NormalMixture(means, factor, offset)})
        yield Trial("numbers", {"mixture": NormalMixture(means, np.full((2, 4), 0.6), offset)})
        yield Trial("gaps", {"mixture": NormalMixture(means[:, :3], factor[:, :3, :3], offset)})


def _outer(step: Matrix, weight: Vector, ndim: int) -> NDArray[np.float64]:
    """weight_k step_k step_k', or its diagonal."""
    if ndim == 2:
        return weight[:, None] * step**2
    found: NDArray[np.float64] = np.einsum("k,ki,kj->kij", weight, step, step)
    return found


def component_scores(X: Any, mixture: NormalMixture) -> Matrix:
    """The log density of every row under every component; of the cells that are there."""
    if not (np.isnan(X.sum()) and np.isnan(X).any()):
        return mixture_scores(X, mixture)
    scores = np.empty((len(X), len(mixture.offset)))
    for rows, seen in _patterns(X):
        for k in range(len(mixture.offset)):
            scores[rows, k] = _Marginal(mixture, k, seen).score(X[rows][:, seen])
    return scores


def _patterns(X: Matrix) -> Iterator[tuple[NDArray[np.intp], NDArray[np.bool_]]]:
    """The rows that have the same cells, and which those are."""
    there = ~np.isnan(X)
    kinds, of_row = np.unique(there, axis=0, return_inverse=True)
    order = np.argsort(of_row, kind="stable")
    cuts = np.searchsorted(of_row[order], np.arange(len(kinds) + 1))
    for kind, seen in enumerate(kinds):
        yield order[cuts[kind] : cuts[kind + 1]], seen


class _Marginal:
    """A component over the columns that are there, and what it expects of the others."""

    def __init__(self, mixture: NormalMixture, k: int, seen: NDArray[np.bool_]) -> None:
        mean, factor = mixture.mean[k], mixture.factor[k]
        if mixture.diagonal:
            covariance, scale = np.diag(1 / factor**2), np.log(factor).sum()
        else:
            root = solve_triangular(factor, np.eye(len(mean)), lower=False)
            covariance, scale = root.T @ root, np.log(np.diagonal(factor)).sum()
        self.seen = seen
        self.mean = mean
        self._chol = cho_factor(covariance[np.ix_(seen, seen)], lower=True) if seen.any() else None
        self._slope = np.zeros((int(seen.sum()), int((~seen).sum())))
        self.left = covariance[np.ix_(~seen, ~seen)]
        log_root = 0.0
        if self._chol is not None:
            across = covariance[np.ix_(seen, ~seen)]
            self._slope = cho_solve(self._chol, across)
            self.left = self.left - across.T @ self._slope
            log_root = float(np.log(np.diagonal(self._chol[0])).sum())
        # The offset holds weight, log determinant and 2 pi of all columns; here they are of some.
        weight = float(mixture.offset[k]) - float(scale) + 0.5 * len(mean) * LOG_2_PI
        self._offset = weight - log_root - 0.5 * int(seen.sum()) * LOG_2_PI

    def score(self, X: Matrix) -> Vector:
        if self._chol is None:
            return np.full(len(X), self._offset)
        y = solve_triangular(self._chol[0], (X - self.mean[self.seen]).T, lower=True)
        found: Vector = self._offset - 0.5 * (y * y).sum(axis=0)
        return found

    def completed(self, X: Matrix) -> Matrix:
        """Deviations from the mean, those of missing cells as expected."""
        out = np.empty((len(X), len(self.mean)))
        deviation = X - self.mean[self.seen]
        out[:, self.seen], out[:, ~self.seen] = deviation, deviation @ self._slope
        return out


def _marginal_sums(X: Matrix, weight: Vector | None, mixture: NormalMixture) -> MixtureSums:
    """The sums of a step where cells are missing, pattern by pattern."""
    total, first = np.zeros(len(mixture.offset)), np.zeros_like(mixture.mean)
    square, likelihood = np.zeros(mixture.factor.shape), 0.0
    for rows, seen in _patterns(X):
        part = np.asarray(X[rows][:, seen], dtype=np.float64)
        s = np.ones(len(rows)) if weight is None else weight[rows]
        members = [_Marginal(mixture, k, seen) for k in range(len(total))]
        scores = np.column_stack([member.score(part) for member in members])
        best = scores.max(axis=1, keepdims=True)
        shares = np.exp(scores - best)
        sums = shares.sum(axis=1, keepdims=True)
        likelihood += float(s @ (best + np.log(sums))[:, 0])
        shares *= s[:, None] / sums
        for k, member in enumerate(members):
            deviation, share = member.completed(part), shares[:, k]
            total[k] += share.sum()
            first[k] += share @ deviation
            if mixture.diagonal:
                square[k] += share @ deviation**2
                square[k][~seen] += share.sum() * np.diagonal(member.left)
            else:
                square[k] += (share[:, None] * deviation).T @ deviation
                square[k][np.ix_(~seen, ~seen)] += share.sum() * member.left
    return MixtureSums(likelihood, total, first, square)
