"""The columns that stand in for others where values are missing, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector


@dataclass(frozen=True, slots=True, eq=False)
class Surrogates:
    """Surrogate splits one after the other, by node, the best of each first; 25 bytes each.

    node: whose split they stand in for. column, threshold, turned, agreement: as ``Way`` has them; of levels,
    the threshold says where their bits begin.
    """

    node: NDArray[np.int32]
    column: NDArray[np.int32]
    threshold: Vector
    turned: NDArray[np.uint8]
    agreement: Vector

    @classmethod
    def none(cls) -> Surrogates:
        """Those of a tree without any.

        >>> len(Surrogates.none().node)
        0
        """
        empty = np.empty(0, dtype=np.int32)
        return cls(empty, empty, np.empty(0), empty.astype(np.uint8), np.empty(0))

    @classmethod
    def of_table(
        cls, column: NDArray[np.int32], threshold: Vector, turned: NDArray[np.uint8], agreement: Vector
    ) -> Surrogates:
        """The same of tables with one row a node, whose column is -1 where there are no more.

        >>> zero = np.zeros((2, 1))
        >>> Surrogates.of_table(np.array([[-1], [4]]), zero, zero, zero).node
        array([1], dtype=int32)
        """
        node, place = np.nonzero(column >= 0)
        found: list[Any] = [own[node, place] for own in (column, threshold, turned, agreement)]
        return cls(node.astype(np.int32), *found)
