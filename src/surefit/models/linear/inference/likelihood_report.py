"""What a maximum-likelihood fit can say with a probability: its summary, and effects on the mean of y."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from surefit.core.diagnosis import named
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.data.source import Source
from surefit.models.linear.inference.least_squares import held_to
from surefit.models.linear.inference.likelihood import Likelihood
from surefit.models.linear.inference.likelihood_summary import LikelihoodSummary
from surefit.models.linear.inference.marginal_effects import Effects, MarginalEffects, marginal_effects
from surefit.models.linear.inference.maximum_likelihood import (
    Covariance,
    Evaluated,
    evaluate,
    likelihood_ratio,
    null_value,
    parameter_covariance,
    profile_interval,
)

Asked = Literal["auto", "expected", "observed", "HC0", "HC1", "cluster"]
Test = Literal["wald", "lr"]
Interval = Literal["wald", "profile"]
At = Literal["average", "means"]


@dataclass(frozen=True, slots=True)
class FitNumbers:
    """How well a fit does: count of rows, dispersion, log-likelihood without what the value leaves out.

    constant: what is added to the value of the likelihood to make it the log-likelihood. scaled: whether the
    dispersion is an estimate, so that tests are by Student's t. deviance, pearson: NaN where there are none.
    """

    title: str
    count: float
    constant: float
    dispersion: float = 1.0
    scaled: bool = False
    deviance: float = np.nan
    pearson: float = np.nan
    freedom: float = np.nan


def penalised(name: str, strength: float) -> str:
    """Return why a penalty leaves no inference."""
    return (
        f"its penalty {name}={strength:g} shrinks the coefficients towards zero, which biases them by an "
        "unknown amount"
    )


class LikelihoodInference:
    """Inference for an unpenalised maximum-likelihood fit, from the rows that were fitted.

    A model writes ``_why_no_inference``, ``_rows_for_inference``, ``_likelihood``, ``_fit_numbers`` and
    ``_effects``.
    """

    @abstractmethod
    def _why_no_inference(self) -> str | None:
        """Return why theory has no answer for this fit; None where it has one."""

    @abstractmethod
    def _rows_for_inference(self, X: Any, y: Any, sample_weight: Any, **also: Any) -> Source:
        """Return the rows that were fitted, checked and in memory."""

    @abstractmethod
    def _likelihood(self, source: Source) -> Likelihood:
        """Return the likelihood at the fitted parameters."""

    @abstractmethod
    def _fit_numbers(self, source: Source, dispersion: str | float) -> FitNumbers:
        """Return deviances, freedom and dispersion of the whole fit."""

    @abstractmethod
    def _effects(self, likelihood: Likelihood) -> Effects:
        """Return how the mean moves with each column."""

    def summary(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        covariance: Asked = "auto",
        groups: Any = None,
        level: float = 0.95,
        test: Test = "wald",
        interval: Interval = "wald",
        dispersion: Literal["auto", "pearson", "deviance"] | float = "auto",
        **also: Any,
    ) -> LikelihoodSummary:
        """Estimates with standard errors, tests and intervals, and how well the model fits.

        X, y, sample_weight and what else was given to ``fit``: the rows that were fitted. covariance: from
        the "expected" or "observed" information, the former by default for generalised linear models; "HC0"
        and "HC1" hold for another variance than the family's, "cluster" for rows that are correlated within
        ``groups``. test: "lr" refits without each column. interval: "profile" follows the likelihood, and
        need not be symmetric. dispersion: what errors are scaled by; "pearson" or "deviance" estimate it for
        counts and shares too (quasi-likelihood).

        >>> from surefit import GeneralizedLinearRegressor
        >>> X, y = [[0.0], [0.0], [1.0], [1.0]], [1, 3, 4, 12]
        >>> found = GeneralizedLinearRegressor("poisson").fit(X, y).summary(X, y)
        >>> found.standard_error.round(4)  # sqrt(1 / 4) and sqrt(1 / 4 + 1 / 16)
        array([0.5  , 0.559])
        """
        held_to("covariance", covariance, Asked)
        held_to("test", test, Test)
        held_to("interval", interval, Interval)
        _check_level("summary", level)
        source = self._checked(X, y, sample_weight, **also)
        likelihood, numbers = self._likelihood(source), self._fit_numbers(source, dispersion)
        kind: Covariance = self._usual_covariance() if covariance == "auto" else covariance
        plain = kind in ("expected", "observed")
        # Robust errors need no dispersion: it cancels.
        scale = numbers.dispersion if plain else 1.0
        found = evaluate(likelihood, observed=kind != "expected", scale=scale)
        matrix, _ = parameter_covariance(found, kind, groups)
        return self._finished(found, matrix, kind, numbers, level, test, interval)

    def _checked(self, X: Any, y: Any, sample_weight: Any, **also: Any) -> Source:
        why = self._why_no_inference()
        if why is not None:
            raise RefusalError(
                f"{type(self).__name__} has no standard errors, tests and intervals for this fit: {why}; "
                "refit without it on held-out rows, or use the bootstrap."
            )
        if X is None:
            raise DataError(
                "inference needs the training data: pass the rows that were fitted, as in summary(X, y)."
            )
        return self._rows_for_inference(X, y, sample_weight, **also)

    def _usual_covariance(self) -> Covariance:
        return "observed"

    def _column_names(self) -> tuple[str, ...]:
        known = self.__dict__.get("feature_names_in_")
        return named(None if known is None else list(known), range(self.n_features_in_))  # type: ignore[attr-defined]

    def _finished(
        self,
        found: Evaluated,
        covariance: NDArray[np.float64],
        kind: str,
        numbers: FitNumbers,
        level: float,
        test: str,
        interval: str,
    ) -> LikelihoodSummary:
        likelihood, scale = found.likelihood, numbers.dispersion
        estimate = likelihood.theta
        error = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        error = np.where(found.open, np.nan, error)
        freedom = numbers.count - found.rank
        law: Any = stats.t(freedom) if numbers.scaled and freedom > 0 else stats.norm()
        with np.errstate(divide="ignore", invalid="ignore"):
            z = estimate / error
        p = 2 * law.sf(np.abs(z))
        reach = law.ppf(0.5 + level / 2) * error
        lower, upper = estimate - reach, estimate + reach
        if test == "lr":
            ratio = np.array([likelihood_ratio(found, k, scale) for k in range(len(estimate))])
            z, p = np.sign(estimate) * np.sqrt(ratio), stats.chi2.sf(ratio, 1)
        if interval == "profile":
            ends = [profile_interval(found, k, error[k], scale, level) for k in range(len(estimate))]
            lower, upper = np.array(ends).T
        null = null_value(likelihood)
        slopes = len(likelihood.slope_places()) - found.flat.shape[1]
        lr = max(2.0 * (found.value - null) / scale, 0.0)
        value, base = (
            found.value / _share(numbers) + numbers.constant,
            null / _share(numbers) + numbers.constant,
        )
        n, parameters = numbers.count, found.rank
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            cox = 1.0 - np.exp(2.0 * (base - value) / n)
            most = 1.0 - np.exp(2.0 * base / n)
        deviance = numbers.deviance
        return LikelihoodSummary(
            numbers.title,
            likelihood.names,
            estimate,
            error,
            z,
            p,
            lower,
            upper,
            covariance,
            kind,
            test,
            interval,
            level,
            n,
            freedom,
            value,
            base,
            lr,
            float(stats.chi2.sf(lr, slopes)) if slopes else np.nan,
            2.0 * parameters - 2.0 * value,
            float(np.log(n)) * parameters - 2.0 * value,
            1.0 - value / base if base != 0 else np.nan,
            float(cox),
            float(cox / most) if most != 0 else np.nan,
            deviance,
            deviance + 2.0 * (found.value - null) if np.isfinite(deviance) else np.nan,
            numbers.pearson,
            numbers.dispersion,
            numbers.pearson / freedom if freedom > 0 else np.nan,
        )

    def marginal_effects(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        at: At = "average",
        dummies: bool = False,
        covariance: Asked = "auto",
        groups: Any = None,
        level: float = 0.95,
        **also: Any,
    ) -> MarginalEffects:
        """How much the mean of y, or the probability of each class, changes with each column.

        at: the "average" of the rows' own effects, or the effect at the "means" of the columns. dummies:
        whether a column of 0 and 1 has the difference between the two for its effect, not the slope. Errors
        are by the delta method. The other parameters are those of ``summary``.

        >>> from surefit import GeneralizedLinearRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
        >>> model = GeneralizedLinearRegressor("binomial").fit(X, y)
        >>> model.marginal_effects(X, y).effect.round(3)
        array([0.182])
        """
        held_to("at", at, At)
        _check_level("marginal_effects", level)
        source = self._checked(X, y, sample_weight, **also)
        summary = self.summary(X, y, sample_weight, covariance=covariance, groups=groups, **also)
        likelihood = self._likelihood(source)
        return marginal_effects(self._effects(likelihood), likelihood, summary.covariance, at, dummies, level)


def _check_level(of: str, level: float) -> None:
    if not 0 < level < 1:
        raise ParameterError(f"{of}: level={level!r} is not allowed; it lies between 0 and 1, such as 0.95.")


def _share(numbers: FitNumbers) -> float:
    """What half deviances are divided by to be log-likelihoods: the dispersion that fits best."""
    return numbers.deviance / numbers.count if numbers.scaled else 1.0
