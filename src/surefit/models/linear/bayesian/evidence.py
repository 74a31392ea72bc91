r"""Precisions of noise and coefficients that make the targets most likely: evidence, its slopes, its proof.

With noise precision :math:`\alpha`, precisions :math:`\lambda_j` and gamma priors on both, the logarithm of
the evidence is, up to a constant,

.. math:: \tfrac12 \Big( \sum_j \log \lambda_j + n \log \alpha - \alpha \|y - Xw\|^2 - \sum_j \lambda_j w_j^2
          + \log |\Sigma| \Big), \quad \Sigma^{-1} = \mathrm{diag}(\lambda) + \alpha X'X, \quad
          w = \alpha \Sigma X'y .

It is stationary where :math:`\lambda_j (w_j^2 + 2 \lambda_2) = \gamma_j + 2 \lambda_1` with
:math:`\gamma_j = 1 - \lambda_j \Sigma_{jj}`, and
:math:`\alpha (\|y - Xw\|^2 + 2 \alpha_2) = n - \sum_j \gamma_j + 2 \alpha_1`. Setting one side from the other
is a step; close to the answer, Newton's method takes over where it raises the evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.native.sums.moments import ColumnMoments
from surefit.core.trace import Trace
from surefit.models.linear.common.leverage import dependencies
from surefit.models.linear.common.normal_equations import normal_equations
from surefit.stats.moments import Moments

LEAST_TARGET = 1e-13  # of a change of log-precisions: below it, rounding is all that is left


@dataclass(frozen=True, slots=True)
class Sums:
    """X'SX, X'Sy, y'Sy and the weight, centred where there is an intercept."""

    gram: Matrix
    cross: Vector
    squares: float
    weight: float
    variance: float  # of y about its mean, whether there is an intercept or not

    @classmethod
    def of(cls, moments: Moments, fit_intercept: bool) -> Sums:
        """Take them from moments."""
        gram, cross = normal_equations(moments, fit_intercept)
        scatter, weight = float(moments.target_scatter[0, 0]), moments.weight
        offset = 0.0 if fit_intercept else weight * float(moments.mean_y[0]) ** 2
        return cls(gram, cross[:, 0], scatter + offset, weight, scatter / weight if weight else 0.0)

    def of_columns(self, used: NDArray[np.bool_]) -> Sums:
        """Return those of some columns."""
        return (
            self if used.all() else replace(self, gram=self.gram[np.ix_(used, used)], cross=self.cross[used])
        )


@dataclass(frozen=True, slots=True)
class HyperPriors:
    """Shape and rate of the gamma priors, on the precision of the noise and on those of coefficients."""

    alpha_1: float
    alpha_2: float
    lambda_1: float
    lambda_2: float

    def log_density(self, alpha: float, lam: Any) -> float:
        """Return that of both, up to a constant."""
        noise = self.alpha_1 * np.log(alpha) - self.alpha_2 * alpha
        return float(noise + np.sum(self.lambda_1 * np.log(lam) - self.lambda_2 * lam))


class State(Protocol):
    """The evidence at some precisions: the mean there, and where to go next."""

    alpha: float
    lam: Any
    score: float

    @property
    def coef(self) -> Vector:
        """The mean of the coefficients."""

    def following(self) -> tuple[float, Any]:
        """Return the precisions of another step, equal to those of now at the answer."""

    def newton(self) -> tuple[float, Any] | None:
        """Return those where the quadratic model is greatest; None where it has no peak."""


def change(state: State) -> float:
    """Return by how much another step would change the logarithm of a precision."""
    alpha, lam = state.following()
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.append(np.log(np.asarray(lam) / state.lam), np.log(alpha / state.alpha))
    return float(np.abs(np.nan_to_num(steps, nan=np.inf)).max())


@dataclass(frozen=True, slots=True)
class EvidenceMaximum:
    """Where the evidence is greatest, its value at every step, and how many there were."""

    state: State
    scores: Vector
    steps: int


def maximise_evidence(
    at: Callable[[float, Any], State],
    alpha: float,
    lam: Any,
    *,
    limit: int,
    tol: float,
    trace: Trace,
    learned: Callable[[State], Any],
) -> EvidenceMaximum:
    """Raise the evidence until another step changes no precision: far off step by step, then by Newton."""
    target = max(tol**2 * 1e-4, LEAST_TARGET)
    state, steps, close = at(alpha, lam), 0, False
    scores = [state.score]
    for _ in trace.iterations(limit):
        after = at(*state.following())
        tried = state.newton() if close else None
        if tried is not None:
            jump = at(*tried)
            # The evidence itself is rounded; what counts close to the answer is whether it stands still.
            gain, rounding = jump.score - after.score, 1e-9 * (1 + abs(after.score))
            if gain > rounding or (gain >= -rounding and change(jump) <= change(after)):
                after = jump
        moved, size = np.abs(after.coef - state.coef).sum(), np.abs(after.coef).sum()
        close = close or bool(moved <= max(tol, 1e-3) * size)
        state, steps, left = after, steps + 1, change(after)
        scores.append(state.score)
        trace.record(objective=-state.score, gap=left, learned=partial(learned, state))
        if left <= target:
            break
    return EvidenceMaximum(state, np.array(scores), steps)


