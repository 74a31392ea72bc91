"""Structures searched: hill climbing on a score that adds up over families, and the best tree."""

from __future__ import annotations

import math
from collections import deque
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from surefit.core.errors import ParameterError
from surefit.stats.distinct_rows import DistinctRows

Edge = tuple[int, int]
_TABU = 30  # changes that may not be undone
_PATIENCE = 15  # changes without a better score, after which the search ends
_LEAST_GAIN = 1e-9  # of a score: less is rounding


class FamilyScores:
    """The score of a child below a set of parents, each computed once.

    bic: the largest log-likelihood less half the logarithm of the rows for every free number. bdeu: the
    logarithm of the evidence under a Dirichlet prior that is worth ``equivalent_size`` rows.
    """

    def __init__(self, counts: DistinctRows, score: Literal["bic", "bdeu"], equivalent_size: float) -> None:
        if score not in ("bic", "bdeu"):
            raise ParameterError(f"score={score!r} must be 'bic' or 'bdeu'.")
        if not equivalent_size > 0:
            raise ParameterError(f"equivalent_size={equivalent_size!r} must be above 0.")
        self._counts, self._score, self._size = counts, score, equivalent_size
        self._penalty = 0.5 * math.log(max(counts.weight, 1.0))
        self._found: dict[tuple[int, frozenset[int]], float] = {}
        self._columns = [np.ascontiguousarray(column, dtype=np.intp) for column in counts.codes.T]
        self._complete = counts.complete
        self._weights = None if (counts.counts == 1).all() else counts.counts

    def __call__(self, child: int, parents: frozenset[int]) -> float:
        """Return the score of one family."""
        key = child, parents
        if key not in self._found:
            self._found[key] = self._of(self._table(child, sorted(parents)))
        return self._found[key]

    def _table(self, child: int, parents: list[int]) -> NDArray[np.float64]:
        if not self._complete:
            return self._counts.table([*parents, child])
        sizes = [int(self._counts.sizes[each]) for each in (*parents, child)]
        keys = self._columns[child]
        step = sizes[-1]
        for parent, size in zip(reversed(parents), reversed(sizes[:-1]), strict=True):
            keys = keys + step * self._columns[parent]
            step *= size
        return np.bincount(keys, self._weights, minlength=step).astype(np.float64, copy=False).reshape(sizes)

    def _of(self, table: NDArray[np.float64]) -> float:
        rows = table.reshape(-1, table.shape[-1])
        sums = rows.sum(axis=1)
        if self._score == "bic":
            likelihood = float(xlogy(rows, rows).sum() - xlogy(sums, sums).sum())
            return likelihood - self._penalty * rows.shape[0] * (rows.shape[1] - 1)
        cell = self._size / rows.size
        row = cell * rows.shape[1]
        return float(
            (gammaln(row) - gammaln(row + sums)).sum() + (gammaln(cell + rows) - gammaln(cell)).sum()
        )


def hill_climb(
    counts: DistinctRows,
    *,
    score: Literal["bic", "bdeu"] = "bic",
    equivalent_size: float = 10.0,
    max_parents: int = 3,
) -> list[Edge]:
    """Add, remove and turn arrows, the best change first, and go on for a while where none is better.

    The last changes may not be undone (a tabu list), so that the search leaves small hills; the best
    structure that was met is returned.
    """
    columns = counts.codes.shape[1]
    scores = FamilyScores(counts, score, equivalent_size)
    parents: list[frozenset[int]] = [frozenset()] * columns
    value = best_value = sum(scores(child, parents[child]) for child in range(columns))
    best, tabu, idle = list(parents), deque[tuple[str, Edge]](maxlen=_TABU), 0
    gains = _Gains(scores, parents, max_parents)
    while idle < _PATIENCE:
        found = gains.best(parents, tabu)
        if found is None:
            break
        gain, kind, (a, b) = found
        if kind != "turn":
            parents[b] = parents[b] ^ {a}
            tabu.append(("remove" if kind == "add" else "add", (a, b)))
            gains.refresh(parents, [b])
        else:
            parents[b], parents[a] = parents[b] - {a}, parents[a] | {b}
            tabu.append(("turn", (b, a)))
            gains.refresh(parents, [a, b])
        value += gain
        if value > best_value + _LEAST_GAIN * abs(best_value):
            best, best_value, idle = list(parents), value, 0
        else:
            idle += 1
    return [(parent, child) for child in range(columns) for parent in sorted(best[child])]


