"""What a cross-validation found: scores of folds, intervals, answers for rows left out, and a diagnosis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.diagnosis import Diagnosis
from surefit.core.errors import RefusalError
from surefit.evaluate.rows.frames import frame_of
from surefit.evaluate.scoring.fold import Fold, Scorer
from surefit.evaluate.scoring.interval_base import ScoreInterval
from surefit.resample.choose import Pair


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CrossValidation:
    """The scores of a model on rows that it had not seen.

    scores: by metric, one a fold. intervals: by metric, around the mean over folds. pooled: by metric, the
    score of all test rows together; None over a source and for scorers that are functions. train_scores and
    models are there if they were asked for. sizes: rows learnt from and tested on, fold by fold. diagnosis:
    what could make these scores too good.
    """

    model: Any
    metrics: Mapping[str, Scorer]
    folds: Sequence[Fold]
    intervals: Mapping[str, ScoreInterval]
    pooled: Mapping[str, float | None]
    sizes: Sequence[tuple[int, int]]
    diagnosis: Diagnosis
    pairs: Sequence[Pair] | None = None
    rows: int | None = None
    chosen: Sequence[Mapping[str, Any]] | None = field(default=None)

    @property
    def scores(self) -> dict[str, Vector]:
        """The score of each fold, by metric."""
        return {name: np.array([fold.scores[name] for fold in self.folds]) for name in self.metrics}

    @property
    def train_scores(self) -> dict[str, Vector]:
        """The score of each fold on the rows that it learnt from, by metric; empty unless asked for."""
        kept = [fold.train_scores for fold in self.folds]
        return {name: np.array([scores[name] for scores in kept]) for name in self.metrics if kept[0]}

    @property
    def means(self) -> dict[str, float]:
        """The mean over folds, by metric."""
        return {name: float(values.mean()) for name, values in self.scores.items()}

    @property
    def fit_seconds(self) -> Vector:
        """How long each fit took."""
        return np.array([fold.fit_seconds for fold in self.folds])

    @property
    def score_seconds(self) -> Vector:
        """How long predicting and scoring took, fold by fold."""
        return np.array([fold.score_seconds for fold in self.folds])

    @property
    def models(self) -> list[Any]:
        """The fitted model of each fold; refused unless they were kept."""
        if any(fold.model is None for fold in self.folds):
            raise RefusalError("the fitted models were not kept: ask for them with keep_models=True.")
        return [fold.model for fold in self.folds]

    @property
    def test_share(self) -> float:
        """Rows tested on over rows learnt from, on average."""
        return float(np.mean([test / train for train, test in self.sizes]))

    def predictions(self, method: str = "predict") -> Any:
        """Return the answer for each row from the fold that tested it; every row must be tested once."""
        if self.pairs is None or self.rows is None:
            raise RefusalError(
                "the predictions for a source are not stored, since they may not fit in memory."
            )
        tested = np.concatenate([test for _, test in self.pairs])
        if len(tested) != self.rows or len(np.unique(tested)) != self.rows:
            raise RefusalError(
                "this split does not test each row exactly once, so that there is no one answer a row: "
                "fold.answers has those of each fold."
            )
        return self.tested(method)[np.argsort(tested)]

    def tested(self, method: str = "predict") -> Any:
        """Return the answers for all test rows, fold after fold."""
        if self.pairs is None or any(method not in fold.answers for fold in self.folds):
            held = ", ".join(self.folds[0].answers) or "none"
            raise RefusalError(f"the predictions of {method} were not stored, only those of: {held}.")
        return np.concatenate([np.asarray(fold.answers[method]) for fold in self.folds])

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return one row a fold: its sizes, scores and seconds, as a frame of pandas, polars or pyarrow."""
        columns: dict[str, Any] = {
            "fold": range(1, len(self.folds) + 1),
            "train_rows": [train for train, _ in self.sizes],
            "test_rows": [test for _, test in self.sizes],
            **{name: values.tolist() for name, values in self.scores.items()},
            **{f"train_{name}": values.tolist() for name, values in self.train_scores.items()},
            "fit_seconds": self.fit_seconds.tolist(),
            "score_seconds": self.score_seconds.tolist(),
        }
        if self.chosen is not None:
            columns["chosen"] = [", ".join(f"{k}={v!r}" for k, v in entry.items()) for entry in self.chosen]
        return frame_of(columns, backend)

    def __repr__(self) -> str:
        count, name = len(self.folds), type(self.model).__name__
        rows = "" if self.rows is None else f" of {self.rows:,} rows"
        lines = [f"{name}: {count} fold{'s' if count > 1 else ''}{rows}"]
        width = max(len(metric) for metric in self.metrics)
        for metric, interval in self.intervals.items():
            values = self.scores[metric]
            ends = f"[{interval.low:.4g}, {interval.high:.4g}]"
            spread = f"folds {np.min(values):.4g} to {np.max(values):.4g}"
            lines.append(f"  {metric:<{width}}  {interval.estimate:<8.4g} {ends:<20}  {spread}")
        said = list(dict.fromkeys(f"{i.method}" for i in self.intervals.values()))
        level = next(iter(self.intervals.values())).level
        lines.append(f"  intervals: {100 * level:g} %, {'; '.join(said)}")
        if self.chosen is not None:
            lines.append(f"  chosen: {'; '.join(sorted({str(dict(entry)) for entry in self.chosen}))}")
        lines += [f"  {finding}" for finding in self.diagnosis]
        return "\n".join(lines)
