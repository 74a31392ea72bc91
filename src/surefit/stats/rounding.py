r"""How far sums may be from the truth: the bounds that :class:`~surefit.stats.moments.Moments` carries.

All are worst cases, in units of u = 2^-53. Two vectors say what is known: ``doubt`` a, one entry a column,
with :math:`|\Delta M_{ij}| \le \sqrt{a_i a_j}`, and ``drift``, the error of each mean. Doubts of parts add
up, because :math:`\sum_b \sqrt{a_{bi} a_{bj}} \le \sqrt{\sum_b a_{bi} \sum_b a_{bj}}`.
"""

from __future__ import annotations

import math

import numpy as np

from surefit.core.arrays import Vector
from surefit.stats.double_double import UNIT

STRIP = 128  # rows that the kernel centres on a mean of their own


def of_block(rows: int, sparse: bool, weight: Vector | None) -> float:
    """Return the relative error that the kernel may leave in the scatter of a block of rows.

    Adding n products in any order: n. Centring a strip of m rows by way of its first row, which may be the
    one row that lies far out: 2 m (1 + sqrt(m r)), with r the ratio of the greatest weight to the least. The
    mean that runs over T strips: 7 T^1.5 sqrt(r). Sparse columns are centred after the fact, which can cost
    two bits. Chunks of t strips about one centre, of 4096 rows or more, cost 14 (m + t + 3) instead, since at
    most four times what is left cancels: that is below the n of adding up, whose sums are far shorter there.
    """
    if rows == 0:
        return 0.0
    ratio = 1.0
    if weight is not None:
        counted = weight[weight > 0]
        ratio = float(counted.max() / counted.min()) if len(counted) else 1.0
    strip, strips = min(rows, STRIP), math.ceil(rows / STRIP)
    centring = 2 * strip * (1 + math.sqrt(strip * ratio)) + 7 * strips**1.5 * math.sqrt(ratio)
    return float(UNIT * ((4 if sparse else 1) * rows + centring))


def of_between(coupling: float, gap: Vector, drift: Vector, scatter: Vector) -> Vector:
    r"""Return the doubt in the scatter between two parts, :math:`\kappa g g'`, when g is off by ``drift`` e.

    :math:`|g_i e_j + e_i g_j| \le \sqrt{(t g_i^2 + e_i^2/t)(t g_j^2 + e_j^2/t)}` for any t > 0; the t taken
    makes the two parts equal where they weigh most.
    """
    between, blur = coupling * gap * gap, coupling * drift * drift
    balance = math.sqrt(share(blur, scatter) / max(share(between, scatter), np.finfo(float).tiny))
    if not 0 < balance < math.inf:
        return 4 * UNIT * between + blur
    return between * (balance + 4 * UNIT) + blur * (1 + 1 / balance)


def share(part: Vector, whole: Vector) -> float:
    """Return the greatest ratio of part to whole over the columns; 0/0 is 0."""
    counted = part > 0
    with np.errstate(divide="ignore", over="ignore"):
        return float((part[counted] / np.maximum(whole[counted], 0.0)).max(initial=0.0))
