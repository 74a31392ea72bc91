"""Strengths to choose from, as a user gives them."""

from __future__ import annotations

from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import ParameterError


class ParameterTypeError(ParameterError, TypeError):
    """A parameter holds something of another type than it is declared with."""


def candidate_strengths(who: str, alphas: Any, *, above_zero: bool = False) -> NDArray[np.float64]:
    """Return strengths as numbers; refuse the first that is none, or that is too small.

    >>> candidate_strengths("Lasso", [1, 0.5])
    array([1. , 0.5])
    """
    given = list(alphas if isinstance(alphas, list | tuple) else np.ravel(alphas))
    bound = "must be > 0.0" if above_zero else "must be >= 0.0"
    for place, alpha in enumerate(given):
        if not isinstance(alpha, Real):
            raise ParameterTypeError(
                f"{who}: alphas[{place}] must be an instance of float, not {type(alpha).__name__}."
            )
        if not isfinite(alpha) or alpha < 0 or (above_zero and alpha == 0):
            raise ParameterError(f"{who}: alphas[{place}] == {alpha}, {bound}, and finite.")
    if not given:
        raise ParameterError(f"{who}: alphas={alphas!r} must be finite numbers, at least one.")
    return np.asarray(given, dtype=np.float64)
