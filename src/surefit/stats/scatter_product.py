"""The scatter of rows multiplied by a block of directions, without forming it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic
from surefit.stats.cases import Trial

_BLOCK = 2**18  # cells; a block stays in the cache between its two products


@dataclass(frozen=True, slots=True)
class ScatterProduct(Statistic):
    r"""Of rows about a given centre m: :math:`\sum_i s_i (x_i - m)(x_i - m)' V`, one column a direction.

    >>> batch = Batch(np.array([[1.0, 2.0], [3.0, 2.0]]))
    >>> ScatterProduct.of(batch, centre=np.array([2.0, 2.0]), directions=np.eye(2)).product
    array([[2., 0.],
           [0., 0.]])
    """

    name = "scatter-product"

    product: NDArray[np.float64]

    @classmethod
    def of(
        cls, batch: Batch, *, centre: Any = None, directions: Any = None, **context: Any
    ) -> ScatterProduct:
        """Compute it; dense rows are centred first, sparse ones afterwards, so that they stay sparse."""
        X: Any = batch.X
        weight = None if batch.weight is None else batch.weight[:, None]
        if isinstance(X, np.ndarray):
            product = np.zeros(directions.shape)
            for rows in _blocks(X.shape):
                part = X[rows] - centre
                along = part @ directions
                product += part.T @ (along if weight is None else weight[rows] * along)
            return cls(product)
        along = np.asarray(X @ directions) - centre @ directions
        along = along if weight is None else weight * along
        return cls(np.asarray(X.T @ along) - np.outer(centre, along.sum(axis=0)))

    def __add__(self, other: ScatterProduct) -> ScatterProduct:
        return ScatterProduct(self.product + other.product)

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Dense and sparse rows, about a point near their mean."""
        context = {
            "centre": np.full(4, 3.0),
            "directions": np.array([[1.0, 0.0], [0.5, 1.0], [0.0, 2.0], [0, 1]]),
        }
        return Trial("numbers", context), Trial("sparse", context)


def _blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    rows = max(1, _BLOCK // max(1, shape[1]))
    return (slice(start, start + rows) for start in range(0, shape[0], rows))
