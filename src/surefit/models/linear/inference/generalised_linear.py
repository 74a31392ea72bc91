"""Inference for generalised linear models: their likelihood, residuals, and the influence of each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.data.source import Source
from surefit.losses.families import Family
from surefit.losses.family_loss import FamilyLoss
from surefit.losses.joint import LogDispersion
from surefit.losses.links import Link
from surefit.models.linear.inference.likelihood import Likelihood, OneScore
from surefit.models.linear.inference.likelihood_report import FitNumbers, LikelihoodInference, penalised
from surefit.models.linear.inference.marginal_effects import Effects, MeanEffects
from surefit.models.linear.inference.maximum_likelihood import Covariance, evaluate
from surefit.stats.deviance import pearson_of
from surefit.stats.joint_curvature import Pieces

if TYPE_CHECKING:
    from surefit.models.linear.common.offset import OffsetColumns


@dataclass(frozen=True, slots=True)
class Residuals:
    """Residuals of each row, with its weight, and how much it matters.

    response: y - mean. deviance: the signed root of its part of the deviance. pearson: over the standard
    deviation of the family. working: in units of the score. standardized: Pearson's over its own standard
    deviation. leverage: how far its own target moves its prediction. cooks_distance: how far all
    coefficients would move without the row, in units of their errors.
    """

    mean: Vector
    response: Vector
    deviance: Vector
    pearson: Vector
    working: Vector
    standardized: Vector
    leverage: Vector
    cooks_distance: Vector


@dataclass(frozen=True, slots=True)
class FamilyPieces:
    """Half the deviance of rows and its derivatives by the score: no further parameters."""

    loss: FamilyLoss

    def __call__(self, y: Any, z: Vector, v: Vector) -> Pieces:
        """Return value and derivatives."""
        none = np.zeros((len(z), 0))
        loss, y = self.loss, np.asarray(y, dtype=np.float64)
        bend = np.asarray(loss.observed_curvature(y, z), dtype=np.float64)
        value = np.asarray(loss.value(y, z), dtype=np.float64)
        slope = np.asarray(loss.gradient(y, z), dtype=np.float64)
        return Pieces(value, slope, none, bend, none, ())

    def expected(self, y: Any, z: Vector) -> Vector:
        """Return the expected second derivative."""
        return np.asarray(self.loss.curvature(np.asarray(y, dtype=np.float64), z))


class GlmInference(LikelihoodInference):
    """Inference for a generalised linear model without penalty."""

    alpha: float
    fit_intercept: bool
    coef_: Vector
    intercept_: Any

    if TYPE_CHECKING:

        def _fitted_family(self) -> Family: ...
        def _link(self) -> Link: ...
        def _taken_out(self) -> OffsetColumns: ...
        def _packed(self) -> Vector: ...
        def _source(self, *data: Any, **also: Any) -> Source: ...

    def _usual_covariance(self) -> Covariance:
        return "observed" if self._estimates_theta() else "expected"

    def _estimates_theta(self) -> bool:
        return False

    def _why_no_inference(self) -> str | None:
        if getattr(self, "constraints", None) is not None:
            return "its constraints hold coefficients at their bounds"
        if self.alpha == 0:
            return None
        return penalised("alpha", self.alpha)

    def _rows_for_inference(self, X: Any, y: Any, sample_weight: Any, **also: Any) -> Source:
        source = self._source(X, y, sample_weight, reset=False, **also)
        return self._taken_out().source(source)

    def _likelihood(self, source: Source) -> Likelihood:
        out = self._taken_out()
        names = self._column_names()
        kept = tuple(names[j] for j in out.kept(len(names)))
        packed = self._packed()
        theta = np.concatenate([packed[-1:], packed[:-1]]) if self.fit_intercept else packed
        if self._estimates_theta():
            size = -np.log(self.theta_)  # type: ignore[attr-defined]
            both = np.append(theta, size)
            return OneScore(source, kept, self.fit_intercept, both, ("log(1/theta)",), LogDispersion().pieces)
        pieces = FamilyPieces(FamilyLoss(self._fitted_family(), self._link()))
        return OneScore(source, kept, self.fit_intercept, theta, (), pieces, pieces.expected)

    def _fit_numbers(self, source: Source, dispersion: str | float) -> FitNumbers:
        family, link = self._fitted_family(), self._link()
        loss, sums = FamilyLoss(family, link), _Sums()
        for batch in source:
            sums.add(loss, *self._scores(batch))
        trials = family.name == "binomial" and sums.between
        count = float(sums.rows) if trials else sums.weight
        parameters = len(self._packed()) + self._estimates_theta()
        freedom = count - parameters
        found = {
            "pearson": sums.pearson / freedom if freedom > 0 else np.nan,
            "deviance": sums.deviance / freedom if freedom > 0 else np.nan,
            "auto": 1.0,
        }
        if family.scaled:
            found["auto"] = found["pearson"]
        if isinstance(dispersion, str) and dispersion not in found:
            raise ParameterError(
                f"summary: dispersion={dispersion!r} is not allowed; it is 'auto', 'pearson', 'deviance' or "
                "a number."
            )
        used = found[dispersion] if isinstance(dispersion, str) else float(dispersion)
        best = sums.deviance / count if family.scaled else 1.0
        # The joint likelihood leaves out log y! alone.
        constant = -sums.factorials if self._estimates_theta() else 0.0
        for batch in [] if self._estimates_theta() else source:
            y, z, s = self._scores(batch)
            mean, _ = loss.mean(z)  # likelihood and deviance differ by the same at every mean
            log_likelihood = np.sum(family.log_likelihood(y, mean, s, best))
            constant += float(log_likelihood + 0.5 * s @ family.deviance(y, mean) / best)
        title = f"{family.name.replace('_', ' ').capitalize()} regression with {link.name} link"
        scaled = family.scaled or (isinstance(dispersion, str) and dispersion != "auto")
        return FitNumbers(
            title, count, constant, used, scaled and family.scaled, sums.deviance, sums.pearson, freedom
        )

    def _scores(self, batch: Any) -> tuple[Vector, Vector, Vector]:
        """Return targets, scores and weights of the rows that count."""
        packed = self._packed()
        coef, intercept = (packed[:-1], packed[-1]) if self.fit_intercept else (packed, 0.0)
        z = np.asarray(batch.X @ coef, dtype=np.float64) + intercept
        z = z if batch.offset is None else z + batch.offset
        s = np.ones(len(z)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        kept = s > 0
        return np.asarray(batch.y, dtype=np.float64)[kept], z[kept], s[kept]

    def _effects(self, likelihood: Likelihood) -> Effects:
        return MeanEffects(self._link(), self.fit_intercept)

    def residuals(self, X: Any, y: Any, sample_weight: Any = None, **also: Any) -> Residuals:
        """Residuals, leverage and Cook's distance of each row of the data that were fitted.

        >>> from surefit import GeneralizedLinearRegressor
        >>> X, y = [[0.0], [0.0], [1.0], [1.0]], [1, 3, 4, 12]
        >>> GeneralizedLinearRegressor("poisson").fit(X, y).residuals(X, y).leverage.round(6)
        array([0.5, 0.5, 0.5, 0.5])
        """
        source = self._checked(X, y, sample_weight, **also)
        family, link = self._fitted_family(), self._link()
        loss = FamilyLoss(family, link)
        numbers = self._fit_numbers(source, "auto")
        likelihood = self._likelihood(source)
        if self._estimates_theta():  # which is taken as given here
            pieces = FamilyPieces(loss)
            likelihood = OneScore(
                source,
                likelihood.columns,
                self.fit_intercept,
                likelihood.theta[:-1],
                (),
                pieces,
                pieces.expected,
            )
        inverse = evaluate(likelihood, observed=False).inverse
        parts: list[Any] = []
        for rows in likelihood.rows():
            z = rows.A @ likelihood.inner
            z = z if rows.offset is None else z + rows.offset
            target, mean = np.asarray(rows.y, dtype=np.float64), np.asarray(link.inverse(z))
            variance, root = family.variance(mean), np.sqrt(rows.s)
            bend = link.inverse_derivative(z) ** 2 / variance
            leverage = rows.s * bend * np.einsum("ij,jk,ik->i", rows.A, inverse, rows.A)
            response = target - mean
            pearson = root * response / np.sqrt(variance)
            with np.errstate(divide="ignore", invalid="ignore"):
                own = pearson / np.sqrt(numbers.dispersion * (1 - leverage))
                cook = own**2 * leverage / (1 - leverage) / inverse.shape[0]
                deviance = np.sign(response) * root * np.sqrt(np.maximum(2.0 * loss.value(target, z), 0.0))
                working = response / link.inverse_derivative(z)
            parts.append((mean, response, deviance, pearson, working, own, leverage, cook))
        return Residuals(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class _Sums:
    """Deviance, Pearson's sum and counts over the rows."""

    def __init__(self) -> None:
        self.rows, self.weight, self.deviance, self.pearson, self.factorials = 0, 0.0, 0.0, 0.0, 0.0
        self.between = False

    def add(self, loss: FamilyLoss, y: Vector, z: Vector, s: Vector) -> None:
        """Add some rows."""
        family = loss.family
        self.rows += len(y)
        self.weight += float(s.sum())
        self.deviance += float(s @ (2.0 * loss.value(y, z)))
        self.pearson += float(s @ pearson_of(y, np.asarray(loss.link.inverse(z)), family))
        self.between |= bool(((y > 0) & (y < 1)).any())
        if family.name == "negative_binomial":
            self.factorials += float(s @ special.gammaln(y + 1))
