"""Bayes nets: tables over a directed graph, and the questions that people ask of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, RefusalError
from surefit.core.public import public
from surefit.models.graph.nets.directed_graph import DirectedGraph, Separation
from surefit.models.graph.nets.factor import Factor, place_of
from surefit.models.graph.nets.junction_tree import MOST_ENTRIES, Calibrated, JunctionTree

Table = NDArray[np.float64]
_ROUNDING = 1e-6  # how far the sum of a row of a table may be from 1, as files are printed
_AGREEMENT = 1e-9  # how far two cliques may be apart over their separator
_MOST_STATES = 2**22  # of a joint table that is asked for


@public
@dataclass(frozen=True, eq=False)
class ConditionalTable:
    r"""The probabilities of a variable's states for each combination of its parents' states.

    variable: its name. values: probabilities, the last axis over its own states and one axis before it a
    parent, in the order of ``given``; each row sums to one. states: names of the states, 0, 1, ... by
    default.

    >>> ConditionalTable("wet", [[0.9, 0.1], [0.2, 0.8]], given=["rain"]).values.shape
    (2, 2)
    """

    variable: str
    values: Table
    given: tuple[str, ...] = ()
    states: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", (self.given,) if isinstance(self.given, str) else tuple(self.given))
        values = np.array(self.values, dtype=np.float64)
        who = f"the table of {self.variable!r}"
        if values.ndim != 1 + len(self.given):
            raise DataError(
                f"{who} has {values.ndim} axes, but must have one for each of its "
                f"{len(self.given)} parents and a last one for its own states."
            )
        if self.variable in self.given or len(set(self.given)) < len(self.given):
            raise DataError(f"{who} names a parent twice, or the variable itself as one.")
        if not np.isfinite(values).all() or values.min(initial=0.0) < 0:
            raise DataError(f"{who} has an entry that is no probability: all must be finite and at least 0.")
        sums = values.sum(axis=-1)
        if np.abs(sums - 1).max(initial=0.0) > _ROUNDING:
            row = np.unravel_index(int(np.argmax(np.abs(sums - 1))), sums.shape)
            where = f"row {tuple(int(place) for place in row)} of " if self.given else ""
            raise DataError(
                f"{where}{who} sums to {float(sums[row]):.9g}, but must sum to 1: divide it by that."
            )
        values /= sums[..., None]
        values.flags.writeable = False
        object.__setattr__(self, "values", values)
        states = tuple(range(values.shape[-1])) if self.states is None else tuple(self.states)
        if len(states) != values.shape[-1] or len(set(states)) < len(states):
            raise DataError(f"{who} has {values.shape[-1]} states, but {len(states)} names, or one twice.")
        object.__setattr__(self, "states", states)


@dataclass(frozen=True)
class Estimate:
    """An answer by sampling: the number, its standard error, and how many draws it is worth."""

    value: float
    standard_error: float
    effective_draws: float


@dataclass(frozen=True)
class Sensitivity:
    r"""An answer as a function of one table entry: :math:`(a\theta + b) / (c\theta + d)`.

    The other entries of the row keep their proportions.
    """

    entry: float
    a: float
    b: float
    c: float
    d: float

    def __call__(self, theta: float) -> float:
        """Return the answer where the entry is theta."""
        return (self.a * theta + self.b) / (self.c * theta + self.d)

    @property
    def derivative(self) -> float:
        """The slope at the entry as it is."""
        return (self.a * self.d - self.b * self.c) / (self.c * self.entry + self.d) ** 2


@public
class BayesNet:
    r"""A joint distribution by a graph and tables: :math:`p(x) = \prod_i p(x_i \mid x_{pa(i)})`.

    tables: a :class:`ConditionalTable` for each variable, in any order.

    Exact answers come from a junction tree (cliques by the min-fill rule), made at the first question and
    used again; its size is told by ``width`` and refused above a bound before memory is taken.

    >>> net = BayesNet(
    ...     ConditionalTable("rain", [0.9, 0.1]),
    ...     ConditionalTable("sprinkler", [0.9, 0.1]),
    ...     ConditionalTable("wet", [[[1, 0], [0, 1]], [[0, 1], [0, 1]]], given=["rain", "sprinkler"]),
    ... )
    >>> round(net.marginal("rain", {"wet": 1})[1], 8)
    0.52631579
    >>> round(net.marginal("rain", {"wet": 1, "sprinkler": 1})[1], 8)
    0.1
    """

    def __init__(self, *tables: ConditionalTable) -> None:
        if not tables:
            raise DataError("a Bayes net needs at least one table.")
        self.tables: dict[str, ConditionalTable] = {}
        for table in tables:
            if table.variable in self.tables:
                raise DataError(f"{table.variable!r} has two tables: give one for each variable.")
            self.tables[table.variable] = table
        self.states: dict[str, tuple[Any, ...]] = {
            name: tuple(table.states or ()) for name, table in self.tables.items()
        }
        for table in tables:
            self._check_parents(table)
        self.graph = DirectedGraph({name: table.given for name, table in self.tables.items()})
        self._number = {name: place for place, name in enumerate(self.tables)}
        self._sizes = [len(self.states[name]) for name in self.tables]

    def _check_parents(self, table: ConditionalTable) -> None:
        for axis, parent in enumerate(table.given):
            if parent not in self.tables:
                near = get_close_matches(parent, self.tables, n=1)
                hint = f"did you mean {near[0]!r}?" if near else "give a table for it."
                raise DataError(f"{table.variable!r} has the parent {parent!r}, which has no table: {hint}")
            if table.values.shape[axis] != len(self.states[parent]):
                raise DataError(
                    f"the table of {table.variable!r} has {table.values.shape[axis]} rows along {parent!r}, "
                    f"which has {len(self.states[parent])} states."
                )

    def __repr__(self) -> str:
        return f"BayesNet({len(self.tables)} nodes, {len(self.graph.edges)} edges)"

    @property
    def nodes(self) -> list[str]:
        """All variables, in the order of the tables."""
        return list(self.tables)

    @property
    def n_parameters(self) -> int:
        """How many numbers the tables are free to have."""
        return sum(table.values.size - table.values[..., 0].size for table in self.tables.values())

    # --- the graph ---

    def d_separated(self, x: Any, y: Any, given: Any = ()) -> Separation:
        """Return whether x and y are d-separated given others, with every path and what blocks it."""
        return self.graph.d_separated(x, y, given)

    def markov_blanket(self, node: str) -> list[str]:
        """Return parents, children and the children's other parents of a node."""
        return self.graph.markov_blanket(node)

    def pattern(self, a: str, middle: str, b: str) -> str:
        """Explain what two arrows at a middle node say of the nodes beside it."""
        return self.graph.pattern(a, middle, b)

    def factorisation(self) -> str:
        """Return the product of conditionals that the graph stands for, parents first.

        >>> net = BayesNet(ConditionalTable("b", [[0.5, 0.5]] * 2, "a"), ConditionalTable("a", [0.2, 0.8]))
        >>> net.factorisation()
        'p(a) p(b | a)'
        """
        return self._product(self.graph.order, self.graph.parents)

    def chain_rule(self, order: Sequence[str]) -> str:
        """Return the product of conditionals for any order of the nodes, each without what is independent.

        >>> net = BayesNet(ConditionalTable("b", [[0.5, 0.5]] * 2, "a"), ConditionalTable("a", [0.2, 0.8]))
        >>> net.chain_rule(["b", "a"])
        'p(b) p(a | b)'
        """
        if sorted(self.graph.check(order)) != sorted(self.tables):
            raise DataError("an order lists every node once.")
        needed: dict[str, Sequence[str]] = {}
        for place, node in enumerate(order):
            kept = list(order[:place])
            for other in order[:place]:
                rest = [each for each in kept if each != other]
                if self.graph.is_separated(node, other, rest):
                    kept = rest
            needed[node] = kept
        return self._product(order, needed)

    @staticmethod
    def _product(order: Iterable[str], needed: Mapping[str, Sequence[str]]) -> str:
        terms = (f"p({node} | {', '.join(needed[node])})" if needed[node] else f"p({node})" for node in order)
        return " ".join(terms)

    # --- the junction tree ---

    @cached_property
    def _shape(self) -> JunctionTree:
        scopes = [
            tuple(self._number[name] for name in (*table.given, variable))
            for variable, table in self.tables.items()
        ]
        return JunctionTree.shape_of(scopes, self._sizes)

    @property
    def width(self) -> int:
        """The number of variables of the largest clique less one; the cost of inference grows with it."""
        return self._shape.width

    def junction_tree(self, most: int = MOST_ENTRIES) -> JunctionTree:
        """Return the tree of cliques that answers come from; it is made once.

        most: how many entries its cliques may have together; more are refused before memory is taken.
        """
        if "_joined" not in self.__dict__:
            factors = [
                (tuple(self._number[name] for name in (*table.given, variable)), table.values)
                for variable, table in self.tables.items()
            ]
            self._joined = JunctionTree.of(factors, self._sizes, most=most)
        return self._joined

    def _known(self, evidence: Mapping[str, Any] | None) -> dict[int, int]:
        found = {}
        for name, state in (evidence or {}).items():
            self.graph.check(name)
            found[self._number[name]] = place_of(self.states, name, state)
        return found

    def _soft(self, soft: Mapping[str, Any] | None) -> dict[int, Table]:
        found = {}
        for name, weights in (soft or {}).items():
            self.graph.check(name)
            array = np.asarray(weights, dtype=np.float64)
            size = len(self.states[name])
            if array.shape != (size,) or not np.isfinite(array).all() or array.min() < 0 or not array.any():
                raise DataError(
                    f"soft evidence on {name!r} must be {size} likelihoods, one a state, not negative and "
                    "not all 0."
                )
            found[self._number[name]] = array
        return found

    def _calibrated(self, evidence: Mapping[str, Any] | None, soft: Mapping[str, Any] | None) -> Calibrated:
        return self.junction_tree().calibrate(self._known(evidence), self._soft(soft))

    # --- exact answers ---

    def probability(self, event: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> float:
        """Return the probability that variables have these states, given others.

        >>> table = ConditionalTable("b", [[1, 0], [0.5, 0.5]], "a")
        >>> net = BayesNet(ConditionalTable("a", [0.2, 0.8]), table)
        >>> net.probability({"b": 1}), round(net.probability({"a": 1}, given={"b": 0}), 4)
        (0.4, 0.6667)
        """
        both = {**self._known(given), **self._known(event)}
        if any(self._known(given).get(v, s) != s for v, s in self._known(event).items()):
            return 0.0
        if len(both) == len(self.tables) and not given:
            return math.exp(self.log_joint(event))
        tree = self.junction_tree()
        below = tree.log_probability(self._known(given)) if given else 0.0
        if below == -math.inf:
            raise DataError("the evidence has probability 0, so nothing has a probability given it.")
        return math.exp(tree.log_probability(both) - below)

    def log_joint(self, assignment: Mapping[str, Any]) -> float:
        """Return the logarithm of the probability of one state for every variable: a sum over the tables."""
        places = self._known(assignment)
        missing = [name for name in self.tables if self._number[name] not in places]
        if missing:
            raise DataError(f"{missing[0]!r} has no state here: give one for every variable.")
        total = 0.0
        for variable, table in self.tables.items():
            entry = table.values[tuple(places[self._number[name]] for name in (*table.given, variable))]
            total += math.log(entry) if entry > 0 else -math.inf
        return total

    def joint(self) -> Factor:
        """Return the whole joint table, where it is small enough to be written down."""
        size = math.prod(self._sizes)
        if size > _MOST_STATES:
            raise RefusalError(f"the joint table has {size:.3g} entries: ask for marginals instead.")
        found: Factor | None = None
        for factor in self._factors():
            found = factor if found is None else found * factor
        assert found is not None
        return found.marginal(self.nodes)

    def _factors(self) -> list[Factor]:
        return [
            Factor(
                (*table.given, variable),
                table.values,
                {name: self.states[name] for name in (*table.given, variable)},
            )
            for variable, table in self.tables.items()
        ]

    def marginal(
        self,
        variable: str,
        evidence: Mapping[str, Any] | None = None,
        *,
        soft: Mapping[str, Any] | None = None,
    ) -> dict[Any, float]:
        """Return the probability of each state of a variable, given evidence.

        evidence: states that are known. soft: a likelihood for each state of a variable that is seen
        unclearly.
        """
        self.graph.check(variable)
        found = self._calibrated(evidence, soft).marginal(self._number[variable])
        return {state: float(p) for state, p in zip(self.states[variable], found, strict=True)}

    def marginals(
        self, evidence: Mapping[str, Any] | None = None, *, soft: Mapping[str, Any] | None = None
    ) -> dict[str, dict[Any, float]]:
        """Return the probabilities of all variables' states, by one pass to the roots and one back."""
        found = self._calibrated(evidence, soft)
        return {
            name: dict(zip(self.states[name], found.marginal(place).tolist(), strict=True))
            for name, place in self._number.items()
        }

    def query(self, variables: Sequence[str], evidence: Mapping[str, Any] | None = None) -> Factor:
        """Return the joint probabilities of several variables given evidence, by variable elimination.

        Only ancestors of what is asked and known take part; the others sum to one.
        """
        wanted, known = self.graph.check(variables), self._known(evidence)
        names = [self.nodes[place] for place in known]
        kept = {*wanted, *names}
        kept |= self.graph.ancestors(kept)
        seen = {self.nodes[place]: state for place, state in known.items() if self.nodes[place] not in wanted}
        factors = [factor.given(seen) for factor in self._factors() if factor.names[-1] in kept]
        found = _eliminated(factors, list(wanted), self.states)
        for place, state in known.items():  # asked and known at once: all weight on that state
            if self.nodes[place] in wanted:
                mask = np.zeros(self._sizes[place])
                mask[state] = 1.0
                found = found * Factor(
                    (self.nodes[place],), mask, {self.nodes[place]: self.states[self.nodes[place]]}
                )
        if not found.values.sum() > 0:
            raise DataError("the evidence has probability 0: no state of the others agrees with it.")
        return found.marginal(wanted).normalised()

    def most_probable(self, evidence: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], float]:
        """Return the most probable states of all variables together given evidence, and their probability.

        The probability is that of these states and the evidence; of equal ones the first states are taken.
        """
        places, log_value = self.junction_tree().most_probable(self._known(evidence))
        found = {name: self.states[name][place] for name, place in zip(self.nodes, places, strict=True)}
        return found, math.exp(log_value)

    def do(self, **actions: Any) -> BayesNet:
        """Return the net after variables were set from outside: their arrows from parents are gone.

        >>> net = BayesNet(ConditionalTable("a", [0.5, 0.5]), ConditionalTable("b", [[1, 0], [0, 1]], "a"))
        >>> net.marginal("a", {"b": 1})[1], net.do(b=1).marginal("a")[1]
        (1.0, 0.5)
        """
        tables = dict(self.tables)
        for name, state in actions.items():
            self.graph.check(name)
            values = np.zeros(len(self.states[name]))
            values[place_of(self.states, name, state)] = 1.0
            tables[name] = ConditionalTable(name, values, (), self.states[name])
        return BayesNet(*tables.values())

    def sensitivity(
        self,
        target: Mapping[str, Any],
        entry: tuple[str, Any] | tuple[str, Any, Mapping[str, Any]],
        evidence: Mapping[str, Any] | None = None,
    ) -> Sensitivity:
        """Return how an answer depends on one entry of a table.

        target: the states whose probability is asked. entry: the variable, its state, and its parents'
        states. Numerator and denominator are linear in the entry, so two nets, with 0 and with 1 there, tell
        all.
        """
        name, state, *rest = entry
        table = self.tables[self.graph.check(name)[0]]
        above = self._known(rest[0] if rest else {})
        missing = [parent for parent in table.given if self._number[parent] not in above]
        if missing:
            raise DataError(f"the entry needs a state of the parent {missing[0]!r}.")
        row = tuple(above[self._number[parent]] for parent in table.given)
        place = place_of(self.states, name, state)
        theta = float(table.values[(*row, place)])
        found = []
        for value in (0.0, 1.0):
            values = np.array(table.values)
            others = values[row].copy()
            others[place] = 0.0
            spread = others / others.sum() if others.sum() > 0 else np.ones_like(others) / (len(others) - 1)
            spread[place] = 0.0
            values[row] = (1 - value) * spread
            values[(*row, place)] = value
            tables = {**self.tables, name: ConditionalTable(name, values, table.given, table.states)}
            tree = BayesNet(*tables.values()).junction_tree()
            below = self._known(evidence)
            both = {**below, **self._known(target)}
            found.append((math.exp(tree.log_probability(both)), math.exp(tree.log_probability(below))))
        (up0, down0), (up1, down1) = found
        return Sensitivity(theta, up1 - up0, up0, down1 - down0, down0)

    def certificate(self, evidence: Mapping[str, Any] | None = None) -> Certificate:
        """Return how far neighbouring cliques are from agreeing on what they share, after calibration."""
        return Certificate(
            claim="exact",
            measure="largest difference of two cliques' marginals over their separator",
            value=self._calibrated(evidence, None).disagreement(),
            tolerance=_AGREEMENT,
            parts={"width": float(self.width), "entries": float(self._shape.entries)},
        )

    # --- answers by sampling ---

    def sample(self, n: int = 1, *, evidence: Mapping[str, Any] | None = None, random_state: Any = 0) -> Any:
        """Draw n rows, parents before children, as a pyarrow table; with evidence, from what it leaves.

        Given evidence, rows are weighted by its likelihood and drawn again by their weights.
        """
        import pyarrow as pa

        rng = np.random.default_rng(random_state)
        if evidence is None:
            codes, _ = self._forward(n, {}, rng)
        else:
            drawn, weights = self._forward(max(20 * n, 1000), self._known(evidence), rng)
            if not weights.sum() > 0:
                raise DataError("no draw agrees with the evidence: it may have probability 0.")
            picked = rng.choice(len(weights), n, p=weights / weights.sum())
            codes = {name: column[picked] for name, column in drawn.items()}
        return pa.table({name: [self.states[name][k] for k in codes[name]] for name in self.tables})

    def _forward(
        self, n: int, known: Mapping[int, int], rng: np.random.Generator
    ) -> tuple[dict[str, Any], Table]:
        """Ancestral sampling; known variables are set, and the rows weighted by their likelihood."""
        codes: dict[str, Any] = {}
        weights = np.ones(n)
        for name in self.graph.order:
            table = self.tables[name]
            rows = table.values[tuple(codes[parent] for parent in table.given)]
            rows = np.broadcast_to(rows, (n, rows.shape[-1]))
            state = known.get(self._number[name])
            if state is not None:
                codes[name] = np.full(n, state)
                weights = weights * rows[:, state]
                continue
            bars = np.cumsum(rows, axis=1)
            # The last bar is 1 but for rounding: a draw beyond it belongs to the last state that can occur.
            codes[name] = np.minimum((rng.random(n)[:, None] >= bars).sum(axis=1), _last_possible(rows))
        return codes, weights

    def likelihood_weighting(
        self,
        target: Mapping[str, Any],
        evidence: Mapping[str, Any] | None = None,
        *,
        n: int = 10_000,
        random_state: Any = 0,
    ) -> Estimate:
        """Estimate a probability given evidence by weighted draws, with its standard error."""
        codes, weights = self._forward(n, self._known(evidence), np.random.default_rng(random_state))
        total = weights.sum()
        if not total > 0:
            raise DataError("no draw agrees with the evidence: it may have probability 0.")
        hit = np.ones(n, dtype=bool)
        for place, state in self._known(target).items():
            hit &= codes[self.nodes[place]] == state
        value = float(weights[hit].sum() / total)
        error = float(np.sqrt(np.sum((weights * (hit - value)) ** 2)) / total)
        return Estimate(value, error, float(total**2 / np.sum(weights**2)))


