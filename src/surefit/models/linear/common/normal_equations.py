"""The normal equations of least squares, from moments."""

from __future__ import annotations

import numpy as np

from surefit.core.arrays import Matrix
from surefit.stats.moments import Moments


def normal_equations(moments: Moments, fit_intercept: bool) -> tuple[Matrix, Matrix]:
    """X'SX and X'Sy: of centred columns with an intercept, of the columns as they are without one."""
    if fit_intercept:
        return moments.gram, moments.cross
    weight, mean = moments.weight, moments.mean_x
    gram = moments.gram + weight * np.outer(mean, mean)
    return gram, moments.cross + weight * np.outer(mean, moments.mean_y)
