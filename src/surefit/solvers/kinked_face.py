"""From a point near the answer to the answer itself: the kinks that it sits on are solved for exactly.

Near the optimum every kink has made up its mind: either the residual is zero and the slope is between its
ends, or the slope is at an end. Taking that as given leaves linear equations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    pull = rows.pulled(of_rows) + of_coefficients + rows.squares * w
    # The least change of slopes lies in the span of the rows: A' room Q = R' where room A = Q R.
    A, small = A / units, min(len(met), size)
    Q, R = linalg.qr(A * room[:, None], mode="economic", check_finite=False)
    K = np.zeros((len(met) + size, size + small))
    K[: len(met), :size] = A
    K[len(met) :, :size] = np.diag(rows.squares / units**2)
    K[len(met) :, size:] = R.T
    right = np.concatenate([at[met] - A @ (units * w), -pull / units])
    if not (np.isfinite(K).all() and np.isfinite(right).all()):
        return None  # squares of some column leave the range of floats
    moved = linalg.lstsq(K, right, cond=CUT, check_finite=False)[0]
    w = w + moved[:size] / units
    of_rows_alone = rows.at.size
    w[rows.kinked[met[met >= of_rows_alone] - of_rows_alone]] = 0.0
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


def without_tie(rows: KinkedRows, face: Face) -> Face | None:
    """Return the same face as one of the rows alone, without the squares that chose it among equals."""
    plain = replace(rows, tie=np.zeros_like(rows.tie))
    r = rows.flat(rows.scores(face.w), face.w) - rows.flat_kinks()[0]
    return solved_face(plain, face.w, face.u, r, face.met)
