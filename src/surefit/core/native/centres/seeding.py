"""What k-means++ needs of each candidate: by how much it would lower the potential."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled

BLOCK = 1024  # rows that are summed by themselves
TOGETHER = 8  # candidates of a call
_FEW = 20_000  # cells, below which asking what the process may use takes longer than the work


def _count(X: NDArray[Any], given: int | None) -> int:
    return (1 if X.size < _FEW else threads()) if given is None else given


def seeding_potentials(
    X: NDArray[Any],
    weight: Vector | None,
    origin: Vector,
    scale: float,
    candidates: Matrix,
    closest: NDArray[np.float32],
    *,
    _threads: int | None = None,
) -> Vector:
    r"""Return :math:`\sum_i s_i \min(d_i, \|\alpha (x_i - c)\|^2)` for each candidate c and scale
    :math:`\alpha`.

    >>> X, closest = np.array([[0.0], [2.0]]), np.array([0.0, 4.0], np.float32)
    >>> seeding_potentials(X, None, np.zeros(1), 1.0, np.array([[3.0], [9.0]]), closest)
    array([1., 4.])
    """
    native = compiled()
    if native is None:
        return seeding_potentials_twin(X, weight, origin, scale, candidates, closest)
    out = np.empty(len(candidates))
    for start in range(0, len(candidates), TOGETHER):
        some = slice(start, start + TOGETHER)
        native.seeding_potentials(
            X, weight, origin, scale, candidates[some], closest, out[some], _count(X, _threads)
        )
    return out


def seeding_potentials_twin(
    X: NDArray[Any],
    weight: Vector | None,
    origin: Vector,
    scale: float,
    candidates: Matrix,
    closest: NDArray[np.float32],
) -> Vector:
    """Do the same one candidate after the other."""
    s = np.ones(len(X)) if weight is None else weight
    found = [s @ np.minimum(closest, _squares(X, origin, scale, c)).astype(np.float64) for c in candidates]
    return np.array(found)


def _squares(X: NDArray[Any], origin: Vector, scale: float, centre: Vector) -> NDArray[np.float32]:
    sums = np.zeros(len(X), dtype=np.float32)
    for j in range(X.shape[1]):  # in the order of the kernel, so that single precision rounds alike
        rows = ((X[:, j] - origin[j]) * scale).astype(np.float32)
        sums += np.square(rows - np.float32((centre[j] - origin[j]) * scale))
    return sums


def seeding_accept(
    X: NDArray[Any],
    weight: Vector | None,
    origin: Vector,
    scale: float,
    centre: Vector,
    closest: NDArray[np.float32],
    *,
    _threads: int | None = None,
) -> Vector:
    """Lower ``closest`` to the distance to a centre where that is nearer; return its weighted sums over
    blocks.

    >>> closest = np.array([0.0, 4.0], np.float32)
    >>> seeding_accept(np.array([[0.0], [2.0]]), None, np.zeros(1), 1.0, np.array([3.0]), closest), closest
    (array([1.]), array([0., 1.], dtype=float32))
    """
    native = compiled()
    if native is None:
        return seeding_accept_twin(X, weight, origin, scale, centre, closest)
    totals = np.empty(-(-len(X) // BLOCK))
    native.seeding_accept(
        X, weight, origin, scale, np.ascontiguousarray(centre)[None], closest, totals, _count(X, _threads)
    )
    return totals


def seeding_accept_twin(
    X: NDArray[Any],
    weight: Vector | None,
    origin: Vector,
    scale: float,
    centre: Vector,
    closest: NDArray[np.float32],
) -> Vector:
    """Do the same for all rows at once."""
    np.minimum(closest, _squares(X, origin, scale, centre), out=closest)
    counted = closest.astype(np.float64) * (1.0 if weight is None else weight)
    return np.add.reduceat(counted, np.arange(0, len(X), BLOCK)) if len(X) else np.empty(0)
