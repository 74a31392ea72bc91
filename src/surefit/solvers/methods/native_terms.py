"""The rows of a table as a compiled kernel reads them, where it knows their loss and their penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.columns import Table
from surefit.core.native.row_loss import NAMES
from surefit.core.native.sampled_steps import Samples, sampled_steps
from surefit.core.registry import members
from surefit.losses.base import Loss
from surefit.losses.binary import sign
from surefit.solvers.function import Terms
from surefit.solvers.methods.terms import RowTerms
from surefit.solvers.objective import Objective

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NativeTerms:
    """Rows, loss and penalty for :func:`~surefit.core.native.sampled_steps.sampled_steps`."""

    samples: Samples
    table: Table

    def steps(self, draws: NDArray[Any], lengths: Array, x: Array, **memory: Any) -> Array:
        """Return where one step for each batch of draws leads from x."""
        w = np.array(x)
        order = np.ascontiguousarray(draws, dtype=np.int64)
        sampled_steps(self.samples, order, np.ascontiguousarray(lengths), self.table, w, **memory)
        return w


def native_terms(terms: Terms | RowTerms, objective: Objective) -> NativeTerms | None:
    """Return the rows as the kernel reads them; None where loss, penalty or rows are not of its kinds."""
    if not isinstance(terms, RowTerms) or not objective.penalty.offers("table"):
        return None
    known = _number_of(terms.loss)
    if known is None:
        return None
    X = terms.X
    if isinstance(X, np.ndarray):
        X = np.ascontiguousarray(X)
    else:
        X = X.tocsr(copy=True)
        X.sum_duplicates()
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    y = np.asarray(terms.y, dtype=np.float64)
    y = np.ascontiguousarray(sign(y) if terms.loss.task == "binary" else y)
    if terms.loss.task == "binary" and not np.isin(terms.y, (-1.0, 0.0, 1.0)).all():
        return None  # shares between two classes
    share = np.ascontiguousarray(terms.share, dtype=np.float64)
    return NativeTerms(Samples(X, y, share, *known), objective.penalty.table(objective.columns))


def _number_of(loss: Loss) -> tuple[str, float] | None:
    """Return the name and parameter of a loss that the kernel knows; a subclass may be another function."""
    if loss.name not in NAMES or type(loss) is not members("loss").get(loss.name):
        return None
    if loss.name == "huber":
        plain: Any = loss
        if plain.slope != "threshold" or plain.scale not in (None, 1.0):
            return None
        return loss.name, float(plain.threshold)
    return loss.name, float(getattr(loss, "epsilon", 0.0))
