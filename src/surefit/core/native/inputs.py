"""What the faces of the kernels ask of their inputs, said once.

X is a numpy array (C or Fortran order) or a scipy CSR matrix, of float32 or float64, and is never copied;
the centred Gram also takes columns that lie apart (``surefit.data.batches.columns``).
What stands beside it (weights, targets, gradients) is float64, and is converted where it is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def matrix_arguments(X: Any) -> tuple[str, tuple[Any, ...]]:
    """Return the suffix of the compiled function for X and the arguments that X becomes."""
    arguments: tuple[Any, ...]
    if getattr(X, "format", None) == "columns":
        return "_columns", (X.stored, X.shape[0])
    if isinstance(X, np.ndarray):
        suffix, arguments, dtype = "", (X,), X.dtype
    elif getattr(X, "format", None) == "csr":
        suffix, arguments, dtype = "_csr", (X.data, X.indices, X.indptr, X.shape[1]), X.dtype
    else:
        raise TypeError(f"X is a {type(X).__name__}: pass a numpy array or a scipy CSR matrix.")
    if dtype not in (np.float32, np.float64):
        raise TypeError(f"X has dtype {dtype}: pass float32 or float64.")
    if X.ndim != 2:
        raise TypeError(f"X has {X.ndim} dimensions: pass a matrix, such as X.reshape(-1, 1).")
    return suffix, arguments


def row_weights(weight: Any) -> NDArray[np.float64] | None:
    """Return the weights as a contiguous float64 vector."""
    return None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)


def side_matrix(Y: Any) -> NDArray[np.float64] | None:
    """Return Y as a float64 matrix; a vector is one column."""
    if Y is None:
        return None
    array = np.asarray(Y, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array


def float64_rows(X: Any) -> NDArray[np.float64]:
    """Return X as a dense float64 matrix, for the twins."""
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
