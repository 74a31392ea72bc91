"""Targets: class codes, and what a model makes of a table's target column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.source import MappedSource, Source, TableSource


def class_codes(y: Any, classes: Any = None) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Codes and labels of a target in memory; the labels are the sorted distinct ones, or those given."""
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    found, codes = np.unique(y, return_inverse=True)
    if classes is None:
        return codes.astype(np.int64, copy=False), found
    labels = np.unique(np.asarray(classes))
    missing = ~np.isin(found, labels)
    if missing.any():
        unknown = ", ".join(map(str, found[missing][:5]))
        given = ", ".join(map(str, labels[:20]))
        raise DataError(f"y holds class {unknown}, which is not among the classes given: {given}.")
    return np.searchsorted(labels, found)[codes].astype(np.int64, copy=False), labels


def with_target(who: str, source: Source, wanted: Literal["number", "class"], classes: Any = None) -> Source:
    """Say what a source's target is for: numbers as they are, or classes, whose labels may take a pass to
    find.
    """
    if source.schema.targets == 0:
        raise DataError(
            f"{who} requires y to be passed, but the target y is None: "
            'name its column, as in fit(table, "price").'
        )
    if isinstance(source, MappedSource):
        # Rows may be mapped on their way, their target is not: it is decided where they come from.
        origin = with_target(who, source.origin, wanted, classes)
        return replace(source, origin=origin, schema=replace(source.schema, classes=origin.schema.classes))
    if not isinstance(source, TableSource):
        return source
    target = source.target
    assert target is not None
    if wanted == "number":
        if target.kind not in ("number", "boolean"):
            raise DataError(
                f"{who} predicts numbers, but the target {target.name!r} is a {target.kind}: "
                "use a classifier, or another column."
            )
        return source
    if target.kind in ("text", "date"):
        raise DataError(
            f"{who} predicts classes, but the target {target.name!r} is a {target.kind}: use another column."
        )
    labels = np.asarray(_labels(source)) if classes is None else np.unique(np.asarray(classes))
    if target.kind == "category":
        source = replace(source, target=replace(target, levels=labels))
    return replace(source, schema=replace(source.schema, classes=labels))


def _labels(source: TableSource) -> NDArray[Any]:
    """The classes of a target column: its levels, or the distinct values that a pass over it finds."""
    target = source.target
    assert target is not None
    if target.levels is not None:
        return np.sort(target.levels)
    found: set[float] = set()
    alone = replace(source, schema=replace(source.schema, columns=(), width=0), weight=None)
    for batch in alone:
        assert batch.y is not None
        found.update(np.unique(batch.y[~np.isnan(batch.y)]).tolist())
        if len(found) > 1000:
            raise DataError(
                f"the target {target.name!r} has more than 1000 distinct numbers, which are hardly classes: "
                "use a regressor, or another column."
            )
    labels = np.array(sorted(found))
    if target.kind == "boolean":
        return labels.astype(bool)
    whole = labels.astype(np.int64)
    return whole if np.array_equal(whole, labels) else labels


def attach(source: Source, y: NDArray[Any] | None, weight: NDArray[np.float64] | None) -> Source:
    """Join a target or weights held in memory to a source, row by row."""
    if y is None and weight is None:
        return source
    return MappedSource(source, source.schema, _Attach(y, weight))


class _Attach:
    def __init__(self, y: NDArray[Any] | None, weight: NDArray[np.float64] | None) -> None:
        self._y, self._weight = y, weight

    def __call__(self, batch: Any) -> Any:
        rows = slice(batch.start, batch.start + len(batch))
        return replace(
            batch,
            y=batch.y if self._y is None else self._y[rows],
            weight=batch.weight if self._weight is None else self._weight[rows],
        )
