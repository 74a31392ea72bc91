"""Coordinate descent over chosen columns with the residual in memory, weighted rows and implicit centring."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.native import compiled
from surefit.core.native.columns.layout import (
    Table,
    chosen_dense,
    column_arguments,
    some_columns,
    table_columns,
)
from surefit.core.native.inputs import row_weights
from surefit.core.native.linear.quad_cd import Descent, quad_cd_twin


def column_cd(
    X: Any,
    which: Any,
    centre: Any,
    curvature: Any,
    table: Table,
    w: Vector,
    residual: Vector,
    *,
    weight: Any = None,
    tolerance: float,
    most: int,
    noise: Any = None,
) -> Descent:
    r"""Minimise 1/(2W) sum_i s_i r_i^2 + table over the chosen columns; ``w`` and ``residual`` are changed.

    centre, curvature, table and noise have one entry a chosen column: centre is its weighted mean, or zero,
    and curvature sum_i s_i (x_i - centre)^2 / W. X is dense in Fortran order or CSC.

    >>> from types import SimpleNamespace
    >>> table = SimpleNamespace(l1=[1.0], l2=[0.0], lower=[-np.inf], upper=[np.inf])
    >>> w, r = np.zeros(1), np.array([-6.0, 6.0])
    >>> X = np.asfortranarray([[-1.0], [1.0]])
    >>> column_cd(X, [0], [0.0], [1.0], table, w, r, tolerance=1e-9, most=100).gap
    0.0
    >>> w, r
    (array([5.]), array([-1.,  1.]))
    """
    native = compiled()
    if native is None:
        return _column_cd_twin(X, which, centre, table, w, residual, weight, tolerance, most, noise)
    suffix, arguments = column_arguments(X)
    weight = row_weights(weight)
    total = float(X.shape[0]) if weight is None else float(weight.sum())
    vectors = row_weights(centre), row_weights(curvature)
    found = getattr(native, f"column_cd{suffix}")(
        *arguments,
        some_columns(which),
        *vectors,
        weight,
        total,
        *table_columns(table),
        row_weights(noise),
        w,
        residual,
        tolerance,
        most,
    )
    return Descent(*found)


def _column_cd_twin(
    X: Any,
    which: Any,
    centre: Any,
    table: Table,
    w: Vector,
    residual: Vector,
    weight: Any,
    tolerance: float,
    most: int,
    noise: Any,
) -> Descent:
    """Do the same by way of the Gram matrix."""
    A = chosen_dense(X, which) - np.asarray(centre, dtype=np.float64)
    s = np.ones(len(A)) if weight is None else np.asarray(weight, dtype=np.float64)
    s = s / s.sum()
    y = residual + A @ w
    G, c = (A * s[:, None]).T @ A, A.T @ (s * y)
    options: dict[str, Any] = {"tolerance": tolerance, "most": most, "noise": noise}
    found = quad_cd_twin(G, c, float(s @ y**2), table, w, np.empty_like(w), **options)
    residual[:] = y - A @ w
    return found
