"""Distributions of vectors and of matrices."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from surefit.core.errors import DataError
from surefit.distributions.base import Array, Distribution


class Multivariate(Distribution, abstract=True):
    """A distribution of arrays; values come along the last axes, any axes before them are many values."""

    dimensions: ClassVar[int] = 1  # of one value: 1 for a vector, 2 for a matrix

    def log_density(self, x: Any) -> Any:
        """Return the logarithm of the density, or of the probability; -inf outside the support."""
        x = np.asarray(x, dtype=np.float64)
        shape = self.event_shape
        if x.shape[x.ndim - len(shape) :] != shape:
            raise DataError(
                f"x has shape {x.shape}, but a value of this {type(self).__name__} has shape {shape}: "
                "give arrays whose last axes are that."
            )
        unknown = np.isnan(x).any(axis=tuple(range(-len(shape), 0)))
        inside = ~unknown & self._inside(np.where(unknown.reshape(unknown.shape + (1,) * len(shape)), 0.0, x))
        outer = inside.reshape(inside.shape + (1,) * len(shape))
        with np.errstate(all="ignore"):
            value = self._log_density(np.where(outer, x, self._inner))
        return np.where(inside, value, np.where(unknown, np.nan, -np.inf))[()]

    @property
    def _inner(self) -> Any:
        """Some point of the support."""
        return self.mean

    @abstractmethod
    def _inside(self, x: Array) -> Any:
        """Whether each value is in the support."""

    @abstractmethod
    def _log_density(self, x: Array) -> Any:
        """Return the log-density at points of the support."""

    @classmethod
    def _rows(cls, x: Any, **known: Any) -> Array:
        rows = np.asarray(super()._rows(x))
        if rows.ndim != 1 + cls.dimensions:
            raise DataError(
                f"{cls.__name__}.fit takes {'vectors' if cls.dimensions == 1 else 'matrices'}, one a row, "
                f"not an array of shape {rows.shape}: reshape it."
            )
        return rows