def newton_step(gradient: Vector, hessian: Matrix) -> Vector | None:
    """The step to the top of a quadratic model; where that bends up, as far as if it bent down as much."""
    values, vectors = np.linalg.eigh(hessian)
    bend = np.maximum(np.abs(values), 1e-10 * np.abs(values).max(initial=0.0))
    if not bend.all():
        return None
    step = vectors @ ((vectors.T @ gradient) / bend)
    longest = np.abs(step).max()
    return step * min(1.0, 2.0 / longest) if longest > 0 else None  # e^2 either way: the model is local


def stationarity(
    sums: Sums,
    priors: HyperPriors,
    coef: Vector,
    sigma: Matrix,
    alpha: float,
    lam: Any,
    tolerance: float,
) -> Certificate:
    """Prove coefficients, their covariance and precisions; lam is one number for all, or one a coefficient.

    Nothing is solved: the equations that hold at the answer are evaluated with what was found.
    """
    p = len(coef)
    each = np.broadcast_to(lam, p)
    left = sums.cross - sums.gram @ coef
    lengths = np.sqrt(np.diagonal(sums.gram))
    reach = lengths * (np.sqrt(sums.squares) + float(lengths @ np.abs(coef))) + each * np.abs(coef) / alpha
    imbalance = np.abs(left - each * coef / alpha)
    worst = float(np.max(np.divide(imbalance, reach, out=np.zeros(p), where=reach > 0), initial=0.0))
    inner = alpha * sums.gram + np.diag(each)
    size = np.sqrt(np.diagonal(inner))
    identity = (inner / size[:, None]) @ (sigma * size) - np.eye(p)
    condition = np.linalg.norm(inner / size[:, None] / size) * np.linalg.norm(sigma * size * size[:, None])
    off = float(np.abs(identity).max(initial=0.0)) / max(float(condition), 1.0)
    gamma = 1.0 - each * np.diagonal(sigma)
    sse = max(sums.squares - float(coef @ (sums.cross + left)), 0.0)
    noise = 64 * np.finfo(float).eps * sums.squares / (sse + 2 * priors.alpha_2 + np.finfo(float).tiny)
    alpha_next = (sums.weight - gamma.sum() + 2 * priors.alpha_1) / (sse + 2 * priors.alpha_2)
    if np.ndim(lam):
        lam_next: Any = (gamma + 2 * priors.lambda_1) / (coef**2 + 2 * priors.lambda_2)
    else:
        lam_next = (gamma.sum() + 2 * priors.lambda_1) / (float(coef @ coef) + 2 * priors.lambda_2)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.abs(np.log(lam_next / np.asarray(lam)))
        # Squared residuals are known to what cancels in them, and the precision of the noise with them.
        of_noise = max(abs(float(np.log(alpha_next / alpha))) - noise, 0.0)
    value = max(worst, off, of_noise, float(np.max(np.nan_to_num(steps, nan=np.inf), initial=0.0)))
    measure = "largest change of a log-precision in another step"
    return Certificate("stationary", measure, value, tolerance, {"rounding of the noise": noise})


def moments_evidence(moments: Moments, fit_intercept: bool) -> dict[str, Any]:
    """What the rules of the diagnosis look at, from moments; the sums do not know the ranges."""
    gram = normal_equations(moments, fit_intercept)[0]
    return {
        "null_space": dependencies(gram),
        "correlation": moments.correlation(),
        "column_moments": _spread(moments.weight, moments.mean_x, np.diagonal(moments.gram)),
        "target_moments": _spread(moments.weight, moments.mean_y, np.diagonal(moments.target_scatter)),
        "rows": moments.rows,
        "penalty": 1.0,
    }


def _spread(weight: float, mean: Vector, scatter: Vector) -> ColumnMoments:
    deviation = np.sqrt(np.maximum(scatter, 0.0) / weight) if weight else np.zeros_like(mean)
    return ColumnMoments(weight, mean, scatter, mean - deviation, mean + deviation)
