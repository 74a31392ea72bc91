"""The door: the only place where input is checked.

``admit`` lets training data in, ``admit_rows`` the rows to predict for. Both classify first. Arrays and
frames in memory go through scikit-learn's ``validate_data``, whose messages its users know; plain arrays
that nothing is wrong with take a short way past it, with the same outcome. Everything else becomes a source,
whose schema is checked at once and whose cells are checked as they pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.native.columns.finite import all_finite
from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import Cells, cells_of, declared_levels, kind_of_cells
from surefit.data.batches.deferred_batch import LateBatch
from surefit.data.batches.objects import Objects, objects_of
from surefit.data.checks.cells import Checked, check_weights
from surefit.data.checks.explain import (
    explain,
    explain_dates,
    explain_missing_target,
    explain_names,
    explain_target,
)
from surefit.data.checks.float_range import refuse_extreme_target
from surefit.data.files import is_path
from surefit.data.read import find_reader, read, read_like, with_columns
from surefit.data.schema import Column, Schema
from surefit.data.source import ArraySource, MappedSource, Source, TableSource, is_source
from surefit.data.targets import class_codes, with_target

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_LARGE = 10**6  # cells, below which looking at each takes no time


@dataclass(frozen=True, slots=True)
class Accepts:
    """What an estimator can be fed.

    target: whether it learns from numbers, from classes, from either, or without a target; several_targets:
    y may have many columns. sparse: X may be sparse. missing: cells may be missing; infinite: or infinite.
    tables: it wants typed tables as they are, not matrices. cells: it takes values of any type in memory,
    column by column as they are, and looks at levels for itself. by_columns: it reads sparse matrices by
    column as well as by row. sums_first: a fit begins with sums over all cells, and they show if one is not
    finite. objects: rows are objects of any kind, in memory, which the model compares as they are. pairwise:
    X is a square matrix of how alike, or how far apart, all pairs of rows are.
    """

    target: Literal["none", "number", "class", "any"] = "none"
    several_targets: bool = False
    sparse: bool = True
    missing: bool = False
    infinite: bool = False
    tables: bool = False
    cells: bool = False
    by_columns: bool = False
    sums_first: bool = False
    objects: bool = False
    pairwise: bool = False

    @property
    def sparse_formats(self) -> Any:
        """What scikit-learn calls ``accept_sparse``."""
        return False if not self.sparse else ["csc", "csr"] if self.by_columns else "csr"


def is_streamed(X: Any, y: Any = None, weight: Any = None) -> bool:
    """Whether the input is read as a source, rather than checked whole as an array or frame in memory."""
    if isinstance(y, str) or isinstance(weight, str):
        return True
    if isinstance(X, np.ndarray):
        return False
    if is_path(X) or is_source(X):
        return True
    reader = find_reader(X)
    return reader is not None and not reader.in_memory


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
    if not accepts.objects and is_streamed(X, y, weight):
        return _admit_source(estimator, accepts, X, y, weight, reset, classes)
    if accepts.target != "none" and y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    words = explain_missing_target(y) if accepts.target != "none" else None
    if words is not None:
        raise DataError(words)
    if accepts.target == "any":
        accepts = replace(accepts, target=_kind_of_target(y, reset, classes))
    words = explain_target(type(estimator).__name__, y) if accepts.target == "number" else None
    if words is not None:
        raise DataError(words)
    if hasattr(y, "toarray"):
        raise TypeError(f"{type(estimator).__name__} takes no sparse target: give y.toarray().")
    given, check = X, None
    if accepts.sums_first and weight is None and _is_large(X):
        check = partial(_validated, estimator, accepts, X, y, reset)
    X, y = _validated(estimator, accepts, X, y, reset, looked_at=check is None)
    target, about = _target(accepts, y, classes)
    rows, columns = X.shape
    schema = Schema(columns, _columns(estimator, X, given), rows, **about)
    if check is not None:
        return ArraySource(schema, LateBatch(X, target, check=check))
    return ArraySource(schema, Batch(X, target, check_weights(weight, rows)))


def _kind_of_target(y: Any, reset: bool, classes: Any) -> Literal["number", "class"]:
    """Classes or numbers, by the looks of the target, or as it was before."""
    from sklearn.utils.multiclass import type_of_target

    if not reset:
        return "number" if classes is None else "class"
    looks = type_of_target(y, input_name="y")
    if looks not in ("binary", "multiclass", "continuous"):
        raise DataError(f"Unknown label type: y is {looks}; it must be one number or one class a row.")
    return "number" if looks == "continuous" else "class"


def _validated_cells(estimator: Any, accepts: Accepts, X: Any, y: Any, reset: bool) -> tuple[Cells, Any]:
    from sklearn.utils.validation import validate_data

    words = explain_names(X)
    if words is not None:
        raise DataError(words)
    if isinstance(X, np.ndarray) and X.shape[1:] == (0,):
        raise DataError(str(explain(type(estimator).__name__, X, accepts.missing)))
    cells = cells_of(X, accepts.missing)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    estimator.n_features_in_ = cells.shape[1]
    if accepts.target == "none":
        return cells, None
    return cells, _validated_target(accepts, X, y)


def _validated_objects(estimator: Any, accepts: Accepts, X: Any, y: Any) -> tuple[Objects, Any]:
    found = objects_of(type(estimator).__name__, X)
    estimator.n_features_in_ = 1
    estimator.__dict__.pop("feature_names_in_", None)
    return found, None if accepts.target == "none" else _validated_target(accepts, found, y)


def _validated_target(accepts: Accepts, X: Any, y: Any) -> Any:
    from sklearn.utils import check_array, check_consistent_length
    from sklearn.utils.validation import column_or_1d

    check_consistent_length(X, y)
    if accepts.target != "number":
        return y
    if not accepts.several_targets:
        y = column_or_1d(y, warn=True)
    return check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")


def _refuse_oblong(estimator: Any, X: Any) -> None:
    shape = np.shape(X) if not hasattr(X, "shape") else X.shape
    if len(shape) == 2 and shape[0] != shape[1]:
        raise DataError(
            f"{type(estimator).__name__} was told that X is precomputed, so that X must be a square matrix, "
            f"one row and one column for each sample, but it is {shape[0]} by {shape[1]}."
        )


def _validated(
    estimator: Any, accepts: Accepts, X: Any, y: Any, reset: bool, *, looked_at: bool = True
) -> tuple[Any, Any]:
    if accepts.objects:
        return _validated_objects(estimator, accepts, X, y)
    if accepts.cells and not (accepts.sparse and hasattr(X, "toarray")):
        return _validated_cells(estimator, accepts, X, y, reset)
    if accepts.pairwise and reset:
        _refuse_oblong(estimator, X)
    plain_target = accepts.target == "none" or _is_plain_target(X, y)
    if plain_target and _are_plain_rows(estimator, X, reset, looked_at):
        return X, None if accepts.target == "none" else y
    from sklearn.utils.validation import validate_data

    how: dict[str, Any] = {
        "accept_sparse": accepts.sparse_formats,
        "dtype": list(_FLOATS),
        "reset": reset,
    }
    words = explain_dates(type(estimator).__name__, X)
    if words is not None:
        raise DataError(words)
    # What is known to be finite need not be read again; the rest scikit-learn turns down, in its words.
    how["ensure_all_finite"] = "allow-nan" if accepts.missing else not _known_finite(X)
    if accepts.infinite:
        how["ensure_all_finite"] = False
    try:
        if accepts.target == "none":
            return _contiguous(validate_data(estimator, X, **how)), None
        number = accepts.target == "number"
        X, y = validate_data(estimator, X, y, multi_output=accepts.several_targets, y_numeric=number, **how)
        return _contiguous(X), y
    except (ValueError, TypeError, OverflowError) as error:
        own = isinstance(error, TypeError) and not hasattr(X, "columns")  # words that users look for
        own = own or "inconsistent numbers of samples" in str(error)
        sentence = None if own else explain(type(estimator).__name__, X, accepts.missing)
        if sentence is None:
            raise
        raise DataError(sentence) from error


def _are_plain_rows(estimator: Any, X: Any, reset: bool, looked_at: bool = True) -> bool:
    """Whether X is a finite float matrix of the columns wanted, in which scikit-learn would change nothing;
    a fit takes note of them. What is not looked at is taken for finite.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or X.size == 0:
        return False
    if looked_at and not _known_finite(X):
        return False
    if reset:
        estimator.__dict__.pop("feature_names_in_", None)
        estimator.n_features_in_ = X.shape[1]
        return True
    return "feature_names_in_" not in estimator.__dict__ and bool(estimator.n_features_in_ == X.shape[1])