def _last_possible(rows: Table) -> Any:
    """The last state with a probability above 0, in each row."""
    return rows.shape[1] - 1 - np.argmax(rows[:, ::-1] > 0, axis=1)


def _eliminated(factors: list[Factor], wanted: list[str], states: Mapping[str, tuple[Any, ...]]) -> Factor:
    """Multiply factors and sum out what is not wanted, the variable with the smallest product first."""
    left = {name for factor in factors for name in factor.names} - set(wanted)
    while left:
        sizes = {
            name: math.prod(
                len(states[other])
                for other in {each for factor in factors if name in factor.names for each in factor.names}
            )
            for name in left
        }
        name = min(sizes, key=lambda each: (sizes[each], each))
        if sizes[name] > MOST_ENTRIES:
            raise RefusalError(
                f"a table of {sizes[name]:.3g} entries would be needed: ask for fewer variables."
            )
        touched = [factor for factor in factors if name in factor.names]
        product = touched[0]
        for factor in touched[1:]:
            product = product * factor
        factors = [factor for factor in factors if name not in factor.names] + [product.sum_out([name])]
        left.discard(name)
    found = Factor((), np.ones(()), {})
    for factor in factors:
        found = found * factor
    for name in wanted:
        if name not in found.names:
            found = found * Factor((name,), np.ones(len(states[name])), {name: states[name]})
    return found
