"""String kernels: the substrings that two strings share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.core.parameters import Count
from surefit.kernels.base import Kernel, length
from surefit.kernels.rows import dots, squared_norms


class Spectrum(Kernel):
    r"""The substrings of a length that two strings share, each counted as often as it occurs in both.

    .. math:: k(s, t) = \sum_{u: |u| = k} c_u(s) \, c_u(t)

    size: of the substrings; None takes all sizes. ``.normalized()`` makes strings of all lengths alike.
    Lists of words or numbers are strings too, and then the substrings are runs of them.

    >>> Spectrum(2)(["banana", "ananas"])
    array([[9., 8.],
           [8., 9.]])
    """

    name = "spectrum"
    takes = "objects"

    def __init__(self, size: Count | None = 3) -> None:
        self.size = size
        self._check()

    def counts(self, text: Any) -> Counter[Any]:
        """Return how often each substring occurs in a string.

        >>> Spectrum(2).counts("anana")
        Counter({'an': 2, 'na': 2})
        """
        if isinstance(text, bytes):
            text = text.decode("latin-1")
        if not isinstance(text, str):
            if not hasattr(text, "__iter__"):
                raise DataError(f"Spectrum compares strings, and X holds {text!r}: give strings.")
            text = tuple(text.tolist() if isinstance(text, np.ndarray) else text)
        sizes = range(1, len(text) + 1) if self.size is None else (int(self.size),)
        return Counter(text[i : i + size] for size in sizes for i in range(len(text) - size + 1))

    def features(self, *collections: Any) -> list[Any]:
        """Return the counts of each collection of strings as sparse rows, over the same substrings."""
        columns: dict[Any, int] = {}
        found = []
        for X in collections:
            counted = [self.counts(X[i]) for i in range(length(X))]
            starts = np.cumsum([0, *(len(each) for each in counted)])
            places = [columns.setdefault(u, len(columns)) for each in counted for u in each]
            values = np.array([c for each in counted for c in each.values()], dtype=np.float64)
            found.append((values, np.array(places, dtype=np.int64), starts))
        return [sparse.csr_matrix(parts, shape=(len(parts[2]) - 1, max(1, len(columns)))) for parts in found]

    def _gram(self, X: Any, Y: Any) -> Matrix:
        if Y is None:
            return dots(self.features(X)[0], None)
        return dots(*self.features(X, Y))

    def _diagonal(self, X: Any) -> Vector:
        return squared_norms(self.features(X)[0])

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(2)
        yield cls(None)

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make n words."""
        return ["".join(rng.choice(list("ab"), size=rng.integers(2, 7))) for _ in range(n)]
