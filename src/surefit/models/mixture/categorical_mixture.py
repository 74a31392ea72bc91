"""Mixtures of independent columns of levels: latent classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, FormatError
from surefit.core.parameters import Count, NonNegative, RandomState, Tolerance, WholeNumber
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.mixture.base import MixtureModel, MixtureParameters, Theta, log_weights
from surefit.models.mixture.normals import NONE_LOST, checked_weights
from surefit.models.mixture.starts import sampled
from surefit.stats.category_counts import CategoryCounts
from surefit.stats.shared_sums import SharedSums, shares_of

Given = NDArray[Any] | list[Any] | tuple[Any, ...] | None


@dataclass(frozen=True, slots=True)
class CategoricalMixtureParameters(MixtureParameters):
    """All levels, column after column, where each column's begin, and their probabilities by component."""

    levels: Vector
    starts: NDArray[np.int64]
    probabilities: Matrix


class CategoricalMixture(MixtureModel):
    r"""Rows of levels: :math:`p(x) = \sum_k \pi_k \prod_j p_{kj}(x_j)`, known as latent class analysis.

    The levels of a column are the different numbers in it; ``probabilities_`` has a column for each level of
    each column of X, ``levels_`` names it, and ``starts_`` says where each column's begin. alpha: this many
    rows of every level are added to every component. A level never seen has probability 0.

    >>> from surefit import CategoricalMixture
    >>> X = [[0, 2], [0, 2], [1, 3], [1, 3]]
    >>> model = CategoricalMixture(2, random_state=0).fit(X)
    >>> sorted(model.probabilities_.round(3).tolist())
    [[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]]
    """

    learns = CategoricalMixtureParameters

    levels_: Vector
    starts_: NDArray[np.int64]
    probabilities_: Matrix

    def __init__(
        self,
        n_components: Count = 1,
        *,
        alpha: NonNegative = 0.0,
        tol: Tolerance = 1e-6,
        max_iter: WholeNumber = 500,
        n_init: Count = 1,
        weights_init: Given = None,
        random_state: RandomState = None,
        warm_start: bool = False,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.weights_init = weights_init
        self.random_state = random_state
        self.warm_start = warm_start

    def _start(self, source: Source, engine: Engine, rng_of: Callable[[int], Any]) -> Theta:
        """Each component leans towards the levels of a random row."""
        count = self.n_components
        seen = engine.accumulate(CategoryCounts.of, source)
        levels = np.concatenate(seen.levels).astype(np.float64)
        starts = np.concatenate([[0], np.cumsum([len(each) for each in seen.levels])]).astype(np.int64)
        X, weight = sampled(source, engine)
        table = {"levels": levels, "starts": starts}
        hits = _indicators(table, X)
        overall = (weight @ hits) / weight.sum()
        p = np.broadcast_to(overall, (count, len(levels))).copy()
        if count > 1:
            rng = rng_of(1)
            chosen = [int(rng.integers(len(X)))]
            while len(chosen) < count:  # rows that differ in most cells from those before
                apart = (X.shape[1] - (hits @ hits[chosen].T).toarray()).min(axis=1)
                mass = weight * (apart + 1e-9)
                at = rng.random() * mass.sum()
                chosen.append(min(int(np.searchsorted(np.cumsum(mass), at)), len(X) - 1))
            p = 0.5 * p + 0.5 * hits[chosen].toarray()
        weights = np.full(count, 1 / count)
        if self.weights_init is not None:
            weights = checked_weights(self.weights_init, count)
        return {"weights": weights, "probabilities": p, **table}

    def _of(self, theta: Theta) -> Callable[[Batch], SharedSums]:
        own = dict(theta)
        return partial(SharedSums.of, joint=partial(_joint_of, own), features=partial(_indicators, own))

    def _next(self, sums: SharedSums, theta: Theta) -> Theta:
        return self._stepped(sums.weight, sums.sums, theta)

    def _stepped(self, weight: Any, counts: Matrix, theta: Theta) -> Theta:
        starts = np.asarray(theta["starts"])
        total = weight + NONE_LOST
        p = counts + self.alpha
        sums = np.add.reduceat(p, starts[:-1], axis=1)
        sums = np.where(sums > 0, sums, 1.0)
        p = p / np.repeat(sums, np.diff(starts), axis=1)
        return {**theta, "weights": total / total.sum(), "probabilities": p}

    def _joint(self, X: Any, theta: Theta) -> Matrix:
        return _joint_of(theta, X)

    def _fitted(self) -> Theta:
        return {
            "weights": self.weights_,
            "probabilities": self.probabilities_,
            "levels": self.levels_,
            "starts": self.starts_,
        }

    def _learned(self, theta: Theta, about: MixtureParameters) -> CategoricalMixtureParameters:
        own = {entry.name: getattr(about, entry.name) for entry in fields(about)}
        return CategoricalMixtureParameters(
            **own,
            levels=np.asarray(theta["levels"]),
            starts=np.asarray(theta["starts"]),
            probabilities=np.asarray(theta["probabilities"]),
        )

    def _plain_step(self, source: Source, engine: Engine, theta: Theta) -> tuple[float, Theta]:
        found = list(engine.map(partial(_plain, dict(theta)), source))
        likelihood = float(sum(each[0] for each in found))
        weight, counts = sum(each[1] for each in found), sum(each[2] for each in found)
        return likelihood, self._stepped(weight, np.asarray(counts), theta)

    def _distance(self, one: Theta, two: Theta) -> float:
        if any(np.shape(one[name]) != np.shape(two[name]) for name in two):
            return np.inf
        levels = np.abs(np.asarray(one["levels"]) - two["levels"])
        steps = [
            np.abs(np.asarray(one["weights"]) - two["weights"]).max(initial=0.0),
            np.abs(np.asarray(one["probabilities"]) - two["probabilities"]).max(initial=0.0),
            float((levels > 1e-9 * np.abs(np.asarray(two["levels"]))).any()),
            float((np.asarray(one["starts"]) != two["starts"]).any()),
        ]
        return float(np.max(np.nan_to_num(steps, nan=np.inf)))

    def _free(self) -> float:
        columns = len(self.starts_) - 1
        return float(len(self.weights_) * (len(self.levels_) - columns) + len(self.weights_) - 1)

    def _draw(self, counts: NDArray[np.int64], rng: np.random.Generator) -> Matrix:
        which = np.repeat(np.arange(len(counts)), counts)
        X = np.empty((len(which), len(self.starts_) - 1))
        for j, (a, b) in enumerate(pairwise(self.starts_)):
            cumulative = np.cumsum(self.probabilities_[:, a:b], axis=1)
            at = rng.random(len(which)) * cumulative[which, -1]
            code = (cumulative[which] <= at[:, None]).sum(axis=1)
            X[:, j] = self.levels_[a:b][np.minimum(code, b - a - 1)]
        return X

    def check_loaded(self) -> None:
        """Refuse arrays that do not belong together."""
        super().check_loaded()
        starts = self.starts_
        fits = (
            starts.shape == (self.n_features_in_ + 1,)
            and starts[0] == 0
            and starts[-1] == len(self.levels_)
            and (np.diff(starts) > 0).all()
            and self.probabilities_.shape == (len(self.weights_), len(self.levels_))
        )
        if not fits:
            raise FormatError("the file's levels do not fit together: it is damaged.")


def _codes(theta: Theta, X: Any) -> NDArray[np.int64]:
    """The place of each cell's level among all; -1 for a level that was not there."""
    levels, starts = np.asarray(theta["levels"]), np.asarray(theta["starts"])
    X = np.asarray(X, dtype=np.float64)
    if X.shape[1] != len(starts) - 1:
        raise DataError(f"the mixture has {len(starts) - 1} columns, not {X.shape[1]}.")
    codes = np.empty(X.shape, dtype=np.int64)
    for j, (a, b) in enumerate(pairwise(starts)):
        at = np.minimum(np.searchsorted(levels[a:b], X[:, j]), b - a - 1)
        codes[:, j] = np.where(levels[a:b][at] == X[:, j], at + a, -1)
    return codes


def _indicators(theta: Theta, X: Any) -> Any:
    """A one for the level of each cell, as a sparse matrix."""
    codes = _codes(theta, X)
    known = codes >= 0
    ends = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    shape = (len(codes), len(np.asarray(theta["levels"])))
    return sparse.csr_array((np.ones(int(ends[-1])), codes[known], ends), shape=shape)


def _joint_of(theta: Theta, X: Any) -> Matrix:
    codes, p = _codes(theta, X), np.asarray(theta["probabilities"])
    with np.errstate(divide="ignore"):
        logs = np.log(np.column_stack([p, np.zeros(len(p))]))
    found: Matrix = np.tile(log_weights(theta), (len(codes), 1))
    for column in codes.T:
        found += logs[:, column].T
    return found


def _plain(theta: Theta, batch: Batch) -> tuple[float, Any, Any]:
    """Log-likelihood, weight and counts of levels of a batch, column by column."""
    X, p = np.asarray(batch.X, dtype=np.float64), np.asarray(theta["probabilities"])
    levels, starts = np.asarray(theta["levels"]), np.asarray(theta["starts"])
    density, places = np.ones((len(X), len(p))), []
    for j, (a, b) in enumerate(pairwise(starts)):
        at = {float(level): e for e, level in enumerate(levels[a:b], start=int(a))}
        if not at.keys() >= set(X[:, j].tolist()):
            raise DataError(f"column {j} holds a level that is none of the fitted ones.")
        places.append(np.array([at[cell] for cell in X[:, j].tolist()], dtype=np.int64))
        density *= p[:, places[-1]].T
    with np.errstate(divide="ignore"):
        shares, likelihood = shares_of(np.log(density) + log_weights(theta), batch.weight)
    counts = np.column_stack([np.zeros(len(levels))] * len(p)).T.copy()
    for place in places:
        for k in range(len(p)):
            counts[k] += np.bincount(place, shares[:, k], len(levels))
    return likelihood, shares.sum(axis=0), counts
