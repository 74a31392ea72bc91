"""Factor graphs: sum-product and max-product messages, exact on forests, loopy elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.public import public
from surefit.models.graph.nets.factor import Factor
from surefit.models.graph.nets.junction_tree import JunctionTree

Message = NDArray[np.float64]
_MOST_STATES = 2**20  # of all variables together, where answers are checked by going through them


@dataclass(frozen=True)
class Sent:
    """One message: between which two, and its numbers, which sum to one (or have 1 as their largest)."""

    source: str
    target: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Messages:
    """What passing messages ended in.

    marginals: of every variable, or its largest products. log_partition: the logarithm of the sum of all
    products (of the largest, for max-product): exact on a forest, Bethe's value elsewhere. residual: how far
    the last round changed any message. sent: the messages in order, where they were asked for.
    """

    marginals: dict[str, dict[Any, float]]
    log_partition: float
    exact: bool
    rounds: int
    residual: float
    converged: bool
    sent: tuple[Sent, ...] = field(repr=False)
    states: dict[str, Any] = field(default_factory=dict)  # the best of each variable, for max-product

    @property
    def certificate(self) -> Certificate:
        """Exact on a forest; elsewhere messages that stand still, which promises nothing of the marginals."""
        if self.exact:
            return Certificate("exact", "messages of a forest, each sent once", 0.0, 0.0)
        tolerance = 1e-6
        return Certificate(
            "fixed point",
            "largest change of a message; on graphs with cycles marginals are approximate",
            self.residual,
            tolerance,
            {"rounds": float(self.rounds), "bethe": self.log_partition},
        )


@public
class FactorGraph:
    r"""A product of factors over variables with few states: :math:`f(x) = \prod_a f_a(x_a)`.

    factors: a mapping from names to (variables, table with an axis for each), or a list of such pairs.
    states: names of the states of variables; 0, 1, ... by default.

    >>> graph = FactorGraph({"a": (["x"], [1, 2]), "b": (["x", "y"], [[1, 2], [3, 4]])})
    >>> found = graph.sum_product()
    >>> found.exact, round(float(np.exp(found.log_partition)), 10), round(found.marginals["x"][0], 4)
    (True, 17.0, 0.1765)
    """

    def __init__(
        self,
        factors: Mapping[str, tuple[Sequence[str], Any]] | Sequence[tuple[Sequence[str], Any]],
        states: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        pairs = (
            dict(factors)
            if isinstance(factors, Mapping)
            else {f"f{place}": pair for place, pair in enumerate(factors)}
        )
        if not pairs:
            raise DataError("a factor graph needs at least one factor.")
        self.states: dict[str, tuple[Any, ...]] = {name: tuple(s) for name, s in (states or {}).items()}
        self.factors: dict[str, Factor] = {}
        for name, (variables, table) in pairs.items():
            self.factors[name] = self._checked(
                name, (variables,) if isinstance(variables, str) else variables, table
            )
        self._near: dict[str, list[str]] = {variable: [] for variable in self.states}
        for name, factor in self.factors.items():
            for variable in factor.names:
                self._near[variable].append(name)

    def _checked(self, name: str, variables: Sequence[str], table: Any) -> Factor:
        values = np.array(table, dtype=np.float64)
        if values.ndim != len(variables) or len(set(variables)) < len(variables):
            raise DataError(
                f"the factor {name!r} has {values.ndim} axes for {len(variables)} variables, or one twice."
            )
        if not np.isfinite(values).all() or values.min(initial=0.0) < 0:
            raise DataError(f"the factor {name!r} has an entry that is negative or not finite.")
        for variable, size in zip(variables, values.shape, strict=True):
            known = self.states.setdefault(variable, tuple(range(size)))
            if len(known) != size:
                raise DataError(
                    f"the factor {name!r} has {size} states of {variable!r}, elsewhere it has {len(known)}."
                )
        return Factor(tuple(variables), values, {v: self.states[v] for v in variables})

    def __repr__(self) -> str:
        return f"FactorGraph({len(self.states)} variables, {len(self.factors)} factors)"

    @property
    def variables(self) -> list[str]:
        """All variables, in the order met."""
        return list(self.states)

    @property
    def is_forest(self) -> bool:
        """Whether the graph of variables and factors has no cycle, so that messages give exact answers."""
        edges = sum(len(factor.names) for factor in self.factors.values())
        return edges == len(self.states) + len(self.factors) - self._components()

    def _components(self) -> int:
        seen: set[str] = set()
        count = 0
        for start in self.states:
            if start in seen:
                continue
            count, stack = count + 1, [start]
            while stack:
                variable = stack.pop()
                if variable not in seen:
                    seen.add(variable)
                    stack += [v for name in self._near[variable] for v in self.factors[name].names]
        return count + sum(not factor.names for factor in self.factors.values())

    def sum_product(self, **options: Any) -> Messages:
        """Pass messages whose marginals are sums.

        max_rounds, tol, damping: of the loopy version, on graphs with cycles; damping is the share of the old
        message that is kept. keep_messages: list every message in ``sent``.
        """
        return self._passed("sum", **options)

    def max_product(self, **options: Any) -> Messages:
        """Pass messages whose marginals are largest products; ``states`` has the best of each variable."""
        return self._passed("max", **options)

    def _passed(
        self,
        kind: Literal["sum", "max"],
        *,
        max_rounds: int = 200,
        tol: float = 1e-10,
        damping: float = 0.0,
        keep_messages: bool = False,
    ) -> Messages:
        if not 0 <= damping < 1:
            raise ParameterError(f"damping={damping!r} must be at least 0 and below 1.")
        passing = _Passing(self, kind, damping, keep_messages)
        exact = self.is_forest
        if exact:
            passing.there_and_back()
            rounds, residual = 1, 0.0
        else:
            rounds, residual = passing.rounds(max_rounds, tol)
        marginals = {name: passing.belief(name) for name in self.states}
        best: dict[str, Any] = {}
        if kind == "max":
            best = (
                self._decoded(passing)
                if exact
                else {name: self.states[name][int(np.argmax(found))] for name, found in marginals.items()}
            )
        value = self._log_value(best) if kind == "max" else passing.bethe()
        return Messages(
            {
                name: dict(zip(self.states[name], found.tolist(), strict=True))
                for name, found in marginals.items()
            },
            value,
            exact,
            rounds,
            residual,
            exact or residual <= tol,
            tuple(passing.sent),
            best,
        )

    def _decoded(self, passing: _Passing) -> dict[str, Any]:
        """Best states of a forest, chosen one after the other so that ties agree."""
        chosen: dict[str, int] = {}
        for start in self.states:
            if start in chosen:
                continue
            chosen[start] = int(np.argmax(passing.belief(start)))
            stack = [start]
            while stack:
                variable = stack.pop()
                for name in self._near[variable]:
                    factor = self.factors[name]
                    free = [v for v in factor.names if v not in chosen]
                    if not free:
                        continue
                    part = passing.weighted(name).given({v: chosen[v] for v in factor.names if v in chosen})
                    places = np.unravel_index(int(np.argmax(part.values)), part.values.shape)
                    chosen.update({v: int(k) for v, k in zip(part.names, places, strict=True)})
                    stack += free
        return {name: self.states[name][chosen[name]] for name in self.states}

    def _log_value(self, states: Mapping[str, Any]) -> float:
        total = 0.0
        for factor in self.factors.values():
            entry = factor[tuple(states[v] for v in factor.names)] if factor.names else float(factor.values)
            total += math.log(entry) if entry > 0 else -math.inf
        return total

    def brute_force(self) -> Messages:
        """Go through all states together, up to 2^20: the exact answer that messages are checked against."""
        size = math.prod(len(states) for states in self.states.values())
        if size > _MOST_STATES:
            raise RefusalError(f"there are {size:.3g} states together, above {_MOST_STATES}: pass messages.")
        product = Factor((), np.ones(()), {})
        for factor in self.factors.values():
            product = product * factor
        total = float(product.values.sum())
        if not total > 0:
            raise DataError("the product of the factors is 0 everywhere.")
        marginals = {name: product.marginal([name]).normalised().as_dict() for name in self.states}
        return Messages(marginals, math.log(total), True, 0, 0.0, True, ())

    def junction_tree(self) -> Messages:
        """Return exact marginals on any graph by a junction tree, refused where it would be too wide."""
        number = {name: place for place, name in enumerate(self.states)}
        scoped = [(tuple(number[v] for v in factor.names), factor.values) for factor in self.factors.values()]
        tree = JunctionTree.of(scoped, [len(states) for states in self.states.values()])
        found = tree.calibrate()
        marginals = {
            name: dict(zip(self.states[name], found.marginal(place).tolist(), strict=True))
            for name, place in number.items()
        }
        return Messages(marginals, found.log_probability, True, 0, 0.0, True, ())


class _Passing:
    """Messages in both directions of every edge, on their way."""

    def __init__(self, graph: FactorGraph, kind: Literal["sum", "max"], damping: float, keep: bool) -> None:
        self._graph, self._kind, self._damping, self._keep = graph, kind, damping, keep
        self.sent: list[Sent] = []
        sizes = {name: len(states) for name, states in graph.states.items()}
        self._edges = [(name, v) for name, factor in graph.factors.items() for v in factor.names]
        self._up = {edge: np.full(sizes[edge[1]], 1.0 / sizes[edge[1]]) for edge in self._edges}
        self._down = {edge: np.full(sizes[edge[1]], 1.0 / sizes[edge[1]]) for edge in self._edges}

    def there_and_back(self) -> None:
        """Send every message of a forest once, each after those that it is made of."""
        order: list[tuple[str, str | None, bool]] = []  # node, where it was reached from, whether a factor
        seen: set[tuple[str, bool]] = set()
        for start in self._graph.states:
            if (start, False) in seen:
                continue
            seen.add((start, False))
            queue: list[tuple[str, str | None, bool]] = [(start, None, False)]
            for node, origin, is_factor in queue:  # grows as it is gone through
                near = self._graph.factors[node].names if is_factor else self._graph._near[node]
                for other in near:
                    if (other, not is_factor) not in seen:
                        seen.add((other, not is_factor))
                        queue.append((other, node, not is_factor))
                order.append((node, origin, is_factor))
        for node, origin, is_factor in reversed(order):
            if origin is not None:
                self._send(node, origin, is_factor)
        for node, origin, is_factor in order:
            if origin is not None:
                self._send(origin, node, not is_factor)

    def rounds(self, most: int, tol: float) -> tuple[int, float]:
        """Send all messages again and again until none changes."""
        residual = math.inf
        for count in range(1, most + 1):
            residual = 0.0
            for name, variable in self._edges:
                residual = max(residual, self._send(variable, name, False))
            for name, variable in self._edges:
                residual = max(residual, self._send(name, variable, True))
            if residual <= tol:
                return count, residual
        return most, residual

    def _send(self, source: str, target: str, from_factor: bool) -> float:
        """Send one message; returns how far it changed."""
        edge = (source, target) if from_factor else (target, source)
        found = self._from_factor(*edge) if from_factor else self._from_variable(*edge)
        scale = found.sum() if self._kind == "sum" else found.max()
        if not scale > 0:
            raise DataError(f"the message from {source} to {target} is 0: the product is 0 everywhere.")
        found = found / scale
        kept = self._down if from_factor else self._up
        if self._damping:
            found = (1 - self._damping) * found + self._damping * kept[edge]
        change = float(np.abs(found - kept[edge]).max())
        kept[edge] = found
        if self._keep:
            self.sent.append(Sent(source, target, tuple(found.tolist())))
        return change

    def _from_variable(self, name: str, variable: str) -> Message:
        found = np.ones(len(self._graph.states[variable]))
        for other in self._graph._near[variable]:
            if other != name:
                found = found * self._down[other, variable]
        return found

    def weighted(self, name: str, besides: str | None = None) -> Factor:
        """A factor times the messages that came to it, except from one variable."""
        factor = self._graph.factors[name]
        values = factor.values
        for axis, variable in enumerate(factor.names):
            if variable != besides:
                shape = [-1 if other == axis else 1 for other in range(values.ndim)]
                values = values * self._up[name, variable].reshape(shape)
        return Factor(factor.names, values, factor.states)

    def _from_factor(self, name: str, variable: str) -> Message:
        product = self.weighted(name, besides=variable)
        axes = tuple(axis for axis, other in enumerate(product.names) if other != variable)
        return np.asarray(
            product.values.sum(axis=axes) if self._kind == "sum" else product.values.max(axis=axes)
        )

    def belief(self, variable: str) -> Message:
        """The product of all messages that came to a variable, summing to one."""
        found = np.ones(len(self._graph.states[variable]))
        for name in self._graph._near[variable]:
            found = found * self._down[name, variable]
        if not found.sum() > 0:
            raise DataError(f"no state of {variable!r} is possible: the product is 0 everywhere.")
        return found / found.sum()

    def bethe(self) -> float:
        """The logarithm of the partition function by Bethe's formula, which is exact on a forest."""
        total = 0.0
        for name, factor in self._graph.factors.items():
            belief = self.weighted(name).values
            belief = belief / belief.sum()
            kept = belief > 0
            with np.errstate(divide="ignore"):
                total += float(np.sum(belief[kept] * (np.log(factor.values[kept]) - np.log(belief[kept]))))
        for variable, near in self._graph._near.items():
            belief = self.belief(variable)
            kept = belief > 0
            total += (len(near) - 1) * float(np.sum(belief[kept] * np.log(belief[kept])))
        return total
