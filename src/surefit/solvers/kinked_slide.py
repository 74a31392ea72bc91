r"""From a face along which the objective still falls to the next kink, as often as it takes.

Where columns add up to a constant, the intercept takes a common change of their coefficients back, and only
an absolute penalty tells such answers apart. In large units that is less than an interior point can see, and
yet its pull is more than rounding: no slopes of the rows balance it. Nothing that is met stops a move along
it, so the objective is a line from kink to kink there, and is followed to where it turns up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.solvers.kinked_face import CUT, Face, solved_face
from surefit.solvers.kinked_rows import KinkedRows

Array = NDArray[np.float64]

STILL = 1e-10  # of the longest change of a residual: a kink that moves by less is not on the way
ROUNDING = 16 * float(np.finfo(float).eps)  # relative to the lengths that go into a product


def slid(rows: KinkedRows, face: Face) -> Face | None:
    """Return the face that nothing pulls away from; None where no such face is found.

    Rows without squares, their ties among them: these bend, and an interior point sees that.
    """
    at, low, high = rows.flat_kinks()
    width = high - low
    for _ in range(len(face.w) + 1):
        way = _way_down(rows, face)
        if way is None:
            return face
        r = rows.flat(rows.scores(face.w), face.w) - at
        r[face.met] = 0.0
        moved = rows.flat(rows.scores(way), way)
        moved[face.met] = 0.0
        passed = np.flatnonzero((r * moved < 0) & (np.abs(moved) > STILL * np.abs(moved).max()))
        until = -r[passed] / moved[passed]
        passed, until = passed[np.argsort(until)], np.sort(until)
        # Each kink that is passed takes its change of slope away from the fall; the one that takes the rest
        # is where the objective is least.
        rise = np.cumsum(width[passed] * np.abs(moved[passed]))
        last = int(np.searchsorted(rise, _fall(rows, face, way)))
        if last == len(passed):
            return None
        r += until[last] * moved
        r[passed[:last]] = -np.abs(r[passed[:last]]) * np.sign(-moved[passed[:last]])
        met = np.sort(np.append(face.met, passed[last]))
        u = face.u.copy()
        u[passed[:last]] = np.where(moved[passed[:last]] > 0, high[passed[:last]], low[passed[:last]])
        u[passed[last]] = 0.5 * (low + high)[passed[last]]
        next_face = solved_face(rows, face.w + until[last] * way, u, r, met)
        if next_face is None:
            return None
        face = next_face
    return face


def _pull(rows: KinkedRows, face: Face) -> Array:
    of_rows, of_coefficients = rows.folded(face.u)
    return np.asarray(rows.pulled(of_rows) + of_coefficients)


def _fall(rows: KinkedRows, face: Face, way: Array) -> float:
    """Return how fast the objective falls at the start of a way."""
    return -float(_pull(rows, face) @ way)


def _way_down(rows: KinkedRows, face: Face) -> Array | None:
    """Return the steepest way that keeps what is met; None where only rounding pulls along it."""
    A, pull = rows.flat_rows(face.met), _pull(rows, face)
    of_rows, of_coefficients = rows.folded(face.u)
    energy, squares = float(np.linalg.norm(of_rows)), rows.squared()
    noise = ROUNDING * (np.sqrt(squares) * energy + np.abs(of_coefficients))
    units = np.sqrt(np.where(squares > 0, squares, 1.0))
    triangle = linalg.qr(A / units, mode="r", check_finite=False)[0][: A.shape[1]]
    _, lengths, axes = linalg.svd(triangle, check_finite=False)
    rank = int(np.count_nonzero(lengths > CUT * lengths.max(initial=0.0)))
    free = axes[rank:]
    along = free @ (pull / units)
    if not (np.abs(along) > np.abs(free) @ (noise / units)).any():
        return None
    return np.asarray(-(free.T @ along) / units)
