"""Distances that somebody gives: a function, a kernel, or a matrix of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError
from surefit.distances.base import Distance, length
from surefit.kernels import Kernel, as_kernel


class FromFunction(Distance):
    """A Python function of two rows, or of two objects.

    objects: whether it is given objects as they are, rather than rows of numbers. metric: whether you vouch
    for the triangle inequality, so that a tree may save calls. arguments: passed on by name. A model that
    holds a function cannot be saved, as files carry no code.

    >>> FromFunction(lambda x, y: abs(x[0] - y[0]))([[1.0, 5.0]], [[4.0, 0.0]])
    array([[3.]])
    """

    name = "from_function"

    def __init__(
        self,
        function: Callable[..., float],
        *,
        metric: bool = False,
        objects: bool = False,
        arguments: dict[str, Any] | None = None,
    ) -> None:
        self.function = function
        self.metric = metric
        self.objects = objects
        self.arguments = arguments
        self._check()
        self.takes = "objects" if objects else "rows"

    def _between(self, X: Any, Y: Any) -> Matrix:
        X, Y = (rows.toarray() if hasattr(rows, "toarray") else rows for rows in (X, Y))
        named = self.arguments or {}
        others = [Y[j] for j in range(length(Y))]
        found = np.array(
            [[float(self.function(X[i], other, **named)) for other in others] for i in range(length(X))]
        )
        found = found.reshape(length(X), length(Y))
        if np.isnan(found).any():
            i, j = (int(place) for place in np.argwhere(np.isnan(found))[0])
            raise DataError(f"the distance function returned NaN for rows {i} and {j}.")
        return found

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(_steps, metric=True)


def _steps(x: Any, y: Any) -> float:
    return float(np.abs(x - y).sum())


class KernelDistance(Distance):
    r"""How far apart two things are in the feature space of a kernel.

    .. math:: d(x, y)^2 = k(x, x) + k(y, y) - 2 k(x, y)

    >>> from surefit.kernels import Linear
    >>> KernelDistance(Linear())([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """

    name = "kernel"

    def __init__(self, kernel: Kernel | str | Callable[..., float] = "rbf") -> None:
        self.kernel = kernel
        self._check()
        self.takes = "objects" if self._kernel().takes == "objects" else "rows"
        self.metric = bool(self._kernel().mercer)

    def _kernel(self, columns: int | None = None) -> Kernel:
        return as_kernel(self.kernel, columns=columns)

    def inputs(self, X: Any) -> Any:
        """Return what the kernel compares."""
        return super().inputs(X)

    def _between(self, X: Any, Y: Any) -> Matrix:
        kernel = self._kernel(None if self.takes == "objects" else int(X.shape[1]))
        if self.takes == "objects":
            X, Y = list(X), list(Y)
        left, right = kernel.diagonal(X), kernel.diagonal(Y)
        found = left[:, None] + right[None, :] - 2 * kernel(X, Y)
        # Below this it is the rounding of a 0.
        found[found < 4e-16 * (left[:, None] + right[None, :])] = 0.0
        return np.asarray(np.sqrt(found))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls("linear")


class Precomputed(Distance):
    """Distances as they are: X is all pairs of rows for a fit, and new rows by those for queries.

    >>> Precomputed()([[0.0, 2.0], [2.0, 0.0]])
    array([[0., 2.],
           [2., 0.]])
    """

    name = "precomputed"
    takes = "pairs"
    metric = False

    def between(self, X: Any, Y: Any) -> Matrix:
        """Return X: what lies between is written there."""
        return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make distances of all pairs."""
        rows = rng.normal(size=(n, 2))
        return np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(axis=2))
