"""What linear models with a posterior predict: a mean, how sure it is, intervals and draws."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.models.linear.bayesian.truncated_posterior import TruncatedPosterior
from surefit.models.linear.common.base import LinearPrediction


class BayesianPrediction(LinearPrediction):
    """Predictions whose spread is that of the coefficients plus that of the noise.

    A family writes ``_spreads``, the variance of the mean at each row, and ``_noise``; and ``_truncated``
    where constraints truncate the posterior, which is then known by draws.
    """

    def _truncated(self) -> TruncatedPosterior | None:
        """Return the posterior within constraints; None without any."""
        return None

    @abstractmethod
    def _spreads(self, X: Any) -> Vector:
        """Return the variance that the coefficients give to each row's mean."""

    @abstractmethod
    def _noise(self) -> float:
        """Return the variance of the noise, or the squared scale of its distribution."""

    def _freedom(self) -> float:
        """Return the degrees of freedom of the predictive Student t; infinite for a normal one."""
        return np.inf

    def predict(self, X: Any, return_std: bool = False, *, to: str | Path | None = None) -> Any:
        """Return the mean of the prediction for each row, and its standard deviation if asked for.

        ``to`` writes them to a file instead.
        """
        if not return_std:
            return super().predict(X, to=to)
        names = ["prediction", "std"]  # which is infinite for two degrees of freedom and fewer
        both = self._answer(self._mean_and_std, X, to, names, infinite=True)  # type: ignore[attr-defined]
        return None if both is None else (both[:, 0], both[:, 1])

    def _mean_and_std(self, X: Any) -> Matrix:
        truncated = self._truncated()
        if truncated is None:
            variance = (self._spreads(X) + self._noise()) * _stretch(self._freedom())
        else:
            variance = truncated.spreads(X) + truncated.noise
        return np.column_stack([self._linear(X), np.sqrt(variance)])

    def predictive(self, X: Any, *, of: str = "new") -> Any:
        """The distribution of a "new" observation at each row, or of the "mean" there.

        A normal or a Student t of scipy, with pdf, cdf, ppf and rvs, over all rows at once; within
        constraints a mixture of normal ones, one for each draw from the posterior.
        """
        _check_kind(of)
        truncated = self._fitted_truncated()
        if truncated is not None:
            planes = self._answer(lambda X: truncated.at(X, of).planes, X)  # type: ignore[attr-defined]
            return truncated.predictive(planes, of)
        both = self._answer(self._mean_and_spread, X)  # type: ignore[attr-defined]
        scale = np.sqrt(both[:, 1] + (self._noise() if of == "new" else 0.0))
        freedom = self._freedom()
        return (
            stats.t(freedom, loc=both[:, 0], scale=scale)
            if np.isfinite(freedom)
            else stats.norm(loc=both[:, 0], scale=scale)
        )

    def _mean_and_spread(self, X: Any) -> Matrix:
        return np.column_stack([self._linear(X), self._spreads(X)])

    def predict_interval(self, X: Any, *, level: float = 0.95, of: str = "new") -> Matrix:
        """Lower and upper bound for each row, (n, 2): of a "new" observation, or of the "mean" there."""
        _check_kind(of)
        truncated = self._fitted_truncated()
        if truncated is not None:
            return self._answer(lambda X: truncated.intervals(X, level, of), X)  # type: ignore[attr-defined]
        return ends(self.predictive(X, of=of), level)

    def _fitted_truncated(self) -> TruncatedPosterior | None:
        check_is_fitted(self)
        return self._truncated()


def _check_kind(of: str) -> None:
    if of not in ("new", "mean"):
        raise ParameterError(f"of={of!r} is not allowed; it must be 'new' or 'mean'.")


def ends(distribution: Any, level: float) -> Matrix:
    """The interval in the middle of a distribution that holds a share ``level`` of it."""
    if not 0 < level < 1:
        raise ParameterError(f"level={level!r} is not allowed; it must be a number in (0, 1).")
    tail = (1.0 - level) / 2
    return np.column_stack([distribution.ppf(tail), distribution.isf(tail)])


def _stretch(freedom: float) -> float:
    """The variance of a Student t beside its squared scale."""
    if not np.isfinite(freedom):
        return 1.0
    return freedom / (freedom - 2.0) if freedom > 2 else np.inf


def plane_spread(X: Any, center: Vector, root: Matrix) -> Vector:
    """The squared length of (x - center) R for each row x; of (x - center, 1) R where R has a row more."""
    slope = root[: len(center)]
    inner = np.asarray(X @ slope) - center @ slope if sparse.issparse(X) else (X - center) @ slope
    if len(root) > len(center):
        inner = inner + root[-1]
    return np.einsum("ij,ij->i", inner, inner)


def raw_root(root: Matrix, center: Vector) -> Matrix:
    """R for (w, b) from that for (w, h), where h = b + center'w is the height of the plane at the centre."""
    found = root.copy()
    if len(root) > len(center):
        found[-1] -= center @ found[:-1]
    return found
