"""Areas under curves: ROC AUC and average precision, of two classes or of several."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, ParameterError, SurefitWarning, warn
from surefit.core.native.scores.score_groups import score_areas, score_groups
from surefit.core.parameters import Count, Interval
from surefit.data.batches.batch import Batch
from surefit.metrics.base import Metric, Purpose
from surefit.metrics.cases import Case, of_task
from surefit.metrics.confusion import LabelList
from surefit.metrics.labels import Labels
from surefit.metrics.rates import Label
from surefit.metrics.score_table import ScoreTable
from surefit.stats.base import Statistic

ManyClasses = Literal["micro", "macro", "weighted"] | None
Share = Annotated[float, Interval(0, 1, open_low=True)] | None


@dataclass(frozen=True, slots=True)
class Rankings(Statistic):
    """A score table for each ranking that is asked for.

    Scores of two classes are one ranking. Those of several are one for each class against the rest
    ("ovr"), for each ordered pair of classes ("ovo"), or one of all classes together ("micro"); ``weight``
    is then that of each class.
    """

    tables: tuple[ScoreTable, ...]
    weight: Vector

    @classmethod
    def of(
        cls,
        batch: Batch,
        *,
        prediction: Any = None,
        classes: Labels | None = None,
        max_points: int | None = None,
        way: str = "ovr",
        **context: Any,
    ) -> Rankings:
        """Rank the rows of a batch: labels and (n,) scores, or codes of classes and (n, k)."""
        given = np.asarray(prediction)
        if given.ndim == 1:
            table = ScoreTable.of(batch, prediction=given, classes=classes, max_points=max_points)
            return cls((table,), np.zeros(0))
        codes, weight = np.asarray(batch.y), batch.weight
        if weight is not None and not weight.all():
            codes, given, weight = codes[weight > 0], given[weight > 0], weight[weight > 0]
        size = given.shape[1]

        def table_of(score: Any, positive: Any, amount: Any) -> ScoreTable:
            found = score_groups(score, positive, amount)
            return ScoreTable.grouped(np.array([False, True]), found, max_points)

        if way == "micro":
            repeated = None if weight is None else np.repeat(weight, size)
            tables = [table_of(given.ravel(), (codes[:, None] == np.arange(size)).ravel(), repeated)]
        elif way == "ovr":
            tables = [table_of(np.ascontiguousarray(given[:, k]), codes == k, weight) for k in range(size)]
        else:
            tables = []
            for one, two in permutations(range(size), 2):
                rows = (codes == one) | (codes == two)
                amount = None if weight is None else weight[rows]
                tables.append(table_of(given[rows, one], codes[rows] == one, amount))
        return cls(tuple(tables), np.bincount(codes, weight, size).astype(np.float64))

    def __add__(self, other: Rankings) -> Rankings:
        if len(self.tables) != len(other.tables):
            raise DataError("one part has one column of scores and the other several; give both alike.")
        tables = tuple(one + two for one, two in zip(self.tables, other.tables, strict=True))
        return Rankings(tables, self.weight + other.weight)


class _Area(Metric):
    """What the areas share."""

    task = "score"
    better = "higher"
    statistic: ClassVar[type[Statistic]] = Rankings
    arguments = ("y_true", "y_score")
    average: Any
    labels: Any
    max_points: Any
    way = "ovr"

    @property
    def context(self) -> dict[str, Any]:
        """Which rankings, and how long."""
        way = "micro" if self.average == "micro" else self.way
        return {"way": way, "max_points": self.max_points}

    @abstractmethod
    def _one(self, table: ScoreTable, positive: Any = None) -> tuple[float, float]:
        """The least and the greatest area that the table allows."""

    def _averaged(self, areas: Vector, weight: Vector) -> Any:
        if self.average is None:
            return areas
        if self.average == "weighted":
            return float(np.average(areas, weights=weight)) if weight.any() else float("nan")
        return float(areas.mean())

    def finish(self, statistic: Rankings) -> Any:
        """Return the area; where bits of scores were cut off, the middle of what is possible."""
        low, high = self.bounds(statistic)
        return (low + high) / 2

    def bounds(self, statistic: Rankings) -> tuple[Any, Any]:
        """Return the least and the greatest area that the scores allow: equal unless ``max_points`` cut."""
        if not len(statistic.weight):
            return self._one(statistic.tables[0], getattr(self, "pos_label", None))
        found = np.array([self._one(table) for table in statistic.tables])
        low, high = (self._of_classes(column, statistic.weight) for column in found.T)
        return low, high

    def _of_classes(self, areas: Vector, weight: Vector) -> Any:
        return float(areas[0]) if self.average == "micro" else self._averaged(areas, weight)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Scores of two classes, ties, a short table."""
        for case in super().cases(rng):
            if case.prediction.ndim == 1:
                yield case
                yield case.with_options(max_points=10)


