"""Score a fitted model on rows in memory or on a source, by as many metrics as wanted, in one pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.public import public
from surefit.core.registry import lookup
from surefit.data.batches.batch import Batch
from surefit.data.batches.table import Table
from surefit.data.checks.cells import Checked
from surefit.data.door import Accepts, admit, is_streamed
from surefit.data.read import read
from surefit.data.source import ArraySource, MappedSource, Source
from surefit.data.targets import with_target
from surefit.engine.base import choose_engine
from surefit.evaluate.rows.source_models import reads_sources
from surefit.metrics import groups
from surefit.metrics.base import Metric
from surefit.models.base import Estimator, accepted_by
from surefit.stats.base import Joint


@public
def assess(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    metrics: Iterable[str | Metric] | str | Metric,
    sample_weight: Any = None,
    by: Any = None,
) -> dict[str, Any]:
    """Return the score of a fitted model for each metric, by its name.

    X and y are what the model was fitted on: arrays and frames, or a table to be read, whose target (and
    weights) are columns of it. A table is read once: batches are predicted as they pass, and only the
    statistics of the metrics are kept. ``by`` is the group of each row, or the name of a column that the
    model reads; the scores are then by group.

    >>> import surefit
    >>> model = surefit.MeanRegressor().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0])
    >>> surefit.assess(model, [[0.0], [1.0]], [1.0, 4.0], metrics=["mean_absolute_error", "max_error"])
    {'mean_absolute_error': 1.5, 'max_error': 2.0}
    """
    chosen = _chosen(model, [metrics] if isinstance(metrics, str | Metric) else metrics)
    if is_streamed(X, y, sample_weight):
        total = _streamed(model, chosen, X, y, sample_weight, by)
    else:
        total = _Rows(model, chosen).of_memory(X, y, sample_weight, by)
    finish: Callable[[Metric, Any], Any] = groups.finish if by is not None else _finish
    return {name: finish(metric, total[name]) for name, metric in chosen.items()}


def _finish(metric: Metric, statistic: Any) -> Any:
    return metric.finish(statistic)


def _chosen(model: Any, metrics: Iterable[str | Metric]) -> dict[str, Metric]:
    """The metrics by name, told of the model's classes where a batch may lack some."""
    found: dict[str, Metric] = {}
    for entry in metrics:
        made: Any = lookup("metric", entry)() if isinstance(entry, str) else entry
        if not made.methods:
            raise RefusalError(f"{made.name} is not a score of predictions: call it with what it compares.")
        if made.name in found:
            raise ParameterError(f"assess: the metric {made.name} is named twice; assess once for each.")
        found[made.name] = told_of_classes(made, getattr(model, "classes_", None))
    return found


def told_of_classes(metric: Metric, classes: Any) -> Metric:
    """The metric with the labels of all classes, and which of two is positive, where it was not told."""
    options = metric.options
    if classes is None:
        return metric
    if metric.task in ("probability", "score") and options.get("labels", 0) is None:
        options["labels"] = np.asarray(classes)
    positive = options.get("pos_label")
    if positive is not None and len(classes) == 2 and positive not in np.asarray(classes).tolist():
        options["pos_label"] = classes[1]
    return type(metric)(**options)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Predict rows and make the statistics of all metrics; a value that travels to where the rows are."""

    model: Any
    metrics: dict[str, Metric]
    source: Source | None = None
    steps: tuple[Callable[[Batch], Batch], ...] = ()
    by: str | None = None

    def of_memory(self, X: Any, y: Any, weight: Any, by: Any) -> Joint:
        """All rows at once."""
        if y is None:
            raise DataError("assess: y is missing; give the truth, or name its column in a table.")
        answers = {name: getattr(self.model, name)(X) for name in self._methods()}
        return self._joint(y, answers, weight, by)

    def __call__(self, batch: Batch) -> Joint:
        """A batch of a source, as it is in the table."""
        assert self.source is not None
        by = None if self.by is None else _column(batch, self.by)
        for step in self.steps:
            batch = step(batch)
        classes = self.source.schema.classes
        truth: NDArray[Any] = np.asarray(batch.y)
        rows: Any = batch.X
        if isinstance(self.model, Estimator):  # whose columns may have names, as those of the source
            rows = ArraySource(replace(self.source.schema, rows=len(batch), targets=0), Batch(rows))
        answers = {name: getattr(self.model, name)(rows) for name in self._methods()}
        return self._joint(truth if classes is None else classes[truth], answers, batch.weight, by)

    def _methods(self) -> set[str]:
        return {answering_method(self.model, metric) for metric in self.metrics.values()}

    def _joint(self, truth: Any, answers: dict[str, Any], weight: Any, by: Any) -> Joint:
        found = {}
        for name, metric in self.metrics.items():
            answer = answers[answering_method(self.model, metric)]
            given = truth, answer, weight
            found[name] = metric.of(*given) if by is None else groups.of(metric, *given, by)
        return Joint(found)


def answering_method(model: Any, metric: Metric) -> str:
    """Return the name of the method whose answers the metric takes, or say that the model has none."""
    wanted = metric.methods
    found = next((name for name in wanted if hasattr(model, name)), None)
    if found is None:
        raise RefusalError(
            f"{metric.name} needs {' or '.join(wanted)}, which {type(model).__name__} does not have: "
            "choose another metric or another model."
        )
    return found


def _column(batch: Batch, name: str) -> NDArray[Any]:
    """The values of a column of a typed table."""
    table: Any = batch.X
    names = [column.name for column in table.columns] if isinstance(table, Table) else []
    if name not in names:
        raise DataError(
            f"assess: by={name!r} is no column that the model reads; it reads {', '.join(names)}."
        )
    column, values = table.columns[names.index(name)], table.column(names.index(name))
    if column.kind != "category":
        return np.asarray(values)
    levels = np.asarray(column.levels, dtype=object)
    return np.where(values >= 0, levels[np.maximum(values, 0)], "(missing)")


def _streamed(model: Any, metrics: dict[str, Metric], X: Any, y: Any, weight: Any, by: Any) -> Joint:
    if by is not None and not isinstance(by, str):
        raise DataError("assess: for a table to be read, by names one of its columns.")
    source = read(X, target=y, weight=weight)
    last = model
    if hasattr(model, "steps") and reads_sources(model):
        for _, step in model.steps[:-1]:
            if step is not None and step != "passthrough":
                source = step.transform(source)
        last = model.steps[-1][1]
    classes = getattr(last, "classes_", None)
    if isinstance(last, Estimator):
        source = admit(last, accepted_by(last), source, reset=False, classes=classes)
    else:
        source = with_target(type(last).__name__, source, "number" if classes is None else "class", classes)
        source = MappedSource(source, source.schema, Checked(type(last).__name__, sparse=Accepts().sparse))
    origin, steps = source, []
    while isinstance(origin, MappedSource):
        steps.append(origin.function)
        origin = origin.origin
    rows = _Rows(last, metrics, source, tuple(reversed(steps)), by)
    with warnings.catch_warnings():  # around all threads: the filters belong to the process
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return choose_engine(source).accumulate(rows, origin)
