"""Categories as the mean of the target among their rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import fsum
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from surefit.core.certificate import Certificate
from surefit.core.parameters import Has, Interval, NonNegative, RandomState
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.prepare.encoders.cross_fitting import CrossFitInMemory, CrossFitOverSources
from surefit.models.prepare.encoders.encoder import counted_as, key, plain_cells
from surefit.models.prepare.recompute import change, relative_change, seen
from surefit.stats.group_moments import GroupMoments

Sums = list[dict[Any, list[float]]]  # a column, a value: the weight of its rows, then a sum for each output


def gathered(source: Source, engine: Engine, columns: int, outputs: int, means: Sums | None = None) -> Sums:
    """Sum the targets of each value; with ``means``, their squared distances from those."""
    parts: list[dict[Any, list[list[float]]]] = [{} for _ in range(columns)]
    of = partial(_of_batch, columns=columns, outputs=outputs, means=means)
    for found in engine.map(of, source):
        for column, sums in zip(parts, found, strict=True):
            for value, entry in sums.items():
                column.setdefault(value, []).append(entry)
    return [{value: _added(entries) for value, entries in column.items()} for column in parts]


def _of_batch(batch: Batch, columns: int, outputs: int, means: Sums | None) -> Sums:
    assert batch.y is not None
    y = np.eye(outputs)[batch.y] if outputs > 1 else np.asarray(batch.y, dtype=float)[:, None]
    weight = (np.ones(len(batch)) if batch.weight is None else batch.weight).tolist()
    found: Sums = []
    for j in range(columns):
        rows: dict[Any, list[list[float]]] = {}
        for cell, s, target in zip(plain_cells(batch.X, j), weight, y.tolist(), strict=True):
            if s > 0:
                value = key(cell)
                terms = target if means is None else _squares(target, means[j][value])
                rows.setdefault(value, []).append([s, *(s * term for term in terms)])
        found.append({value: _added(entries) for value, entries in rows.items()})
    return found


def _squares(target: list[float], mean: list[float]) -> list[float]:
    return [(a - b) ** 2 for a, b in zip(target, mean, strict=True)]


def _added(entries: list[list[float]]) -> list[float]:
    return [fsum(terms) for terms in zip(*entries, strict=True)]


def level_mean(entry: list[float]) -> list[float]:
    """The means of a value's targets."""
    return [term / entry[0] for term in entry[1:]]


