r"""The linear system of one interior-point step, factorised once and solved with refinement.

.. math:: \begin{pmatrix} Q + D + G'WG & A' \\ A & 0 \end{pmatrix}

A little is added to the diagonal, up above and down below, so that rows that repeat each other and directions
without curvature do no harm; refinement against the system without it takes its effect away.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg, sparse

from surefit.core.arrays import Vector
from surefit.solvers.program.data import DenseOrSparse

# The square root of a rounding: what is added costs half the digits, and refinement brings them back.
REGULAR = 1e-9
REFINEMENTS = 6
ENOUGH = 1e-9  # relative: a step of nine digits keeps the rounds quick


class System:
    """Factorise for weights D of the bounds and W of the rows of G."""

    def __init__(
        self, Q: DenseOrSparse, G: DenseOrSparse, A: DenseOrSparse, bounds: Vector, weights: Vector
    ) -> None:
        self.Q, self.G, self.A, self.bounds, self.weights = Q, G, A, bounds, weights
        self._inverse = self._sparse(0.0) if sparse.issparse(Q) else self._dense()
        self._pivoted = not sparse.issparse(Q)

    def solve(self, first: Vector, second: Vector) -> tuple[Vector, Vector]:
        """Return (dx, dν) for both right-hand sides."""
        right = np.concatenate([first, second])
        found, error = self._refined(right)
        if error > ENOUGH and not self._pivoted:  # rare, and several times slower
            self._inverse, self._pivoted = self._sparse(1.0), True
            found, _ = self._refined(right)
        return found[: len(first)], found[len(first) :]

    def _refined(self, right: Vector) -> tuple[Vector, float]:
        """Return a solution and what it leaves, relative to the right-hand side."""
        size = float(np.abs(right).max()) or 1.0
        found = self._inverse(right)
        error = right - self._apply(found)
        least = float(np.abs(error).max())
        for _ in range(REFINEMENTS):
            if not least > 1e-15 * size:
                break
            better = found + self._inverse(error)
            left = right - self._apply(better)
            if not np.abs(left).max() < least:
                break
            found, error, least = better, left, float(np.abs(left).max())
        return found, least / size if np.isfinite(least) else np.inf

    def _apply(self, both: Vector) -> Vector:
        x, nu = np.split(both, [self.Q.shape[0]])
        top = self.Q @ x + self.bounds * x + self.G.T @ (self.weights * (self.G @ x)) + self.A.T @ nu
        return np.concatenate([top, self.A @ x])

    def _dense(self) -> Callable[[Vector], Vector]:
        n, m = self.Q.shape[0], self.A.shape[0]
        matrix = np.zeros((n + m, n + m), order="F")
        matrix[:n, :n] = self.Q + self.G.T @ (self.weights[:, None] * self.G)
        matrix[range(n), range(n)] += self.bounds + REGULAR
        matrix[n:, :n] = self.A
        matrix[range(n, n + m), range(n, n + m)] = -REGULAR
        factor, pivots, _ = linalg.lapack.dsytrf(matrix, lower=1, overwrite_a=1)

        def inverse(right: Vector) -> Vector:
            found: Vector = linalg.lapack.dsytrs(factor, pivots, right, lower=1)[0]
            return found

        return inverse

    def _sparse(self, pivoting: float) -> Callable[[Vector], Vector]:
        n, g, m = self.Q.shape[0], self.G.shape[0], self.A.shape[0]
        top = self.Q + sparse.diags(self.bounds + REGULAR)
        middle = sparse.diags(-1.0 / self.weights) if g else None
        bottom = -REGULAR * sparse.eye(m) if m else None
        blocks = [
            [top, self.G.T if g else None, self.A.T if m else None],
            [self.G, middle, None],
            [self.A, None, bottom],
        ]
        used = [True, g > 0, m > 0]
        chosen = [[block for block, keep in zip(row, used, strict=True) if keep] for row in blocks]
        matrix = sparse.bmat([row for row, keep in zip(chosen, used, strict=True) if keep], format="csc")
        # With both signs on its diagonal, the matrix has a factor without any pivot off it, in whatever
        # order, if not always an exact one.
        options = {"SymmetricMode": pivoting == 0}
        order = "MMD_AT_PLUS_A" if pivoting == 0 else "COLAMD"
        factor = sparse.linalg.splu(matrix, permc_spec=order, diag_pivot_thresh=pivoting, options=options)

        def inverse(right: Vector) -> Vector:
            found = factor.solve(np.concatenate([right[:n], np.zeros(g), right[n:]]))
            return np.concatenate([found[:n], found[n + g :]])

        return inverse
