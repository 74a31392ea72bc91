"""A step of expectation and maximisation for a mixture of normal densities, and its log densities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled


@dataclass(frozen=True, slots=True)
class NormalMixture:
    r"""Densities of components: :math:`\log p_k(x) = o_k - \frac12 \|(x - m_k) F_k\|^2`.

    mean is (K, d), offset (K,). factor is (K, d, d), upper triangular, or (K, d) where columns are
    independent.
    """

    mean: Matrix
    factor: NDArray[np.float64]
    offset: Vector

    @property
    def diagonal(self) -> bool:
        """Whether columns are independent within a component."""
        return self.factor.ndim == 2


@dataclass(frozen=True, slots=True)
class MixtureSums:
    """Log-likelihood; weight (K,), first moments (K, d) and squares about the means that were in force."""

    likelihood: float
    weight: Vector
    first: Matrix
    square: NDArray[np.float64]


def mixture_sums(
    X: NDArray[Any], weight: Vector | None, mixture: NormalMixture, *, _threads: int | None = None
) -> MixtureSums:
    """Sum what every row says of every component, by its share in it.

    >>> one = NormalMixture(np.zeros((1, 1)), np.ones((1, 1, 1)), np.zeros(1))
    >>> found = mixture_sums(np.array([[1.0], [3.0]]), None, one)
    >>> found.likelihood, found.first.tolist(), found.square.tolist()
    (-5.0, [[4.0]], [[[10.0]]])
    """
    native = compiled()
    if native is None:
        return mixture_sums_twin(X, weight, mixture)
    total, first = np.zeros(len(mixture.offset)), np.zeros_like(mixture.mean)
    square = np.zeros(mixture.factor.shape)
    likelihood = native.mixture_sums(
        X,
        weight,
        np.ascontiguousarray(mixture.mean),
        np.ascontiguousarray(mixture.factor).ravel(),
        mixture.offset,
        mixture.diagonal,
        total,
        first,
        square.ravel(),
        (1 if X.size < 10_000 else threads()) if _threads is None else _threads,
    )
    return MixtureSums(likelihood, total, first, square)


def mixture_sums_twin(X: NDArray[Any], weight: Vector | None, mixture: NormalMixture) -> MixtureSums:
    """Do the same one component after the other."""
    scores = mixture_scores_twin(X, mixture)
    best = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - best)
    sums = shares.sum(axis=1, keepdims=True)
    s = np.ones(len(X)) if weight is None else weight
    shares *= (s / sums[:, 0])[:, None]
    first, square = np.zeros_like(mixture.mean), np.zeros(mixture.factor.shape)
    for k, centre in enumerate(mixture.mean):
        deviation = X - centre
        first[k] = shares[:, k] @ deviation
        weighted = shares[:, k, None] * deviation
        square[k] = (weighted * deviation).sum(axis=0) if mixture.diagonal else weighted.T @ deviation
    return MixtureSums(float(s @ (best + np.log(sums))[:, 0]), shares.sum(axis=0), first, square)


def mixture_scores(X: NDArray[Any], mixture: NormalMixture, *, _threads: int | None = None) -> Matrix:
    """Return the log density of every row under every component.

    >>> one = NormalMixture(np.zeros((1, 1)), np.ones((1, 1, 1)), np.zeros(1))
    >>> mixture_scores(np.array([[1.0], [3.0]]), one).tolist()
    [[-0.5], [-4.5]]
    """
    native = compiled()
    if native is None:
        return mixture_scores_twin(X, mixture)
    out = np.empty((X.shape[0], len(mixture.offset)))
    native.mixture_scores(
        X,
        np.ascontiguousarray(mixture.mean),
        np.ascontiguousarray(mixture.factor).ravel(),
        mixture.offset,
        mixture.diagonal,
        out,
        (1 if X.size < 10_000 else threads()) if _threads is None else _threads,
    )
    return out


def mixture_scores_twin(X: NDArray[Any], mixture: NormalMixture) -> Matrix:
    """Do the same one component after the other."""
    scores = np.empty((X.shape[0], len(mixture.offset)))
    for k, (centre, factor) in enumerate(zip(mixture.mean, mixture.factor, strict=True)):
        y = (X - centre) * factor if mixture.diagonal else (X - centre) @ factor
        scores[:, k] = mixture.offset[k] - 0.5 * (y * y).sum(axis=1)
    return scores
