"""What the faces of the kernels that go by columns ask of X: Fortran order or CSC, float32 or float64."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.inputs import matrix_arguments


class Table(Protocol):
    """The penalty of single coefficients: l1 \\|w\\| + l2/2 w^2 on [lower, upper], one entry each."""

    @property
    def l1(self) -> Vector: ...  # noqa: D102
    @property
    def l2(self) -> Vector: ...  # noqa: D102
    @property
    def lower(self) -> Vector: ...  # noqa: D102
    @property
    def upper(self) -> Vector: ...  # noqa: D102


def column_arguments(X: Any) -> tuple[str, tuple[Any, ...]]:
    """Return the suffix of the compiled function for X, and the arguments that X becomes."""
    if getattr(X, "format", None) != "csc":
        return matrix_arguments(X)
    if X.dtype not in (np.float32, np.float64):
        raise TypeError(f"X has dtype {X.dtype}: pass float32 or float64.")
    return "_csc", (X.data, X.indices, X.indptr, X.shape[0])


def table_columns(table: Table) -> tuple[Vector, Vector, Vector, Vector]:
    """Return the four columns of a table, contiguous and in float64."""
    l1, l2, lower, upper = (
        np.ascontiguousarray(column, dtype=np.float64)
        for column in (table.l1, table.l2, table.lower, table.upper)
    )
    return l1, l2, lower, upper


def some_columns(which: Any) -> NDArray[np.int64] | None:
    """Return numbers of columns as the kernels take them; None means all."""
    return None if which is None else np.ascontiguousarray(which, dtype=np.int64)


def chosen_dense(X: Any, which: Any = None) -> Matrix:
    """Return the chosen columns as a dense float64 matrix, for the twins."""
    some = X if which is None else X[:, np.asarray(which, dtype=np.int64)]
    return np.asarray(some if isinstance(some, np.ndarray) else some.toarray(), dtype=np.float64)
