"""Where metrics check what they are given; behind it nothing is checked again."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, SurefitWarning
from surefit.core.native.columns.finite import all_finite
from surefit.metrics.labels import Labels, as_labels, encode


class Pair(NamedTuple):
    """Truth and prediction of the same rows; classes are what codes in the truth stand for, None without."""

    truth: NDArray[Any]
    prediction: NDArray[Any]
    classes: Labels | None


def numbers(y_true: Any, y_pred: Any) -> Pair:
    """Check two tables of numbers of the same shape, (n,) or (n, k)."""
    truth, prediction = _numbers(y_true, "y_true"), _numbers(y_pred, "y_pred")
    _same_rows(truth, prediction)
    outputs = [1 if table.ndim == 1 else table.shape[1] for table in (truth, prediction)]
    if outputs[0] != outputs[1]:
        raise DataError(
            f"y_true has {outputs[0]} outputs and y_pred has {outputs[1]}; give one prediction for each."
        )
    return Pair(truth, prediction, None)


def labels(y_true: Any, y_pred: Any) -> Pair:
    """Check two columns of labels of the same kind."""
    truth, prediction = as_labels(y_true, "y_true"), as_labels(y_pred, "y_pred")
    _same_rows(truth, prediction)
    if len(truth) and (truth.dtype.kind in "US") != (prediction.dtype.kind in "US"):
        kinds = ["text" if column.dtype.kind in "US" else "numbers" for column in (truth, prediction)]
        raise DataError(
            f"the labels of y_true are {kinds[0]} and those of y_pred {kinds[1]}; convert one of the two."
        )
    return Pair(truth, prediction, None)


def probabilities(y_true: Any, y_pred: Any, names: Any) -> Pair:
    """Check labels and the probability of each class, (n, k), or of the second of two, (n,); ``names`` are
    the labels of all classes in sorted order, those in y_true if None.
    """
    truth = as_labels(y_true, "y_true")
    chances = np.asarray(y_pred)
    if chances.dtype != np.float32:
        chances = _numbers(chances, "y_pred")
    _same_rows(truth, chances)
    classes, codes = _codes(truth, names)
    if chances.ndim == 2 and chances.shape[1] == 1:
        chances = chances[:, 0]
    columns = 2 if chances.ndim == 1 else chances.shape[1]
    if columns != len(classes):
        raise DataError(
            f"y_pred gives probabilities of {columns} classes, but there are {len(classes)}: "
            f"{', '.join(map(str, classes[:10]))}; pass the labels of all classes as labels=."
        )
    inside_unit(chances)
    # The rounding of a sum of k probabilities stays far below the root of the machine epsilon.
    if chances.ndim == 2 and len(chances):
        sums = chances.sum(axis=1)
        worst = int(np.argmax(np.abs(sums - 1)))
        if abs(sums[worst] - 1) > np.sqrt(np.finfo(chances.dtype).eps):
            warnings.warn(
                f"the probabilities of row {worst} sum to {sums[worst]:g}, not to 1; "
                "pass the output of predict_proba.",
                SurefitWarning,
                stacklevel=5,
            )
    return Pair(codes, chances, classes)


def inside_unit(chances: NDArray[Any]) -> None:
    """Check that all numbers are probabilities."""
    if chances.size == 0 or (chances.min() >= 0 and chances.max() <= 1):  # NaN is neither
        return
    inside = ((chances >= 0) & (chances <= 1)).reshape(len(chances), -1).all(axis=1)
    row = int(np.argmin(inside))
    raise DataError(
        f"y_pred of row {row} is {chances[row]}; probabilities lie between 0 and 1, "
        "so pass the output of predict_proba."
    )


def class_scores(y_true: Any, y_pred: Any, names: Any) -> Pair:
    """Check labels and scores of any scale, as codes of all classes and (n, k), or (n,) for two classes."""
    pair = scores(y_true, y_pred, names)
    if pair.classes is not None:
        return pair
    classes, codes = _codes(pair.truth, names)
    if len(classes) > 2:
        raise DataError(
            f"y_pred is one column, but there are {len(classes)} classes; give one column of scores for each."
        )
    return Pair(codes, pair.prediction, classes)


def scores(y_true: Any, y_pred: Any, names: Any) -> Pair:
    """Check labels and scores: (n,), higher for the second of two labels, or (n, k), one for each class.

    Two columns of two labels are taken for the scores of the second. ``names`` are the labels of all classes.
    """
    truth, given = as_labels(y_true, "y_true"), np.asarray(y_pred)
    if given.dtype != np.float32:
        given = _numbers(given, "y_pred")
    else:
        _finite(given, "y_pred")
    _same_rows(truth, given)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim == 1:
        return Pair(truth, given, None)
    classes, codes = _codes(truth, names)
    if given.shape[1] != len(classes):
        raise DataError(
            f"y_pred gives scores of {given.shape[1]} classes, but there are {len(classes)}: "
            f"{', '.join(map(str, classes[:10]))}; pass the labels of all classes as labels=."
        )
    return Pair(truth, given[:, 1], None) if len(classes) == 2 else Pair(codes, given, classes)


def tables(y_true: Any, y_pred: Any) -> Pair:
    """Check the relevance and the score of each label of a row, both (n, k)."""
    truth, given = _numbers(y_true, "y_true"), _numbers(y_pred, "y_pred")
    _same_rows(truth, given)
    if truth.ndim != 2 or truth.shape != given.shape:
        raise DataError(f"y_true has shape {truth.shape} and y_pred {given.shape}; both must be (n, k).")
    return Pair(truth, given, None)


def partitions(labels_true: Any, labels_pred: Any) -> Pair:
    """Check the part of each row in two partitions, whose parts may be called anything."""
    truth, guess = as_labels(labels_true, "y_true"), as_labels(labels_pred, "y_pred")
    _same_rows(truth, guess)
    return Pair(truth, guess, None)


def points(X: Any, labels: Any) -> Pair:
    """Check points, (n, p), and the label of the cluster of each."""
    table, clusters = _numbers(X, "y_true"), as_labels(labels, "y_pred")
    _same_rows(table, clusters)
    if table.ndim == 1:
        raise DataError("y_true has 1 dimension; points must be (n, p), one row each.")
    return Pair(table, clusters, None)


def _codes(truth: Labels, names: Any) -> tuple[Labels, NDArray[np.int64]]:
    if names is None:
        classes, codes = encode(truth)
        if len(classes) < 2:
            raise DataError(
                f"y_true holds only the label {', '.join(map(str, classes)) or '(none)'}; "
                "pass the labels of all classes as labels=."
            )
        return classes, codes
    classes = as_labels(names, "labels")
    ordered = np.unique(classes)
    if not np.array_equal(ordered, classes):
        raise DataError(
            "labels must be distinct and sorted, because the columns of y_pred follow that order: "
            f"pass labels={ordered.tolist()} and probabilities in that order."
        )
    codes = np.minimum(np.searchsorted(classes, truth), len(classes) - 1)
    unknown = classes[codes] != truth
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        raise DataError(
            f"y_true of row {row} is {truth[row]!s}, which is not among labels={classes.tolist()}; add it."
        )
    return classes, codes


def weights(sample_weight: Any, rows: int) -> NDArray[np.float64] | None:
    """Check weights: one finite, non-negative number a row; all may be zero, since more rows may follow."""
    if sample_weight is None:
        return None
    weight = _numbers(sample_weight, "sample_weight")
    if weight.shape != (rows,):
        raise DataError(f"sample_weight has shape {weight.shape}; it must be ({rows},), one weight a row.")
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise DataError(f"sample_weight of row {row} is {weight[row]:g}; weights must not be negative.")
    return weight


def _numbers(values: Any, what: str) -> NDArray[np.float64]:
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what} must hold numbers; for labels, use a classification metric.") from None
    if table.ndim not in (1, 2):
        raise DataError(f"{what} has {table.ndim} dimensions; it must be (n,) or (n, k).")
    _finite(table, what)
    return table


def _finite(table: NDArray[Any], what: str) -> None:
    if all_finite(table if table.flags.forc else np.ascontiguousarray(table)):
        return
    row = int(np.flatnonzero(~np.isfinite(table).reshape(len(table), -1).all(axis=1))[0])
    raise DataError(f"{what} of row {row} is {table[row]}; drop the row or fill it with a finite number.")


def _same_rows(truth: NDArray[Any], prediction: NDArray[Any]) -> None:
    if len(truth) != len(prediction):
        raise DataError(
            f"y_true has {len(truth)} rows and y_pred has {len(prediction)}; give one prediction a row."
        )
