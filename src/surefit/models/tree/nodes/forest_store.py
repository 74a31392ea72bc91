"""The trees of a fit as they come, and all of them as one forest, in the memory that it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.trees.forest_grow import NODE, joined, leaf_numbers
from surefit.models.tree.nodes.compact_forest import CompactForest
from surefit.models.tree.nodes.leaf_slots import (
    FLOATS,
    fact_in,
    fitting,
    is_digit,
    kept_fact,
    numbers_of,
    rows_in,
    span_of,
)
from surefit.models.tree.nodes.leaf_values import shared_rows

Nodes = NDArray[np.uint64]
Facts = tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]


@dataclass(slots=True, eq=False)
class ForestStore:
    """Trees as they come; all nodes stand in one array, which grows where it is."""

    parts: list[CompactForest] = field(default_factory=list)  # without their nodes
    nodes: Nodes = field(default_factory=lambda: np.empty((0, 2), dtype=np.uint64))

    @property
    def trees(self) -> int:
        """How many there are."""
        return sum(part.trees for part in self.parts)

    def add(self, forest: CompactForest) -> None:
        """Add trees, whose nodes are copied."""
        first = len(self.nodes)
        self.nodes.resize((first + len(forest.nodes), 2), refcheck=False)  # nobody else has seen it
        self.nodes[first:] = forest.nodes
        self.parts.append(replace(forest, nodes=np.empty((0, 2), dtype=np.uint64)))

    def forest(self, *, last: bool) -> CompactForest:
        """Return all trees as one forest; after the last time the store has none."""
        nodes = self.nodes if last else self.nodes.copy()
        sizes = [int(part.node_start[-1]) for part in self.parts]
        own = np.split(nodes, np.cumsum(sizes)[:-1])
        blocks = [replace(part, nodes=some) for part, some in zip(self.parts, own, strict=True)]
        if last:
            self.parts, self.nodes = [], np.empty((0, 2), dtype=np.uint64)
        return _joined_in(nodes, blocks)


def _joined_in(nodes: Nodes, blocks: list[CompactForest]) -> CompactForest:
    """The trees of blocks whose nodes stand in ``nodes`` one after the other, and are changed there."""
    if len(blocks) == 1:
        return replace(blocks[0], nodes=nodes)
    table, which = shared_rows(np.concatenate([block.leaf_value for block in blocks]))
    facts_of = _alike(blocks)
    most, spans = 0, list[Any]()
    for block in blocks:
        rows, *facts = facts_of(block)
        most = max(most, int(rows.max(initial=0)))
        spans.append([span_of(fact) for fact in facts])
    one_each = zip(*spans, strict=True)
    kept = fitting(most, [None if None in each else reduce(or_, each) for each in one_each])
    apart: list[list[NDArray[Any]]] = [[], []]
    start = 0
    for block in blocks:
        rows, *facts = facts_of(block)
        at, number = leaf_numbers(block)
        own = block.nodes.view(NODE).reshape(-1)
        own["feature"][at] = -1 - numbers_of(rows, facts, kept)[number]
        if block.is_shared:
            own["threshold"][at] = which[start + own["threshold"][at].astype(np.intp)]
        start += len(block.leaf_value)
        for held, fact, span in zip(apart, facts, kept, strict=True):
            held.append(fact if span is None else fact[:0].copy())  # a view would keep all of it
    weight, impurity = (kept_fact(np.concatenate(held), span) for held, span in zip(apart, kept, strict=True))
    none = np.empty(0)
    bare = [
        replace(block, nodes=nodes[:0], leaf_value=table[:0], leaf_weight=none, leaf_impurity=none)
        for block in blocks
    ]
    return replace(joined(bare), nodes=nodes, leaf_value=table, leaf_weight=weight, leaf_impurity=impurity)


def _alike(blocks: list[CompactForest]) -> Callable[[CompactForest], Facts]:
    """What gives the rows, weights and impurities of a block's leaves, of the same types in all blocks."""

    def told(block: CompactForest) -> Facts:
        slots, facts = block.slots(), block.facts
        return rows_in(slots, facts), fact_in(slots, facts, 0), fact_in(slots, facts, 1)

    def type_of(fact: NDArray[Any]) -> Any:
        if is_digit(fact):
            return np.dtype(np.float32 if fact[FLOATS] else np.uint32)
        return fact.dtype if len(fact) else None

    weights, impurities = ({type_of(block.facts[which]) for block in blocks} for which in (0, 1))
    impurity_type = np.result_type(np.float32, *(impurities - {None}))

    def in_half(block: CompactForest) -> bool:
        rows, weight, _ = told(block)
        return np.array_equal((own := weight if len(weight) else rows).astype(np.float32), own)

    weight_type: Any = np.uint32 if weights <= {None, np.dtype(np.uint32)} else np.float64
    if weights == {np.dtype(np.float32)} or (weight_type is np.float64 and all(map(in_half, blocks))):
        weight_type = np.float32

    def alike(block: CompactForest) -> Facts:
        rows, weight, impurity = told(block)
        if weights != {None}:
            weight = (weight if len(weight) else rows).astype(weight_type, copy=False)
        if impurities != {None}:
            impurity = impurity if len(impurity) else np.zeros(len(rows))
            impurity = impurity.astype(impurity_type, copy=False)
        return rows, weight, impurity

    return alike
