"""Exact inference by a junction tree: made once of the factors, asked any number of times.

Variables are numbers here, and axes of cliques and separators ascend, so that a message is a sum over axes
and a reshape. Hard evidence cuts an axis down to one entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, RefusalError

Table = NDArray[np.float64]
MOST_ENTRIES = 2**26  # of all cliques together: half a gigabyte of numbers


def min_fill_order(near: dict[int, set[int]], sizes: Sequence[int]) -> list[tuple[int, frozenset[int]]]:
    """Return nodes in an order that adds few edges when each is taken out, and the clique of each then.

    near: neighbours of each node; it is used up. Ties go to the smaller clique, then to the lower number.
    """

    def cost(node: int) -> tuple[int, float, int]:
        around = list(near[node])
        missing = sum(b not in near[a] for i, a in enumerate(around) for b in around[i + 1 :])
        return missing, math.prod(sizes[other] for other in around), node

    costs = {node: cost(node) for node in near}
    order = []
    while costs:
        node = min(costs, key=lambda each: costs[each])
        around = near.pop(node)
        order.append((node, frozenset({node, *around})))
        del costs[node]
        touched = set(around)
        for a in around:
            near[a].discard(node)
            new = around - near[a] - {a}
            near[a] |= new
            if new:
                touched |= near[a]
        for other in touched:
            costs[other] = cost(other)
    return order


@dataclass
class Calibrated:
    """Beliefs of all cliques under some evidence; each is proportional to the probability of its states."""

    tree: JunctionTree
    beliefs: list[Table]
    evidence: Mapping[int, int]
    log_probability: float  # of the evidence

    def marginal(self, variable: int) -> Table:
        """The probabilities of the states of one variable."""
        if variable in self.evidence:
            found = np.zeros(self.tree.sizes[variable])
            found[self.evidence[variable]] = 1.0
            return found
        place = self.tree.smallest[variable]
        axes = tuple(axis for axis, other in enumerate(self.tree.cliques[place]) if other != variable)
        found = self.beliefs[place].sum(axis=axes)
        return np.asarray(found / found.sum())

    def joint(self, variables: tuple[int, ...]) -> Table:
        """The probabilities of variables that stand together in a clique, with axes in their order."""
        place = next(p for p, clique in enumerate(self.tree.cliques) if set(variables) <= set(clique))
        clique, belief = self.tree.cliques[place], self.beliefs[place]
        found = belief.sum(axis=self.tree.axes_outside(place, variables))
        left = [v for v in clique if v in variables]
        found = np.transpose(found, [left.index(v) for v in variables]) / found.sum()
        if not any(v in self.evidence for v in variables):
            return np.asarray(found)
        whole = np.zeros([self.tree.sizes[v] for v in variables])
        seen = self.evidence
        whole[tuple(slice(seen[v], seen[v] + 1) if v in seen else slice(None) for v in variables)] = found
        return whole

    def disagreement(self) -> float:
        """How far the marginals of two neighbouring cliques over their separator are apart, at most."""
        worst = 0.0
        for child, parent in enumerate(self.tree.parent):
            if parent < 0:
                continue
            two = []
            for clique in (child, parent):
                axes = self.tree.axes_outside(clique, self.tree.separators[child])
                table = self.beliefs[clique].sum(axis=axes).ravel()
                two.append(table / table.sum())
            worst = max(worst, float(np.abs(two[0] - two[1]).max(initial=0.0)))
        return worst


@dataclass
class JunctionTree:
    """Cliques joined into a forest, with the product of the factors that each holds.

    sizes: how many states each variable has. cliques: the variables of each, ascending. parent: of each
    clique, -1 for a root; parents come after their children. separators: what a clique shares with its
    parent.
    """

    sizes: list[int]
    cliques: list[tuple[int, ...]]
    parent: list[int]
    separators: list[tuple[int, ...]]
    potentials: list[Table]
    smallest: dict[int, int] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """The number of variables of the largest clique, less one."""
        return max((len(clique) for clique in self.cliques), default=1) - 1

    @property
    def entries(self) -> int:
        """How many numbers the cliques hold together."""
        return sum(math.prod(self.sizes[v] for v in clique) for clique in self.cliques)

    @classmethod
    def of(
        cls,
        factors: Sequence[tuple[tuple[int, ...], Table]],
        sizes: Sequence[int],
        *,
        most: int = MOST_ENTRIES,
    ) -> JunctionTree:
        """Join factors, (variables, table with an axis for each), into a tree of cliques.

        most: the entries that all cliques may have together; more are refused before any memory is taken.
        """
        tree = cls.shape_of([variables for variables, _ in factors], sizes)
        if tree.entries > most:
            raise RefusalError(
                f"exact inference would need cliques with {tree.entries:.3g} entries together (width "
                f"{tree.width}), above the bound of {most:.3g}: remove arrows, merge states, or sample."
            )
        tree.potentials = [np.ones([tree.sizes[v] for v in clique]) for clique in tree.cliques]
        homes: dict[int, list[int]] = {}
        for place, clique in enumerate(tree.cliques):
            for variable in clique:
                homes.setdefault(variable, []).append(place)
        for variables, table in factors:
            places = homes[min(variables, key=lambda v: len(homes[v]))] if variables else [0]
            home = next(place for place in places if set(variables) <= set(tree.cliques[place]))
            order = np.argsort(variables, kind="stable")
            shape = [tree.sizes[v] if v in variables else 1 for v in tree.cliques[home]]
            tree.potentials[home] *= np.transpose(table, order).reshape(shape)
        return tree

    @classmethod
    def shape_of(cls, scopes: Sequence[tuple[int, ...]], sizes: Sequence[int]) -> JunctionTree:
        """Return the tree of cliques for factors over these variables, without their numbers."""
        near: dict[int, set[int]] = {variable: set() for variable in range(len(sizes))}
        for scope in scopes:
            for variable in scope:
                near[variable] |= set(scope) - {variable}
        order = min_fill_order(near, sizes)
        rank = {node: place for place, (node, _) in enumerate(order)}
        # The clique of a node, without it, lies within that of the next of its nodes to be taken out.
        above = [
            min((rank[other] for other in clique if other != node), default=-1) for node, clique in order
        ]
        home = list(range(len(order)))  # the maximal clique that the clique of each node is a part of
        top = list(range(len(order)))  # the last node whose clique is a part of it
        for place, up in enumerate(above):
            if up >= 0 and home[up] == up and len(order[up][1]) == len(order[place][1]) - 1:
                home[up] = home[place]
                top[home[place]] = up
        chosen = sorted((place for place in range(len(order)) if home[place] == place), key=lambda p: top[p])
        number = {place: count for count, place in enumerate(chosen)}
        cliques, parents, separators = [], [], []
        for place in chosen:
            up = above[top[place]]
            cliques.append(tuple(sorted(order[place][1])))
            parents.append(-1 if up < 0 else number[home[up]])
            shared = order[place][1] & order[home[up]][1] if up >= 0 else ()
            separators.append(tuple(sorted(shared)))
        tree = cls(list(sizes), cliques, parents, separators, [])
        for place, clique in enumerate(cliques):
            size = math.prod(sizes[v] for v in clique)
            for variable in clique:
                best = tree.smallest.get(variable)
                if best is None or size < math.prod(sizes[v] for v in cliques[best]):
                    tree.smallest[variable] = place
        return tree

    def axes_outside(self, clique: int, kept: tuple[int, ...]) -> tuple[int, ...]:
        """The axes of a clique whose variables are not among those kept."""
        return tuple(axis for axis, variable in enumerate(self.cliques[clique]) if variable not in kept)

    def _started(self, evidence: Mapping[int, int], soft: Mapping[int, Table] | None = None) -> list[Table]:
        """The potentials with the axes of known variables cut to one entry."""
        tables = []
        for clique, table in zip(self.cliques, self.potentials, strict=True):
            if any(variable in evidence for variable in clique):
                index = tuple(
                    slice(evidence[v], evidence[v] + 1) if v in evidence else slice(None) for v in clique
                )
                table = table[index]
            tables.append(table)
        for variable, weights in (soft or {}).items():
            place = self.smallest[variable]
            shape = [-1 if other == variable else 1 for other in self.cliques[place]]
            weights = (
                weights[evidence[variable] : evidence[variable] + 1] if variable in evidence else weights
            )
            tables[place] = tables[place] * weights.reshape(shape)
        return tables

    def _shape(self, clique: int, kept: tuple[int, ...], table: Table) -> list[int]:
        return [n if v in kept else 1 for v, n in zip(self.cliques[clique], table.shape, strict=True)]

    def _collect(self, tables: list[Table], reduce: Callable[..., Any]) -> tuple[list[Table | None], float]:
        """Send messages from the leaves to the roots; returns them and the log of their scale."""
        messages: list[Table | None] = []
        log_scale = 0.0
        owned = [False] * len(tables)
        for child, up in enumerate(self.parent):
            if up < 0:
                messages.append(None)
                continue
            kept = self.separators[child]
            message = reduce(tables[child], axis=self.axes_outside(child, kept), keepdims=False)
            scale = float(np.max(message, initial=0.0))
            if not scale > 0:
                raise DataError("the evidence has probability 0: no state of the others agrees with it.")
            message = message / scale
            log_scale += math.log(scale)
            shaped = message.reshape(self._shape(up, kept, tables[up]))
            tables[up] = np.multiply(tables[up], shaped, out=tables[up] if owned[up] else None)
            owned[up] = True
            messages.append(message)
        return messages, log_scale

    def calibrate(
        self, evidence: Mapping[int, int] | None = None, soft: Mapping[int, Table] | None = None
    ) -> Calibrated:
        """Pass messages to the roots and back: afterwards every clique knows all evidence."""
        known = evidence or {}
        tables = self._started(known, soft)
        messages, log_scale = self._collect(tables, np.sum)
        for clique in reversed(range(len(tables))):
            up = self.parent[clique]
            if up < 0:
                total = float(tables[clique].sum())
                if not total > 0:
                    raise DataError("the evidence has probability 0: no state of the others agrees with it.")
                log_scale += math.log(total)
                tables[clique] = tables[clique] / total
                continue
            sent = messages[clique]
            assert sent is not None
            back = tables[up].sum(axis=self.axes_outside(up, self.separators[clique]))
            ratio = np.divide(back, sent, out=np.zeros_like(back), where=sent > 0)
            tables[clique] = tables[clique] * ratio.reshape(
                self._shape(clique, self.separators[clique], tables[clique])
            )
        return Calibrated(self, tables, known, log_scale)

    def log_probability(
        self, evidence: Mapping[int, int] | None = None, soft: Mapping[int, Table] | None = None
    ) -> float:
        """The logarithm of the sum over all states that agree with the evidence; -inf where there is none."""
        tables = self._started(evidence or {}, soft)
        try:
            _, log_scale = self._collect(tables, np.sum)
        except DataError:
            return -math.inf
        for clique, up in enumerate(self.parent):
            if up < 0:
                total = float(tables[clique].sum())
                if not total > 0:
                    return -math.inf
                log_scale += math.log(total)
        return log_scale

    def most_probable(self, evidence: Mapping[int, int] | None = None) -> tuple[list[int], float]:
        """The states of all variables with the largest product, and its logarithm; ties to the first."""
        known = evidence or {}
        tables = self._started(known)
        _, log_value = self._collect(tables, np.max)
        found: dict[int, int] = dict(known)
        for clique in reversed(range(len(tables))):
            variables = self.cliques[clique]
            index = tuple((0 if v in known else found[v]) if v in found else slice(None) for v in variables)
            free = [v for v in variables if v not in found]
            part = tables[clique][index]
            if self.parent[clique] < 0:
                largest = float(np.max(part))
                if not largest > 0:
                    raise DataError("the evidence has probability 0: no state of the others agrees with it.")
                log_value += math.log(largest)
            if free:
                states = np.unravel_index(int(np.argmax(part)), np.shape(part))
                found.update({v: int(state) for v, state in zip(free, states, strict=True)})
        return [found[v] for v in range(len(self.sizes))], log_value
