r"""Kinked losses of ordered levels, exactly: equal levels are one column, and what is left has no order.

Multipliers get near an answer, and rounding then keeps slopes from balancing columns of large units. Which
levels are equal is plain long before. With each block of them as the sum of its columns, the penalty is one
of single coordinates, and ``frisch_newton`` solves for the face: its slopes prove the whole problem, or the
blocks were not those of the answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.data.source import ArraySource
from surefit.penalties.ordered import Ordered
from surefit.penalties.table import CoordinateTable
from surefit.penalties.tabulated import Tabulated
from surefit.solvers.frisch_newton import FrischNewton
from surefit.solvers.objective import Objective

Array = NDArray[np.float64]
Members = NDArray[np.intp]

EQUAL = 1e-9  # of the largest level of a group: nearer, levels are on their way to each other
MOST_STEPS = 100


class OrderedFaces:
    """The blocks that a search has come by; ``solved`` answers where it came by the same ones again."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._last: bytes | None = None
        self._tried: set[bytes] = set()

    def solved(self, x: Array, tolerance: float) -> tuple[Array, Array] | None:
        """Return point and slopes of the face near x; None where it is not settled, or was tried."""
        objective = self._objective
        if not isinstance(objective.penalty, Ordered) or objective.outputs is not None:
            return None
        members = _blocks(objective.penalty, objective.split(x)[0])
        key, before = members.tobytes(), self._last
        self._last = key
        if key != before or key in self._tried:
            return None
        self._tried.add(key)
        return _on_blocks(objective, members, tolerance)


def _blocks(penalty: Ordered, coef: Array) -> Members:
    """Return the number of each coefficient's block."""
    above = np.zeros(len(coef), dtype=np.intp)  # 1 where a block begins
    place = np.full(len(coef), -1, dtype=np.intp)
    begun = 0
    for group in penalty._groups:
        slack = EQUAL * float(np.abs(coef[group]).max())
        above[group] = np.append(1, np.diff(coef[group]) > slack)
        place[group] = begun + np.cumsum(above[group]) - 1
        begun = int(place[group[-1]]) + 1
    alone = np.flatnonzero(place < 0)
    place[alone] = begun + np.arange(len(alone))
    return place


def _on_blocks(objective: Objective, members: Members, tolerance: float) -> tuple[Array, Array] | None:
    assert isinstance(objective.penalty, Ordered)
    count, table = int(members.max()) + 1, objective.penalty._table(len(members))
    sizes = np.bincount(members).astype(np.float64)
    first = np.unique(members, return_index=True)[1]
    tied = CoordinateTable(
        table.l1[first] * sizes, table.l2[first] * sizes, table.lower[first], table.upper[first]
    )
    sums = sparse.csr_array((np.ones(len(members)), (np.arange(len(members)), members)))
    batch = objective.need_rows("the primal_dual solver")
    rows: Any = batch.X
    joined: Any = rows @ sums if sparse.issparse(rows) else np.asarray(sums.T @ np.asarray(rows).T).T
    schema = replace(objective.source.schema, width=count, columns=None)
    small = Objective(
        ArraySource(schema, replace(batch, X=joined)),
        objective.engine,
        objective.loss,
        _OfBlocks(tied),
        fit_intercept=objective.fit_intercept,
    )
    solver = FrischNewton(tolerance=tolerance, max_iter=MOST_STEPS)
    if solver.refusal(small) is not None:
        return None
    found = solver.solve(small)
    slopes = found.certificate.witness.get("slopes")
    if slopes is None:
        return None
    return np.concatenate([found.x[:count][members], found.x[count:]]), np.asarray(slopes)


class _OfBlocks(Tabulated):
    """The penalty of blocks, by its table."""

    def __init__(self, table: CoordinateTable) -> None:
        self._table = table

    def table(self, p: int) -> CoordinateTable:
        """Return the numbers of each block."""
        return self._table

    def scaled(self, factor: float) -> _OfBlocks:
        """Return a multiple."""
        table = self._table
        return _OfBlocks(CoordinateTable(factor * table.l1, factor * table.l2, table.lower, table.upper))
