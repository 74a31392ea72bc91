"""The dual of kernel machines, solved by sets of variables in pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.kernel.kernel_sums import PlainKernel, point_arguments

Floats = NDArray[np.float64]
ENDINGS: tuple[Literal["tolerance", "steps", "rounding"], ...] = ("tolerance", "steps", "rounding")
LARGE_FROM = 8000  # rows; from here on sets of 1024 variables pay for the product that they need
SINGLE_FROM = 2000  # rows; fewer are searched in float64, which takes no time either


@dataclass(frozen=True, slots=True)
class DualProblem:
    r"""Minimise :math:`\tfrac12 b'Kb + \sum_v p_v(b_v)` with the sum of b in each group kept.

    p has slope ``plus`` above zero and ``minus`` <= plus below; low <= b <= high. row: which row of K each
    variable has, or None: its own number. group: 0 or 1 for each variable; those of different groups do not
    mix, and None is a single group.
    """

    plus: Floats
    minus: Floats
    low: Floats
    high: Floats
    row: NDArray[np.int64] | None = None
    group: NDArray[np.uint8] | None = None


@dataclass(frozen=True, slots=True)
class DualSolution:
    """The variables b, K b, how many pairs were moved, the largest slope of a pair left, and how it ended."""

    beta: Floats
    gradient: Floats
    # The way there differs with the rounding.
    steps: int = field(compare=False)
    violation: float = field(compare=False)
    ended: Literal["tolerance", "steps", "rounding"] = field(compare=False)
    cache_bytes: int = field(default=0, compare=False)
    computed_rows: int = field(default=0, compare=False)


def smo(
    kernel: PlainKernel,
    points: Any,
    problem: DualProblem,
    beta: Floats,
    gradient: Floats,
    *,
    tolerance: float = 1e-3,
    most_steps: int = 10_000_000,
    cache_bytes: int = 200 * 2**20,
    shrinking: bool = True,
    single: bool | None = None,
    working_set: int | None = None,
    _threads: int | None = None,
) -> DualSolution:
    """Solve a dual from ``beta``, at which K beta is ``gradient``; both stay as they are.

    points: rows, dense (centred, best) or CSR, or for "gram" the matrix of kernel values. The cache of
    kernel rows is never above ``cache_bytes``, but for two rows. single: search with float32 rows and check
    in float64; None decides by the number of rows.

    >>> K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> signs, one = np.array([1.0, -1.0]), np.ones(2)
    >>> problem = DualProblem(-signs, -signs, np.minimum(signs, 0), np.maximum(signs, 0))
    >>> smo(PlainKernel("gram"), K, problem, np.zeros(2), np.zeros(2)).beta
    array([ 0.5, -0.5])
    """
    native = compiled()
    if native is None:
        return smo_twin(kernel, points, problem, beta, gradient, tolerance=tolerance, most_steps=most_steps)
    b, f = np.array(beta, dtype=np.float64), np.array(gradient, dtype=np.float64)
    sides = [np.ascontiguousarray(a, dtype=np.float64) for a in (problem.plus, problem.minus, problem.low)]
    steps, _, computed, cached, violation, ended = native.smo(
        kernel.native,
        point_arguments(points),
        problem.row,
        *sides,
        np.ascontiguousarray(problem.high, dtype=np.float64),
        problem.group,
        b,
        f,
        tolerance,
        most_steps,
        cache_bytes,
        shrinking,
        points.shape[0] >= SINGLE_FROM if single is None else single,
        (512 if points.shape[0] < LARGE_FROM else 1024) if working_set is None else working_set,
        threads() if _threads is None else _threads,
    )
    return DualSolution(b, f, steps, violation, ENDINGS[ended], cached, computed)


def smo_twin(
    kernel: PlainKernel,
    points: Any,
    problem: DualProblem,
    beta: Floats,
    gradient: Floats,
    *,
    tolerance: float = 1e-3,
    most_steps: int = 10_000_000,
) -> DualSolution:
    """Do the same on the whole matrix, one pair after the other."""
    K = np.asarray(points if kernel.kind == "gram" else kernel.values(points, points), dtype=np.float64)
    row = np.arange(len(beta)) if problem.row is None else problem.row
    group = np.zeros(len(beta), dtype=np.uint8) if problem.group is None else problem.group
    b, f, diagonal = np.array(beta, dtype=np.float64), np.array(gradient, dtype=np.float64), K.diagonal()
    steps, worst, ended = 0, 0.0, "steps"
    while steps < most_steps:
        up = f[row] + np.where(b >= 0, problem.plus, problem.minus)
        down = f[row] + np.where(b > 0, problem.plus, problem.minus)
        up[b >= problem.high], down[b <= problem.low] = np.inf, -np.inf
        worst, best = 0.0, (0.0, -1, -1)
        for g in np.unique(group):
            mine = np.flatnonzero(group == g)
            i = mine[np.argmin(up[mine])]
            slopes = down[mine] - up[i]
            worst = max(worst, float(slopes.max(initial=0.0)))
            curved = np.maximum(diagonal[row[i]] + diagonal[row[mine]] - 2 * K[row[i], row[mine]], 1e-12)
            gains = np.where(slopes > 0, slopes**2 / curved, 0.0)
            if gains.max(initial=0.0) > best[0]:
                best = (float(gains.max()), int(i), int(mine[np.argmax(gains)]))
        if worst <= tolerance or best[1] < 0:
            ended = "tolerance"
            break
        _, i, j = best
        curved = max(diagonal[row[i]] + diagonal[row[j]] - 2 * K[row[i], row[j]], 1e-12)
        ceiling = min(problem.high[i], 0.0) if b[i] < 0 else problem.high[i]
        floor = max(problem.low[j], 0.0) if b[j] > 0 else problem.low[j]
        t = min((down[j] - up[i]) / curved, ceiling - b[i], b[j] - floor)
        if b[i] + t == b[i] and b[j] - t == b[j]:
            ended = "rounding"
            break
        b[i] = ceiling if t == ceiling - b[i] else b[i] + t
        b[j] = floor if t == b[j] - floor else b[j] - t
        f += t * (K[:, row[i]] - K[:, row[j]])
        steps += 1
    return DualSolution(b, f, steps, worst, ended)  # type: ignore[arg-type]
