"""Rows in time: coefficients that drift, and noise that remembers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Count, Interval, Positive, RandomState
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.base import Generated, checked, stream

Memory = Annotated[float, Interval(-1, 1, open_low=True, open_high=True)]


@dataclass(frozen=True, eq=False)
class DriftingSeries(Generated):
    """``y_t = x_t·w_t + e_t``, ``e_t = memory · e_{t-1} + N(0, noise²)``, while w moves from truth to truth.

    ``drift`` is "none", "gradual" (a straight way from the first row to the last) or "sudden" (a jump in the
    middle, at row ``change``). ``coefficients`` has one row a time. Best risk one step ahead: ``noise²``.

    >>> drawn = DriftingSeries.draw(rows=100, drift="sudden", random_state=0)
    >>> drawn.coefficients.shape, drawn.change
    ((100, 3), 50)
    """

    name = "drifting_series"
    X: Matrix
    y: Vector
    time: Vector
    coefficients: Matrix
    change: int | None
    memory: float
    noise: float

    @property
    def optimal_risk(self) -> float:
        """Expected squared error of the best forecast of the next row."""
        return self.noise**2

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 400,
        columns: Count = 3,
        *,
        drift: Literal["none", "gradual", "sudden"] = "gradual",
        memory: Memory = 0.5,
        noise: Positive = 0.5,
        random_state: RandomState = 0,
    ) -> Self:
        """Draw both truths, then the way between them, then the rows in order."""
        random = stream(random_state)
        time = np.linspace(0.0, 1.0, rows)
        way = {"none": np.zeros(rows), "gradual": time, "sudden": (np.arange(rows) >= rows // 2) * 1.0}[drift]
        start, end = random.standard_normal((2, columns))
        coefficients = start + way[:, None] * (end - start)
        X = random.standard_normal((rows, columns))
        shock = noise * random.standard_normal(rows)
        shock[0] /= np.sqrt(1.0 - memory**2)  # the first error already has the variance of all others
        error = _remembering(shock, memory)
        y = (X * coefficients).sum(axis=1) + error
        change = rows // 2 if drift == "sudden" else None
        return cls(X, y, time, coefficients, change, float(memory), float(noise))

    def surprise(self) -> dict[str, float]:
        """Shocks of the right size, unrelated to X and to the error before, early and late."""
        error = self.y - (self.X * self.coefficients).sum(axis=1)
        if len(error) < 3:
            return {"shocks": surprise.noise(error, self.noise / np.sqrt(1.0 - self.memory**2))}
        shock = error[1:] - self.memory * error[:-1]
        late = self.time[1:, None]
        X = self.X[1:]
        return {
            "shocks": surprise.noise(shock, self.noise),
            "coefficients": surprise.score(np.column_stack([X * (1.0 - late), X * late]), shock, self.noise),
            "memory": surprise.score(error[:-1, None], shock, self.noise),
        }


def _remembering(shock: Vector, memory: float) -> Vector:
    """Run the recursion ``e_t = memory · e_{t-1} + shock_t`` by doubling, so that no loop runs over rows."""
    error, power, step = shock.copy(), memory, 1
    while step < len(error) and power != 0.0:
        error[step:] = error[step:] + power * error[:-step]
        power, step = power * power, 2 * step
    return error
