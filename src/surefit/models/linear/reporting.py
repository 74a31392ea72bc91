"""What a fitted least-squares model can say with a probability: summary, intervals, predictive density,
influence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from surefit.core.diagnosis import named
from surefit.data.door import admit
from surefit.models.linear.inference import (
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
from surefit.models.linear.rows import gathered
from surefit.models.linear.summary import Summary, summarise

Vector = NDArray[np.float64]
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
