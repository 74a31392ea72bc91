"""The kernel of a feature map: inner products of what a function makes of objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.kernels.base import Kernel
from surefit.kernels.mapped import mapped
from surefit.kernels.rows import dots, squared_norms


class FeatureMap(Kernel):
    r"""The kernel :math:`k(x, y) = \phi(x)'\phi(y)` of an explicit feature map.

    function: makes a number or a vector of one object; of all at once if ``vectorized``.

    >>> FeatureMap(lambda word: [word.count("a"), word.count("b")])(["ab", "aab"])
    array([[2., 3.],
           [3., 5.]])
    """

    name = "feature_map"
    takes = "objects"

    def __init__(self, function: Callable[[Any], Any], vectorized: bool = False) -> None:
        self.function = function
        self.vectorized = vectorized
        self._check()

    def features(self, X: Any) -> Matrix:
        """Return the features (n, D) of the objects."""
        return mapped(self.function, X, self.vectorized)

    def _gram(self, X: Any, Y: Any) -> Matrix:
        return dots(self.features(X), None if Y is None else self.features(Y))

    def _diagonal(self, X: Any) -> Vector:
        return squared_norms(self.features(X))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(np.cumsum)

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make n rows."""
        return rng.normal(size=(n, 3))


def from_feature_map(function: Callable[[Any], Any], *, vectorized: bool = False) -> FeatureMap:
    """Return the kernel of inner products of ``function(x)``; a number stands for one feature.

    >>> from_feature_map(lambda x: x**2)(np.array([[1.0], [3.0]]))
    array([[ 1.,  9.],
           [ 9., 81.]])
    """
    return FeatureMap(function, vectorized)
