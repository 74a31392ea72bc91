"""Whether trees are grown from a stream, and what must be known of it before they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import RefusalError
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.models.ensemble import jobs_for
from surefit.models.tree.growing.forest_grower import draws_of
from surefit.models.tree.rows import matrix as gathering
from surefit.models.tree.rows.bin_codes import Coding, plain_engine
from surefit.models.tree.rows.bins import Bins, edges_from_sketch
from surefit.models.tree.rows.column_levels import SketchOf, levels_of
from surefit.models.tree.rows.matrix import Levels, level_counts
from surefit.models.tree.streams.level_search import LevelColumns
from surefit.models.tree.streams.tree_stream import BinEnds, RowSampling, TreeStream
from surefit.models.tree.targets.base import TreeRows, growth_rules
from surefit.models.tree.targets.exact_sums import SCALE, as_float
from surefit.models.tree.targets.facts import TargetFacts, class_factors_of, row_count, target_facts
from surefit.models.tree.targets.node_sums import LevelTarget
from surefit.stats.missing import Missing

MOST_BYTES = 2**30  # of cells up to which the rows of a source are gathered


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """What is known of the targets of a source, in the terms of trees."""

    facts: TargetFacts
    target: LevelTarget
    sampling: RowSampling
    weight: float  # of the rows of a sample
    draws: int

    @property
    def is_weighted(self) -> bool:
        """Whether rows differ in how often they are drawn."""
        same = self.facts.sums.weight == self.facts.rows << SCALE and self.facts.largest == 1.0
        return not same or self.sampling.factors is not None


def is_streamed(model: TreeRows, source: Source, engine: Engine) -> bool:
    """Whether rows are too many to be gathered; what then needs all of them at once is refused."""
    if in_memory(source) is not None:
        return False
    size = 8 * row_count(source, engine) * source.schema.width
    if size <= MOST_BYTES:
        return False
    reason = _needs_all_rows(model, source)
    if reason is None:
        return True
    if size <= gathering.MOST_BYTES:
        return False
    raise RefusalError(
        f"{type(model).__name__}: {reason} needs all rows in memory, which would take "
        f"{size / 2**30:.3g} GiB: leave it out, or give fewer rows or columns."
    )


def _needs_all_rows(model: Any, source: Source) -> str | None:
    """What was asked for that a stream cannot give."""
    asked = {
        f"criterion={model.criterion!r}": model.kernel_criteria[model.criterion] in ("absolute", "poisson"),
        "monotonic_cst": model.monotonic_cst is not None,
        "max_leaf_nodes": model.max_leaf_nodes is not None,
        f"missing={model.missing!r}": model.missing in ("surrogate", "fractional"),
        "split_search='exact'": getattr(model, "split_search", "auto") == "exact",
        "oob_score": bool(getattr(model, "oob_score", False)),
        "keep_members": bool(getattr(model, "keep_members", False)),
        "a target of several columns": not source.schema.target_is_flat,
    }
    return next((what for what, is_asked in asked.items() if is_asked), None)


def stream_facts(model: TreeRows, source: Source, engine: Engine, balanced: bool = False) -> StreamFacts:
    """Look at the targets: their units, their classes' weights, and how often rows are drawn.

    balanced: classes count alike in the sample of each tree, and have no weights before.
    """
    facts = target_facts(source, engine)
    kind, labels = model.kernel_criteria[model.criterion], source.schema.classes
    factors = None
    if labels is not None and not balanced:
        factors = class_factors_of(getattr(model, "class_weight", None), facts, source.schema)
    total = as_float(facts.sums.weight)
    if factors is not None:
        total = float(np.dot(factors, [as_float(own) for own in facts.sums.sums]))
    bootstrap, most = getattr(model, "bootstrap", False), getattr(model, "max_samples", None)
    draws = draws_of(most, facts.rows, total) if bootstrap else 0
    rate = draws / total
    largest, whole = facts.largest, facts.whole
    if rate > 0:
        most = rate * largest * (1.0 if factors is None else float(factors.max()))
        largest, whole = most + 12 * np.sqrt(most) + 30, True
    if labels is None:
        target = LevelTarget.of_numbers(kind, facts.low, facts.high, facts.rows, largest, whole)
    else:
        target = LevelTarget.of_classes(kind, len(labels), facts.rows, largest, whole)
        target = replace(target, factors=None if rate > 0 else factors)
    sampling = RowSampling(rate, factors if rate > 0 else None)
    return StreamFacts(facts, target, sampling, float(draws or total), draws)


def open_stream(
    model: TreeRows,
    source: Source,
    engine: Engine,
    categories: NDArray[np.bool_] | None,
    columns: int,
    seed: int,
    balanced: bool = False,
) -> tuple[TreeStream, StreamFacts, Levels]:
    """Make the passes before the first tree: targets, levels, a sketch of each column, the ends of bins.

    categories: which columns are split by levels. columns: among how many each split is chosen.
    """
    width, plain = source.schema.width, plain_engine(engine)
    known = stream_facts(model, source, engine, balanced)
    levels = levels_of(source, engine, categories, getattr(model, "missing", "") == "category")
    counts = level_counts(levels, width)
    bins: Bins = edges_from_sketch(engine.accumulate(SketchOf(levels), source), levels=counts)
    coding = Coding(levels, bins)
    ends = plain.accumulate(partial(BinEnds.of, coding=coding), source)
    shape = (known.facts.counted, width)
    rules = growth_rules(model, shape, None, known.target.target(np.empty(0)), columns, seed)
    rules = replace(rules, min_weight_leaf=model.min_weight_fraction_leaf * known.weight)
    stream = TreeStream(
        source,
        plain,
        coding,
        LevelColumns(bins.counts, counts, ends.lowest, ends.highest),
        known.target,
        known.sampling,
        rules,
        jobs_for(getattr(model, "n_jobs", None)),
        balanced,
    )
    return stream, known, levels


def stream_evidence(known: StreamFacts, source: Source, engine: Engine) -> dict[str, Any]:
    """What a diagnosis is told of the rows of a stream."""
    cells = engine.accumulate(Missing.of, source)
    found: dict[str, Any] = {"rows": known.facts.rows, "cells": (cells.weight, cells.missing)}
    if source.schema.classes is not None:
        totals = np.array([as_float(own) for own in known.facts.sums.sums])
        found["class_weights"] = (source.schema.classes, totals)
    return found
