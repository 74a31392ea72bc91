"""Wrappers that search subsets at random: simulated annealing and a genetic algorithm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import ParameterError
from surefit.evaluate.select.subset_scores import Subset, SubsetScores
from surefit.evaluate.select.wrappers import Wrapper

Mask = NDArray[np.bool_]


def _subset(mask: Mask) -> Subset:
    return tuple(int(j) for j in np.flatnonzero(mask))


class AnnealingSelector(Wrapper):
    r"""Walk from subset to subset, one column at a time, and less and less often to a worse one.

    A step that lowers the score by d is taken with probability :math:`e^{-d / T}`, where the temperature
    T falls from ``temperature`` times the spread of the first scores to a thousandth of that. The best
    subset seen is kept. n_steps: subsets tried, those tried before counted once.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> model = surefit.AnnealingSelector(surefit.LinearRegression(), n_steps=60)
    >>> model.fit(X, X[:, 1] - X[:, 3] + 0.1 * X[:, 0] ** 2).get_support()[[1, 3]]
    array([ True,  True])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        n_steps: int = 200,
        temperature: float = 1.0,
        scoring: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.n_steps = n_steps
        self.temperature = temperature
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check(self) -> None:
        if isinstance(self.n_steps, bool) or not isinstance(self.n_steps, int) or self.n_steps < 1:
            raise ParameterError(f"n_steps={self.n_steps!r} must be a whole number of at least 1.")
        if not self.temperature > 0:
            raise ParameterError(f"temperature={self.temperature!r} must be above 0.")

    def _choose(self, scores: SubsetScores, columns: int) -> Subset:
        rng = np.random.default_rng(self.random_state)
        now = rng.random(columns) < 0.5
        now[rng.integers(columns)] = True
        first = scores.of([(j,) for j in range(columns)] + [_subset(now)])
        spread = float(np.ptp(first)) or 1.0
        best = max(scores.known, key=lambda subset: scores.known[subset])
        for step in range(self.n_steps):
            heat = self.temperature * spread * 1e-3 ** (step / max(1, self.n_steps - 1))
            other = now.copy()
            j = int(rng.integers(columns))
            other[j] = not other[j]
            if not other.any():
                continue
            gain = scores[_subset(other)] - scores[_subset(now)]
            if gain >= 0 or rng.random() < math.exp(gain / heat):
                now = other
            if scores[_subset(now)] > scores[best]:
                best = _subset(now)
        return best


class GeneticSelector(Wrapper):
    """Breed subsets: pairs of good ones exchange columns, a few columns flip, and the best live on.

    population: subsets a generation. generations: how many. mutation: the chance that a column flips, by
    default one column a subset on average. Parents are the better of two drawn; the best two live on as
    they are.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> model = surefit.GeneticSelector(surefit.LinearRegression(), population=12, generations=6)
    >>> model.fit(X, X[:, 1] - X[:, 3] + 0.1 * X[:, 0] ** 2).get_support()[[1, 3]]
    array([ True,  True])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        population: int = 30,
        generations: int = 20,
        mutation: float | None = None,
        scoring: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.population = population
        self.generations = generations
        self.mutation = mutation
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check(self) -> None:
        for name, least in (("population", 4), ("generations", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ParameterError(f"{name}={value!r} must be a whole number of at least {least}.")

    def _choose(self, scores: SubsetScores, columns: int) -> Subset:
        rng = np.random.default_rng(self.random_state)
        chance = 1.0 / columns if self.mutation is None else self.mutation
        alive = rng.random((self.population, columns)) < 0.5
        for generation in range(self.generations + 1):
            for row in np.flatnonzero(~alive.any(axis=1)):
                alive[row, rng.integers(columns)] = True
            fitness = np.array(scores.of(_subset(mask) for mask in alive))
            order = np.argsort(-fitness, kind="stable")
            if generation == self.generations:
                break
            rivals = rng.integers(self.population, size=(2, 2, self.population - 2))
            parents = np.where(fitness[rivals[0]] >= fitness[rivals[1]], rivals[0], rivals[1])
            swap = rng.random((self.population - 2, columns)) < 0.5
            children = np.where(swap, alive[parents[0]], alive[parents[1]])
            children ^= rng.random(children.shape) < chance
            alive = np.vstack([alive[order[:2]], children])
        return max(scores.known, key=lambda subset: (scores.known[subset], -len(subset)))
