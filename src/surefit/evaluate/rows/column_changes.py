"""One column of a table in memory, looked at and changed: arrays, sparse matrices, and frames of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def column_of(X: Any, place: int) -> NDArray[Any]:
    """The values of a column.

    >>> column_of(np.array([[1.0, 2.0], [3.0, 4.0]]), 1)
    array([2., 4.])
    """
    if sparse.issparse(X):
        return np.asarray(X[:, [place]].toarray()[:, 0])
    if isinstance(X, np.ndarray):
        return X[:, place]
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, place])
    return np.asarray(_frame(X)[:, place].to_numpy())


def shuffled(X: Any, place: int, order: NDArray[Any]) -> Any:
    """The table with the column in another order; what it is made of stays the same.

    >>> shuffled(np.array([[1.0, 2.0], [3.0, 4.0]]), 1, np.array([1, 0])).tolist()
    [[1.0, 4.0], [3.0, 2.0]]
    """
    if sparse.issparse(X):
        return _replaced(X, place, X[:, [place]].tocsr()[order])
    if isinstance(X, np.ndarray):
        return _replaced(X, place, X[order, place])
    if hasattr(X, "iloc"):
        return _replaced(X, place, X.iloc[order, place].array)
    frame = _frame(X)
    return frame.with_columns(frame[:, place][order]).to_native()


def with_value(X: Any, place: int, value: Any) -> Any:
    """The table with one value in all rows of the column, whose type stays unless that has no such value.

    >>> with_value(np.array([[1, 2], [3, 4]]), 1, 0.5).tolist()
    [[1.0, 0.5], [3.0, 0.5]]
    """
    if sparse.issparse(X):
        return _replaced(X, place, np.full((X.shape[0], 1), value))
    if isinstance(X, np.ndarray):
        return _replaced(X.astype(np.result_type(X.dtype, np.asarray(value).dtype)), place, value)
    if hasattr(X, "iloc"):
        own = X.iloc[:, place]
        if np.issubdtype(np.asarray(value).dtype, np.number):
            return _replaced(X, place, np.full(len(own), value))
        return _replaced(X, place, own.where(np.zeros(len(own), dtype=bool), value).array)
    import narwhals as nw

    frame = _frame(X)
    name = frame.columns[place]
    kind, same = frame.schema[name], nw.lit(value.item() if isinstance(value, np.generic) else value)
    return frame.with_columns((same if kind.is_numeric() else same.cast(kind)).alias(name)).to_native()


def _replaced(X: Any, place: int, values: Any) -> Any:
    if sparse.issparse(X):
        other = X.tolil()
        other[:, [place]] = values
        return other.tocsr()
    other = X.copy()
    if isinstance(X, np.ndarray):
        other[:, place] = values
    else:
        other.isetitem(place, values)
    return other


def _frame(X: Any) -> Any:
    import narwhals as nw

    return nw.from_native(X, eager_only=True)
