r"""What an objective could still fall by a step of Newton's method, where no gap bounds it.

Slopes alone do not tell: along columns that are nearly dependent, and where a loss bends little, a slight
slope is a long way. With second derivatives H and slopes g, penalty included,

.. math:: \text{decrement} = \tfrac12 \, g' |H|^{-1} g,

where negative eigenvalues count as positive ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.certificate import Certificate
from surefit.penalties.base import Penalty
from surefit.solvers.objective import Objective
from surefit.solvers.offset import SecondDerivatives

Array = NDArray[np.float64]

LARGEST = 2000  # columns, whose square is kept and taken apart
SATURATED = 1e-8  # of the loss of a constant: below, what is left of the loss is no objective to be close to
EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)


class ObservedLoss:
    """A loss with its second derivative as curvature, whatever its solver steps by."""

    def __init__(self, loss: Any) -> None:
        self.loss = loss

    def value(self, y: Any, z: Any) -> Any:
        """Return the loss."""
        return self.loss.value(y, z)

    def gradient(self, y: Any, z: Any) -> Any:
        """Return its slope."""
        return self.loss.gradient(y, z)

    def curvature(self, y: Any, z: Any) -> Any:
        """Return the second derivative."""
        return self.loss.observed_curvature(y, z)


def stationary(objective: Objective, w: Array, value: float, cosine: float, tolerance: float) -> Certificate:
    """Certify a packed point by the cosine of slopes and columns, or by its decrement where that says more.

    value: the objective there.
    """
    measure, fall = "cosine of slopes and columns", decrement_of(objective, w, value)
    if fall and fall["decrement"] > cosine * fall["scale"]:
        measure = "gain of a Newton step, relative to the loss"
        cosine = fall["decrement"] / max(fall["scale"], TINY)
    return Certificate("stationary", measure, cosine, tolerance, {"objective": value, **fall})


def pull_of(penalty: Penalty, coef: Array, gradient: Array) -> Array:
    """Return how far slopes are from what the penalty holds, coefficient by coefficient."""
    if penalty.offers("subdifferential_distance"):
        return np.asarray(penalty.subdifferential_distance(coef, gradient))
    return np.asarray(np.abs(coef - penalty.prox(coef - gradient, 1.0)))


def decrement_of(objective: Objective, w: Array, value: float) -> dict[str, float]:
    """Return the decrement at a packed point and what it is small beside; nothing where it is not known.

    value: the objective there. It is known for losses with an ``observed_curvature`` and squared penalties.

    >>> from surefit.losses.families import Gamma
    >>> from surefit.losses.family_loss import FamilyLoss
    >>> from surefit.losses.links import Log
    >>> from surefit.penalties import NoPenalty
    >>> loss = FamilyLoss(Gamma(), Log())
    >>> of = Objective.of_arrays(np.zeros((2, 1)), [1.0, 3.0], loss, NoPenalty())
    >>> round(decrement_of(of, np.array([0.0, np.log(2.0) + 0.1]), 0.15)["decrement"], 4)  # 0.1^2 / 2
    0.005
    """
    known = hasattr(objective.loss, "observed_curvature") and len(objective.shape) == 1
    squares = objective.penalty.quadratic(objective.columns) if known else None
    if squares is None or objective.columns > LARGEST or not np.isfinite(value):
        return {}
    second = SecondDerivatives(objective)
    here = second.at(second.inner(w), 2, ObservedLoss(objective.loss))
    coef, g, H = objective.split(w)[0], here.gradient.copy(), here.hessian.copy()
    some = slice(0, objective.columns)
    A = np.diag(squares) if squares.ndim == 1 else squares
    H[some, some] += A
    g[some] += A @ coef
    floor = objective.targets.floor / objective.targets.weight
    constant = objective.scale if np.isfinite(objective.scale) else 0.0
    return {"decrement": _along(H, g), "scale": max(value - floor, 0.0) + SATURATED * constant}


def _along(H: Array, g: Array) -> float:
    """Return g'|H|^-1 g / 2 along what bends, whatever the units of columns."""
    if not (np.isfinite(H).all() and np.isfinite(g).all()):
        return np.inf
    size = np.sqrt(np.abs(np.diagonal(H)))
    size = np.where(size > 0, size, 1.0)
    bends, axes = linalg.eigh(H / size[:, None] / size, check_finite=False)
    bends = np.abs(bends)
    bent = bends > len(g) * EPS * bends.max(initial=0.0)  # what bends by less is rounding
    return float(0.5 * np.sum((axes.T @ (g / size))[bent] ** 2 / bends[bent]))
