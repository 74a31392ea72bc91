"""Trees and forests learnt from a stream, and their certificates computed again from one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError
from surefit.core.native.trees.forest_grow import joined, packed
from surefit.core.trace import Trace
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.tree.growing.forest_grower import tree_seeds
from surefit.models.tree.growing.forest_samples import pruned_forest
from surefit.models.tree.nodes.compact_forest import KeptForest, kept_forest
from surefit.models.tree.nodes.forest_arrays import in_target_units, loss_unit
from surefit.models.tree.nodes.forest_store import ForestStore
from surefit.models.tree.nodes.parameters import as_parameters, in_units
from surefit.models.tree.rows.bin_codes import plain_engine
from surefit.models.tree.rows.matrix import level_counts
from surefit.models.tree.streams.errors import Judging, StreamedErrors, leaf_gap
from surefit.models.tree.streams.setup import StreamFacts, is_streamed, open_stream, stream_facts
from surefit.models.tree.streams.tree_stream import sample_targets
from surefit.models.tree.targets.exact_sums import as_float
from surefit.resample.streams import seed_of
from surefit.stats.missing import Missing

__all__ = ["certify_forest", "certify_tree", "is_streamed", "learn_forest", "learn_tree"]


def learn_tree(model: Any, source: Source, engine: Engine) -> Learned:
    """Grow one tree from all rows."""
    width, schema = source.schema.width, source.schema
    columns = model._columns_looked_at(width)
    drawn = columns < width or model.splitter == "random"
    seed = seed_of(model.random_state) if drawn else 0
    stream, known, levels = open_stream(model, source, engine, columns, seed)
    grown = stream.grow((seed,))[0]
    nodes = model._pruned(in_units(grown, known.target.target(np.empty(0))))
    model._schema = schema
    kept = as_parameters(nodes, known.target.kind, levels, seed, columns, 1)
    parameters = model._parameters(kept, schema)
    evidence = _evidence(known, source, engine)
    return Learned(parameters, model._certificate({"gain missed": 0.0}, by_bins=True), evidence)


def _evidence(known: StreamFacts, source: Source, engine: Engine) -> dict[str, Any]:
    cells = engine.accumulate(Missing.of, source)
    found: dict[str, Any] = {"rows": known.facts.rows, "cells": (cells.weight, cells.missing)}
    if source.schema.classes is not None:
        totals = np.array([as_float(own) for own in known.facts.sums.sums])
        found["class_weights"] = (source.schema.classes, totals)
    return found


def certify_tree(model: Any, source: Source, engine: Engine) -> Certificate:
    """Add up the rows of each leaf again."""
    known = stream_facts(model, source, engine)
    grown, target = packed(model._nodes().grown, 1, known.target.kind), known.target.target(np.empty(0))
    forest = kept_forest(in_target_units(grown, target) if target.classes else grown, target.classes)
    judging = Judging(forest, (0,), (1,), model.levels_, (known.target,), known.sampling, True)
    found = plain_engine(engine).accumulate(judging, source)
    gap = leaf_gap(forest, found.leaves, known.target)
    certificate: Certificate = model._certificate({"answers of leaves": gap}, by_bins=True)
    return certificate


def learn_forest(model: Any, source: Source, engine: Engine, trace: Trace, block: int) -> Learned:
    """Grow the trees of a forest, some at a time, and judge them."""
    looked_at, goes_on = model._columns_looked_at(source.schema.width), model._continues()
    seed = model.seed_ if goes_on else 0 if model.random_state is None else seed_of(model.random_state)
    stream, known, levels = open_stream(model, source, engine, looked_at, 0)
    seeds = tree_seeds(seed, model.n_estimators)
    store = ForestStore()
    if goes_on:
        store.add(model._grown())
    counted: list[int] = model.loss_trees_.tolist() if goes_on else []
    model.__dict__.pop("_views", None)
    evidence = _evidence(known, source, engine)
    target = known.target.target(np.empty(0))

    def errors(forest: KeptForest) -> StreamedErrors:
        return _judged(model, source, engine, forest, seeds, counted, levels, known)[0]

    def learned(last: bool = False) -> Learned:
        forest = store.forest(last=last)
        told = {
            "tree_seeds": seeds[: forest.trees],
            "levels": levels,
            "seed": seed,
            "draws": -known.draws,
            "rows": known.facts.rows,
            "row_cumulative": np.full(1 if known.draws and known.is_weighted else 0, np.nan),
            "searched_by_bins": True,
            "max_features": looked_at,
            "n_outputs": 1,
        }
        return model._stated(forest, counted, errors(forest), target, told, dict(evidence))

    steps = [seeds[at : at + block] for at in range(store.trees, model.n_estimators, block)]
    for step, _ in zip(steps, trace.iterations(len(steps)), strict=False):
        grown = [packed(tree, 1, known.target.kind) for tree in stream.grow(tuple(step.tolist()))]
        found = in_target_units(joined(grown), target)
        if model.ccp_alpha > 0:
            counts = level_counts(levels, source.schema.width)
            found = pruned_forest(found, known.target.kind, target, counts, model.ccp_alpha)
        store.add(kept_forest(found, target.classes))
        counted.append(store.trees)
        settles = model.settled > 0  # asking all trees again costs a pass, so only where it decides
        so_far = errors(store.forest(last=False)) if settles else None
        trace.record(objective=_number(so_far, loss_unit(target)), learned=learned)
        if so_far is not None and model._has_settled(so_far.curve):
            break
    model._schema = source.schema
    return learned(last=True)


def _number(errors: StreamedErrors | None, unit: float) -> float | None:
    return errors.curve[-1] / unit if errors is not None and np.isfinite(errors.curve[-1]) else None


def _judged(
    model: Any,
    source: Source,
    engine: Engine,
    forest: KeptForest,
    seeds: NDArray[np.uint64],
    counted: list[int],
    levels: Any,
    known: StreamFacts,
    with_leaves: bool = False,
) -> tuple[StreamedErrors, tuple[Any, ...]]:
    """What the trees say of rows that they have not seen, and the targets of their samples."""
    plain, own = plain_engine(engine), tuple(seeds[: forest.trees].tolist())
    targets = (known.target,) * len(own)
    if with_leaves and model._balanced:
        targets = sample_targets(known.target, known.sampling, own, source, plain)
    judging = Judging(forest, own, tuple(counted), levels, targets, known.sampling, with_leaves)
    return plain.accumulate(judging, source), targets


def certify_forest(model: Any, source: Source, engine: Engine) -> tuple[StreamedErrors, float, float]:
    """Draw the samples again; return the errors, by how much leaves have changed, and the units of losses."""
    known = stream_facts(model, source, engine)
    if known.facts.rows != model.rows_:
        raise DataError(f"the trees drew from {model.rows_} rows, but these are {known.facts.rows}.")
    forest = model._grown()
    counted = model.loss_trees_.tolist()
    found, _ = _judged(
        model, source, engine, forest, model.tree_seeds_, counted, model.levels_, known, with_leaves=True
    )
    scale = 1.0 if known.target.classes else known.target.factor**2
    return found, leaf_gap(forest, found.leaves, known.target), scale
