"""The samples of a forest's trees drawn again, and trees taken out of a forest and put back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import RefusalError
from surefit.core.native.trees.forest_draws import forest_draws
from surefit.core.native.trees.forest_grow import GrownForest, Sample, joined, packed, sample_weights
from surefit.core.native.trees.forest_walk import forest_apply
from surefit.models.tree.growing.pruning import pruned_at
from surefit.models.tree.nodes.compact_forest import CompactForest
from surefit.models.tree.nodes.forest_arrays import some_trees, tree_nodes
from surefit.models.tree.nodes.parameters import Target
from surefit.models.tree.rows.row_draws import row_counts
from surefit.models.tree.targets.exact_sums import as_float, exact_sum


def judged_blocks(
    forest: CompactForest, seeds: NDArray[np.uint64], counted: NDArray[np.int64]
) -> Iterator[tuple[CompactForest, NDArray[np.uint64]]]:
    """The trees block by block, as they were judged."""
    for one, two in pairwise([0, *counted.tolist()]):
        yield some_trees(forest, one, two), seeds[one:two]


def drawn_counts(seed: int, draws: int, rows: int, by: Vector | None) -> NDArray[np.uint32]:
    """Return how often each row is in the sample of a tree.

    draws: of so many rows one after the other, ``by`` running sums of weights; where it is below 0, each row
    by its number, ``by`` weights.

    >>> int(drawn_counts(7, 100, 10, None).sum()), drawn_counts(7, -10, 10, np.eye(10)[3]).nonzero()[0]
    (100, array([3]))
    """
    if draws >= 0:
        return forest_draws(seed, draws, rows, by)
    if by is None:
        return row_counts(seed, 0, rows, -draws / rows)
    return row_counts(seed, 0, rows, -draws / as_float(exact_sum(by)) * by)


def drawn_rows(seed: int, draws: int, rows: int, by: Vector | None) -> NDArray[np.int64]:
    """The rows of a tree's sample, each as often as it was drawn.

    >>> drawn_rows(7, -10, 10, np.eye(10)[3]).tolist()[:2]
    [3, 3]
    """
    return np.repeat(np.arange(rows), drawn_counts(seed, draws, rows, by))


def drawn_by(row_cumulative: Vector) -> Vector | None:
    """What rows were drawn by, as ``drawn_counts`` takes it, from what a fitted forest keeps of it."""
    if len(row_cumulative) == 1 and np.isnan(row_cumulative[0]):
        raise RefusalError(
            "a forest fitted to a table larger than memory keeps no row weights, so the bootstrap samples of "
            "its trees cannot be drawn again: fit it to rows in memory, with bootstrap='poisson' for the "
            "same trees."
        )
    return row_cumulative if len(row_cumulative) else None


def weights_drawn(sample: Sample, rows: int, seed: int, target: Target) -> Vector:
    """The weight of each row in the sample of a tree."""
    if sample.draws < 0:
        counts = drawn_counts(seed, sample.draws, rows, sample.cumulative).astype(np.float64)
        sample = Sample(weight=counts, balanced=sample.balanced)
    return sample_weights(sample, rows, seed, target.Y, target.classes)


def packed_members(
    forest: CompactForest, X: Any, levels: Any, sample: Sample, seeds: NDArray[np.uint64]
) -> NDArray[np.int32]:
    """The rows of each leaf, as often as they were drawn, in the order of trees and leaves."""
    found = []
    leaves = forest_apply(forest, X, levels)
    for t, seed in enumerate(seeds.tolist()):
        if sample.draws:
            counts = drawn_counts(seed, sample.draws, len(X), sample.cumulative)
        else:
            counts = np.ones(len(X), dtype=np.uint32)
            if sample.weight is not None:
                counts[sample.weight == 0] = 0
        rows = np.repeat(np.arange(len(X), dtype=np.int32), counts)
        found.append(rows[np.argsort(leaves[rows, t], kind="stable")])
    return np.concatenate(found)


def leaf_change(
    forest: CompactForest,
    X: Any,
    target: Target,
    levels: NDArray[np.int64],
    sample: Sample,
    seeds: NDArray[np.uint64],
    medians: bool,
) -> float:
    """By how much leaves differ from what their rows say: their weights, and values unless ``medians``."""
    leaves = forest_apply(forest, X, levels)
    # Numbers in scaled units: far from zero, a share of the target itself would hide a changed leaf.
    centre = np.zeros(target.Y.shape[1]) if target.centre is None else target.centre
    size = max(float(np.abs(target.Y).max(initial=0.0)), 1e-300)
    worst = 0.0
    for t, seed in enumerate(seeds.tolist()):
        one = some_trees(forest, t, t + 1)
        weight = one.weight
        drawn = weights_drawn(sample, len(X), seed, target)
        held = np.bincount(leaves[:, t], drawn, len(weight))
        worst = max(worst, float(np.abs(held - weight).max() / max(weight.max(), held.max())))
        if medians or worst > 1e-6:
            continue
        value, from_ = one.value, 0
        for o in range(target.Y.shape[1]):
            width = target.classes[o] if target.classes else 1
            if target.classes:
                at = leaves[:, t] * width + target.Y[:, o]
                found = np.bincount(at, drawn, weight.size * width).reshape(-1, width) / weight[:, None]
                worst = max(worst, float(np.abs(found - value[:, from_ : from_ + width]).max()))
            else:
                found = np.bincount(leaves[:, t], drawn * target.Y[:, o], len(weight)) / weight
                gap = np.abs(found - (value[:, o] - centre[o]) * target.factor)
                worst = max(worst, float((gap - np.broadcast_to(target.grain, centre.shape)[o]).max() / size))
            from_ += width
    return worst


def pruned_forest(
    forest: GrownForest, kind: str, target: Target, levels: NDArray[np.int64], alpha: float
) -> GrownForest:
    """Each tree cut back at the price of a leaf."""
    found = []
    for t in range(forest.trees):
        nodes = pruned_at(tree_nodes(forest, t, kind, target.classes, levels), alpha)
        grown = replace(nodes.grown, sums=nodes.value * nodes.grown.weight[:, None])
        one = packed(grown, target.Y.shape[1], kind)
        if target.classes:
            one = replace(one, value=one.value / one.weight[:, None])
        found.append(one)
    return joined(found)
