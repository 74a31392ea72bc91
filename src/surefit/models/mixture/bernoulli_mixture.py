"""Mixtures of independent columns of zeros and ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError, FormatError
from surefit.core.parameters import Count, Fraction, NonNegative, RandomState, Tolerance, WholeNumber
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.mixture.base import MixtureModel, MixtureParameters, Theta, log_weights
from surefit.models.mixture.normals import NONE_LOST, checked_means, checked_weights
from surefit.models.mixture.starts import centres_by
from surefit.stats.shared_sums import SharedSums, shares_of

Given = NDArray[Any] | list[Any] | tuple[Any, ...] | None
TOWARDS = 0.25  # how far a start moves from its centre to the middle: a probability of 0 would never change


@dataclass(frozen=True, slots=True)
class BernoulliMixtureParameters(MixtureParameters):
    """The probability of a one, by component and column."""

    probabilities: Matrix


class BernoulliMixture(MixtureModel):
    r"""Rows of zeros and ones: :math:`p(x) = \sum_k \pi_k \prod_j p_{kj}^{x_j}(1 - p_{kj})^{1 - x_j}`.

    Cells above ``binarize`` are ones; None takes cells as they are, and then they must be 0 or 1. alpha: this
    many ones and as many zeros are added to every component and column. probabilities_init and weights_init:
    where to begin.

    >>> from surefit import BernoulliMixture
    >>> X = [[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]]
    >>> model = BernoulliMixture(2, random_state=0).fit(X)
    >>> sorted(model.probabilities_.round(3).tolist())
    [[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """

    learns = BernoulliMixtureParameters

    probabilities_: Matrix

    def __init__(
        self,
        n_components: Count = 1,
        *,
        binarize: Fraction | None = 0.5,
        alpha: NonNegative = 0.0,
        tol: Tolerance = 1e-6,
        max_iter: WholeNumber = 500,
        n_init: Count = 1,
        weights_init: Given = None,
        probabilities_init: Given = None,
        random_state: RandomState = None,
        warm_start: bool = False,
    ) -> None:
        self.n_components = n_components
        self.binarize = binarize
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.weights_init = weights_init
        self.probabilities_init = probabilities_init
        self.random_state = random_state
        self.warm_start = warm_start

    def _start(self, source: Source, engine: Engine, rng_of: Callable[[int], Any]) -> Theta:
        count, width = self.n_components, source.schema.width
        if self.probabilities_init is not None:
            p = checked_means(self.probabilities_init, count, width)
            if (p < 0).any() or (p > 1).any():
                raise DataError("probabilities_init must lie between 0 and 1.")
        else:
            centres, _ = centres_by("kmeans", source, engine, count, rng_of)
            coins = np.clip(_ones(centres, None if self.binarize is None else self.binarize), 0.0, 1.0)
            p = coins + TOWARDS * (0.5 - coins)
        weights = np.full(count, 1 / count)
        if self.weights_init is not None:
            weights = checked_weights(self.weights_init, count)
        return {"weights": weights, "probabilities": p}

    def _of(self, theta: Theta) -> Callable[[Batch], SharedSums]:
        joint = partial(_joint_of, dict(theta), self.binarize)
        return partial(SharedSums.of, joint=joint, features=partial(_checked_ones, self.binarize))

    def _next(self, sums: SharedSums, theta: Theta) -> Theta:
        return self._stepped(sums.weight, sums.sums)

    def _stepped(self, weight: Any, ones: Matrix) -> Theta:
        total = weight + NONE_LOST
        p = (ones + self.alpha) / (total + 2 * self.alpha)[:, None]
        return {"weights": total / total.sum(), "probabilities": np.clip(p, 0.0, 1.0)}

    def _joint(self, X: Any, theta: Theta) -> Matrix:
        return _joint_of(theta, self.binarize, X)

    def _fitted(self) -> Theta:
        return {"weights": self.weights_, "probabilities": self.probabilities_}

    def _learned(self, theta: Theta, about: MixtureParameters) -> BernoulliMixtureParameters:
        own = {entry.name: getattr(about, entry.name) for entry in fields(about)}
        return BernoulliMixtureParameters(**own, probabilities=np.asarray(theta["probabilities"]))

    def _plain_step(self, source: Source, engine: Engine, theta: Theta) -> tuple[float, Theta]:
        found = list(engine.map(partial(_plain, dict(theta), self.binarize), source))
        likelihood = float(sum(each[0] for each in found))
        weight, ones = sum(each[1] for each in found), sum(each[2] for each in found)
        return likelihood, self._stepped(weight, np.asarray(ones))

    def _distance(self, one: Theta, two: Theta) -> float:
        steps = [
            np.abs(np.asarray(one[name]) - two[name]).max(initial=0.0)
            if np.shape(one[name]) == np.shape(two[name])
            else np.inf
            for name in ("weights", "probabilities")
        ]
        return float(np.max(np.nan_to_num(steps, nan=np.inf)))

    def _free(self) -> float:
        return float(self.probabilities_.size + len(self.weights_) - 1)

    def _draw(self, counts: NDArray[np.int64], rng: np.random.Generator) -> Matrix:
        p = np.repeat(self.probabilities_, counts, axis=0)
        return (rng.random(p.shape) < p).astype(np.float64)

    def check_loaded(self) -> None:
        """Refuse arrays that do not belong together."""
        super().check_loaded()
        if self.probabilities_.shape != (len(self.weights_), self.n_features_in_):
            raise FormatError("the file's components do not fit together: it is damaged.")


def _ones(X: Any, threshold: float | None) -> Any:
    X = np.asarray(X, dtype=np.float64)
    return X if threshold is None else (threshold < X).astype(np.float64)


def _checked_ones(threshold: float | None, X: Any) -> Any:
    found = _ones(X, threshold)
    if threshold is None and not ((found == 0) | (found == 1)).all():
        raise DataError(
            "BernoulliMixture(binarize=None) takes cells of 0 and 1: set binarize to a threshold."
        )
    return found


def _joint_of(theta: Theta, threshold: float | None, X: Any) -> Matrix:
    """Log share plus log density; impossible cells are -inf, certain ones 0."""
    ones = _checked_ones(threshold, X)
    p = np.asarray(theta["probabilities"])
    with np.errstate(divide="ignore"):
        heads, tails = np.log(p), np.log1p(-p)
    safe_heads, safe_tails = np.maximum(heads, -1e300), np.maximum(tails, -1e300)
    found: Matrix = ones @ np.where(heads == -np.inf, 0, safe_heads).T
    found += (1 - ones) @ np.where(tails == -np.inf, 0, safe_tails).T
    never = ones @ (p == 0).T.astype(float) + (1 - ones) @ (p == 1).T.astype(float)
    return np.where(never > 0, -np.inf, found) + log_weights(theta)


def _plain(theta: Theta, threshold: float | None, batch: Batch) -> tuple[float, Any, Any]:
    """Log-likelihood, weight and ones of a batch, component by component."""
    ones, p = _checked_ones(threshold, batch.X), np.asarray(theta["probabilities"])
    joint = np.column_stack([(xlogy(ones, q) + xlogy(1 - ones, 1 - q)).sum(axis=1) for q in p]) + log_weights(
        theta
    )
    shares, likelihood = shares_of(joint, batch.weight)
    return (
        likelihood,
        shares.sum(axis=0),
        np.stack([(share[:, None] * ones).sum(axis=0) for share in shares.T]),
    )
