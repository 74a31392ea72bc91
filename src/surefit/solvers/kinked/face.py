r"""From a point near the answer to the answer itself: the kinks that it sits on are solved for exactly.

Near the optimum the state of every kink is settled: either the residual is zero and the slope is between its
ends, or the slope is at an end. Taking that as given leaves linear equations.

From a face along which the objective still falls to the next kink, as often as it takes.

Where columns add up to a constant, the intercept takes a common change of their coefficients back, and only
an absolute penalty tells such answers apart. In large units that is less than an interior point can see, and
yet its pull is more than rounding: no slopes of the rows balance it. Nothing that is met stops a move along
it, so the objective is a line from kink to kink there, and is followed to where it turns up.

Rows with kinks and no squares as a linear programme, through HiGHS's simplex.

.. math:: \min \sum high \cdot p - low \cdot m, \qquad Xw - p + m = at, \quad p, m \ge 0

Its answer is a vertex, and the prices of its equations are the slopes that prove it. HiGHS calls a vertex
best that is so to its tolerances; the equations of the kinks that it meets have the other digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from surefit.core.arrays import Vector
from surefit.solvers.kinked.interior import Interior
from surefit.solvers.kinked.rows import KinkedRows

MOST = 5000  # kinks that are met at once, as ties do
CUT = 1e-11  # of the greatest singular value: below it, equations repeat each other
SAME = 1e-9  # relative to what is added up: more, and kinks that cannot all be met were taken for met
ROUNDING = 64 * float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True)
class Face:
    """Coefficients and slopes that fit together, and the flat kinks that are met."""

    w: Vector
    u: Vector
    met: NDArray[np.intp]


def exact_face(inside: Interior, ready: bool) -> Face | None:
    """Solve for the face that an interior point is close to; None if it is not close enough yet.

    A point that is not ``ready`` has not settled while more kinks than needed seem to be met.
    """
    r, low, high = inside.residuals(), inside.low, inside.high
    width = high - low
    far = np.abs(r) / (float(np.mean(np.abs(r))) or 1.0)
    met = np.flatnonzero(far * width < np.minimum(high - inside.u, inside.u - low))
    if len(met) > (MOST if ready else 2 * len(inside.w) + 20):
        return None
    return solved_face(inside.rows, inside.w, inside.u, r, met)


def solved_face(rows: KinkedRows, w: Vector, u: Vector, r: Vector, met: NDArray[np.intp]) -> Face | None:
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


STILL = 1e-10  # of the longest change of a residual: a kink that moves by less is not on the way
LENGTH_ROUNDING = 16 * float(np.finfo(float).eps)  # relative to the lengths that go into a product


def optimal_face(rows: KinkedRows, face: Face) -> Face | None:
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


def _pull(rows: KinkedRows, face: Face) -> Vector:
    of_rows, of_coefficients = rows.folded(face.u)
    return np.asarray(rows.pulled(of_rows) + of_coefficients)


def _fall(rows: KinkedRows, face: Face, way: Vector) -> float:
    """Return how fast the objective falls at the start of a way."""
    return -float(_pull(rows, face) @ way)


def _way_down(rows: KinkedRows, face: Face) -> Vector | None:
    """Return the steepest way that keeps what is met; None where only rounding pulls along it."""
    A, pull = rows.flat_rows(face.met), _pull(rows, face)
    of_rows, of_coefficients = rows.folded(face.u)
    energy, squares = float(np.linalg.norm(of_rows)), rows.squared()
    noise = LENGTH_ROUNDING * (np.sqrt(squares) * energy + np.abs(of_coefficients))
    units = np.sqrt(np.where(squares > 0, squares, 1.0))
    triangle = linalg.qr(A / units, mode="r", check_finite=False)[0][: A.shape[1]]
    _, lengths, axes = linalg.svd(triangle, check_finite=False)
    rank = int(np.count_nonzero(lengths > CUT * lengths.max(initial=0.0)))
    free = axes[rank:]
    along = free @ (pull / units)
    if not (np.abs(along) > np.abs(free) @ (noise / units)).any():
        return None
    return np.asarray(-(free.T @ along) / units)


# A vertex takes about as many steps as there are kinks; nearly dependent columns may take no end of them.
STEPS = 10
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def vertex(rows: KinkedRows) -> tuple[Vector, Vector] | None:
    """Return the coefficients of a best vertex and its flat slopes; None where HiGHS finds none."""
    from scipy.optimize import linprog

    at, low, high = rows.flat_kinks()
    (kinks, _), size, count = rows.at.shape, len(rows.l1), len(at)
    X: Any = sparse.csr_array(rows.X)
    if rows.fit_intercept:
        X = sparse.hstack([X, np.ones((rows.rows, 1))], format="csr")
    ones = sparse.csr_array(sparse.eye_array(size, format="csr")[rows.kinked])
    A: Any = sparse.vstack([*[X] * kinks, ones], format="csr")
    units = _units(rows)
    unit = sparse.eye_array(count, format="csr")
    free = [(None, None)] * size + [(0, None)] * (2 * count)
    found = linprog(
        np.concatenate([np.zeros(size), high, -low]),
        A_eq=sparse.hstack([A @ sparse.diags_array(1.0 / units), -unit, unit], format="csr"),
        b_eq=at,
        bounds=free,
        method="highs-ds",
        options={**EXACT, "maxiter": STEPS * (count + size)},
    )
    if found.status != 0:
        return None
    w, parts = found.x[:size] / units, found.x[size:]
    u = np.clip(-np.asarray(found.eqlin.marginals), low, high)
    r = parts[:count] - parts[count:]
    face = solved_face(rows, w, u, r, np.flatnonzero(r == 0))
    return (np.asarray(w), u) if face is None else (face.w, face.u)


def _units(rows: KinkedRows) -> Vector:
    """Return the powers of 2 next to the sizes of columns: HiGHS's tolerances are absolute."""
    sizes = np.sqrt(rows.squared() / rows.rows)
    return np.asarray(np.exp2(np.round(np.log2(np.where((sizes > 0) & np.isfinite(sizes), sizes, 1.0)))))
