"""Columns that tell the target by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen
from surefit.study.table.single_column_skill import (
    FOLDS,
    ColumnSkill,
    binned,
    held_out,
    skill,
    straight,
    told_classes,
    told_numbers,
)


class LeakingColumns(Check):
    """One column alone predicts held-out rows nearly without error: it is the target in another guise."""

    name = "leaking-columns"
    enough = 0.99  # R², area under the curve or accuracy; what is measured honestly rarely gets there
    sure = 0.95  # the lower end of the interval
    hint = 0.5  # of the variance: below, the dearer scores are not worked out
    rows = 40  # fewer do not tell chance from knowledge
    cells = 20_000_000  # of the sample that are looked at; of a wide table, fewer rows

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """One finding a column, with the score and its interval."""
        if seen.target is None or seen.task is None:
            return
        for name, told in self._scores(seen):
            if told.score >= self.enough and told.low >= self.sure:
                yield Finding(
                    self.name,
                    "problem",
                    f"{name!r} alone predicts {seen.target!r}: {told.metric} {told.score:.4g} "
                    f"[{told.low:.4g}, {told.high:.4g}] on rows that were held out.",
                    "If it is not known when a prediction is made, leave it out.",
                    (name,),
                    evidence={"score": told.score, "low": told.low, "high": told.high},
                )

    def _scores(self, seen: Seen) -> Iterator[tuple[str, ColumnSkill]]:
        assert seen.target is not None
        assert seen.task is not None
        there = np.flatnonzero(~seen.gaps(seen.target))
        step = max(1, round(len(there) * len(seen.used) / self.cells))
        there = there[::step]
        if len(there) < self.rows:
            return
        folds = np.random.default_rng(0).permutation(np.arange(len(there)) % FOLDS)
        measured = seen.task.task == "regression"
        if measured:
            target = seen.numbers(seen.target)[there]
            there, folds, target = (
                there[np.isfinite(target)],
                folds[np.isfinite(target)],
                target[np.isfinite(target)],
            )
            targets = target[:, None]
        else:
            classes = np.unique(seen.codes(seen.target)[there], return_inverse=True)[1].astype(np.int64)
            targets = np.eye(int(classes.max(initial=0)) + 1)[classes]
        if not targets.var(axis=0).any():
            return
        for name in seen.used:
            numeric = seen.kinds[name] != "category"
            values = seen.numbers(name)[there] if numeric else None
            if values is not None:
                values = np.where(np.isinf(values), np.nan, values)
            codes = seen.codes(name)[there] if values is None else binned(values)
            answers = held_out(codes, targets, folds)
            if measured and values is not None and not np.isnan(values).all():
                line = straight(values, target, folds)[:, None]
                answers = max(answers, line, key=lambda each: skill(targets, each))
            if skill(targets, answers) >= self.hint:
                yield (
                    name,
                    told_numbers(target, answers[:, 0]) if measured else told_classes(classes, answers),
                )

    @classmethod
    def triggering_case(cls) -> Case:
        """The target with a little noise."""
        return cls._case(0.01)

    @classmethod
    def clean_case(cls) -> Case:
        """The target with much noise."""
        return cls._case(1.0)

    @staticmethod
    def _case(noise: float) -> Case:
        rng = np.random.default_rng(0)
        y = rng.normal(size=100)
        return Case(pa.table({"a": y + noise * rng.normal(size=100), "b": rng.normal(size=100), "y": y}), "y")
