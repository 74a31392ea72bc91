"""What a comparison of models found, as a leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.evaluate.compare.difference_tests import Odds, TestResult
from surefit.evaluate.compare.multiple_testing import tie_letters
from surefit.evaluate.cross_validation.result import CrossValidation
from surefit.evaluate.rows.frames import frame_of
from surefit.evaluate.scoring.interval_base import ScoreInterval


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """Models in the order of their scores, the best first, and which of them cannot be told apart.

    names: the models. results: the cross-validation of each. tests: of each pair (i, j), i before j. pvalues:
    adjusted for the number of pairs. odds: of each pair, where folds allow it. groups: the largest sets
    of models of which no two can be told apart. simplest: the model to take, the simplest of those that
    cannot be told from the best.
    """

    names: tuple[str, ...]
    metric: str
    better: str
    results: Mapping[str, CrossValidation]
    tests: Mapping[tuple[int, int], TestResult]
    pvalues: NDArray[np.float64]
    odds: Mapping[tuple[int, int], Odds]
    groups: Sequence[Sequence[int]]
    simplest: str
    level: float
    correction: str

    @property
    def best(self) -> str:
        """The model with the best score."""
        return self.names[0]

    @property
    def as_good_as_best(self) -> list[str]:
        """The models that cannot be told from the best, itself first."""
        return [name for k, name in enumerate(self.names) if self.pvalues[0, k] > 1 - self.level]

    @property
    def intervals(self) -> list[ScoreInterval]:
        """The interval of each model's score, in order."""
        return [self.results[name].intervals[self.metric] for name in self.names]

    def letters(self) -> list[str]:
        """The groups of each model as letters: two models that share one cannot be told apart."""
        return tie_letters(self.groups, len(self.names))

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the leaderboard as a frame, one row a model."""
        intervals = self.intervals
        columns: dict[str, Any] = {
            "rank": range(1, len(self.names) + 1),
            "model": self.names,
            self.metric: [interval.estimate for interval in intervals],
            "low": [interval.low for interval in intervals],
            "high": [interval.high for interval in intervals],
            "p_against_best": self.pvalues[0].tolist(),
            "group": self.letters(),
            "fit_seconds": [float(self.results[name].fit_seconds.mean()) for name in self.names],
        }
        if self.odds:
            columns["worse_than_best"] = [0.0, *(self.odds[0, k].better for k in range(1, len(self.names)))]
            columns["as_good_as_best"] = [1.0, *(self.odds[0, k].alike for k in range(1, len(self.names)))]
        for name in self.results[self.best].metrics:
            if name != self.metric:
                columns[name] = [self.results[model].intervals[name].estimate for model in self.names]
        return frame_of(columns, backend)

    def __repr__(self) -> str:
        one = self.results[self.best]
        test = next(iter(self.tests.values())).method if self.tests else "no test"
        folds = _count(len(one.folds), "fold")
        head = f"{len(self.names)} models by {self.metric} ({self.better} is better), {folds}"
        rows = [("", "model", self.metric, f"{100 * self.level:g} % interval", "p", "group")]
        for k, (name, interval) in enumerate(zip(self.names, self.intervals, strict=True)):
            ends = f"[{interval.low:.4g}, {interval.high:.4g}]"
            p = "" if k == 0 else f"{self.pvalues[0, k]:.3g}"
            rows.append((str(k + 1), name, f"{interval.estimate:.4g}", ends, p, self.letters()[k]))
        widths = [max(len(row[k]) for row in rows) for k in range(6)]
        lines = [
            "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows
        ]
        *others, last = self.as_good_as_best
        told = f"{last} is best."
        if others:
            told = f"{', '.join(others)} and {last} cannot be told apart; take {self.simplest}."
        about = "of being as good as the best" if test.startswith("Bayes") else "against the best"
        said = f"p: {about}, by {test}, {_count(len(self.tests), 'pair')}, correction {self.correction}."
        found = [str(finding) for name in self.names for finding in self.results[name].diagnosis]
        return "\n".join([head, *lines, said, told, *dict.fromkeys(found)])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
