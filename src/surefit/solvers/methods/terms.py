"""An objective as a mean of terms: the rows of a table, or those that a function declares.

The rows of a table as a compiled kernel reads them, where it knows their loss and their penalty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.native.columns.layout import Table
from surefit.core.native.linear.row_loss import NAMES
from surefit.core.native.linear.sampled_steps import Samples, sampled_steps
from surefit.core.registry import members
from surefit.losses.base import Loss
from surefit.losses.binary import sign
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.function import Terms

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class RowTerms:
    """The rows of a linear model: term i has the gradient n s_i / W f'(y_i, z_i) x_i."""

    X: Any
    y: Vector
    share: Vector
    loss: Loss
    objective: Objective

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.y)

    def slopes(self, x: Vector, rows: Rows | None = None) -> Vector:
        """Return the slopes by z of some rows, or of all, times their shares."""
        coef, intercept = self.objective.split(x)
        X, y, share = (
            (self.X, self.y, self.share) if rows is None else (self.X[rows], self.y[rows], self.share[rows])
        )
        z = np.asarray(X @ coef, dtype=np.float64) + (0.0 if intercept is None else intercept)
        return np.asarray(self.loss.gradient(y, z) * share)

    def mean_of(self, slopes: Vector, rows: Rows | None = None) -> Vector:
        """Return the mean gradient of some rows, or of all, given their slopes."""
        X = self.X if rows is None else self.X[rows]
        mean = np.asarray(slopes @ X, dtype=np.float64).ravel() / len(slopes)
        return np.append(mean, slopes.mean()) if self.objective.fit_intercept else mean

    def gradients(self, x: Vector, rows: Rows) -> Vector:
        """Return the gradients of some rows, one each."""
        X = self.X[rows]
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        if self.objective.fit_intercept:
            X = np.column_stack([X, np.ones(len(X))])
        return np.asarray(self.slopes(x, rows)[:, None] * X)

    def mean_gradient(self, x: Vector, rows: Rows) -> Vector:
        """Return their mean."""
        return self.mean_of(self.slopes(x, rows), rows)


def terms_of(objective: Objective, who: str) -> Terms | RowTerms:
    """Return the terms, or refuse where there are none."""
    if not objective.tabular:
        found: Terms | None = getattr(objective, "terms", None)
        if found is None:
            raise RefusalError(
                f"solver {who!r} samples the terms of a mean, and this function declares none: "
                "give terms=Terms(count, gradient)."
            )
        return found
    batch = objective.need_rows(f"solver {who!r}")
    y: Any = batch.y
    s = np.ones(len(batch)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
    return RowTerms(batch.X, y, s * len(s) / s.sum(), objective.loss, objective)


def has_terms(objective: Objective) -> bool:
    """Whether there are terms to draw."""
    if objective.tabular:
        rows = objective.rows
        return rows is not None and objective.outputs is None and rows.offset is None
    return getattr(objective, "terms", None) is not None


class Draws:
    """Batches of terms, drawn evenly with replacement; a batch of all is all of them in order."""

    def __init__(self, terms: Terms | RowTerms, batch_size: int, random_state: int) -> None:
        if not batch_size >= 1:
            raise ParameterError(f"batch_size is {batch_size}: draw at least one term.")
        self.terms, self.size = terms, min(batch_size, terms.count)
        self.rng = np.random.default_rng(random_state)

    def rows(self) -> Rows:
        """Return the next batch."""
        if self.size == self.terms.count:
            return np.arange(self.size)
        return self.rng.integers(self.terms.count, size=self.size)

    def gradient(self, x: Vector) -> Vector:
        """Return the mean gradient of the next batch."""
        return self.terms.mean_gradient(x, self.rows())


@dataclass(frozen=True, slots=True)
class NativeTerms:
    """Rows, loss and penalty for :func:`~surefit.core.native.linear.sampled_steps.sampled_steps`."""

    samples: Samples
    table: Table

    def steps(self, draws: NDArray[Any], lengths: Vector, x: Vector, **memory: Any) -> Vector:
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
