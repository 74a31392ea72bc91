"""How likely targets are under a Gaussian process, and the kernel parameters that make it largest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.optimize import minimize

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.data.batches.objects import Objects
from surefit.kernels import Kernel
from surefit.models.kernel.base import whole_gram
from surefit.solvers.linalg.positive_solve import SMALL, cholesky_in_place, solve_factored

Objective = Callable[..., Any]  # of theta and eval_gradient: the value to be small, and its slope
LOG = float(np.log(2 * np.pi))


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a Gaussian process, the variance of their noise, and how often each counts."""

    X: Any
    noise: Any  # a number or (n,)
    weight: Vector

    @property
    def plain(self) -> bool:
        """Whether each row counts once."""
        return bool((self.weight == 1).all())

    def some(self, places: Any) -> Rows:
        """Return some of the rows."""
        noise = self.noise if np.ndim(self.noise) == 0 else self.noise[places]
        return Rows(self.X[places], noise, self.weight[places])


@dataclass(frozen=True, slots=True)
class Covariance:
    """That of the targets, (n, n), and for rows that count several times what is left of each repetition.

    A row of weight s is s observations of one value, each with noise of its own: their mean has a noise of
    1/s of that, and what they add to the evidence depends on the noise alone.
    """

    matrix: Matrix
    slopes: Matrix | None
    repeats: float
    repeat_slopes: Vector | None


def covariance(kernel: Kernel, rows: Rows, gradient: bool) -> Covariance:
    """Return the covariance of targets, and its slopes by the logs of the kernel's free parameters."""
    n = len(rows.weight)
    if rows.plain:
        K, slopes = kernel(rows.X, eval_gradient=True) if gradient else (whole_gram(kernel, rows.X), None)
        K = np.array(K, dtype=np.float64)
        K.flat[:: n + 1] += rows.noise
        return Covariance(K, slopes, 0.0, None if slopes is None else np.zeros(slopes.shape[2]))
    # Noise of the kernel itself is what a row has with itself but not with a copy.
    twice = _doubled(rows.X)
    both, slopes = kernel(twice, eval_gradient=True) if gradient else (np.asarray(kernel(twice)), None)
    smooth = np.array(both[:n, n:], dtype=np.float64)
    noise = np.diagonal(both)[:n] - np.diagonal(smooth) + rows.noise
    s = rows.weight
    smooth.flat[:: n + 1] += noise / s
    repeats = float(-0.5 * ((s - 1) @ (LOG + np.log(np.maximum(noise, 1e-300))) + np.log(s).sum()))
    if slopes is None:
        return Covariance(smooth, None, repeats, None)
    inner = np.array(slopes[:n, n:], dtype=np.float64)
    own = np.einsum("iit->it", slopes[:n, :n]) - np.einsum("iit->it", inner)
    np.einsum("iit->it", inner)[...] += own / s[:, None]
    return Covariance(smooth, inner, repeats, -0.5 * ((s - 1) / np.maximum(noise, 1e-300)) @ own)


def _doubled(X: Any) -> Any:
    if isinstance(X, Objects):
        return Objects(np.concatenate([X.items, X.items]))
    return [*X, *X] if isinstance(X, list) else np.concatenate([X, X])


def factor(C: Matrix) -> Matrix | None:
    """Return the Cholesky factor of a covariance in the lower triangle; None where it has none."""
    if len(C) <= SMALL:
        found, info = linalg.lapack.dpotrf(C, lower=1, clean=1)
        return None if info else np.asarray(found)
    L = C.copy()
    return L if cholesky_in_place(L) else None


def log_evidence(
    kernel: Kernel, rows: Rows, Y: Matrix, *, gradient: bool = False
) -> tuple[float, Vector | None]:
    r"""Return :math:`\log N(y; 0, C)`, added up over targets, and its slope.

    .. math:: \partial = \tfrac12 \mathrm{tr}\left( (aa' - C^{-1}) \partial C \right), \quad C a = y
    """
    C = covariance(kernel, rows, gradient)
    L = factor(C.matrix)
    if L is None:
        return -np.inf, None if C.slopes is None else np.zeros(C.slopes.shape[2])
    a, k = solve_factored(L, Y), Y.shape[1]
    value = evidence_of(C, L, a, Y)
    if C.slopes is None or C.repeat_slopes is None:
        return value, None
    inverse, _ = linalg.lapack.dpotri(L, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    slope = 0.5 * np.tensordot(a @ a.T - k * inverse, C.slopes, axes=([0, 1], [0, 1]))
    return value, np.asarray(slope + k * C.repeat_slopes)


def evidence_of(C: Covariance, L: Matrix, a: Matrix, Y: Matrix) -> float:
    """Return the log evidence from a covariance, its factor and the solution of C a = y."""
    n, k = Y.shape
    logs = np.log(np.diagonal(L)).sum()
    return float(-0.5 * (Y * a).sum() - k * (logs + n / 2 * LOG) + k * C.repeats)


def best_parameters(
    optimizer: Any, objective: Objective, kernel: Kernel, restarts: int, rng: np.random.Generator
) -> Vector:
    """Return the theta of the least objective found from the kernel's own values and from random ones."""
    bounds = kernel.bounds
    if restarts and not np.isfinite(bounds).all():
        raise ParameterError(
            "Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds are finite."
        )
    starts = [kernel.theta, *(rng.uniform(bounds[:, 0], bounds[:, 1]) for _ in range(restarts))]
    found = [_one_run(optimizer, objective, start, bounds) for start in starts]
    best: Vector = found[int(np.argmin([value for _, value in found]))][0]
    return best


def _one_run(optimizer: Any, objective: Objective, start: Vector, bounds: Matrix) -> tuple[Vector, float]:
    if callable(optimizer):
        theta, value = optimizer(objective, start, bounds=bounds)
        return np.asarray(theta), float(value)
    run = minimize(objective, start, method="L-BFGS-B", jac=True, bounds=bounds)
    return np.asarray(run.x), float(run.fun)
