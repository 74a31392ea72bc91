"""What models share whose posterior constraints may cut: the distribution within, made when asked for."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surefit.models.linear.constraints import limits_of
from surefit.models.linear.truncated_posterior import TruncatedPosterior
from surefit.solvers.level_limits import LevelLimits

Vector = NDArray[np.float64]


class CutPosterior:
    """A model with a parameter ``constraints``, whose fit under them leaves ``free_mean_`` behind.

    A family writes ``_make_cut``. Nothing is drawn before somebody asks; draws are kept from then on.
    """

    constraints: Any
    random_state: Any
    coef_: Vector
    intercept_: float
    free_mean_: Any
    fit_intercept: bool

    @abstractmethod
    def _make_cut(self, limits: LevelLimits) -> TruncatedPosterior:
        """Return the posterior within limits."""

    def _limits(self, columns: int) -> LevelLimits:
        return limits_of(type(self).__name__, self.constraints, columns)

    def _cut(self) -> TruncatedPosterior | None:
        """Return the posterior within constraints; None without any."""
        mean = self.free_mean_
        if mean is None:
            return None
        kept = self.__dict__.get("_kept_cut")
        if kept is None or kept[0] is not mean:  # of another fit
            kept = self._kept_cut = mean, self._make_cut(self._limits(len(self.coef_)))
        return kept[1]

    @property
    def posterior_mean_(self) -> Vector:
        """The mean of the coefficients, and of the intercept behind them; ``coef_`` is the mode.

        Without constraints both are one. Within them it is that of draws, with ``posterior_mean_error_``.
        """
        check_is_fitted(self)
        cut = self._cut()
        if cut is not None:
            return cut.mean
        return np.append(self.coef_, self.intercept_) if self.fit_intercept else np.array(self.coef_)

    @property
    def posterior_mean_error_(self) -> Vector:
        """The Monte Carlo standard error of the mean of each coefficient; 0 without constraints."""
        check_is_fitted(self)
        cut = self._cut()
        return np.zeros(len(self.coef_)) if cut is None else cut.error
