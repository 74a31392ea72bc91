"""The best classifier of a distribution that is known: its rule, its risk, the risk of others, and draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError
from surefit.core.public import public

_NODES = 8192  # points of a quadrature
_DRAWS = 200_000  # points of an estimate where there are too many columns for one
Rule = Callable[[Any], Any]


@public
def plug_in_rule(chances: Any, threshold: float = 0.5) -> NDArray[np.int64]:
    r"""Return the plug-in rule: 1 where the probability of class 1 exceeds the threshold, else 0.

    chances: P(1 | x) of each row, or what ``predict_proba`` of a classifier of two classes returns.

    >>> plug_in_rule([0.2, 0.5, 0.7]).tolist(), plug_in_rule([0.2, 0.5, 0.7], 0.1).tolist()
    ([0, 0, 1], [1, 1, 1])
    """
    if not 0 <= threshold <= 1:
        raise ParameterError(f"plug_in_rule: threshold={threshold!r} must lie between 0 and 1.")
    found = np.asarray(chances, dtype=np.float64)
    if found.ndim == 2 and found.shape[1] != 2:
        raise DataError(f"plug_in_rule decides between two classes, not {found.shape[1]}.")
    return ((found if found.ndim == 1 else found[:, 1]) > threshold).astype(np.int64)


@public
def decision_boundary(
    chance: Any, low: Any, high: Any, threshold: float = 0.5, points: int = 201
) -> NDArray[np.float64]:
    r"""Return points of the decision boundary :math:`\{x : P(1 | x) = t\}` of two classes within a box.

    chance: a fitted classifier, or a function of rows that returns P(1 | x). low, high: the ends of the box,
    one number a column, for one column or two. A grid of ``points`` a column is walked along its edges; each
    change of sides is halved until it is a number. One column gives all boundaries that the grid can tell
    apart, in order; two columns give the points where curves cross the grid.

    >>> decision_boundary(lambda rows: 1 / (1 + np.exp(-rows[:, 0])), [-5.0], [5.0], 0.75).round(6).tolist()
    [[1.098612]]
    """
    ends = np.atleast_1d(np.asarray(low, dtype=float)), np.atleast_1d(np.asarray(high, dtype=float))
    d = len(ends[0])
    if d not in (1, 2) or ends[1].shape != (d,) or not (ends[0] < ends[1]).all():
        raise ParameterError("decision_boundary takes a box of one or two columns, low below high.")

    def side(rows: Matrix) -> Vector:
        found = np.asarray(chance.predict_proba(rows) if hasattr(chance, "predict_proba") else chance(rows))
        return (found if found.ndim == 1 else found[:, 1]) - threshold

    axes = [np.linspace(a, b, points) for a, b in zip(*ends, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    value = side(grid.reshape(-1, d)).reshape(grid.shape[:-1])
    starts, stops, exact = [], [], [grid[value == 0]]
    for axis in range(d):
        one = np.take(value, np.arange(points - 1), axis), np.take(value, np.arange(1, points), axis)
        change = one[0] * one[1] < 0
        starts.append(np.take(grid, np.arange(points - 1), axis)[change])
        stops.append(np.take(grid, np.arange(1, points), axis)[change])
    a, b = np.concatenate(starts), np.concatenate(stops)
    if len(a):
        first = side(a)
        for _ in range(60):
            middle = 0.5 * (a + b)
            same = (side(middle) > 0) == (first > 0)
            a, b = np.where(same[:, None], middle, a), np.where(same[:, None], b, middle)
    found = np.concatenate([0.5 * (a + b), *exact])
    return found[np.lexsort(found.T[::-1])]


@public
@dataclass(frozen=True)
class OptimalRule:
    r"""The optimum Bayes classifier :math:`h^*(x) = \arg\max_c P(c|x)` of a known joint distribution.

    ``of_table`` takes the probabilities of finitely many pairs, ``of_densities`` the shares of the classes
    and a distribution for each. No classifier has a lower risk than ``bayes_risk``. Of equal probabilities
    the first class wins, so that with two classes it is the second one where its probability exceeds 1/2.

    >>> rule = OptimalRule.of_posterior([0.2, 0.3, 0.5], [0.9, 0.5, 0.2])
    >>> rule.predict([0, 1, 2]).tolist(), round(rule.bayes_risk(), 12)
    ([1, 0, 0], 0.27)
    >>> round(rule.risk([0, 1, 0]), 12)
    0.43
    """

    classes: NDArray[Any]
    prior: Vector
    table: Matrix | None = None  # P(x, c), a row a point
    densities: tuple[Any, ...] = ()

    @classmethod
    def of_table(cls, joint: Any, classes: Sequence[Any] | None = None) -> Self:
        """Take P(x, c) for points x = 0, 1, ..., a row a point and a column a class."""
        table = np.asarray(joint, dtype=np.float64)
        if table.ndim != 2 or (table < 0).any() or not np.isclose(table.sum(), 1.0):
            raise ParameterError("OptimalRule.of_table takes probabilities of pairs that add up to 1.")
        labels = np.arange(table.shape[1]) if classes is None else np.asarray(classes)
        return cls(labels, table.sum(axis=0), table)

    @classmethod
    def of_posterior(cls, share: Any, chance: Any) -> Self:
        """Take P(x) of points x = 0, 1, ... and P(1 | x) at each."""
        p, eta = np.asarray(share, dtype=np.float64), np.asarray(chance, dtype=np.float64)
        return cls.of_table(np.column_stack([p * (1 - eta), p * eta]))

    @classmethod
    def of_densities(cls, prior: Any, densities: Sequence[Any], classes: Sequence[Any] | None = None) -> Self:
        """Take P(c) and, for each class, anything with ``log_density(x)`` and ``sample(n, random_state)``."""
        shares = np.asarray(prior, dtype=np.float64)
        if (shares < 0).any() or not np.isclose(shares.sum(), 1.0) or len(shares) != len(densities):
            raise ParameterError("OptimalRule.of_densities takes one share a density, adding up to 1.")
        labels = np.arange(len(shares)) if classes is None else np.asarray(classes)
        return cls(labels, shares, None, tuple(densities))

    def joint(self, x: Any) -> Matrix:
        """Return P(x, c), or the density of it, for each x and class."""
        if self.table is not None:
            return self.table[np.asarray(x, dtype=np.int64).ravel()]
        rows = np.asarray(x, dtype=np.float64)
        return np.column_stack(
            [
                share * np.exp(np.asarray(density.log_density(rows), dtype=np.float64).ravel())
                for share, density in zip(self.prior, self.densities, strict=True)
            ]
        )

    def predict_proba(self, x: Any) -> Matrix:
        """Return the true P(c | x); the shares where x cannot occur."""
        joint = self.joint(x)
        total = joint.sum(axis=1, keepdims=True)
        return np.divide(joint, total, out=np.tile(self.prior, (len(joint), 1)), where=total > 0)

    def predict(self, x: Any, threshold: float | None = None) -> NDArray[Any]:
        """Return the likeliest class; of two classes, the second one where it exceeds a threshold."""
        chances = self.predict_proba(x)
        if threshold is None:
            return self.classes[chances.argmax(axis=1)]
        return self.classes[plug_in_rule(chances, threshold)]

    def bayes_risk(self) -> float:
        r"""Return :math:`R^* = E[1 - \max_c P(c|X)]`, for two classes :math:`E[\min(\eta, 1 - \eta)]`."""
        return self._expected(lambda x, joint: joint.sum(axis=1) - joint.max(axis=1))

    def correct_probability(self) -> float:
        """Return the probability that the best classifier is right."""
        return 1.0 - self.bayes_risk()

    def risk(self, rule: Any) -> float:
        """Return P(h(X) != Y) of a classifier: a function of x, a model, or the class at each point."""
        return self._expected(lambda x, joint: joint.sum(axis=1) - self._right(rule, x, joint))

    def decomposition(self, rule: Any) -> tuple[float, ...]:
        r"""Return the parts of the risk, :math:`E[1(h(X) = c)(1 - P(c|X))]` for each class c."""

        def part(c: int) -> float:
            def cost(x: Any, joint: Matrix) -> Vector:
                return (joint.sum(axis=1) - joint[:, c]) * (self._codes(rule, x) == c)

            return self._expected(cost)

        return tuple(part(c) for c in range(len(self.classes)))

    def excess(self, rule: Any) -> float:
        r"""Return :math:`R(h) - R^* = E[\max_c P(c|X) - P(h(X)|X)]`; for two classes
        :math:`E[(2\eta - 1)(1(h = 0) - 1(h^* = 0))]`.
        """
        return self._expected(lambda x, joint: joint.max(axis=1) - self._right(rule, x, joint))

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw x and their classes; ``predict_proba`` is the true posterior of the draws."""
        rng = np.random.default_rng(random_state)
        if self.table is not None:
            flat = rng.choice(self.table.size, size=n, p=self.table.ravel() / self.table.sum())
            return flat // self.table.shape[1], self.classes[flat % self.table.shape[1]]
        codes = rng.choice(len(self.prior), size=n, p=self.prior / self.prior.sum())
        drawn = [np.asarray(each.sample(n, int(rng.integers(2**31)))) for each in self.densities]
        return np.stack(drawn)[codes, np.arange(n)], self.classes[codes]

    def _codes(self, rule: Any, x: Any) -> NDArray[np.intp]:
        if hasattr(rule, "predict"):
            rows = np.asarray(x)
            own = isinstance(rule, OptimalRule)
            answer = rule.predict(rows if own or rows.ndim == 2 else rows[:, None])
        else:
            answer = rule(x) if callable(rule) else np.asarray(rule)[np.asarray(x, dtype=np.int64)]
        order = np.argsort(self.classes)
        at = np.searchsorted(self.classes, np.asarray(answer).ravel(), sorter=order)
        found = order[np.minimum(at, len(order) - 1)]
        return np.where(self.classes[found] == np.asarray(answer).ravel(), found, -1)

    def _right(self, rule: Any, x: Any, joint: Matrix) -> Vector:
        codes = self._codes(rule, x)
        picked: Vector = joint[np.arange(len(joint)), np.maximum(codes, 0)]
        return np.where(codes >= 0, picked, 0.0)

    def _expected(self, cost: Callable[[Any, Matrix], Vector]) -> float:
        """Add up a cost over the points, integrate it over a line, or average it over draws."""
        if self.table is not None:
            points = np.arange(len(self.table))
            return float(cost(points, self.table).sum())
        first = np.asarray(self.densities[0].sample(1, 0))
        if first.ndim == 1:
            low, high = self._reach()
            if all(getattr(density, "discrete", False) for density in self.densities):
                points = np.arange(np.floor(low), np.ceil(high) + 1)
                return float(cost(points, self.joint(points)).sum())
            edges = np.linspace(low, high, _NODES + 1)
            middle = 0.5 * (edges[1:] + edges[:-1])
            return float(cost(middle, self.joint(middle)).sum() * (edges[1] - edges[0]))
        x, _ = self.sample(_DRAWS, 0)
        joint = self.joint(x)
        return float(np.mean(cost(x, joint) / joint.sum(axis=1)))

    def _reach(self) -> tuple[float, float]:
        """An interval outside of which a density has no more than a billionth."""
        ends = []
        for density in self.densities:
            if hasattr(density, "quantile"):
                ends += [float(density.quantile(1e-10)), float(density.quantile(1 - 1e-10))]
            else:
                drawn = np.asarray(density.sample(10_000, 0))
                ends += [drawn.mean() - 10 * drawn.std(), drawn.mean() + 10 * drawn.std()]
        return min(ends), max(ends)
