"""What Laplace's method looks at: second derivatives, and the precision that makes classes most likely."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.data.batch import Batch
from surefit.losses.base import Loss
from surefit.solvers.objective import Objective
from surefit.stats.curvature import Curvature

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

FAINT = 1e-6  # shape and rate of the gamma prior on the precision, as in BayesianRidge
SETTLED = 1e-7  # of a change of the chosen log-precision
ROUNDS = 100  # of choosing it


def likelier(coef: Vector, root: Matrix, precision: float) -> float:
    """The precision of another step; the same where the evidence is greatest."""
    spread = np.einsum("ij,ij->i", root[: len(coef)], root[: len(coef)])
    explained = float((1.0 - precision * spread).sum())
    return (explained + 2 * FAINT) / (float(coef @ coef) + 2 * FAINT)


class PrecisionSearch:
    """The way to the most likely precision: by another step each, or to where the last two point."""

    def __init__(self) -> None:
        self._before: tuple[float, float] | None = None
        self._rounds = 0

    def following(self, coef: Vector, root: Matrix, precision: float) -> float | None:
        """Return the next precision to try; None at the end."""
        place = log(precision)
        move = log(likelier(coef, root, precision)) - place
        self._rounds += 1
        if abs(move) <= SETTLED or self._rounds > ROUNDS:
            return None
        step = move
        if self._before is not None and self._before[1] != move:
            secant = -move * (place - self._before[0]) / (move - self._before[1])
            step = secant if abs(secant) <= 3.0 else move
        self._before = place, move
        return float(np.exp(place + step))


def second_derivatives(
    objective: Objective, coef: Vector, intercept: float, center: Vector, fit_intercept: bool
) -> Matrix:
    """Those of the loss, added up, by w and by the score at ``center``."""
    of = partial(_centred_curvature, objective.loss, coef, intercept, center, fit_intercept)
    found: Matrix = objective.accumulate(of).hessian
    return np.array(found)


def _centred_curvature(
    loss: Loss, coef: Vector, intercept: float, center: Vector, fit_intercept: bool, batch: Batch
) -> Curvature:
    X: Any = batch.X
    if not center.any():
        return Curvature.of(batch, loss=loss, w=coef, intercept=intercept if fit_intercept else None)
    moved = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64) - center
    height = intercept + float(center @ coef)
    return Curvature.of(replace(batch, X=moved), loss=loss, w=coef, intercept=height)
