"""Errors, tests and intervals of maximum-likelihood fits: what a likelihood and its information say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize, stats

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, RefusalError
from surefit.models.linear.inference.least_squares import grouped
from surefit.models.linear.inference.likelihood import Likelihood
from surefit.solvers.methods.damped_newton import DampedNewton
from surefit.solvers.objective.function import FunctionObjective

Covariance = Literal["expected", "observed", "HC0", "HC1", "cluster"]

CANCELS = 1e-6  # of what is added up: a parameter that moves by less stays where it is
FLAT = 1e-11  # information relative to the largest, in standardised columns: below it a parameter is not told
FITTED = 0.05  # of a standard error: how far a step of Newton's method may lead from the estimates
FARTHEST = 60.0  # standard errors, within which a profile must cross its level


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A likelihood at its estimates: value, inverse information, and what the rows leave open.

    flat: directions of the parameters along which the likelihood does not change, one a column.
    """

    likelihood: Likelihood
    value: float
    gradient: Vector
    inverse: Matrix
    flat: Matrix

    @property
    def rank(self) -> int:
        """How many parameters the rows tell, or mixtures of them."""
        return int(self.flat.shape[0] - self.flat.shape[1])

    @property
    def open(self) -> NDArray[np.bool_]:
        """Which of the model's parameters a flat direction changes, beyond rounding."""
        J = np.asarray(self.likelihood.jacobian)
        moved, most = np.abs(J @ self.flat), np.abs(J) @ np.abs(self.flat)
        return np.asarray(((moved > CANCELS * most) & (moved > 0)).any(axis=1))


def evaluate(likelihood: Likelihood, *, observed: bool, scale: float = 1.0) -> Evaluated:
    """Read the rows once; refuse rows that are not those of the fit."""
    value, gradient, information = likelihood.at(likelihood.inner, observed=observed)
    inverse, flat = _inverse(information / scale)
    step = inverse @ gradient / scale
    error = np.sqrt(np.maximum(np.diagonal(inverse), 0.0))
    if np.any(np.abs(step) > FITTED * np.maximum(error, np.finfo(float).tiny)):
        raise DataError(
            "the fitted coefficients do not maximise the likelihood of these rows: pass the rows, weights "
            "and offsets that were fitted, or fit with a smaller tol."
        )
    return Evaluated(likelihood, value, gradient, inverse, flat)


def _inverse(information: Matrix) -> tuple[Matrix, Matrix]:
    """Return the inverse where there is one, and the directions that are not told."""
    size = np.sqrt(np.maximum(np.diagonal(information), 0.0))
    size[size == 0] = 1.0
    bends, axes = linalg.eigh(information / size[:, None] / size, check_finite=False)
    told = bends > FLAT * bends.max(initial=0.0)
    inverse = (axes[:, told] / bends[told]) @ axes[:, told].T / size[:, None] / size
    flat = axes[:, ~told]
    flat = np.where(np.abs(flat) > 1e-4, flat, 0.0)  # what is less is rounding, or of no account
    return inverse, flat / size[:, None]


def parameter_covariance(found: Evaluated, kind: Covariance, groups: Any) -> tuple[Matrix, str]:
    """Return the covariance of the model's parameters, and the name of its kind."""
    likelihood, inverse = found.likelihood, found.inverse
    J = likelihood.jacobian
    if kind in ("expected", "observed"):
        return J @ inverse @ J.T, kind
    meat, count = _meat(likelihood, kind, groups)
    middle = inverse @ meat @ inverse
    return J @ (middle * count) @ J.T, kind