def overall_scatter(
    sums: dict[Any, list[float]],
    means: dict[Any, list[float]],
    scatters: dict[Any, list[float]],
    mean: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The squared distances of all targets from their mean: those within each value, and between them."""
    return np.array(
        [
            fsum(
                scatters[value][1 + k] + entry[0] * (means[value][k] - mean[k]) ** 2
                for value, entry in sums.items()
            )
            for k in range(len(mean))
        ]
    )


@dataclass(frozen=True, slots=True)
class TargetEncoderParameters:
    """For each column and class the code of each level; the target's mean, kind and classes; weights."""

    categories: list[NDArray[Any]]
    encodings: list[NDArray[np.float64]]
    target_mean: Any
    target_type: str
    classes: NDArray[Any] | None
    counts: list[NDArray[np.float64]]
    n_samples_seen: Any


class TargetEncoder(CrossFitOverSources, CrossFitInMemory):
    r"""Turn each category into a mean of the target: :math:`\lambda_l \bar y_l + (1 - \lambda_l) \bar y`.

    The weight is :math:`n_l / (n_l + m)` for smooth = m, and for "auto" :math:`n_l \tau^2 / (n_l \tau^2 +
    \sigma_l^2)`, with the variances of the target overall and within the level. categories: "auto" or a list
    of levels a column. target_type: what y holds, "auto" by its looks. cv: the folds of ``fit_transform``,
    which encodes each row by the others, so that its own target cannot leak; shuffle and random_state are for
    whole numbers of folds. A value not seen in fit becomes the mean of the target.

    >>> from surefit import TargetEncoder
    >>> TargetEncoder(smooth=0.0).fit([["a"], ["a"], ["b"]], [1.0, 2.5, 4.0]).transform([["a"], ["z"]])
    array([[1.75],
           [2.5 ]])
    """

    accepts = Accepts(target="any", missing=True, sparse=False, tables=True, cells=True)
    learns = TargetEncoderParameters

    encodings_: list[NDArray[np.float64]]
    target_mean_: Any
    target_type_: str
    classes_: NDArray[Any] | None

    def __init__(
        self,
        categories: Literal["auto"] | list[Any] = "auto",
        target_type: Literal["auto", "continuous", "binary", "multiclass"] = "auto",
        smooth: Literal["auto"] | NonNegative = "auto",
        cv: Annotated[int, Interval(2, None)] | Annotated[object, Has("split", "__iter__")] | None = 5,
        shuffle: bool | Literal["deprecated"] = "deprecated",
        random_state: RandomState | Literal["deprecated"] = "deprecated",
    ) -> None:
        self.categories = categories
        self.target_type = target_type
        self.smooth = smooth
        self.cv = cv
        self.shuffle = shuffle
        self.random_state = random_state

    def _accepted(self) -> Accepts:
        if self.target_type == "auto":
            return self.accepts
        return replace(self.accepts, target="number" if self.target_type == "continuous" else "class")

    def _kind(self, schema: Schema) -> str:
        if schema.classes is None:
            return "continuous"
        looks = "binary" if len(schema.classes) <= 2 else "multiclass"
        return looks if self.target_type == "auto" else self.target_type

    def _of(self, schema: Schema) -> Callable[[Batch], GroupMoments]:  # type: ignore[override]
        several = self._kind(schema) == "multiclass"
        return partial(GroupMoments.of, classes=len(schema.classes) if several else 0)  # type: ignore[arg-type]

    def _finish(self, statistic: GroupMoments, schema: Schema) -> Learned:
        kind = self._kind(schema)
        levels = self._known_levels(list(statistic.levels), refuse_others=False)
        parameters = TargetEncoderParameters(
            levels,
            self._encodings(statistic, levels),
            statistic.mean if kind == "multiclass" else statistic.mean[0],
            kind,
            schema.classes,
            [
                counted_as(known, found, groups[:, 0])
                for known, found, groups in zip(levels, statistic.levels, statistic.groups, strict=True)
            ],
            seen(statistic.weight),
        )
        return Learned(parameters, self._certificate(statistic.rows * np.finfo(float).eps))

    def _encodings(self, statistic: GroupMoments, levels: list[NDArray[Any]]) -> list[NDArray[np.float64]]:
        """The code of each level: all classes of the first column, then of the second, and so on."""
        outputs = len(statistic.mean)
        variance = statistic.scatter / statistic.weight
        found = []
        for known, own, groups in zip(levels, statistic.levels, statistic.groups, strict=True):
            for k in range(outputs):
                columns = [0, 1 + k, 1 + outputs + k]
                weight, mean, scatter = (counted_as(known, own, groups[:, c]) for c in columns)
                found.append(self._shrunk(weight, mean, scatter, statistic.mean[k], variance[k]))
        return found

    def _shrunk(self, weight: Any, mean: Any, scatter: Any, overall: float, variance: float) -> Any:
        """Means of levels, drawn towards the mean of all the more, the less is known of them."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.smooth == "auto":
                share = variance * weight / (variance * weight + scatter / weight)
            else:
                share = weight / (weight + self.smooth)
        return np.where(np.isnan(share), overall, share * mean + (1 - share) * overall)

    @staticmethod
    def _certificate(value: float) -> Certificate:
        measure = "largest change of a code, in deviations of the target, or relative one of a count"
        return Certificate("exact", measure, value, 1e-8)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Sum the targets of each value in exactly rounded sums: means first, then distances from them."""
        outputs = 1 if self.target_type_ != "multiclass" else len(self.classes_)  # type: ignore[arg-type]
        sums = gathered(source, engine, len(self.categories_), outputs)
        means = [{value: level_mean(entry) for value, entry in column.items()} for column in sums]
        scatters = gathered(source, engine, len(self.categories_), outputs, means)
        total = fsum(entry[0] for entry in sums[0].values())
        mean = np.array([fsum(entry[1 + k] for entry in sums[0].values()) / total for k in range(outputs)])
        scatter = overall_scatter(sums[0], means[0], scatters[0], mean)
        unit = np.sqrt(scatter / total) + 1e-6 * np.abs(mean) + np.finfo(float).tiny
        steps = [relative_change(self.n_samples_seen_, total)]
        steps.append(change(np.atleast_1d(self.target_mean_), mean, unit))
        nothing = [0.0] * (outputs + 1)
        for j, levels in enumerate(self.categories_):
            keys = [key(level) for level in levels.tolist()]
            if set(sums[j]) - set(keys) and isinstance(self.categories, str):
                return self._certificate(np.inf)
            weight = np.array([sums[j].get(value, nothing)[0] for value in keys])
            steps.append(relative_change(self.counts_[j], weight))
            for k in range(outputs):
                centre = np.array([means[j].get(value, nothing)[k] for value in keys])
                spread = np.array([scatters[j].get(value, nothing)[1 + k] for value in keys])
                codes = self._shrunk(weight, centre, spread, mean[k], scatter[k] / total)
                steps.append(change(self.encodings_[j * outputs + k], codes, unit[k]))
        return self._certificate(max(steps))

    def _transform(self, X: Any) -> NDArray[np.float64]:
        return self._encoded(X, self.categories_, self.encodings_, np.atleast_1d(self.target_mean_))

    def _encoded(self, X: Any, levels: Any, encodings: Any, mean: Any) -> NDArray[np.float64]:
        codes = self._codes(X, levels, refuse=False)
        out = np.empty((len(codes), len(encodings)))
        for place, encoding in enumerate(encodings):
            column, k = divmod(place, len(mean))
            out[:, place] = np.append(encoding, mean[k])[codes[:, column]]
        return out

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns, with those of the classes if there are several."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self.target_type_ != "multiclass":
            return names
        return np.array([f"{name}_{label}" for name in names for label in self.classes_], dtype=object)  # type: ignore[union-attr]
