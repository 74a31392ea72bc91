r"""The pull that is left on directions that no penalty holds back, in the direction where it counts most.

Slopes u that pull by :math:`r = Z'u` on free directions Z bound the minimum only up to :math:`r'\beta`, and
nothing holds :math:`\beta` back. What has no unit, and no preferred basis, is the greatest cosine of the
slopes with anything in the span of Z,

.. math:: \max_d \frac{|d'r|}{|Zd|\,|u|} = \frac{\sqrt{r'(Z'Z)^{-1} r}}{|u|} .

The cosine with each column of Z alone hides a direction in which columns nearly cancel: a difference that is
a millionth of its columns has a millionth of their pull, and as much to gain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.solvers.objective import Objective
from surefit.stats.duality import Slopes

Array = NDArray[np.float64]

UNIT = float(np.finfo(float).eps)
ROUNDING = 16 * UNIT  # relative to the lengths that go into a product
KNOWN = 1e-8  # of squares of columns of length 1: half of the digits of such a direction's are true


def greatest_cosine(objective: Objective, free: Array, pull: Array, at: Slopes) -> float:
    """Return the greatest cosine of slopes with a free direction, where ``pull`` is what they leave.

    free: (p, f), directions of the coefficients. pull: (q,) or (q, K), on the coefficients and the intercept.
    """
    p, energy = objective.columns, np.sqrt(at.energy)
    pulls = pull.reshape(len(pull), -1)
    along, level = free.T @ pulls[:p], pulls[p:]  # no row of level, or one
    sizes = np.sqrt(at.free_squares[: len(along)])
    alone = max(_cosine(along, sizes * energy), _cosine(level, np.sqrt(at.squares[p:]) * energy))
    if len(along) < 2 or not ROUNDING < alone < np.inf:
        return alone
    moments = objective.moments
    square, mean = free.T @ moments.gram @ free, free.T @ moments.mean_x
    along, level = along / energy, level / energy
    if len(level):  # centred columns and the intercept have nothing in common
        along = along - mean[:, None] * level
    else:
        square = square + moments.weight * np.outer(mean, mean)
    parts, plain = _in_the_span(square, along, sizes)
    level = level / np.sqrt(moments.weight)
    if not objective.loss.smooth:
        return max(alone, _length(np.vstack([parts, level])))
    # A smooth loss gains the square of what is left, half of it at most, and the gap is in that unit. Where
    # columns nearly cancel the cosine is no more than a lower bound, and stands for itself.
    return max(alone, _length(parts[~plain]), _length(np.vstack([parts[plain], level])) ** 2)


def _in_the_span(square: Array, along: Array, sizes: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return pulls as parts along orthonormal directions, where the products of the given are ``square``.

    sizes: lengths before centring, which is what rounding is relative to. The second answer tells which
    directions are long enough to be known.
    """
    lengths = np.sqrt(np.maximum(np.diagonal(square), 0.0))
    vary = lengths > ROUNDING * sizes
    if not vary.any():
        return along[vary], vary[vary]
    lengths, sizes = lengths[vary], sizes[vary]
    values, axes = linalg.eigh(square[np.ix_(vary, vary)] / lengths[:, None] / lengths, check_finite=False)
    parts = axes.T @ (along[vary] / lengths[:, None])
    # Columns that cancel altogether carry no pull but rounding, whatever the slopes; a pull beyond it shows
    # that they do not. How small the direction is, below what its square resolves, is then not known.
    noise = ROUNDING * (np.abs(axes.T) @ (sizes / lengths))
    parts = np.where(np.abs(parts) > noise[:, None], parts, 0.0)
    least = 8 * len(values) * UNIT
    return parts / np.sqrt(np.maximum(values, least))[:, None], values > KNOWN


def _length(parts: Array) -> float:
    return float(np.sqrt((parts**2).sum(axis=0)).max())


def _cosine(pulls: Array, sizes: Array) -> float:
    worst = np.abs(pulls).max(axis=1, initial=0.0)
    return float(np.max(worst[sizes > 0] / sizes[sizes > 0], initial=0.0))
