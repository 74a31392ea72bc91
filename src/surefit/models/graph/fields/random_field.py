"""Markov random fields of pairs: sampling, most probable states, bounds and marginals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, ParameterError
from surefit.core.public import public
from surefit.models.graph.fields.factor_graph import FactorGraph, Messages

Table = NDArray[np.float64]


@dataclass(frozen=True)
class MeanField:
    """Independent marginals that are closest to the field, and their bound on its log-partition."""

    marginals: Table  # (nodes, states)
    bound: float
    rounds: int
    residual: float


@public
class MarkovRandomField:
    r"""A field of pairs: :math:`p(x) \propto \exp(\sum_i u_i(x_i) + \sum_{ij} v_{ij}(x_i, x_j))`.

    unary: u, (nodes, states). edges: pairs of nodes. pairwise: v, one table (states, states) for all edges,
    or one an edge.

    >>> field = MarkovRandomField([[0.0, 1.0], [0.0, 0.0]], [(0, 1)], [[1.0, 0.0], [0.0, 1.0]])
    >>> field.marginals().round(4)
    array([[0.2689, 0.7311],
           [0.3932, 0.6068]])
    >>> field.most_probable().tolist()
    [1, 1]
    """

    def __init__(self, unary: Any, edges: Any, pairwise: Any) -> None:
        self.unary: Table = np.array(unary, dtype=np.float64)
        if self.unary.ndim != 2 or not np.isfinite(self.unary).all():
            raise DataError("unary must be finite numbers, a row for each node and a column for each state.")
        nodes, states = self.unary.shape
        self.edges = np.array(edges, dtype=np.int64).reshape(-1, 2)
        if len(self.edges) and (self.edges.min() < 0 or self.edges.max() >= nodes):
            raise DataError(f"edges name a node outside of 0 to {nodes - 1}.")
        if (self.edges[:, 0] == self.edges[:, 1]).any():
            raise DataError("an edge joins a node with itself.")
        tables = np.array(pairwise, dtype=np.float64)
        if tables.shape not in ((states, states), (len(self.edges), states, states)):
            raise DataError(
                f"pairwise has the shape {tables.shape}, but must be ({states}, {states}), or one of "
                f"them for each of the {len(self.edges)} edges."
            )
        if not np.isfinite(tables).all():
            raise DataError("pairwise must be finite.")
        self.pairwise: Table = np.broadcast_to(tables, (len(self.edges), states, states))
        self._near: list[list[tuple[int, Table]]] = [[] for _ in range(nodes)]
        for (a, b), table in zip(self.edges, self.pairwise, strict=True):
            self._near[a].append((int(b), table))
            self._near[b].append((int(a), table.T))

    @classmethod
    def grid(cls, unary: Any, coupling: float | Any) -> MarkovRandomField:
        r"""Return the field of an image: neighbours right and below are coupled.

        unary: (height, width, states). coupling: a table, or a number: what equal states gain (Potts).
        """
        values = np.asarray(unary, dtype=np.float64)
        if values.ndim != 3:
            raise DataError("unary of a grid has three axes: height, width and states.")
        height, width, states = values.shape
        place = np.arange(height * width).reshape(height, width)
        edges = np.concatenate(
            [
                np.column_stack([place[:, :-1].ravel(), place[:, 1:].ravel()]),
                np.column_stack([place[:-1].ravel(), place[1:].ravel()]),
            ]
        )
        table = float(coupling) * np.eye(states) if np.ndim(coupling) == 0 else coupling
        return cls(values.reshape(-1, states), edges, table)

    def __repr__(self) -> str:
        return f"MarkovRandomField({len(self.unary)} nodes, {len(self.edges)} edges)"

    def log_potential(self, states: Any) -> float:
        """Return the logarithm of the product for some states, without the normaliser."""
        x = np.asarray(states, dtype=np.int64).ravel()
        pairs = self.pairwise[np.arange(len(self.edges)), x[self.edges[:, 0]], x[self.edges[:, 1]]]
        return float(self.unary[np.arange(len(x)), x].sum() + pairs.sum())

    def factor_graph(self) -> FactorGraph:
        """Return the same product as a factor graph with variables 0, 1, ... under their numbers as text."""
        factors: list[tuple[list[str], Table]] = [
            ([str(node)], np.exp(row - row.max())) for node, row in enumerate(self.unary)
        ]
        factors += [
            ([str(a), str(b)], np.exp(table - table.max()))
            for (a, b), table in zip(self.edges, self.pairwise, strict=True)
        ]
        return FactorGraph(factors)

    def _scale(self) -> float:
        """The logarithm of what the factors of the graph were divided by."""
        pairs = self.pairwise.max(axis=(1, 2)).sum() if len(self.edges) else 0.0
        return float(self.unary.max(axis=1).sum() + pairs)

    def _table(self, found: Messages) -> Table:
        return np.array([list(found.marginals[str(node)].values()) for node in range(len(self.unary))])

    def marginals(self) -> Table:
        """Return exact marginals by a junction tree, refused where the field is too wide."""
        return self._table(self.factor_graph().junction_tree())

    def log_partition(self) -> float:
        """Return the exact logarithm of the normaliser by a junction tree."""
        return self.factor_graph().junction_tree().log_partition + self._scale()

    def loopy(self, **options: Any) -> tuple[Table, Messages]:
        """Return marginals by loopy messages, and what the passing ended in."""
        found = self.factor_graph().sum_product(**options)
        return self._table(found), found

    def most_probable(self) -> NDArray[np.int64]:
        """Return the most probable states together, exactly, by a junction tree."""
        from surefit.models.graph.nets.junction_tree import JunctionTree

        size = self.unary.shape[1]
        scoped = [((node,), np.exp(row - row.max())) for node, row in enumerate(self.unary)]
        scoped += [
            ((int(a), int(b)), np.exp(table - table.max()))  # type: ignore[misc]
            for (a, b), table in zip(self.edges, self.pairwise, strict=True)
        ]
        places, _ = JunctionTree.of(scoped, [size] * len(self.unary)).most_probable()
        return np.array(places, dtype=np.int64)

    def conditional_modes(self, start: Any = None, *, max_rounds: int = 100) -> NDArray[np.int64]:
        """Return a local optimum: each node in turn takes its best state given its neighbours (ICM)."""
        x = self.unary.argmax(axis=1) if start is None else np.array(start, dtype=np.int64).ravel()
        for _ in range(max_rounds):
            changed = False
            for node, row in enumerate(self.unary):
                score = row + sum(
                    (table[:, x[other]] for other, table in self._near[node]), np.zeros(len(row))
                )
                best = int(np.argmax(score))
                if score[best] > score[x[node]]:
                    x[node], changed = best, True
            if not changed:
                break
        return x

    def gibbs(
        self, n: int = 1000, *, burn_in: int = 100, random_state: Any = 0, start: Any = None
    ) -> NDArray[np.int64]:
        """Draw states by Gibbs' sampler, each sweep all nodes given their neighbours: (n, nodes)."""
        if n < 1 or burn_in < 0:
            raise ParameterError(f"n={n} must be at least 1 and burn_in={burn_in} not negative.")
        rng = np.random.default_rng(random_state)
        nodes, states = self.unary.shape
        x: Any = rng.integers(states, size=nodes) if start is None else np.array(start).ravel()
        groups = self._coloured()
        found = np.empty((n, nodes), dtype=np.int64)
        for sweep in range(burn_in + n):
            for members, others, tables in groups:
                scores = self.unary[members].copy()
                for column in range(others.shape[1]):  # of neighbours, in step for all of a colour
                    known = others[:, column] >= 0
                    which = others[known, column]
                    scores[known] += tables[known, column, :, x[which]]
                noise = rng.gumbel(size=scores.shape)
                x[members] = np.argmax(scores + noise, axis=1)
            if sweep >= burn_in:
                found[sweep - burn_in] = x
        return found

    def _coloured(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64], Table]]:
        """Groups of nodes without an edge among them, which can be drawn together, with their neighbours."""
        colour = np.full(len(self.unary), -1)
        for node, near in enumerate(self._near):
            used = {int(colour[other]) for other, _ in near}
            colour[node] = next(c for c in range(len(self.unary) + 1) if c not in used)
        states, groups = self.unary.shape[1], []
        for shade in range(int(colour.max()) + 1):
            members = np.flatnonzero(colour == shade)
            most = max((len(self._near[node]) for node in members), default=0)
            others = np.full((len(members), most), -1)
            tables = np.zeros((len(members), most, states, states))
            for row, node in enumerate(members.tolist()):
                for column, (other, table) in enumerate(self._near[node]):
                    others[row, column], tables[row, column] = other, table
            groups.append((members, others, tables))
        return groups

    def mean_field(self, *, max_rounds: int = 500, tol: float = 1e-9) -> MeanField:
        """Return the closest independent marginals and their lower bound on the log-partition."""
        q = np.exp(self.unary - self.unary.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        residual, rounds = math.inf, 0
        while residual > tol and rounds < max_rounds:
            rounds, residual = rounds + 1, 0.0
            for node, row in enumerate(self.unary):
                score = row + sum((table @ q[other] for other, table in self._near[node]), np.zeros(len(row)))
                new = np.exp(score - score.max())
                new /= new.sum()
                residual = max(residual, float(np.abs(new - q[node]).max()))
                q[node] = new
        entropy = -float(np.sum(q[q > 0] * np.log(q[q > 0])))
        pairs = np.einsum("ea,eab,eb->", q[self.edges[:, 0]], self.pairwise, q[self.edges[:, 1]])
        return MeanField(q, float(np.sum(q * self.unary) + pairs) + entropy, rounds, residual)

    def check(self, marginals: Mapping[int, Any] | Any) -> float:
        """Return how far marginals are from the exact ones, at most."""
        return float(np.abs(np.asarray(marginals) - self.marginals()).max())
