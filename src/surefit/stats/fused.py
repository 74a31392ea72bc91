"""Sums over the rows of a loss that has a kernel of its own."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.class_loss import class_loss
from surefit.core.native.linear_loss import LossSums, linear_hessian, linear_loss, takes
from surefit.data.batch import Batch

Wanted = Literal["value", "gradient", "gap", "hessian"]


def fused_sums(
    loss: Any, batch: Batch, w: NDArray[np.float64], intercept: Any, want: Wanted
) -> LossSums | None:
    """Return what the kernel named by ``loss.kernel`` adds up; None where none fits loss, rows and wish."""
    name = getattr(loss, "kernel", None)
    if name is None or batch.y is None or np.ndim(batch.y) != 1 or not takes(batch.X):
        return None
    beside = (intercept, batch.weight, batch.offset)
    if name == "softmax":
        if w.ndim != 2 or want == "value" or want == "hessian":
            return None
        return class_loss(batch.X, batch.y, w, *beside, want=want)
    if w.ndim != 1:
        return None
    if want == "hessian":
        return linear_hessian(name, batch.X, batch.y, w, *beside)
    return linear_loss(name, batch.X, batch.y, w, *beside, want=want)
