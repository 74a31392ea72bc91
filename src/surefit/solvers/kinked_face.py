"""From a point near the answer to the answer itself: the kinks that it sits on are solved for exactly.

Near the optimum every kink has made up its mind: either the residual is zero and the slope is between its
ends, or the slope is at an end. Taking that as given leaves linear equations. Where they leave the
coefficients some freedom, as with a median of an even number of rows, all of it is as good; ``corner`` goes
on to where as many kinks are met as there are coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.solvers.kinked_interior import Interior
from surefit.solvers.kinked_rows import KinkedRows

Array = NDArray[np.float64]

MOST = 5000  # kinks that are met at once, as ties do
CUT = 1e-11  # of the greatest singular value: below it, equations repeat each other
SAME = 1e-9  # relative to what is added up: more, and kinks that cannot all be met were taken for met
ROUNDING = 64 * float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True)
class Face:
    """Coefficients and slopes that fit together, and the flat kinks that are met."""

    w: Array
    u: Array
    met: NDArray[np.intp]


def exact_face(inside: Interior, ready: bool) -> Face | None:
    """Solve for the face that an interior point is close to; None if it is not close enough yet.

    A point that is not ``ready`` has not made up its mind while more kinks than needed seem to be met.
    """
    r, low, high = inside.residuals(), inside.low, inside.high
    width = high - low
    far = np.abs(r) / (float(np.mean(np.abs(r))) or 1.0)
    met = np.flatnonzero(far * width < np.minimum(high - inside.u, inside.u - low))
    if len(met) > (MOST if ready else 2 * len(inside.w) + 20):
        return None
    return solved_face(inside.rows, inside.w, inside.u, r, met)


def solved_face(rows: KinkedRows, w: Array, u: Array, r: Array, met: NDArray[np.intp]) -> Face | None:
    """Move coefficients and slopes as little as makes these kinks met and all slopes balance."""
    at, low, high = rows.flat_kinks()
    size = len(w)
    sides = np.where(r > 0, high, low)
    slopes = sides.copy()
    slopes[met] = u[met]
    A = rows.flat_rows(met)
    units = np.sqrt(np.mean(A * A, axis=0)) if len(met) else np.ones(size)
    units[units == 0] = 1.0
    room = np.sqrt(np.minimum(high[met] - u[met], u[met] - low[met]))
    of_rows, of_coefficients = rows.folded(slopes)
    pull = rows.pulled(of_rows) + of_coefficients + rows.l2 * w
    # The least change of slopes lies in the span of the rows: A' room Q = R' where room A = Q R.
    A, small = A / units, min(len(met), size)
    Q, R = linalg.qr(A * room[:, None], mode="economic", check_finite=False)
    K = np.zeros((len(met) + size, size + small))
    K[: len(met), :size] = A
    K[len(met) :, :size] = np.diag(rows.l2 / units**2)
    K[len(met) :, size:] = R.T
    right = np.concatenate([at[met] - A @ (units * w), -pull / units])
    moved = linalg.lstsq(K, right, cond=CUT, check_finite=False)[0]
    w = w + moved[:size] / units
    slopes[met] += room * (Q @ moved[size:])
    scale = np.abs(A) @ np.abs(units * w) + np.abs(at[met])
    if (np.abs(A @ (units * w) - at[met]) > SAME * scale).any():
        return None
    slack = ROUNDING * (high - low)[met]
    if not ((slopes[met] >= low[met] - slack) & (slopes[met] <= high[met] + slack)).all():
        return None
    slopes[met] = np.clip(slopes[met], low[met], high[met])
    after = rows.flat(rows.scores(w), w) - at
    after[met] = 0.0
    crossed = after * np.sign(r) < 0
    crossed[met] = False
    return None if crossed.any() else Face(w, slopes, met)


def corner(rows: KinkedRows, face: Face) -> Face:
    """Go along the best coefficients to where no direction is free any more; each move meets one kink more.

    Downwards for the intercept, so that the answer does not depend on where the search ended.
    """
    at = rows.flat_kinks()[0]
    w, met = face.w, face.met
    for _ in range(len(w)):
        direction, change = _free_direction(rows, met)
        if direction is None:
            break
        r = rows.flat(rows.scores(w), w) - at
        if direction[-1] > 0:
            direction, change = -direction, -change
        step, hit = _first_kink(r, change)
        if hit is None:
            direction, change = -direction, -change
            step, hit = _first_kink(r, change)
        if hit is None:
            break
        w, met = w + step * direction, np.append(met, hit)
    if len(met) == len(face.met):
        return face
    again = solved_face(rows, w, face.u, rows.flat(rows.scores(w), w) - at, met)
    return face if again is None else again


def _free_direction(rows: KinkedRows, met: NDArray[np.intp]) -> tuple[Array | None, Array]:
    """Return the direction along which rows change most while those that are met do not, and the change."""
    A = rows.flat_rows(met)
    units = np.linalg.norm(A, axis=0)
    units[units == 0] = 1.0
    if len(met):
        _, lengths, axes = np.linalg.svd(A / units, full_matrices=True)
        free = axes[int(np.count_nonzero(lengths > CUT * lengths.max(initial=0.0))) :].T / units[:, None]
    else:
        free = np.eye(len(units))
    if not free.shape[1]:
        return None, np.zeros(0)
    changes = np.column_stack([rows.flat(rows.scores(v), v) for v in free.T])
    _, lengths, axes = np.linalg.svd(changes.T @ changes)
    if not lengths[0] > 0:
        return None, np.zeros(0)
    change = changes @ axes[0]
    change[np.abs(change) <= 1e-10 * np.abs(change).max(initial=0.0)] = 0.0
    change[met] = 0.0
    # What no row but the met ones sees is rounding, and no direction.
    seen = np.abs(change).max(initial=0.0) > 1e-10 * np.abs(free).sum(axis=1) @ _sizes(rows)
    return (free @ axes[0], change) if seen else (None, change)


def _sizes(rows: KinkedRows) -> Array:
    """Return the greatest entry of each column."""
    X = rows.X
    largest = (
        np.asarray(abs(X).max(axis=0).toarray()).ravel() if hasattr(X, "tocsr") else np.abs(X).max(axis=0)
    )
    return np.append(largest, 1.0) if rows.fit_intercept else largest


def _first_kink(r: Array, change: Array) -> tuple[float, int | None]:
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(r * change < 0, -r / change, np.inf)
    hit = int(np.argmin(step))
    return (float(step[hit]), hit) if np.isfinite(step[hit]) else (0.0, None)