class RocAuc(_Area):
    r"""The area under the ROC curve: how often a positive row scores above a negative one, ties by half.

    :math:`P(s_+ > s_-) + \frac12 P(s_+ = s_-)`. Of two labels the greater is positive. Several classes ask
    for scores of each, and ``multi_class``: "ovr", each class against the rest, or "ovo", each pair of
    classes. ``max_fpr`` gives the standardised area up to that false positive rate. ``max_points`` bounds the
    memory: beyond so many distinct scores they are cut, and ``bounds`` tells between which two numbers the
    area lies. One label only has no area: NaN, with a warning.

    >>> from surefit import metrics
    >>> metrics.roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """

    name = "roc_auc_score"
    words = "area under the ROC curve"
    bounded = (0.0, 1.0)
    compared_by = "delong"
    told: ClassVar[Mapping[Purpose, int]] = {"study": 5, "fitted": 4}
    told_of_two = True

    def __init__(
        self,
        *,
        average: ManyClasses = "macro",
        max_fpr: Share = None,
        multi_class: Literal["raise", "ovr", "ovo"] = "raise",
        labels: LabelList = None,
        max_points: Count | None = None,
    ) -> None:
        self.average = average
        self.max_fpr = max_fpr
        self.multi_class = multi_class
        self.labels = labels
        self.max_points = max_points

    def pair_scores(self, y_pred: Any) -> Vector | None:
        """Return the scores of the upper of two classes; None for part of the area, and for more classes."""
        score = np.asarray(y_pred, dtype=np.float64)
        score = score[:, -1] if score.ndim == 2 and score.shape[1] <= 2 else score
        return None if self.max_fpr is not None or score.ndim == 2 else score

    @property
    def way(self) -> str:  # type: ignore[override]
        """Which rankings several classes are made of."""
        return "ovo" if self.multi_class == "ovo" else "ovr"

    def _of_classes(self, areas: Vector, weight: Vector) -> Any:
        if self.multi_class == "raise":
            raise ParameterError(
                f"{self.name}: there are several classes; choose multi_class='ovr' or 'ovo'."
            )
        if self.max_fpr not in (None, 1):
            raise ParameterError(f"{self.name}: max_fpr is for two classes; leave it out.")
        if self.multi_class == "ovr":
            return super()._of_classes(areas, weight)
        if self.average not in ("macro", "weighted"):
            raise ParameterError(f"{self.name}: with multi_class='ovo', average is 'macro' or 'weighted'.")
        pairs = list(permutations(range(len(weight)), 2))
        amounts = np.array([weight[one] + weight[two] for one, two in pairs])
        return float(np.average(areas, weights=amounts if self.average == "weighted" else None))

    def _one(self, table: ScoreTable, positive: Any = None) -> tuple[float, float]:
        hits, alarms = table.sides(self.name, positive)
        pairs = hits.sum() * alarms.sum()
        if pairs == 0:
            warn(f"{self.name}: y_true holds one label only, so there is no area; it is NaN.", SurefitWarning)
            return float("nan"), float("nan")
        if self.max_fpr is not None and self.max_fpr < 1:
            area = _partial(hits, alarms, self.max_fpr)
            return area, area
        area = score_areas(hits, alarms).pairs
        doubt = float(hits @ alarms) / 2 if table.dropped else 0.0
        return float((area - doubt) / pairs), float((area + doubt) / pairs)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add part of the area, and several classes."""
        yield from (
            case.with_options(**extra) for case in super().cases(rng) for extra in ({}, {"max_fpr": 0.4})
        )
        for case in _of_all_classes(rng):
            for average in ("macro", "weighted", "micro", None):
                yield case.with_options(multi_class="ovr", average=average)
            for average in ("macro", "weighted"):
                yield case.with_options(multi_class="ovo", average=average)


def _of_all_classes(rng: np.random.Generator) -> Iterator[Case]:
    """Scores of several classes, each of which has rows."""
    for case in of_task("score", rng):
        if case.prediction.ndim == 2:
            names = np.unique(case.options["labels"])
            codes = np.arange(len(case.truth)) % len(names)
            yield Case(names[codes], case.prediction, np.eye(len(names))[codes], {"labels": names})


def _partial(hits: Vector, alarms: Vector, most: float) -> float:
    """The area up to a false positive rate, moved so that guessing has 1/2 and perfection 1."""
    tpr = np.r_[0.0, np.cumsum(hits[::-1])] / hits.sum()
    fpr = np.r_[0.0, np.cumsum(alarms[::-1])] / alarms.sum()
    stop = int(np.searchsorted(fpr, most, side="right"))
    end = np.interp(most, fpr[stop - 1 : stop + 1], tpr[stop - 1 : stop + 1])
    area = np.trapezoid(np.r_[tpr[:stop], end], np.r_[fpr[:stop], most])
    least = most**2 / 2
    return float((1 + (area - least) / (most - least)) / 2)


class AveragePrecision(_Area):
    r"""The mean of the precision at each positive row, :math:`\sum_t (R_t - R_{t-1}) P_t` over thresholds.

    Unlike a trapezoid under the precision-recall curve it is not too hopeful. Several classes ask for scores
    of each; the positive class is then each in turn. Without a positive row it is 0, with a warning.

    >>> from surefit import metrics
    >>> round(metrics.average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 6)
    0.833333
    """

    name = "average_precision_score"
    bounded = (0.0, 1.0)
    told: ClassVar[Mapping[Purpose, int]] = {"study": 6}
    told_of_two = True

    def __init__(
        self,
        *,
        average: ManyClasses = "macro",
        pos_label: Label = 1,
        labels: LabelList = None,
        max_points: Count | None = None,
    ) -> None:
        self.average = average
        self.pos_label = pos_label
        self.labels = labels
        self.max_points = max_points

    def _one(self, table: ScoreTable, positive: Any = None) -> tuple[float, float]:
        hits, alarms = table.sides(self.name, positive)
        weight = hits.sum()
        if weight == 0:
            warn(f"{self.name}: y_true has no positive row, so it is set to 0.", SurefitWarning)
            return 0.0, 0.0
        if not table.dropped:
            area = float(score_areas(hits, alarms).precision / weight)
            return area, area
        return float(_worst(hits, alarms) / weight), float(_best(hits, alarms) / weight)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add several classes."""
        yield from super().cases(rng)
        for case in _of_all_classes(rng):
            for average in ("macro", "weighted", "micro", None):
                yield case.with_options(average=average)


def _worst(hits: Vector, alarms: Vector) -> float:
    """The sum of precisions if within a group every negative row came first, and all positive ones together
    at the precision of the first of them.
    """
    hits, alarms = hits[::-1], alarms[::-1]
    above = np.cumsum(hits) - hits
    some = hits > 0
    taken = above + np.cumsum(alarms)  # nothing taken so far: the first to be taken is positive
    precision = np.divide(above, taken, out=np.ones(len(hits)), where=taken > 0)
    return float(hits[some] @ precision[some])


def _best(hits: Vector, alarms: Vector) -> float:
    """The sum of precisions if within a group every positive row came first, at the precision of the last."""
    hits, alarms = hits[::-1], alarms[::-1]
    found = np.cumsum(hits)
    some = hits > 0
    return float(hits[some] @ (found / (found + np.cumsum(alarms) - alarms))[some])
