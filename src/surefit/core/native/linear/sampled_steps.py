r"""Proximal steps along the gradients of drawn rows: stochastic gradients of batches, SAGA and SVRG.

.. math:: w \leftarrow prox\left( w - t \, ((f_i'(w) - m_i) x_i + \tfrac1n \textstyle\sum_j m_j x_j) \right)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.native import compiled
from surefit.core.native.columns.layout import Table, table_columns
from surefit.core.native.inputs import float64_rows, matrix_arguments
from surefit.core.native.linear.row_loss import NAMES, row_loss_twin


@dataclass(frozen=True, slots=True)
class Samples:
    """Rows with their targets, and the share of each in the mean, 1 on average; y = -1 and 1 for classes.

    X is dense in C order, or CSR without entries stored twice.
    """

    X: Any
    y: Vector
    share: Vector
    loss: str
    parameter: float = 0.0


def sampled_steps(
    samples: Samples,
    draws: NDArray[np.int64],
    steps: Vector,
    table: Table,
    w: Vector,
    *,
    batch: int = 1,
    memory: Vector | None = None,
    mean: Vector | None = None,
    renew: bool = False,
    total: Vector | None = None,
) -> None:
    """Move ``w`` by one step for each batch of draws, in place; an intercept is its last entry.

    steps: one length a step. memory and mean: the slopes of the rows and their mean gradient, which
    ``renew`` keeps up to date (SAGA) and which stay otherwise (SVRG). total: adds up the points on the way.

    >>> from types import SimpleNamespace
    >>> free = SimpleNamespace(l1=[0.0], l2=[0.0], lower=[-np.inf], upper=[np.inf])
    >>> samples = Samples(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]), np.ones(2), "squared")
    >>> w = np.zeros(1)
    >>> sampled_steps(samples, np.array([0, 1]), np.full(2, 0.5), free, w)
    >>> w
    array([1.75])
    """
    native = compiled()
    sparse = not isinstance(samples.X, np.ndarray)
    if native is None or (sparse and total is not None):
        return sampled_steps_twin(
            samples, draws, steps, table, w, batch=batch, memory=memory, mean=mean, renew=renew, total=total
        )
    suffix, arguments = matrix_arguments(samples.X)
    constant = bool(len(steps) == 0 or (steps == steps[0]).all())
    getattr(native, f"sampled_steps{suffix}")(
        *arguments,
        samples.y,
        samples.share,
        draws,
        batch,
        steps,
        constant,
        NAMES.index(samples.loss),
        samples.parameter,
        *table_columns(table),
        w,
        memory,
        mean,
        renew,
        total,
    )
    return None


def sampled_steps_twin(
    samples: Samples,
    draws: NDArray[np.int64],
    steps: Vector,
    table: Table,
    w: Vector,
    *,
    batch: int = 1,
    memory: Vector | None = None,
    mean: Vector | None = None,
    renew: bool = False,
    total: Vector | None = None,
) -> None:
    """Do the same with every coefficient moved at every step."""
    rows, loss = float64_rows(samples.X), row_loss_twin(samples.loss, samples.parameter)
    n, p = rows.shape
    X = np.column_stack([rows, np.ones(n)]) if len(w) > p else rows
    l1, l2, lower, upper = table_columns(table)
    for now, first in enumerate(range(0, len(draws), batch)):
        change, drawn = np.zeros(len(w)), draws[first : first + batch]
        for i in drawn:
            slope = samples.share[i] * loss(float(samples.y[i]), float(X[i] @ w))[1]
            change += (slope - (0.0 if memory is None else memory[i])) / len(drawn) * X[i]
            if renew and memory is not None:
                memory[i] = slope
        w -= steps[now] * (change + (0.0 if mean is None else mean))
        free = np.sign(w[:p]) * np.maximum(np.abs(w[:p]) - steps[now] * l1, 0.0) / (1.0 + steps[now] * l2)
        w[:p] = np.clip(free, lower, upper)
        if renew and mean is not None:
            mean += change / n
        if total is not None:
            total += w
