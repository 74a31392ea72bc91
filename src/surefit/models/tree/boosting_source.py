"""Rows of a source too large for its codes: what is known of them before the first round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batch import Batch
from surefit.data.source import MappedSource, Source
from surefit.engine.base import Engine
from surefit.models.tree.bins import Bins
from surefit.models.tree.boosting_losses import BoostLoss
from surefit.models.tree.boosting_rounds import Rounds, Setup
from surefit.models.tree.boosting_stream import Measured, StreamedRounds, losses
from surefit.models.tree.boosting_trees import Grove
from surefit.models.tree.coded_rows import Coding, coded_rows, plain_engine, row_weights
from surefit.models.tree.row_draws import HeldOutRows
from surefit.models.tree.rows import Levels, matrix_of
from surefit.models.tree.target_facts import TargetFacts, class_factors_of, target_facts

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Standing:
    """The scores that trees of numbers give to rows."""

    grove: Grove
    baseline: Floats

    def __call__(self, X: NDArray[Any]) -> Floats:
        score = np.repeat(self.baseline[:, None], len(X), axis=1)
        self.grove.add_to(score, X)
        return score


@dataclass(slots=True)
class StreamedRows:
    """Rows that are read in every pass."""

    source: Source
    engine: Engine
    coding: Coding
    facts: TargetFacts
    held_out: HeldOutRows

    @property
    def count(self) -> int:
        """How many rows count."""
        return self.facts.counted

    @property
    def levels(self) -> Levels:
        """The levels of each column."""
        return self.coding.levels

    @property
    def bins(self) -> Bins:
        """The bins of each column."""
        return self.coding.bins

    def ends(self) -> Floats:
        """The least and the greatest target."""
        return np.array([self.facts.low, self.facts.high])

    def rounds(self, setup: Setup, scores: Callable[[], Floats]) -> Rounds:
        """Return the rounds; codes are made now, where they are kept."""
        coding = self.coding
        if setup.groves and setup.baseline is not None:
            coding = replace(coding, standing=_Standing(setup.groves[0], setup.baseline))
        found = StreamedRounds(
            setup.loss,
            setup.rules,
            self.bins,
            setup.learning_rate,
            setup.seed,
            None,
            Measured(),
            Measured() if self.held_out.any else None,
            setup.groves,
            source=coded_rows(self.source, self.engine, coding, setup.loss.outputs),
            engine=plain_engine(self.engine),
            baseline=np.empty(0),
            drawn=self.held_out,
            begun=bool(setup.groves),
        )
        if setup.baseline is None:
            setup.baseline = found.start()
        found.baseline = setup.baseline
        if setup.scored:
            found.gather_scored()
        return found


def streamed_rows(model: Any, source: Source, engine: Engine, coding: Coding, draw: Any) -> StreamedRows:
    """Look at the targets, and draw what is held out."""
    facts = target_facts(source, engine)
    coding = replace(coding, factors=class_factors_of(model, facts, source.schema))
    kept: list[NDArray[np.bool_]] = []

    def targets() -> Floats:
        blocks = list(plain_engine(engine).map(_targets, source))
        kept.append(np.concatenate([own for _, own in blocks]))
        return np.concatenate([y for y, _ in blocks])

    drawn = draw(facts.counted, targets)
    if drawn.mask is not None and kept:
        mask = np.zeros(facts.rows, dtype=bool)
        mask[kept[0]] = drawn.mask
        drawn = replace(drawn, mask=mask)
    return StreamedRows(source, engine, coding, facts, drawn)


def _targets(batch: Batch) -> tuple[Floats, NDArray[np.bool_]]:
    y = np.asarray(batch.y, dtype=np.float64).reshape(len(batch))
    kept = np.ones(len(y), dtype=bool) if batch.weight is None else batch.weight > 0
    return y[kept], kept


@dataclass(frozen=True, slots=True)
class _Answering:
    """A batch as one of scores, which are its offset."""

    levels: Levels
    standing: _Standing
    factors: Floats | None

    def __call__(self, batch: Batch) -> Batch:
        y = np.ascontiguousarray(np.asarray(batch.y, dtype=np.float64).reshape(len(batch)))
        score = self.standing(matrix_of(batch.X, self.levels))
        return Batch(np.empty((len(y), 0)), y, row_weights(y, batch.weight, self.factors), batch.start, score)


def streamed_losses(
    model: Any, source: Source, engine: Engine, grove: Grove, facts: TargetFacts, held_out: HeldOutRows
) -> tuple[float, float | None]:
    """Return the mean losses of training rows and of those held out, added up in one pass."""
    factors = class_factors_of(model, facts, source.schema)
    answering = _Answering(model.levels_, _Standing(grove, model.baseline_), factors)
    loss: BoostLoss = model._boost_loss()
    mapped = MappedSource(source, source.schema, answering)
    return losses(loss, mapped, plain_engine(engine), held_out)
