"""k-medoids by swaps: every row is tried as a medoid in place of another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native import compiled


def medoid_swaps(
    turned: Matrix, weight: Vector | None, medoids: NDArray[np.int64], limit: int
) -> tuple[int, int]:
    """Swap medoids, in place, until no swap lowers the loss; return how many swaps and rounds were made.

    ``turned[j, i]`` is the distance of row i to row j as its medoid.

    >>> medoids = np.array([0, 1])
    >>> medoid_swaps(np.abs(np.subtract.outer([0.0, 1.0, 9.0], [0.0, 1.0, 9.0])), None, medoids, 10)
    (1, 2)
    >>> medoids.tolist()
    [2, 1]
    """
    native = compiled()
    if native is None:
        return medoid_swaps_twin(turned, weight, medoids, limit)
    found: tuple[int, int] = native.medoid_swaps(turned, weight, medoids, limit)
    return found


def medoid_swaps_twin(
    turned: Matrix, weight: Vector | None, medoids: NDArray[np.int64], limit: int
) -> tuple[int, int]:
    """Do the same by computing each loss anew."""
    s = np.ones(len(turned)) if weight is None else weight
    swaps = since = rounds = 0
    loss = turned[medoids].min(axis=0) @ s
    while rounds < limit and since < len(turned):
        rounds += 1
        for c in range(len(turned)):
            if since >= len(turned):
                break
            since += 1
            if c in medoids or s[c] == 0:
                continue
            tried = [turned[[*np.delete(medoids, m), c]].min(axis=0) @ s for m in range(len(medoids))]
            best = int(np.argmin(tried))
            if tried[best] < loss - 1e-12 * loss:
                medoids[best], loss, since = c, tried[best], 0
                swaps += 1
    return swaps, rounds
