r"""Rows with kinks and no squares as a linear programme, through HiGHS's simplex.

.. math:: \min \sum high \cdot p - low \cdot m, \qquad Xw - p + m = at, \quad p, m \ge 0

Its answer is a vertex, and the prices of its equations are the slopes that prove it. HiGHS calls a vertex
best that is so to its tolerances; the equations of the kinks that it meets have the other digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.solvers.kinked_face import solved_face
from surefit.solvers.kinked_rows import KinkedRows

Array = NDArray[np.float64]

# A vertex takes about as many steps as there are kinks; nearly dependent columns may take no end of them.
STEPS = 10
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def vertex(rows: KinkedRows) -> tuple[Array, Array] | None:
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


def _units(rows: KinkedRows) -> Array:
    """Return the powers of 2 next to the sizes of columns: HiGHS's tolerances are absolute."""
    sizes = np.sqrt(rows.squared() / rows.rows)
    return np.asarray(np.exp2(np.round(np.log2(np.where((sizes > 0) & np.isfinite(sizes), sizes, 1.0)))))
