"""Products with a centred matrix A = X - 1 centre': A'v, and A_S w for some columns S."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.columns.layout import chosen_dense, column_arguments, some_columns
from surefit.core.native.inputs import row_weights


def columns_dot(
    X: Any, v: Any, centre: Any = None, which: Any = None, *, _threads: int | None = None
) -> Vector:
    """Return A'v for all columns, or for the chosen ones; X is dense, CSC or CSR.

    >>> columns_dot(np.array([[1.0, 2.0], [3.0, 5.0]]), [1.0, 2.0])
    array([ 7., 12.])
    """
    native = compiled()
    if native is None:
        return columns_dot_twin(X, v, centre, which)
    suffix, arguments = column_arguments(X)
    v, centre, some = row_weights(v), row_weights(centre), some_columns(which)
    by_rows = suffix == "_csr" or (suffix == "" and not X.flags.f_contiguous)
    out = np.empty(X.shape[1] if some is None or by_rows else len(some))
    count = threads() if _threads is None else _threads
    chosen = () if suffix == "_csr" else (None if by_rows else some,)
    getattr(native, f"columns_dot{suffix}")(*arguments, v, centre, *chosen, out, count)
    return out[some] if by_rows and some is not None else out


def columns_dot_twin(X: Any, v: Any, centre: Any = None, which: Any = None) -> Vector:
    """Do the same with a centred copy."""
    v = np.asarray(v, dtype=np.float64)
    return np.asarray(_centred(X, centre, which).T @ v)


def columns_times(
    X: Any, w: Any, centre: Any = None, which: Any = None, *, _threads: int | None = None
) -> Vector:
    """Return A_S w, with one entry of w a chosen column; X is dense or CSC.

    >>> columns_times(np.array([[1.0, 2.0], [3.0, 5.0]]), [2.0], which=[1])
    array([ 4., 10.])
    """
    native = compiled()
    if native is None:
        return columns_times_twin(X, w, centre, which)
    suffix, arguments = column_arguments(X)
    out = np.zeros(X.shape[0])
    count = threads() if _threads is None else _threads
    w, centre, some = row_weights(w), row_weights(centre), some_columns(which)
    getattr(native, f"columns_times{suffix}")(*arguments, w, centre, some, out, count)
    return out


def columns_times_twin(X: Any, w: Any, centre: Any = None, which: Any = None) -> Vector:
    """Do the same with a centred copy."""
    return np.asarray(_centred(X, centre, which) @ np.asarray(w, dtype=np.float64))


def _centred(X: Any, centre: Any, which: Any) -> NDArray[np.float64]:
    A = chosen_dense(X, which)
    if centre is None:
        return A
    centre = np.asarray(centre, dtype=np.float64)
    return np.asarray(A - (centre if which is None else centre[np.asarray(which, dtype=np.int64)]))
