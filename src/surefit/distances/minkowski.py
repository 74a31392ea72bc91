"""Norms of differences, with a weight for each column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.core.native.neighbours.norms import Norm
from surefit.core.parameters import Interval
from surefit.distances.base import Distance, Native


class Minkowski(Distance):
    r"""The p-th root of the sum of the p-th powers of differences, with weights if they are given.

    .. math:: d(x, y) = \Big( \sum_j w_j |x_j - y_j|^p \Big)^{1/p}

    >>> Minkowski(p=3)([[0.0, 0.0]], [[1.0, 2.0]]).round(4)
    array([[2.0801]])
    """

    name = "minkowski"
    aliases = ("p",)

    def __init__(
        self,
        p: Annotated[float, Interval(0, None, open_low=True)] = 2.0,
        w: NDArray[Any] | list[Any] | None = None,
    ) -> None:
        self.p = p
        self.w = w
        self._check()
        self.metric = p >= 1
        if w is not None and (np.ndim(w) != 1 or not (np.asarray(w) >= 0).all()):
            raise ParameterError("Minkowski: w must hold one weight of at least 0 a column.")

    def native(self) -> Native:
        """Return the norm, on columns times the p-th root of their weights."""
        norm = Norm.of(self.p)
        if self.w is None:
            return Native(norm)
        weight = np.asarray(self.w, dtype=np.float64)
        scale = np.where(weight > 0, 1.0, 0.0) if np.isinf(self.p) else weight ** (1 / self.p)
        return Native(norm, lambda X: X * scale)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(3.0)
        yield cls(1.5, [1.0, 0.5, 2.0])


class Euclidean(Distance):
    r"""The length of the straight line: :math:`d(x, y) = \sqrt{\sum_j (x_j - y_j)^2}`.

    >>> Euclidean()([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """

    name = "euclidean"
    aliases = ("l2",)

    def native(self) -> Native:
        """Return the norm."""
        return Native(Norm())


class SquaredEuclidean(Distance):
    """The square of the Euclidean distance, which is no metric.

    >>> SquaredEuclidean()([[0.0, 0.0]], [[3.0, 4.0]])
    array([[25.]])
    """

    name = "sqeuclidean"
    metric = False

    def native(self) -> Native:
        """Return the norm, squared at the end."""
        return Native(Norm(), finish=np.square, undo=np.sqrt)


class StandardizedEuclidean(Distance):
    """The Euclidean distance of columns that are divided by their standard deviations.

    V: the variance of each column; taken from the rows that are searched if it is None.

    >>> StandardizedEuclidean(V=[1.0, 4.0])([[0.0, 0.0]], [[3.0, 8.0]])
    array([[5.]])
    """

    name = "seuclidean"
    aliases = ("standardized_euclidean",)

    def __init__(self, V: NDArray[Any] | list[Any] | None = None) -> None:
        self.V = V
        self._check()

    def fitted(self, X: Any) -> Self:
        """Take the variances of the columns, where none were given."""
        return self if self.V is not None else type(self)(_variances(X))

    def native(self) -> Native:
        """Return the Euclidean norm of scaled columns; a column without spread counts for nothing."""
        variance = np.asarray(self.V, dtype=np.float64)
        scale = np.zeros(len(variance))
        np.divide(1.0, np.sqrt(variance), out=scale, where=variance > 0)
        return Native(Norm(), lambda X: X * scale)


def _variances(X: Any) -> Vector:
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    return np.asarray(rows.var(axis=0, ddof=1) if len(rows) > 1 else np.ones(rows.shape[1]))


class Manhattan(Distance):
    r"""The way along the axes: :math:`d(x, y) = \sum_j |x_j - y_j|`.

    >>> Manhattan()([[0.0, 0.0]], [[3.0, 4.0]])
    array([[7.]])
    """

    name = "manhattan"
    aliases = ("l1", "cityblock")

    def native(self) -> Native:
        """Return the norm."""
        return Native(Norm.of(1.0))


class Chebyshev(Distance):
    r"""The largest difference: :math:`d(x, y) = \max_j |x_j - y_j|`.

    >>> Chebyshev()([[0.0, 0.0]], [[3.0, 4.0]])
    array([[4.]])
    """

    name = "chebyshev"
    aliases = ("infinity",)

    def native(self) -> Native:
        """Return the norm."""
        return Native(Norm.of(np.inf))
