"""What a fitted least-squares model can say with a probability, and the table that sums it up.

Summary, as arrays and in print, intervals, predictive density, and influence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from surefit.core.arrays import Vector
from surefit.core.diagnosis import named
from surefit.data.door import admit
from surefit.models.linear.inference.least_squares import (
    Basis,
    Covariance,
    Rows,
    Weights,
    basis,
    held_to,
    parameter_covariance,
    t_interval,
    with_residuals,
)
from surefit.models.linear.inference.likelihood_summary import depending
from surefit.models.rows_in_memory import gathered


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


Of = Literal["new", "mean"]


@dataclass(frozen=True, slots=True)
class Influence:
    """How much each row matters.

    leverage: how far its own target moves its prediction, between 0 and 1. standardized: residual over its
    standard deviation; studentized: the same with the noise estimated without the row. cooks_distance: how
    far all predictions would move without the row, in units of the noise.
    """

    leverage: Vector
    residual: Vector
    standardized: Vector
    studentized: Vector
    cooks_distance: Vector


class Inference:
    """Inference for an unpenalised least-squares fit with normal noise, or robust to other noise where
    said.
    """

    def summary(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        covariance: Covariance = "classical",
        groups: Any = None,
        level: float = 0.95,
        weights: Weights = "frequency",
        draws: int = 1000,
        random_state: int | None = 0,
    ) -> Summary:
        """Estimates with standard errors, tests and intervals, and how well the model fits.

        covariance: "classical" needs no data, though with them the noise is exact where it is tiny. "HC0"
        to "HC3" hold for noise of unequal variance, "cluster" for noise that is shared within ``groups``,
        "bootstrap" draws rows anew ``draws`` times; they need the data that were fitted. weights: whether
        sample weights are "frequency" or "analytic".

        >>> from surefit import LinearRegression
        >>> model = LinearRegression().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 4.0])
        >>> model.summary().standard_error.round(4)
        array([0.495 , 0.2646])
        """
        base = basis(self, weights)
        rows = None if X is None else self._data(X, y, sample_weight)
        if rows is not None:
            base = with_residuals(base, rows)
        found, freedom = parameter_covariance(base, covariance, weights, rows, groups, draws, random_state)
        return summarise(
            base,
            self._names(),
            found,
            freedom,
            covariance,
            level,
            _log_weights(weights, rows),
            self.condition_,  # type: ignore[attr-defined]
        )

    def _names(self) -> tuple[str, ...]:
        known = self.__dict__.get("feature_names_in_")
        return named(None if known is None else list(known), range(self.n_features_in_))  # type: ignore[attr-defined]

    def _data(self, X: Any, y: Any, weight: Any) -> Rows:
        source = admit(self, self.accepts, X, y, weight, reset=False)  # type: ignore[attr-defined]
        batch = gathered(source)
        block: Any = batch.X
        dense = block.toarray() if hasattr(block, "toarray") else np.asarray(block, dtype=np.float64)
        return Rows(dense, np.asarray(batch.y, dtype=np.float64).ravel(), batch.weight)

    def predict_interval(
        self, X: Any, *, level: float = 0.95, of: Of = "new", weights: Weights = "frequency"
    ) -> NDArray[np.float64]:
        """Lower and upper bound for each row, (n, 2): of a "new" observation, or of the "mean" at that
        point.
        """
        held_to("of", of, Of)
        base = basis(self, weights)
        center, error = self._prediction_error(base, X, new=of == "new")
        return np.column_stack(t_interval(center, error, base.freedom, level))

    def _prediction_error(self, base: Basis, X: Any, *, new: bool) -> tuple[Vector, Vector]:
        center = self.predict(X)  # type: ignore[attr-defined]
        A = base.centred_design(self._answer(lambda rows: rows, X))  # type: ignore[attr-defined]
        spread = np.einsum("ij,jk,ik->i", A, base.bread, A)
        return center, np.sqrt(base.noise * (spread + float(new)))

    def predictive(self, X: Any, *, weights: Weights = "frequency") -> Any:
        """The distribution of a new observation at each row: a Student t of scipy, with pdf, cdf, ppf and
        rvs.
        """
        base = basis(self, weights)
        center, error = self._prediction_error(base, X, new=True)
        return stats.t(base.freedom, loc=center, scale=error)

    def influence(self, X: Any, y: Any, sample_weight: Any = None) -> Influence:
        """Leverage, residuals and Cook's distance of each row of the data that were fitted."""
        base = basis(self, "analytic" if sample_weight is not None else "frequency", with_noise=False)
        rows = self._data(X, y, sample_weight)
        base = with_residuals(base, rows)
        A = base.centred_design(rows.X)
        s = np.ones(len(A)) if rows.weight is None else rows.weight
        leverage = s * np.einsum("ij,jk,ik->i", A, base.bread, A)
        residual = np.sqrt(s) * (rows.y - rows.X @ base.coef - base.intercept)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = residual / np.sqrt(1 - leverage)
            standardized = own / np.sqrt(base.noise)
            without = (base.residual_squares - own**2) / (base.freedom - 1)
            studentized = own / np.sqrt(without)
            cook = standardized**2 * leverage / (1 - leverage) / base.rank
        return Influence(leverage, residual, standardized, studentized, cook)


def _log_weights(weights: Weights, rows: Rows | None) -> float:
    """What analytic weights add to twice the log-likelihood; unknown without them."""
    if weights == "frequency":
        return 0.0
    return (
        float("nan")
        if rows is None or rows.weight is None
        else float(np.log(rows.weight[rows.weight > 0]).sum())
    )
