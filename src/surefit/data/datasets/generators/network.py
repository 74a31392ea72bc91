"""A discrete Bayes net: a known graph with known tables, sampled parents first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.core.parameters import Count, RandomState
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.base import Codes, Generated, checked, stream


@dataclass(frozen=True, eq=False)
class Node:
    """A variable given its parents: ``table[parent codes..., own code]`` is a probability."""

    parents: tuple[str, ...]
    table: NDArray[np.float64]


# Rain and a sprinkler wet the grass, the season turns both, and a wet lawn makes for wet shoes.
GARDEN: Mapping[str, Node] = {
    "season": Node((), np.array([0.6, 0.4])),
    "rain": Node(("season",), np.array([[0.8, 0.2], [0.3, 0.7]])),
    "sprinkler": Node(("season",), np.array([[0.5, 0.5], [0.9, 0.1]])),
    "grass": Node(
        ("rain", "sprinkler"),
        np.array([[[0.95, 0.04, 0.01], [0.2, 0.5, 0.3]], [[0.1, 0.3, 0.6], [0.02, 0.18, 0.8]]]),
    ),
    "shoes": Node(("grass",), np.array([[0.98, 0.02], [0.6, 0.4], [0.15, 0.85]])),
}


@dataclass(frozen=True, eq=False)
class Network(Generated):
    """Independent draws of all variables of a Bayes net, a column each, as codes from 0.

    >>> drawn = Network.draw(rows=3, random_state=0)
    >>> drawn.names
    ('season', 'rain', 'sprinkler', 'grass', 'shoes')
    >>> drawn.marginal("rain").round(3).tolist()
    [0.6, 0.4]
    """

    name = "bayes_net"
    X: Codes
    nodes: Mapping[str, Node]

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, parents before children: the columns of X."""
        return tuple(self.nodes)

    def probability(self, X: Codes) -> Vector:
        """Return the true probability of complete rows, ``Π p(x_i | parents of i)``."""
        place = {name: column for column, name in enumerate(self.names)}
        result = np.ones(len(X))
        for name, node in self.nodes.items():
            columns = [place[parent] for parent in node.parents] + [place[name]]
            result *= node.table[tuple(X[:, column] for column in columns)]
        return result

    def joint(self) -> tuple[Codes, Vector]:
        """Return every complete row there can be, and its probability."""
        sizes = [range(node.table.shape[-1]) for node in self.nodes.values()]
        rows = np.array(list(product(*sizes)), dtype=np.int64)
        return rows, self.probability(rows)

    def marginal(self, name: str, given: Mapping[str, int] | None = None) -> Vector:
        """Return the true distribution of one variable, given the codes of others, by enumeration."""
        rows, probability = self.joint()
        for other, code in (given or {}).items():
            probability = probability * (rows[:, self.names.index(other)] == code)
        size = self.nodes[name].table.shape[-1]
        counts = np.bincount(rows[:, self.names.index(name)], probability, minlength=size)
        return np.asarray(counts / counts.sum())

    @classmethod
    @checked
    def draw(
        cls, rows: Count = 1000, nodes: Mapping[str, Any] | None = None, *, random_state: RandomState = 0
    ) -> Self:
        """Sample every variable given its parents; ``nodes`` lists parents before children."""
        nodes = GARDEN if nodes is None else nodes
        random = stream(random_state)
        X = np.empty((rows, len(nodes)), dtype=np.int64)
        place: dict[str, int] = {}
        for column, (name, node) in enumerate(nodes.items()):
            unknown = [parent for parent in node.parents if parent not in place]
            if unknown:
                raise ParameterError(
                    f"Network.draw: {name!r} has the parent {unknown[0]!r}, which does not stand before it; "
                    "list parents first, and let no arrows run in a circle."
                )
            given = node.table[tuple(X[:, place[parent]] for parent in node.parents)]
            edges = np.cumsum(np.broadcast_to(given, (rows, node.table.shape[-1])), axis=1)
            X[:, column] = (random.random(rows)[:, None] >= edges[:, :-1]).sum(axis=1)
            place[name] = column
        return cls(X, dict(nodes))

    def surprise(self) -> dict[str, float]:
        """Every variable as frequent as its table says, for each row's own parents and over all rows."""
        found = {}
        for column, (name, node) in enumerate(self.nodes.items()):
            parents = [self.names.index(parent) for parent in node.parents]
            own = self.X[:, column]
            if own.max() >= node.table.shape[-1] or any(
                self.X[:, parent].max() >= size
                for parent, size in zip(parents, node.table.shape, strict=False)
            ):
                found[name] = float("inf")
                continue
            given = node.table[tuple(self.X[:, parent] for parent in parents)]
            found[name] = surprise.labels(own, np.broadcast_to(given, (len(own), node.table.shape[-1])))
        return found
