r"""The leading principal axes of a scatter that is never formed, from products with it alone.

A block Krylov method from a random start: the space spanned by the start, its image, the image of that, and
so on, in which the best axes are found by a small eigenproblem (Rayleigh-Ritz). What is left of
:math:`Mv = \lambda v` is computed as it stands, so the error is stated and not estimated: there is an
eigenvalue of M within :math:`\|Mv - \lambda v\|` of each :math:`\lambda` found. When the space has grown too
large for memory, the best of it is kept and the method goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix
from surefit.core.trace import Trace
from surefit.solvers.linalg.principal_axes import EPS, PrincipalAxes, signed

MOST = 160  # columns to which the space may grow, or four times the first block


def leading_axes(
    product: Callable[[Matrix], Matrix],
    start: Matrix,
    count: int,
    total: float,
    *,
    tolerance: float,
    limit: int,
    trace: Trace,
) -> tuple[PrincipalAxes, float]:
    """Return the first ``count`` axes, and the largest residual relative to the largest eigenvalue.

    ``product`` multiplies a block (p, b) by M, whose trace is ``total``; ``start`` is a random block of more
    than ``count`` columns. Each iteration is one product. It ends at ``tolerance``, after ``limit``
    iterations, or when a callback asks.
    """
    most = max(4 * start.shape[1], MOST)
    space = _beside(np.empty((len(start), 0)), start)
    image = product(space)
    for _ in trace.iterations(limit):
        values, mix = linalg.eigh(_symmetric(space.T @ image), check_finite=False)
        values, mix = values[::-1], mix[:, ::-1]
        axes, scatter = space @ mix[:, :count], values[:count]
        residual = image @ mix[:, :count] - axes * scatter
        lengths = np.linalg.norm(residual, axis=0)
        largest = float(scatter.max(initial=0.0))
        worst = float(lengths.max(initial=0.0)) / largest if largest > 0 else 0.0
        trace.record(objective=float(total - scatter.sum()), gap=worst)
        if worst <= tolerance:
            break
        fresh = residual[:, lengths > tolerance * largest]
        if space.shape[1] + fresh.shape[1] > most:
            best = mix[:, : start.shape[1]]
            space, image = space @ best, image @ best
        fresh = _beside(space, fresh)
        if fresh.shape[1] == 0:  # the space holds its own image: nothing is left to be found in it
            break
        space, image = np.hstack([space, fresh]), np.hstack([image, product(fresh)])
    kept = scatter > 8 * len(start) * EPS * largest
    found = PrincipalAxes(scatter[kept], signed(np.ascontiguousarray(axes[:, kept].T)), total, "block Krylov")
    return found, worst


def _symmetric(small: Matrix) -> Matrix:
    return 0.5 * (small + small.T)


def _beside(space: Matrix, block: Matrix) -> Matrix:
    """An orthonormal basis of what a block adds to a space."""
    lengths = np.linalg.norm(block, axis=0)
    block = block[:, lengths > 0] / lengths[lengths > 0]
    for _ in range(2):  # twice, since the first step leaves what rounding put back
        block = block - space @ (space.T @ block)
        block, R, _ = linalg.qr(block, mode="economic", pivoting=True, check_finite=False)
        block = block[:, np.abs(np.diagonal(R)) > 1e-10]
    return block