def _meat(likelihood: Likelihood, kind: Covariance, groups: Any) -> tuple[Matrix, float]:
    """Return the sum of squared slopes, of rows or of groups, and the factor for few of them."""
    at, size = likelihood.inner, len(likelihood.theta)
    n, meat = likelihood.weight(), np.zeros((size, size))
    if kind == "cluster":
        if groups is None:
            raise DataError("covariance='cluster' needs groups: one label per row.")
        labels, codes = grouped(groups)
        if len(labels) < 2:
            raise RefusalError("a clustered covariance needs at least two groups.")
        sums = np.zeros((len(labels), size))
    end = 0
    for rows in likelihood.rows():
        slopes, end = likelihood.terms(rows, at).slopes, rows.start + len(rows.s)
        if kind == "cluster":
            some = codes[rows.start : rows.start + len(rows.s)]
            if len(some) < len(rows.s):
                raise DataError(
                    f"groups has {len(codes)} entries, but there are more rows: give each a label."
                )
            np.add.at(sums, some, rows.s[:, None] * slopes)
        else:
            meat += (slopes * rows.s[:, None]).T @ slopes
    if kind == "cluster":
        if len(codes) > end:
            raise DataError(
                f"groups has {len(codes)} entries, but there are {end} rows: give one label per row."
            )
        g = len(labels)
        return sums.T @ sums, g / (g - 1)
    return meat, n / (n - size) if kind == "HC1" else 1.0


def constrained(likelihood: Likelihood, fixed: Any, start: Vector, values: Any = 0.0) -> tuple[float, Vector]:
    """Return the greatest log-likelihood, and where, with some of the model's parameters held at values."""
    J = likelihood.jacobian
    rows = J[np.atleast_1d(fixed)]
    basis = linalg.null_space(rows)
    at = start + np.linalg.pinv(rows) @ (np.broadcast_to(values, len(rows)) - rows @ start)

    seen: dict[bytes, tuple[float, Vector, Matrix]] = {}

    def whole(free: Vector) -> tuple[float, Vector, Matrix]:
        key = free.tobytes()
        if key not in seen:
            seen.clear()  # value, gradient and information of a point are asked for one after the other
            seen[key] = likelihood.at(at + basis @ free)
        return seen[key]

    if not basis.shape[1]:
        return likelihood.at(at)[0], at
    weight = likelihood.weight()
    objective = FunctionObjective(
        lambda x: -whole(x)[0] / weight,
        np.zeros(basis.shape[1]),
        gradient=lambda x: -(basis.T @ whole(x)[1]) / weight,
        hessian=lambda x: basis.T @ whole(x)[2] @ basis / weight,
    )
    solution = DampedNewton(tolerance=1e-9, max_iter=100).solve(objective)
    return -solution.value * weight, at + basis @ solution.x


def profile_interval(
    found: Evaluated, place: int, error: float, scale: float, level: float
) -> tuple[float, float]:
    """Return where twice the fall of the profile likelihood, over the dispersion, meets its level."""
    likelihood, inside = found.likelihood, found.likelihood.inner
    estimate, limit = float(likelihood.theta[place]), float(stats.chi2.ppf(level, 1))
    reach = float(np.sqrt(limit)) * error
    ends = []
    for sign in (-1.0, 1.0):
        last = [inside]

        def fall(distance: float, sign: float = sign, last: list[Vector] = last) -> float:
            value, last[0] = constrained(likelihood, place, last[0], estimate + sign * distance)
            return 2.0 * (found.value - value) / scale - limit

        far = reach
        while fall(far) < 0 and far < FARTHEST * error:
            far *= 1.6
        if far >= FARTHEST * error:
            ends.append(sign * np.inf)
            continue
        ends.append(estimate + sign * float(optimize.brentq(fall, 0.0, far, xtol=1e-8 * reach, rtol=1e-10)))
    return ends[0], ends[1]


def likelihood_ratio(found: Evaluated, place: int, scale: float) -> float:
    """Return twice the fall of the log-likelihood when a parameter is held at 0, over the dispersion."""
    value, _ = constrained(found.likelihood, place, found.likelihood.inner)
    return max(2.0 * (found.value - value) / scale, 0.0)


def null_value(likelihood: Likelihood) -> float:
    """Return the log-likelihood of the best model without columns."""
    places = likelihood.slope_places()
    start = np.array(likelihood.inner)
    return constrained(likelihood, places, start)[0] if len(places) else likelihood.at(start)[0]