def _is_plain_target(X: Any, y: Any) -> bool:
    """Whether y is one number or truth value a row of X, none of them missing or infinite."""
    if type(y) is not np.ndarray or y.ndim != 1 or type(X) is not np.ndarray or len(y) != len(X):
        return False
    return y.dtype.kind in "iub" or (y.dtype in _FLOATS and bool(np.isfinite(y).all()))


def _target(accepts: Accepts, y: Any, classes: Any) -> tuple[NDArray[Any] | None, dict[str, Any]]:
    if accepts.target == "none":
        return None, {}
    if accepts.target == "class":
        codes, labels = class_codes(y, classes)
        return codes, {"targets": 1, "classes": labels}
    flat = y.ndim == 1
    target = np.ascontiguousarray(y, dtype=np.float64)
    refuse_extreme_target(target)
    return target, {"targets": 1 if flat else y.shape[1], "target_is_flat": flat}


def _columns(estimator: Any, X: Any, given: Any) -> tuple[Column, ...] | None:
    names = getattr(estimator, "feature_names_in_", None)
    if not isinstance(X, Cells):
        return None if names is None else tuple(Column(str(name)) for name in names)
    kinds = [kind_of_cells(column) for column in X.columns]
    if names is None and set(kinds) <= {"number"}:
        return None
    names = [f"x{j}" for j in range(len(kinds))] if names is None else names
    levels = declared_levels(given)
    return tuple(
        Column(str(name), kind, levels.get(name), name in levels)
        for name, kind in zip(names, kinds, strict=True)
    )


