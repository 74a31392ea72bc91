"""Targets: class codes, and what a model makes of a table's target column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.levels import levels_of
from surefit.data.matrix import MatrixSource
from surefit.data.source import MappedSource, Source, TableSource

MAX_CLASSES = 1000  # of numbers; more are rather measurements


def class_codes(y: Any, classes: Any = None) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Codes and labels of a target in memory; the labels are the sorted distinct ones, or those given."""
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    if type(y) is not np.ndarray or y.ndim != 1 or y.dtype.kind not in "iub":
        y = column_or_1d(y, warn=True)
    counted = _counted_codes(y)
    if counted is None:
        check_classification_targets(y)
        counted = np.unique(y, return_inverse=True)
    found, codes = counted
    if classes is None:
        return codes.astype(np.int64, copy=False), found
    labels = np.unique(np.asarray(classes))
    missing = ~np.isin(found, labels)
    if missing.any():
        unknown = ", ".join(map(str, found[missing][:5]))
        given = ", ".join(map(str, labels[:20]))
        raise DataError(f"y holds class {unknown}, which is not among the classes given: {given}.")
    return np.searchsorted(labels, found)[codes].astype(np.int64, copy=False), labels


def _counted_codes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Distinct values and codes of whole numbers close to each other, without the sort that takes longer
    than many a fit; None for anything else.
    """
    if y.dtype.kind not in "iu" or len(y) == 0:
        return None
    low, high = int(y.min()), int(y.max())
    if high - low >= 2**16 or high >= 2**62:
        return None
    places = y.astype(np.int64) - low
    present = np.zeros(high - low + 1, dtype=bool)
    present[places] = True
    found = (np.flatnonzero(present) + low).astype(y.dtype)
    # Labels that hardly repeat are scikit-learn's to warn about.
    return (found, (np.cumsum(present) - 1)[places]) if 2 * len(found) <= len(y) else None


def with_target(
    who: str, source: Source, wanted: Literal["number", "class", "any"], classes: Any = None
) -> Source:
    """Say what a source's target is for: numbers as they are, or classes, found in a pass if need be.

    Where any will do, numbers are numbers and everything else is a class.
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
    if isinstance(source, MatrixSource):
        if wanted != "class":
            return source
        labels = _labels(source) if classes is None else np.unique(np.asarray(classes))
        return replace(source, schema=replace(source.schema, classes=labels))
    if not isinstance(source, TableSource):
        return source
    target = source.target
    assert target is not None
    if wanted == "any":
        wanted = "number" if target.kind == "number" else "class"
    if wanted == "number":
        for target in source.targets:
            if target.kind not in ("number", "boolean"):
                raise DataError(
                    f"{who} predicts numbers, but the target {target.name!r} is a {target.kind}: "
                    "use a classifier, or another column."
                )
        return source
    if not source.schema.target_is_flat:
        names = ", ".join(repr(column.name) for column in source.targets)
        raise DataError(
            f"{who} predicts the classes of one target, but a list is given: name one of {names}."
        )
    if target.kind in ("text", "date"):
        raise DataError(
            f"{who} predicts classes, but the target {target.name!r} is a {target.kind}: use another column."
        )
    labels = np.asarray(_labels(source)) if classes is None else np.unique(np.asarray(classes))
    if target.kind == "category":
        source = replace(source, target=replace(target, levels=labels))
    return replace(source, schema=replace(source.schema, classes=labels))


def _labels(source: TableSource | MatrixSource) -> NDArray[Any]:
    """The classes of a target: its levels, or the distinct values that a pass over it alone finds."""
    if isinstance(source, MatrixSource):
        pieces = list(source.stream.distinct_targets())
        return _few(np.unique(np.concatenate(pieces)) if pieces else np.empty(0), "y")
    target = source.target
    assert target is not None
    if target.levels is not None:
        return np.sort(target.levels)
    levels = levels_of(source.stream, [target.name])[target.name].present
    labels = _few(levels, target.name)
    if target.kind == "boolean":
        return labels.astype(bool)
    whole = labels.astype(np.int64)
    return whole if np.array_equal(whole, labels) else labels.astype(np.float64)


def _few(labels: NDArray[Any] | None, name: str) -> NDArray[Any]:
    if labels is None or (len(labels) > MAX_CLASSES and labels.dtype.kind in "fiu"):
        raise DataError(
            f"the target {name!r} has more than {MAX_CLASSES} distinct numbers, which are hardly classes: "
            "use a regressor, or another column."
        )
    return labels
