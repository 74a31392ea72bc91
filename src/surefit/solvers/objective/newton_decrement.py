r"""What an objective could still fall by a step of Newton's method, where no gap bounds it.

Slopes alone do not tell: along columns that are nearly dependent, and where a loss bends little, a slight
slope is a long way. With second derivatives H and slopes g, penalty included,

.. math:: \text{decrement} = \tfrac12 \, g' |H|^{-1} g,

where negative eigenvalues count as positive ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.penalties.base import Penalty
from surefit.solvers.objective.centred_hessian import SecondDerivatives
from surefit.solvers.objective.mean_loss import MeanLoss

LARGEST = 2000  # columns, whose square is kept and taken apart
SATURATED = 1e-8  # of the loss of a constant: below, what is left of the loss is no objective to be close to
NEARLY = 1e3  # times rounding: what bends by less may as well not bend
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


def stationary(objective: MeanLoss, w: Vector, value: float, cosine: float, tolerance: float) -> Certificate:
    """Certify a packed point by the cosine of slopes and columns, or by its decrement where that says more.

    value: the objective there.
    """
    measure, fall = "cosine of the loss derivatives and a column", decrement_of(objective, w, value)
    if fall and fall["decrement"] > cosine * fall["scale"]:
        measure = "predicted decrease of a Newton step, relative to the loss"
        cosine = fall["decrement"] / max(fall["scale"], TINY)
    return Certificate("stationary", measure, cosine, tolerance, {"objective": value, **fall})


def subgradient_residual(penalty: Penalty, coef: Vector, gradient: Vector) -> Vector:
    """Return the distance of minus the gradient from the subgradients, coefficient by coefficient."""
    if penalty.offers("subdifferential_distance"):
        return np.asarray(penalty.subdifferential_distance(coef, gradient))
    return np.asarray(np.abs(coef - penalty.prox(coef - gradient, 1.0)))


def decrement_of(objective: MeanLoss, w: Vector, value: float) -> dict[str, float]:
    """Return the decrement at a packed point and what it is small beside; nothing where it is not known.

    value: the objective there. flat: how many directions do not bend beyond rounding. It is known for losses
    with an ``observed_curvature`` and squared penalties.

    >>> from surefit.losses.families import Gamma
    >>> from surefit.losses.family_loss import FamilyLoss
    >>> from surefit.losses.links import Log
    >>> from surefit.penalties import NoPenalty
    >>> loss = FamilyLoss(Gamma(), Log())
    >>> of = MeanLoss.of_arrays(np.zeros((2, 1)), [1.0, 3.0], loss, NoPenalty())
    >>> round(decrement_of(of, np.array([0.0, np.log(2.0) + 0.1]), 0.15)["decrement"], 4)  # 0.1^2 / 2
    0.005
    """
    if not np.isfinite(value) or not _is_known(objective):
        return {}
    floor = objective.targets.floor / objective.targets.weight
    constant = objective.scale if np.isfinite(objective.scale) else 0.0
    found = {"scale": max(value - floor, 0.0) + SATURATED * constant}
    axes = hessian_axes(objective, SecondDerivatives(objective), w)
    if axes is None:
        return {"decrement": np.inf, **found, "flat": 0.0}
    return {"decrement": axes.decrement(), **found, "flat": float(np.count_nonzero(axes.flat(NEARLY)))}


def _is_known(objective: MeanLoss) -> bool:
    if not hasattr(objective.loss, "observed_curvature") or len(objective.shape) > 1:
        return False
    return objective.columns <= LARGEST and objective.penalty.quadratic(objective.columns) is not None


@dataclass(frozen=True, slots=True)
class HessianAxes:
    """Eigenvectors of the Hessian of scaled columns, a column each.

    bends: the absolute eigenvalues. slopes: of the objective along them.
    """

    axes: Matrix
    bends: Vector
    slopes: Vector

    def flat(self, least: float = 1.0) -> NDArray[np.bool_]:
        """Return which have a curvature of no more than some multiple of what rounding makes."""
        return np.asarray(self.bends <= least * len(self.bends) * EPS * self.bends.max(initial=0.0))

    def decrement(self) -> float:
        """Return g'|H|^-1 g / 2 along what bends."""
        bent = ~self.flat()
        return float(0.5 * np.sum(self.slopes[bent] ** 2 / self.bends[bent]))


def hessian_axes(objective: MeanLoss, second: SecondDerivatives, w: Vector) -> HessianAxes | None:
    """Decompose the Hessian at a packed point; None where they are not finite."""
    here = second.at(second.inner(w), 2, ObservedLoss(objective.loss))
    coef, g, H = objective.split(w)[0], here.gradient.copy(), here.hessian.copy()
    some, squares = slice(0, objective.columns), objective.penalty.quadratic(objective.columns)
    assert squares is not None
    A = np.diag(squares) if squares.ndim == 1 else squares
    H[some, some] += A
    g[some] += A @ coef
    if not (np.isfinite(H).all() and np.isfinite(g).all()):
        return None
    size = np.sqrt(np.abs(np.diagonal(H)))
    size = np.where(size > 0, size, 1.0)
    bends, axes = linalg.eigh(H / size[:, None] / size, check_finite=False)
    return HessianAxes(axes / size[:, None], np.abs(bends), axes.T @ (g / size))