def _contiguous(X: Any) -> Any:
    if isinstance(X, np.ndarray):
        return X if X.flags.forc else np.ascontiguousarray(X)
    return X


def _admit_source(
    estimator: Any, accepts: Accepts, X: Any, y: Any, weight: Any, reset: bool, classes: Any
) -> Source:
    who = type(estimator).__name__
    source = _hold_columns(estimator, accepts, read(X, target=y, weight=weight), reset)
    if accepts.target != "none":
        source = with_target(who, source, accepts.target, classes)
        if not source.schema.target_is_flat and not accepts.several_targets:
            raise DataError(
                f"{who} takes one target a row, but y has two dimensions: use y.ravel(), or a column of it."
            )
    _refuse_nothing(source)
    return MappedSource(source, source.schema, _check(estimator, accepts))


def _refuse_nothing(source: Source) -> None:
    """Refuse a table without columns or rows; where rows were not counted, the first batch tells."""
    rows = source.schema.rows
    if source.schema.width == 0:
        raise DataError("the table has no columns.")
    if rows == 0 or (rows is None and not any(len(batch) for batch in source)):
        raise DataError("the table has no rows.")


def _check(estimator: Any, accepts: Accepts) -> Checked:
    who = type(estimator).__name__
    return Checked(who, accepts.missing, accepts.tables, accepts.sparse, accepts.infinite)


def _hold_columns(estimator: Any, accepts: Accepts, source: Source, reset: bool) -> Source:
    """Set, or compare with, the columns that the estimator knows; a table's columns are found by name.

    They keep the levels that were fitted, unless the estimator looks at values for itself.
    """
    names = source.schema.names
    if reset:
        estimator.n_features_in_ = source.schema.width
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        return source
    fitted = getattr(estimator, "_schema", None)
    if isinstance(source, TableSource) and fitted is not None and fitted.columns is not None:
        own = {column.name: column for column in source.schema.columns or () if accepts.cells}
        return with_columns(source, tuple(own.get(column.name, column) for column in fitted.columns))
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
    if accepts.objects:
        return objects_of(type(estimator).__name__, X)
    if not accepts.cells and _are_plain_rows(estimator, X, reset=False):
        return X
    if is_streamed(X):
        source = _hold_columns(estimator, accepts, _read_rows(estimator, accepts, X), reset=False)
        if not isinstance(X, MappedSource):  # whose origin came through here
            _refuse_nothing(source)
        return MappedSource(source, source.schema, _check(estimator, accepts))
    return _validated(estimator, replace(accepts, target="none"), X, None, reset=False)[0]


def _read_rows(estimator: Any, accepts: Accepts, X: Any) -> Source:
    """Read rows by the columns that were fitted; an encoder looks at their values for itself."""
    fitted = getattr(estimator, "_schema", None)
    return read(X) if accepts.cells or fitted is None else read_like(X, fitted.columns)


def _is_large(X: Any) -> bool:
    """Whether X is a plain float matrix that takes a while to read."""
    if type(X) is not np.ndarray or X.dtype not in _FLOATS or not X.flags.forc:
        return False
    return X.ndim == 2 and X.size >= _LARGE


def _known_finite(X: Any) -> bool:
    """Whether X is a plain float array that is seen to be finite at little cost."""
    if type(X) is not np.ndarray or X.dtype not in _FLOATS or not X.flags.forc:
        return False
    # numpy's method all() is a detour through Python.
    return bool(np.logical_and.reduce(np.isfinite(X), axis=None)) if X.size <= 10_000 else all_finite(X)
