"""Rows that are objects of any kind, such as strings or graphs, for kernels and metrics that compare them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class Objects:
    """Objects in a row, one for each row of a table; a number of columns they do not have.

    >>> words = objects_of("Model", ["ab", "abc", "b"])
    >>> len(words), words[2], list(words[[0, 2]])
    (3, 'b', ['ab', 'b'])
    """

    items: NDArray[np.object_]  # (n,)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and one column: the object."""
        return len(self.items), 1

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __getitem__(self, rows: Any) -> Any:
        """Return the object at a place, or Objects for a slice, a mask or a list of places."""
        found = self.items[rows]
        return found if isinstance(rows, int | np.integer) else Objects(found)


def objects_of(who: str, X: Any) -> Objects:
    """Take the rows of a list, an array, a series or a frame as objects.

    A matrix of one column of words or objects gives its cells, any other matrix its rows.
    """
    if isinstance(X, Objects):
        return X
    if isinstance(X, str | bytes):
        raise DataError(f"{who} compares objects, one a row, but X is a single string: give a list of them.")
    if hasattr(X, "toarray"):
        raise TypeError(f"{who} compares objects, one a row, and takes no sparse matrix: give X.toarray().")
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if not hasattr(X, "__len__"):
        raise DataError(f"{who} compares objects, one a row, but X is a {type(X).__name__}: give a list.")
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1 and X.dtype.kind in "OUST":
        X = X[:, 0]
    if len(X) == 0:
        raise DataError(f"{who}: X has no rows.")
    items = np.empty(len(X), dtype=object)
    for place, item in enumerate(X):  # one by one: numpy would make a matrix of items of equal length
        items[place] = item
    for place, item in enumerate(items):
        if item is None or (isinstance(item, float) and np.isnan(item)):
            raise DataError(f"{who}: row {place} of X is missing: leave such rows out.")
    return Objects(items)
