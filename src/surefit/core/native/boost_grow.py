"""Growing one tree of a boosted model from codes, gradients and curvatures; the best leaf is split first.

Sums of gradients are whole numbers, so every order of rows, number of threads and cut into batches gives the
same tree. Of equal splits the first column wins, then the lower bin, then missing values to the right.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.bin_columns import MISSING, Codes

Floats = NDArray[np.float64]
LEAST_CURVATURE = 1e-3  # of a side: below it the step of Newton is a division by nothing
LINE = 64  # bytes that memory is read by: rows that begin with one are read at once


@dataclass(frozen=True, slots=True)
class BoostRules:
    """When to stop, and where to look; 0 means no limit.

    column_share: how many of the columns are looked at in a node, drawn by ``seed``. monotone: of each
    column -1, 0 or 1. groups: (groups, columns), which columns may be split by together.
    """

    max_leaves: int = 31
    max_depth: int = 0
    min_rows_leaf: int = 20
    l2: float = 0.0
    column_share: float = 1.0
    monotone: tuple[int, ...] = ()
    groups: NDArray[np.uint8] = field(default_factory=lambda: np.empty((0, 0), dtype=np.uint8))


@dataclass(frozen=True, slots=True)
class BoostTable:
    """Rows as codes of bins, column by column and row by row, and what is known of the columns.

    counts: bins of each column, without missing values. is_level: whether its codes are levels.
    """

    codes: Codes
    packed: Codes
    counts: NDArray[np.int64]
    is_level: NDArray[np.uint8]
    has_missing: NDArray[np.uint8]

    @classmethod
    def of(cls, codes: Codes, counts: Any, is_level: Any, *, _threads: int | None = None) -> BoostTable:
        """Lay the rows out for growing.

        >>> BoostTable.of(np.asfortranarray([[0], [255]], dtype=np.uint8), [2], [False]).packed[:, 0].tolist()
        [0, 2]
        """
        counts = np.asarray(counts, dtype=np.int64)
        is_level = np.asarray(is_level, dtype=np.uint8)
        has_missing = np.array([(own == MISSING).any() for own in codes.T], dtype=np.uint8)
        native = compiled()
        if native is None:
            packed = np.where(codes == MISSING, counts.astype(np.uint8), codes)
            return cls(codes, np.ascontiguousarray(packed), counts, is_level, has_missing)
        stride = native.boost_stride(codes.shape[1])
        room = np.zeros(len(codes) * stride + LINE, dtype=np.uint8)
        first = -room.ctypes.data % LINE
        packed = room[first : first + len(codes) * stride].reshape(len(codes), stride)
        native.boost_pack(codes, counts, packed, threads() if _threads is None else _threads)
        return cls(codes, packed, counts, is_level, has_missing)


class BoostWork:
    """Memory that all rounds share: the rows in the order of the leaves, and their sums."""

    def __init__(self, rows: int) -> None:
        self.rows = np.empty(rows, dtype=np.uint32)
        self.spare = np.empty(rows, dtype=np.uint32)
        self.sums = np.empty((rows, 2), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class BoostTree:
    """A tree as arrays, one entry a node, in the order in which nodes were made.

    column: -1 for a leaf. bin: codes up to it go left; of a column of levels, those whose bit is set in
    ``levels``, (nodes, 4). value: the step of each node. begin, end: its rows in the order of the work.
    """

    column: NDArray[np.int32]
    bin: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.uint8]
    value: Floats
    gain: Floats
    curvature: Floats
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    levels: NDArray[np.uint64]


def boost_grow(
    table: BoostTable,
    gradient: Floats,
    curvature: Floats,
    bounds: tuple[float, float, float],
    rules: BoostRules,
    work: BoostWork,
    seed: int = 0,
    *,
    _threads: int | None = None,
) -> BoostTree:
    """Grow a tree; ``work.rows`` then holds the rows, leaf by leaf.

    bounds: the largest gradient and curvature of any row, and the total curvature.

    >>> table = BoostTable.of(np.asfortranarray([[0], [0], [1], [1]], dtype=np.uint8), [2], [False])
    >>> g, h, work = np.array([-1.0, -1.0, 3.0, 3.0]), np.ones(4), BoostWork(4)
    >>> tree = boost_grow(table, g, h, (3.0, 1.0, 4.0), BoostRules(min_rows_leaf=1), work)
    >>> tree.column.tolist(), tree.value.round(9).tolist()
    ([0, -1, -1], [-1.0, 1.0, -3.0])
    """
    work.rows[:] = np.arange(len(work.rows), dtype=np.uint32)
    native = compiled()
    if native is None:
        return boost_grow_twin(table, gradient, curvature, bounds, rules, work)
    found = native.boost_grow(
        table.codes,
        table.packed,
        table.counts,
        table.is_level,
        table.has_missing,
        list(rules.monotone),
        rules.groups.ravel().tolist(),
        gradient,
        curvature,
        list(bounds),
        work.rows,
        work.spare,
        work.sums,
        rules.max_leaves,
        rules.max_depth,
        rules.min_rows_leaf,
        rules.l2,
        rules.column_share,
        seed,
        threads() if _threads is None else _threads,
    )
    return BoostTree(*[*found[:-1], found[-1].reshape(-1, 4)])


def boost_grow_twin(
    table: BoostTable,
    gradient: Floats,
    curvature: Floats,
    bounds: tuple[float, float, float],
    rules: BoostRules,
    work: BoostWork,
    seed: int = 0,
) -> BoostTree:
    """Do the same with numpy sums of each column and node; it draws no columns."""
    from surefit.core.native.boost_grow_twin import grow

    return grow(table, gradient, curvature, bounds, rules, work)


def boost_update(
    tree: BoostTree, value: Floats, work: BoostWork, score: Floats, *, _threads: int | None = None
) -> None:
    """Add to the score of each row the value of the leaf that growing left it in."""
    leaf = np.flatnonzero(tree.column < 0)
    native = compiled()
    if native is None:
        for node in leaf:
            score[work.rows[tree.begin[node] : tree.end[node]]] += value[node]
        return
    begin, end = tree.begin[leaf], tree.end[leaf]
    native.boost_update(
        work.rows, begin, end, value[leaf], score, threads() if _threads is None else _threads
    )
