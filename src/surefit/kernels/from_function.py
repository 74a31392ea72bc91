"""Any Python function of two objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.kernels.base import Kernel, length


class FromFunction(Kernel):
    """A kernel given as a function of two objects, which may be rows, strings, graphs or anything else.

    function: called with every pair of objects. mercer: whether you vouch that it is positive semi-definite;
    ``check_mercer`` tests it on data. A model that holds a function cannot be saved, as files carry no code.

    >>> kernel = FromFunction(lambda x, y: len(set(x) & set(y)))
    >>> kernel(["cat", "cart", "dog"])
    array([[3., 3., 0.],
           [3., 4., 0.],
           [0., 0., 3.]])
    """

    name = "from_function"
    takes = "objects"

    def __init__(self, function: Callable[[Any, Any], float], *, mercer: bool = False) -> None:
        self.function = function
        self.mercer = mercer
        self._check()

    def _gram(self, X: Any, Y: Any) -> Matrix:
        others = X if Y is None else Y
        columns = [others[j] for j in range(length(others))]
        found = np.array(
            [[self._value(X[i], other) for other in columns] for i in range(length(X))], dtype=np.float64
        ).reshape(length(X), len(columns))
        if not np.isfinite(found).all():
            i, j = (int(place) for place in np.argwhere(~np.isfinite(found))[0])
            raise DataError(f"the kernel's function returned {found[i, j]} for objects {i} and {j}.")
        return found

    def _value(self, one: Any, two: Any) -> float:
        return float(np.asarray(self.function(one, two)).item())

    def _diagonal(self, X: Any) -> Vector:
        return np.array([self._value(X[i], X[i]) for i in range(length(X))], dtype=np.float64)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(_overlap, mercer=True)

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make n words."""
        return ["".join(rng.choice(list("abcd"), size=rng.integers(2, 7))) for _ in range(n)]


def _overlap(one: str, two: str) -> float:
    """How many letters two words share."""
    return float(len(set(one) & set(two)))
