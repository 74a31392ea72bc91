"""The door: the only place where input is checked.

``admit`` lets training data in, ``admit_rows`` the rows to predict for. Both classify first. Arrays and
frames in memory go through scikit-learn's ``validate_data``, whose messages its users know; a plain array
of rows to predict for takes a short way past it, with the same outcome. Everything else becomes a source,
whose schema is checked at once and whose cells are checked as they pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.batch import Batch
from surefit.data.checks import Checked, check_weights, explain_frame
from surefit.data.read import read, with_columns
from surefit.data.schema import Column, Schema
from surefit.data.source import ArraySource, MappedSource, Source, TableSource
from surefit.data.targets import class_codes, with_target

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


@dataclass(frozen=True, slots=True)
class Accepts:
    """What an estimator can be fed.

    target: whether it learns from numbers, from classes, or without a target; several_targets: y may have
    many columns. sparse: X may be sparse. missing: cells may be missing. tables: it wants typed tables as
    they are, not matrices.
    """

    target: Literal["none", "number", "class"] = "none"
    several_targets: bool = False
    sparse: bool = True
    missing: bool = False
    tables: bool = False


def is_streamed(X: Any, y: Any = None) -> bool:
    """Whether the input is to be read as a source, rather than validated whole as an array or frame in
    memory.
    """
    if isinstance(X, np.ndarray | list | tuple) and not isinstance(y, str):
        return False
    if isinstance(X, str | Path) or isinstance(y, str) or hasattr(X, "__next__") or isinstance(X, Source):
        return True
    library = type(X).__module__.partition(".")[0]
    return library in {"dask", "dask_expr", "pyarrow"} or type(X).__name__ == "LazyFrame"


def admit(
    estimator: Any,
    accepts: Accepts,
    X: Any,
    y: Any = None,
    weight: Any = None,
    *,
    reset: bool = True,
    classes: Any = None,
) -> Source:
    """Check training data and make a source of them.

    ``reset=False`` holds them to the columns that the estimator was fitted on; ``classes`` to these classes.
    """
    if is_streamed(X, y):
        return _admit_source(estimator, accepts, X, y, weight, reset, classes)
    if accepts.target != "none" and y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    X, y = _validated(estimator, accepts, X, y, reset)
    target, about = _target(accepts, y, classes)
    rows, columns = X.shape
    schema = Schema(columns, _columns(estimator), rows, **about)
    return ArraySource(schema, Batch(X, target, check_weights(weight, rows)))


def _validated(estimator: Any, accepts: Accepts, X: Any, y: Any, reset: bool) -> tuple[Any, Any]:
    from sklearn.utils.validation import validate_data

    how: dict[str, Any] = {
        "accept_sparse": "csr" if accepts.sparse else False,
        "dtype": list(_FLOATS),
        "reset": reset,
    }
    how["ensure_all_finite"] = "allow-nan" if accepts.missing else True
    try:
        if accepts.target == "none":
            return _contiguous(validate_data(estimator, X, **how)), None
        number = accepts.target == "number"
        X, y = validate_data(estimator, X, y, multi_output=accepts.several_targets, y_numeric=number, **how)
        return _contiguous(X), y
    except ValueError as error:
        sentence = explain_frame(type(estimator).__name__, X, accepts.missing)
        if sentence is None:
            raise
        raise DataError(sentence) from error


def _target(accepts: Accepts, y: Any, classes: Any) -> tuple[NDArray[Any] | None, dict[str, Any]]:
    if accepts.target == "none":
        return None, {}
    if accepts.target == "class":
        codes, labels = class_codes(y, classes)
        return codes, {"targets": 1, "classes": labels}
    flat = y.ndim == 1
    target = np.ascontiguousarray(y, dtype=np.float64)
    return target, {"targets": 1 if flat else y.shape[1], "target_is_flat": flat}


def _columns(estimator: Any) -> tuple[Column, ...] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(Column(str(name)) for name in names)


def _contiguous(X: Any) -> Any:
    if isinstance(X, np.ndarray):
        return X if X.flags.forc else np.ascontiguousarray(X)
    return X


def _admit_source(
    estimator: Any, accepts: Accepts, X: Any, y: Any, weight: Any, reset: bool, classes: Any
) -> Source:
    who = type(estimator).__name__
    for role, given in (("y", y), ("sample_weight", weight)):
        if given is not None and not isinstance(given, str):
            raise DataError(
                f"{role} must name a column when X is read as a source, not be a {type(given).__name__}: "
                "put it into the table, or pass X as an array or frame in memory."
            )
    source = read(X, target=y, weight=weight)
    source = _hold_columns(estimator, source, reset)
    if accepts.target != "none":
        source = with_target(who, source, accepts.target, classes)
    return MappedSource(source, source.schema, Checked(who, accepts.missing, accepts.tables))


def _hold_columns(estimator: Any, source: Source, reset: bool) -> Source:
    """Set, or compare with, the columns that the estimator knows; a table's columns are found by name."""
    names = source.schema.names
    if reset:
        estimator.n_features_in_ = source.schema.width
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        return source
    fitted = getattr(estimator, "_schema", None)
    if isinstance(source, TableSource) and fitted is not None and fitted.columns is not None:
        return with_columns(source, fitted.columns)
    if source.schema.width != estimator.n_features_in_:
        raise DataError(
            f"the table has {source.schema.width} columns, "
            f"but {type(estimator).__name__} was fitted on {estimator.n_features_in_}."
        )
    return source


def admit_rows(estimator: Any, accepts: Accepts, X: Any) -> Any:
    """Check rows to predict for, against the columns that the estimator was fitted on: a matrix, or a
    source.
    """
    if (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in _FLOATS
        and "feature_names_in_" not in estimator.__dict__
    ):
        rows, columns = X.shape
        if rows > 0 and columns == estimator.n_features_in_ and X.flags.forc and _all_finite(X):
            return X
    if is_streamed(X):
        source = _hold_columns(estimator, read(X), reset=False)
        check = Checked(type(estimator).__name__, accepts.missing, accepts.tables)
        return MappedSource(source, source.schema, check)
    return _validated(estimator, replace(accepts, target="none"), X, None, reset=False)[0]


def _all_finite(X: NDArray[Any]) -> bool:
    if X.size <= 10_000:
        return bool(np.isfinite(X).all())
    with np.errstate(over="ignore", invalid="ignore"):
        # No large temporary; a sum that overflows takes the long way and passes there.
        return bool(np.isfinite(X.sum()))
