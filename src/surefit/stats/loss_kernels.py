"""Sums over the rows of a loss that has a kernel of its own."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.linear.class_loss import class_loss
from surefit.core.native.linear.linear_loss import LossSums, linear_excess, linear_hessian, linear_loss, takes
from surefit.data.batches.batch import Batch
from surefit.data.batches.column_batch import ColumnBatch

Wanted = Literal["value", "gradient", "gap", "hessian"]


def fused_sums(
    loss: Any, batch: Batch, w: NDArray[np.float64], intercept: Any, want: Wanted
) -> LossSums | None:
    """Return what the kernel named by ``loss.kernel`` adds up; None where none fits loss, rows and wish.

    Columns that lie apart are read as they are, if all rows count: a cell that is not finite then shows in
    the sums, and the matrix, which is checked, is asked for.
    """
    if not _has_kernel(loss, batch, w) or (loss.kernel == "softmax" and want in ("value", "hessian")):
        return None
    columns = _columns(batch)
    if columns is not None and want != "value":
        found = _sums(loss, columns, batch, w, intercept, want)
        assert found.gradient is not None
        if np.isfinite(found.value) and np.isfinite(found.gradient).all():
            return found
    return _sums(loss, batch.X, batch, w, intercept, want) if takes(batch.X) else None


def fused_excess(
    loss: Any, batch: Batch, w: NDArray[np.float64], intercept: Any, change: tuple[float, float, float, float]
) -> tuple[float, float] | None:
    """Return what changed slopes leave open, and the sum of their squares; None where no kernel fits."""
    if not _has_kernel(loss, batch, w) or loss.kernel == "softmax":
        return None
    about = (batch.y, w, intercept, batch.weight, batch.offset)
    options, columns = loss.kernel_options, _columns(batch)
    if columns is not None:
        found = linear_excess(loss.kernel, columns, *about, change=change, options=options)
        if np.isfinite(found).all():
            return found
    return (
        linear_excess(loss.kernel, batch.X, *about, change=change, options=options)
        if takes(batch.X)
        else None
    )


def _columns(batch: Batch) -> Any:
    """Return the columns of a batch where they lie apart and all rows count, or None."""
    columns = batch.columns if isinstance(batch, ColumnBatch) else None
    return columns if batch.weight is None or bool(batch.weight.all()) else None


def _has_kernel(loss: Any, batch: Batch, w: NDArray[np.float64]) -> bool:
    name = getattr(loss, "kernel", None)
    flat = batch.y is not None and np.ndim(batch.y) == 1
    return name is not None and flat and w.ndim == (2 if name == "softmax" else 1)


def _sums(loss: Any, X: Any, batch: Batch, w: NDArray[np.float64], intercept: Any, want: Any) -> LossSums:
    about = (X, batch.y, w, intercept, batch.weight, batch.offset)
    if loss.kernel == "softmax":
        return class_loss(*about, want=want)
    if want == "hessian":
        return linear_hessian(loss.kernel, *about, options=loss.kernel_options)
    return linear_loss(loss.kernel, *about, options=loss.kernel_options, want=want)
