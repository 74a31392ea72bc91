r"""Ridge with each row left out in turn, for all penalties, from one decomposition.

Leaving out a row whole, whatever its weight, needs no other fit: with the hat matrix H of weighted rows,

.. math:: y_i - \hat y_i^{(-i)} = \frac{y_i - \hat y_i}{1 - H_{ii}} .

For more rows than columns, the eigenvectors of X'X give H at the cost of one product; for fewer, those of XX'
give :math:`c = (XX' + \alpha I)^{-1} y` and the ratio of c to the diagonal of that inverse, which is the same
without subtracting from 1. With an intercept, the square roots of the weights are left out of the space.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.data.batches.batch import Batch
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.engine.threads import OrderedWorkers
from surefit.models.linear.common.normal_equations import normal_equations
from surefit.models.linear.squares.centred_rows import CentredRows, DenseRows
from surefit.solvers.linalg.least_squares import unlike_units
from surefit.solvers.linalg.ridge import Spectrum
from surefit.stats.moments import Moments

BLOCK_ROWS = 4096


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Errors of rows predicted without themselves, (rows, targets, alphas); their targets and weights."""

    error: Matrix
    target: Matrix
    weight: Vector

    @property
    def squares(self) -> Matrix:
        """Squared errors, weighted."""
        return self.weight[:, None, None] * self.error**2

    @property
    def prediction(self) -> Matrix:
        """What was predicted for each row without itself."""
        return self.target[:, :, None] - self.error


def from_moments(
    source: Source, engine: Engine, moments: Moments, alphas: Vector, fit_intercept: bool
) -> Iterator[LeftOut]:
    """The errors block by block, in row order, in one pass."""
    gram, cross = normal_equations(moments, fit_intercept)
    spectrum = Spectrum.of(gram)
    shrunk = spectrum.shrunk(alphas)
    inner = (spectrum.vectors.T @ cross)[:, :, None] * shrunk[:, None, :]
    mean_x = moments.mean_x if fit_intercept else np.zeros_like(moments.mean_x)
    mean_y = moments.mean_y if fit_intercept else np.zeros_like(moments.mean_y)
    share = 1 / moments.weight if fit_intercept else 0.0
    work = partial(_tall, spectrum.vectors, shrunk, inner, mean_x, mean_y, share)
    batch = in_memory(source)
    if batch is None:
        return engine.map(work, source)
    if len(batch) <= BLOCK_ROWS or threads() == 1:
        return map(work, _blocks(batch))
    return iter(OrderedWorkers(work, _blocks(batch), threads()))


def _blocks(batch: Batch) -> Iterator[Batch]:
    for start in range(0, len(batch), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        weight = None if batch.weight is None else batch.weight[rows]
        yield Batch(batch.X[rows], np.asarray(batch.y)[rows], weight, batch.start + start)  # type: ignore[index]


def _tall(
    vectors: Matrix, shrunk: Matrix, inner: Matrix, mean_x: Vector, mean_y: Vector, share: float, batch: Batch
) -> LeftOut:
    X: Any = batch.X
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    Y = np.asarray(batch.y, dtype=np.float64).reshape(len(batch), -1)
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    Z = (dense - mean_x) @ vectors
    leverage = weight[:, None] * ((Z * Z) @ shrunk + share)
    fitted = (Z @ inner.reshape(len(inner), -1)).reshape(len(batch), *inner.shape[1:])
    error = ((Y - mean_y)[:, :, None] - fitted) / (1.0 - leverage)[:, None, :]
    return LeftOut(error, Y, weight)


def from_rows(batch: Batch, alphas: Vector, fit_intercept: bool) -> LeftOut:
    """The errors for fewer rows than columns, all in memory."""
    rows = DenseRows.of(batch, fit_intercept)
    root = np.sqrt(rows.weight)
    if unlike_units(rows.A):
        spectrum = Spectrum.of_rows(rows.A, root if fit_intercept else None)
    else:
        kernel = rows.A @ rows.A.T
        spectrum = Spectrum.across(kernel, root) if fit_intercept else Spectrum.of(kernel)
    shrunk = spectrum.shrunk(alphas)
    inner = (spectrum.vectors.T @ rows.B)[:, :, None] * shrunk[:, None, :]
    dual = (spectrum.vectors @ inner.reshape(len(inner), -1)).reshape(len(root), *inner.shape[1:])
    own = (spectrum.vectors**2) @ shrunk
    counts = rows.weight > 0
    error = np.empty_like(dual)
    error[counts] = dual[counts] / (own[counts] * root[counts, None])[:, None, :]
    if not counts.all():  # a row without weight is in no fit, so it is left out already
        X: Any = batch.X
        outside = CentredRows(X[~counts], None, rows.mean_x).dense()
        fitted = outside @ (rows.A.T @ dual.reshape(len(root), -1))
        error[~counts] = (rows.target[~counts] - rows.mean_y)[:, :, None] - fitted.reshape(
            len(outside), *inner.shape[1:]
        )
    return LeftOut(error, rows.target, rows.weight)
