r"""A primal-dual interior point for rows with kinks: one weighted square of the rows an iteration.

Each residual is split into its positive and its negative part, :math:`r = p - m`, and its slope u keeps the
distances :math:`a = high - u` and :math:`b = u - low` from both ends. Newton's method on

.. math:: p a = \mu, \quad m b = \mu, \quad X'u + l_2 w = 0

needs :math:`X' \Theta X` with :math:`\Theta = 1 / (p/a + m/b)`; a predictor says how much smaller
:math:`\mu` can become, and a corrector takes the predictor's curvature in.
"""

from __future__ import annotations

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.solvers.kinked.rows import KinkedRows
from surefit.solvers.newton.quadratic_model import Factor

SHORT_OF_THE_EDGE = 0.9995  # of the longest step that keeps all signs
REFINEMENTS = 2
STUCK = 1e-7  # a step as short as this gets nowhere: rounding has the last word
LEAST_DAMPING = 4e-13  # relative to the diagonal: less would not be seen beside its rounding


class Interior:
    """A point strictly between all kinks' ends, as it moves; ``step`` takes one iteration."""

    def __init__(self, rows: KinkedRows, w: Vector) -> None:
        self.rows = rows
        self.w = w.copy()
        self.z = rows.scores(w)
        self.at, self.low, self.high = rows.flat_kinks()
        self.least = 1e-25 * (self.high - self.low)  # a slope that rounding took to its end stays inside
        straddles = (self.low < 0) & (self.high > 0)
        self.u = np.where(straddles, 0.0, 0.5 * (self.low + self.high))
        r = self.residuals()
        apart = float(np.mean(np.abs(r))) or 1.0
        self.p, self.m = np.maximum(r, 0.0) + apart, np.maximum(-r, 0.0) + apart
        self.pull = self._pull()
        self.share = 0.0

    def residuals(self) -> Vector:
        """Return the residual of each kink."""
        return self.rows.flat(self.z, self.w) - self.at

    @property
    def value(self) -> float:
        """The objective."""
        return self.rows.value(self.z, self.w)

    @property
    def slack(self) -> float:
        """What the products of distances add up to: the duality gap, once nothing pulls."""
        return float(self.p @ (self.high - self.u) + self.m @ (self.u - self.low))

    def _pull(self) -> Vector:
        of_rows, of_coefficients = self.rows.folded(self.u)
        return self.rows.pulled(of_rows) + of_coefficients + self.rows.squares * self.w

    def step(self) -> bool:
        """Take one iteration; False where rounding allows no step."""
        rows, p, m = self.rows, self.p, self.m
        a, b = (np.maximum(room, self.least) for room in (self.high - self.u, self.u - self.low))
        theta = 1.0 / (p / a + m / b)
        mu = float(p @ a + m @ b) / (2 * len(p))
        # What is off between residuals and their parts is rounding; the next step takes it out.
        off = self.residuals() - p + m
        one, two = -p * a, -m * b
        rho = off - one / a + two / b
        of_rows, of_coefficients = rows.folded(theta)
        first, second = rows.folded(theta * rho)
        square, cross = rows.gram(of_rows, first)
        square.flat[:: len(square) + 1] += of_coefficients + rows.squares
        factor = self._factor(square)
        if factor is None:
            return False
        right = -self.pull - cross - second
        dw, dz, du = self._direction(factor, square, right, theta, rho)
        dp, dm = (one + p * du) / a, (two - m * du) / b
        ahead, up = self._reach(dp, dm, du)
        if self._bent:
            ahead = up = min(ahead, up)
        after = (p + ahead * dp) @ (a - up * du) + (m + ahead * dm) @ (b + up * du)
        left = float(after) / (2 * len(p) * mu)
        centring = min(1.0, max(left, 0.0)) ** 3 * mu
        one += centring + dp * du
        two += centring - dm * du
        rho = off - one / a + two / b
        first, second = rows.folded(theta * rho)
        right = -self.pull - rows.pulled(first) - second
        dw, dz, du = self._direction(factor, square, right, theta, rho)
        dp, dm = (one + p * du) / a, (two - m * du) / b
        ahead, up = (min(1.0, SHORT_OF_THE_EDGE * far) for far in self._reach(dp, dm, du, 2.0))
        if self._bent:
            ahead = up = min(ahead, up)
        if not (np.isfinite(dw).all() and max(ahead, up) > STUCK):
            return False
        self.w, self.z = self.w + ahead * dw, self.z + ahead * dz
        self.p, self.m, self.u = p + ahead * dp, m + ahead * dm, self.u + up * du
        self.pull, self.share = self._pull(), ahead
        return True

    @property
    def _bent(self) -> bool:
        """Whether squares couple coefficients and slopes, so that both must go equally far."""
        return bool((self.rows.l2 > 0).any())

    def _factor(self, square: Matrix) -> Factor | None:
        """Factor the square, with as little damping as makes it definite."""
        factor, damping = Factor.of(square), LEAST_DAMPING
        diagonal = np.diagonal(square)
        ground = np.where(diagonal > 0, diagonal, max(float(diagonal.max(initial=0.0)), 1e-300))
        while factor is None and damping < 1.0:
            factor = Factor.of(square + np.diag(damping * ground))
            damping *= 10
        return factor

    def _direction(
        self, factor: Factor, square: Matrix, right: Vector, theta: Vector, rho: Vector
    ) -> tuple[Vector, Vector, Vector]:
        dw = factor.solve(right)
        for _ in range(REFINEMENTS):
            dw += factor.solve(right - square @ dw)
        dz = self.rows.scores(dw)
        return dw, dz, theta * (self.rows.flat(dz, dw) + rho)

    def _reach(self, dp: Vector, dm: Vector, du: Vector, most: float = 1.0) -> tuple[float, float]:
        """Return how far parts and slopes can go before one of them meets its end."""
        ahead = min(_until(self.p, dp, most), _until(self.m, dm, most))
        return ahead, min(_until(self.high - self.u, -du, most), _until(self.u - self.low, du, most))


def _until(x: Vector, change: Vector, most: float) -> float:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        worst = float(np.max(-change / x, initial=0.0))
    return most if worst * most <= 1.0 else 1.0 / worst