class _Gains:
    """What adding or removing each arrow would gain; only those into a changed node are computed again."""

    def __init__(self, scores: FamilyScores, parents: list[frozenset[int]], most: int) -> None:
        self._scores, self._most = scores, most
        self._gain = np.full((len(parents), len(parents)), -np.inf)
        self.refresh(parents, list(range(len(parents))))

    def refresh(self, parents: list[frozenset[int]], children: list[int]) -> None:
        for child in children:
            now = self._scores(child, parents[child])
            for other in range(len(parents)):
                full = len(parents[child]) >= self._most and other not in parents[child]
                if other == child or full:
                    self._gain[other, child] = -np.inf
                else:
                    self._gain[other, child] = self._scores(child, parents[child] ^ {other}) - now

    def best(
        self, parents: list[frozenset[int]], tabu: deque[tuple[str, Edge]]
    ) -> tuple[float, str, Edge] | None:
        """Return the change that gains most, keeps the graph free of cycles and is not forbidden."""
        reach = _reachable(parents)
        found: tuple[float, str, Edge] | None = None
        for a in range(len(parents)):
            for b in range(len(parents)):
                if a == b:
                    continue
                if a in parents[b]:
                    options = [("remove", self._gain[a, b])]
                    if len(parents[a]) < self._most and not _other_way(parents, reach, a, b):
                        options.append(("turn", self._gain[a, b] + self._gain[b, a]))
                elif b in parents[a] or reach[b, a]:
                    continue
                else:
                    options = [("add", self._gain[a, b])]
                for kind, gain in options:
                    better = gain > -np.inf and (found is None or gain > found[0])
                    if better and (kind, (a, b)) not in tabu:
                        found = float(gain), kind, (a, b)
        return found


def _reachable(parents: list[frozenset[int]]) -> NDArray[np.bool_]:
    """Whether arrows lead from one node to another."""
    reach = np.zeros((len(parents), len(parents)), dtype=bool)
    for child, above in enumerate(parents):
        reach[list(above), child] = True
    for middle in range(len(parents)):
        reach |= np.outer(reach[:, middle], reach[middle])
    return reach


def _other_way(parents: list[frozenset[int]], reach: NDArray[np.bool_], a: int, b: int) -> bool:
    """Whether arrows lead from a to b beside the one between them."""
    return any(reach[a, middle] for middle in parents[b] if middle != a)


def mutual_information(counts: DistinctRows, a: int, b: int, given: int | None = None) -> float:
    """The mutual information of two columns in nats, or that given a third."""
    table = counts.table([a, b] if given is None else [given, a, b])
    table = table[None] if given is None else table
    total = table.sum()
    if total == 0:
        return 0.0
    pair, whole = table.sum(axis=(1, 2)), table
    first, second = table.sum(axis=2), table.sum(axis=1)
    entropy = xlogy(whole, whole).sum() + xlogy(pair, pair).sum()
    return float((entropy - xlogy(first, first).sum() - xlogy(second, second).sum()) / total)


def chow_liu_tree(
    counts: DistinctRows, *, columns: list[int] | None = None, given: int | None = None, root: int = 0
) -> list[Edge]:
    """Return the tree with the largest likelihood: most mutual information along its edges, away from a root.

    columns: between which, by default all; given: a column that every other depends on beside its parent.
    """
    nodes = list(range(counts.codes.shape[1])) if columns is None else columns
    joined, edges = [nodes[root]], []
    # The strongest tie of every node that is not in the tree to one that is (Prim).
    tie = {node: (mutual_information(counts, nodes[root], node, given), nodes[root]) for node in nodes}
    del tie[nodes[root]]
    while tie:
        node = max(tie, key=lambda each: (tie[each][0], -each))
        edges.append((tie.pop(node)[1], node))
        joined.append(node)
        for other in tie:
            strength = mutual_information(counts, node, other, given)
            if strength > tie[other][0]:
                tie[other] = strength, node
    return edges
