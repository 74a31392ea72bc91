"""The loss of ordered classes: proportional odds, with the thresholds between classes as a nuisance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from surefit.core.errors import ParameterError
from surefit.core.parameters import Interval, validate
from surefit.losses.arrays import Array, aligned, inside, reals
from surefit.losses.base import Loss
from surefit.losses.cases import ROWS, Case, scores
from surefit.losses.links import Logit
from surefit.losses.root_finding import increasing_root
from surefit.losses.stable import sigmoid, sigmoid_slope, softplus


class CumulativeLogit(Loss):
    r"""Classes 0 to K - 1 in order: :math:`P(y \le k) = 1/(1 + e^{z - t_k})` for increasing thresholds t.

    For a class between the thresholds a and b,
    :math:`f = -\log P(y) = \log(1 + e^{z-b}) + \log(1 + e^{a-z}) - \log(1 - e^{a-b})`:
    three terms, none of which is a difference of probabilities. A larger z means a higher class. z is (n,).

    >>> CumulativeLogit((-1.0, 1.0)).value([0, 1, 2], [0.0, 0.0, 0.0])
    array([1.31326169, 0.77193683, 1.31326169])
    """

    name = "cumulative_logit"
    task = "ordinal"
    link = Logit()
    nuisance = ("thresholds",)

    def __init__(self, thresholds: tuple[float, ...] = (0.0,)) -> None:
        self.thresholds = thresholds

    @property
    def domain(self) -> Interval:
        """The codes of the classes, one more than there are thresholds."""
        return Interval(0, len(self.thresholds))

    @property
    def smoothness(self) -> float:
        """A quarter for each threshold that a class can have."""
        return 0.25 * min(len(self.thresholds), 2)

    def check(self, y: Any) -> None:
        """Raise an error if the thresholds do not increase, or that names the first row that is no class."""
        validate(self)
        t = np.asarray(self.thresholds, dtype=np.float64)
        if len(t) == 0 or not np.isfinite(t).all() or not (np.diff(t) > 0).all():
            raise ParameterError(
                f"CumulativeLogit: thresholds={self.thresholds!r} is not allowed; "
                "give one finite number or more, each above the last."
            )
        y = reals(y)
        self._refuse(y, ~(self._allowed(y) & (y == np.floor(y))), f"the codes 0 to {len(t)}")

    def _edges(self, y: Array, z: Array) -> tuple[Array, Array]:
        """Return the thresholds below and above each row's class, infinite at the ends."""
        edges = np.concatenate([[-np.inf], np.asarray(self.thresholds, dtype=z.dtype), [np.inf]])
        codes = np.asarray(y).astype(np.intp)
        return edges[codes], edges[codes + 1]

    def value(self, y: Any, z: Any) -> Array:
        """Return -log P(y)."""
        y, z = aligned(y, z)
        a, b = self._edges(y, z)
        return softplus(z - b) + softplus(a - z) - np.log(-np.expm1(a - b))

    def gradient(self, y: Any, z: Any) -> Array:
        """Return P(above b) - P(below a), each of a threshold alone."""
        y, z = aligned(y, z)
        a, b = self._edges(y, z)
        return sigmoid(z - b) - sigmoid(a - z)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return the sum of p (1 - p) over both thresholds."""
        y, z = aligned(y, z)
        a, b = self._edges(y, z)
        return sigmoid_slope(z - b) + sigmoid_slope(z - a)

    def conjugate(self, y: Any, u: Any) -> Array:
        """Solve f'(z) = u by Newton's method; slopes lie between -1 and 1, and 0 for an end class."""
        y, u = aligned(y, u)
        a, b = self._edges(y, u)
        low, high = np.where(np.isinf(a), 0.0, -1.0), np.where(np.isinf(b), 0.0, 1.0)
        within = (u > low) & (u < high)
        target = np.where(within, u, 0.5 * (low + high))
        start = np.where(np.isinf(a), b, np.where(np.isinf(b), a, 0.5 * (a + b)))
        z = increasing_root(lambda z: (self.gradient(y, z) - target, self.curvature(y, z)), start)
        limit = u * np.where(u == 0.0, 0.0, np.where(u < 0, a, b)) + np.log(-np.expm1(a - b))
        return np.where(within, target * z - self.value(y, z), inside(limit, (u == low) | (u == high)))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Solve z + step f'(z) = v by Newton's method."""
        y, v = aligned(y, v)
        return increasing_root(
            lambda z: (z - v + step * self.gradient(y, z), 1.0 + step * self.curvature(y, z)), v
        )

    def nuisance_gradient(self, y: Any, z: Any) -> dict[str, Array]:
        """Return the derivative by each threshold, (n, K - 1): a row has those on both sides of its class."""
        y, z = aligned(y, z)
        a, b = self._edges(y, z)
        with np.errstate(over="ignore"):
            squeeze = 1.0 / np.expm1(b - a)
        classes = np.asarray(y).astype(np.intp)[:, None]
        t = np.arange(len(self.thresholds))
        below = (classes == t + 1) * (sigmoid(a - z) + squeeze)[:, None]
        return {"thresholds": below - (classes == t) * (sigmoid(z - b) + squeeze)[:, None]}

    def _best_constant(self, y: Array, s: Array) -> float:
        present = y[s > 0]
        if (present == 0).all():
            return -np.inf
        return np.inf if (present == len(self.thresholds)).all() else super()._best_constant(y, s)

    @classmethod
    def variants(cls) -> Iterator[Self]:
        """Yield two classes, several, and thresholds that are far apart or nearly touch."""
        yield from (cls(), cls((-1.0, 0.5, 2.0)), cls((-30.0, 0.0, 1e-6, 40.0)))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Yield every class of every variant."""
        for loss in cls.variants():
            y = rng.permutation(np.arange(ROWS) % (len(loss.thresholds) + 1)).astype(np.float64)
            yield Case(loss, y, scores(ROWS, rng))
