"""The door: the only place where input is checked.

``admit`` lets training data in, ``admit_rows`` the rows to predict for. Arrays and frames go through
scikit-learn's ``validate_data``, whose messages its users know. A single row, or a plain contiguous array,
takes a short way past it in ``admit_rows``, with the same outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.batch import Batch, Dense
from surefit.data.schema import Schema
from surefit.data.source import ArraySource


@dataclass(frozen=True, slots=True)
class Accepts:
    """What an estimator can be fed: the kind of target, and what X may hold."""

    target: Literal["none", "number", "class"] = "none"
    several_targets: bool = False
    sparse: bool = True


def admit(
    estimator: Any,
    accepts: Accepts,
    X: Any,
    y: Any = None,
    weight: Any = None,
    *,
    reset: bool = True,
    classes: Any = None,
) -> ArraySource:
    """Check a table in memory and make a source of it; ``reset=False`` holds it to the columns and classes
    seen before.
    """
    from sklearn.utils.validation import validate_data

    how = {
        "accept_sparse": "csr" if accepts.sparse else False,
        "dtype": [np.float64, np.float32],
        "reset": reset,
    }
    if accepts.target == "none":
        X = validate_data(estimator, X, **how)
        target, schema_target = None, {}
    else:
        if y is None:
            raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
        number = accepts.target == "number"
        X, y = validate_data(estimator, X, y, multi_output=accepts.several_targets, y_numeric=number, **how)
        target, schema_target = _numbers(y, accepts) if number else _codes(y, classes)
    X = _contiguous(X)
    names = getattr(estimator, "feature_names_in_", None)
    rows, columns = X.shape
    schema = Schema(columns, None if names is None else tuple(names), rows, **schema_target)
    return ArraySource(schema, Batch(X, target, _weights(weight, rows)))


def _numbers(y: NDArray[Any], accepts: Accepts) -> tuple[NDArray[np.float64], dict[str, Any]]:
    flat = y.ndim == 1
    target = np.ascontiguousarray(y, dtype=np.float64)
    return target, {"targets": 1 if flat else y.shape[1], "target_is_flat": flat}


def _codes(y: NDArray[Any], classes: Any) -> tuple[NDArray[np.int64], dict[str, Any]]:
    """Class codes; the labels are the sorted distinct ones, or those given."""
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    found, codes = np.unique(y, return_inverse=True)
    if classes is not None:
        labels = np.unique(np.asarray(classes))
        missing = ~np.isin(found, labels)
        if missing.any():
            unknown = ", ".join(map(str, found[missing][:5]))
            raise DataError(
                f"y holds class {unknown}, which is not among the classes given: "
                f"{', '.join(map(str, labels[:20]))}."
            )
        codes = np.searchsorted(labels, found)[codes]
        found = labels
    return codes.astype(np.int64, copy=False), {"targets": 1, "classes": found}


def _contiguous(X: Any) -> Any:
    if isinstance(X, np.ndarray):
        return X if X.flags.c_contiguous or X.flags.f_contiguous else np.ascontiguousarray(X)
    return X


def _weights(weight: Any, rows: int) -> NDArray[np.float64] | None:
    """Check sample weights: one finite, non-negative number a row, not all zero."""
    if weight is None:
        return None
    if isinstance(weight, int | float) and not isinstance(weight, bool):
        weight = np.full(rows, float(weight))
    array = np.ascontiguousarray(weight, dtype=np.float64)
    if array.ndim != 1:
        raise DataError(f"sample_weight has {array.ndim} dimensions; it must be 1D, one weight a row.")
    if len(array) != rows:
        raise DataError(f"sample_weight has {len(array)} entries, but X has {rows} rows.")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise DataError(f"sample_weight of row {row} is {array[row]}; weights must be finite numbers.")
    if (array < 0).any():
        row = int(np.flatnonzero(array < 0)[0])
        raise DataError(f"sample_weight of row {row} is {array[row]:g}; weights must not be negative.")
    if not array.any():
        raise DataError(
            "every sample_weight is zero, so no row counts; give at least one row a positive weight."
        )
    return array


_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def _all_finite(X: Dense) -> bool:
    if X.size <= 10_000:
        return bool(np.isfinite(X).all())
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(
            np.isfinite(X.sum())
        )  # no large temporary; a sum that overflows takes the long way and passes there


def admit_rows(estimator: Any, accepts: Accepts, X: Any) -> Dense:
    """Check rows to predict for, against the columns that the estimator was fitted on."""
    if (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in _FLOATS
        and "feature_names_in_" not in estimator.__dict__
    ):
        rows, columns = X.shape
        if rows > 0 and columns == estimator.n_features_in_ and X.flags.forc and _all_finite(X):
            return X
    from sklearn.utils.validation import validate_data

    sparse = "csr" if accepts.sparse else False
    return _contiguous(
        validate_data(estimator, X, accept_sparse=sparse, dtype=[np.float64, np.float32], reset=False)
    )  # type: ignore[no-any-return]
