"""What a solver of mean squares + table hands back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Found:
    """Coefficients, and how far from the best they can be: ``primal - dual <= gap``.

    residual is None where the rows were read only once, into sums. doubt bounds what rounding in sums may
    have done to primal and dual. passes counts the times that all rows were gone through.
    """

    coef: Vector
    intercept: float
    residual: Vector | None
    primal: float
    gap: float
    converged: bool
    epochs: int
    passes: int
    doubt: float = 0.0

    @property
    def dual(self) -> float:
        """The lower bound on the objective that the gap proves."""
        return self.primal - self.gap

    @property
    def support(self) -> NDArray[np.intp]:
        """The numbers of the coefficients that are not zero."""
        return np.flatnonzero(self.coef)
