"""The table that sums up a least-squares fit, as arrays and in print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from surefit.models.linear.inference import Basis, Covariance, t_interval
from surefit.models.linear.likelihood_summary import depending

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Summary:
    """Estimates with their errors, tests and intervals, and how well the model fits; ``print`` shows a table.

    names, estimate, standard_error, t, p_value, lower, upper: one entry a parameter, the intercept first.
    covariance: of the estimates. noise: standard deviation of the residuals. f, f_p_value: test that all
    slopes are zero. aic, bic: count the coefficients, not the noise. vif: variance inflation of each
    column.
    """

    names: tuple[str, ...]
    estimate: Vector
    standard_error: Vector
    t: Vector
    p_value: Vector
    lower: Vector
    upper: Vector
    covariance: NDArray[np.float64]
    kind: str
    level: float
    count: float
    freedom: float
    noise: float
    r2: float
    adjusted_r2: float
    f: float
    f_p_value: float
    log_likelihood: float
    aic: float
    bic: float
    vif: Vector
    condition: float

    def __str__(self) -> str:
        width = max(12, *(len(name) for name in self.names))
        percent = f"{100 * self.level:g} %"
        lines = [
            f"Least squares: {self.count:g} rows, {self.freedom:g} degrees of freedom, {self.kind} errors",
            f"R2 {self.r2:.4f}   adjusted R2 {self.adjusted_r2:.4f}   noise {self.noise:.5g}   "
            f"F {self.f:.4g} (p {self.f_p_value:.3g})",
            f"log-likelihood {self.log_likelihood:.5g}   AIC {self.aic:.5g}   BIC {self.bic:.5g}   "
            f"condition {self.condition:.3g}",
            "",
            f"{'':{width}} {'estimate':>12} {'std. error':>12} {'t':>9} {'p':>9}   {percent} interval",
        ]
        columns = (
            self.names,
            self.estimate,
            self.standard_error,
            self.t,
            self.p_value,
            self.lower,
            self.upper,
        )
        for name, estimate, error, t, p, low, high in zip(*columns, strict=True):
            lines.append(
                f"{name:{width}} {estimate:12.5g} {error:12.4g} {t:9.3f} {p:9.3g}   {low:.5g} to {high:.5g}"
            )
        open_ = np.concatenate([np.zeros(len(self.names) - len(self.vif), dtype=bool), np.isinf(self.vif)])
        return "\n".join([*lines, *depending(self.names, open_, self.freedom)])


def summarise(
    base: Basis,
    names: tuple[str, ...],
    covariance: NDArray[np.float64],
    freedom: float,
    kind: Covariance,
    level: float,
    log_weights: float,
    condition: float,
) -> Summary:
    """Finish the table from the estimates and their covariance."""
    estimate = base.parameters
    offset = int(base.has_intercept)
    open_ = np.concatenate([[base.unidentified.any()] * offset, base.unidentified])
    error = np.where(open_, np.nan, np.sqrt(np.maximum(np.diagonal(covariance), 0.0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = estimate / error
    lower, upper = t_interval(estimate, error, freedom, level)
    n, residual = base.count, base.residual_squares
    slopes = base.root.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = 1 - residual / base.target_squares if base.target_squares > 0 else np.nan
        adjusted = 1 - (1 - r2) * (n - offset) / base.freedom
        likelihood = -n / 2 * (np.log(2 * np.pi * residual / n) + 1) + log_weights / 2
    f = _f_statistic(base, covariance, kind, slopes, r2)
    return Summary(
        (("intercept",) if offset else ()) + names,
        estimate,
        error,
        t,
        2 * stats.t.sf(np.abs(t), freedom),
        lower,
        upper,
        covariance,
        kind,
        level,
        n,
        freedom,
        float(np.sqrt(base.noise)),
        float(r2),
        float(adjusted),
        f,
        float(stats.f.sf(f, slopes, freedom)) if slopes else np.nan,
        float(likelihood),
        float(-2 * likelihood + 2 * base.rank),
        float(-2 * likelihood + np.log(n) * base.rank),
        inflation(base),
        condition,
    )


def _f_statistic(base: Basis, covariance: Any, kind: str, slopes: int, r2: float) -> float:
    """All slopes zero: from the sums of squares, or from the covariance where that is not the classical
    one.
    """
    if slopes == 0:
        return float("nan")
    if kind == "classical":
        explained = (base.target_squares - base.residual_squares) / slopes
        return float(np.divide(explained, base.noise)) if base.noise > 0 else float("inf")
    block = covariance[-len(base.coef) :, -len(base.coef) :]
    scale = np.sqrt(np.diagonal(block))  # so that the units of the columns cost no digits
    inverse = np.linalg.pinv(block / scale[:, None] / scale, hermitian=True)
    z = base.coef / scale
    return float(z @ inverse @ z / slopes)


def inflation(base: Basis) -> Vector:
    """How many times the variance of each slope is what it would be if its column were orthogonal to the
    others.
    """
    inverse = (base.root * base.root).sum(axis=1)
    return np.where(base.unidentified, np.inf, base.column_squares * inverse)
