"""Explained variance, and R² that pays for its columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefit.core.parameters import WholeNumber
from surefit.data.batches.batch import Batch
from surefit.metrics.base import Better
from surefit.metrics.cases import Case
from surefit.metrics.centred import Centred
from surefit.metrics.native_sums import columns_of, spreads
from surefit.metrics.squared import R2, VarianceShare, Variation
from surefit.metrics.sums import ManyOutputMetric, ManyOutputs
from surefit.stats.base import Statistic


@dataclass(frozen=True, slots=True)
class Residuals(Statistic):
    """How the truth and the errors vary, each about its mean."""

    truth: Centred
    errors: Centred

    @classmethod
    def of(cls, batch: Batch, *, prediction: Any = None, **context: Any) -> Residuals:
        """Compute it over the targets of a batch and what was predicted for them."""
        truth = np.asarray(batch.y, dtype=np.float64)
        errors = truth - np.asarray(prediction, dtype=np.float64).reshape(truth.shape)
        return cls(Centred.of(batch, values=truth), Centred.of(batch, values=errors))

    def __add__(self, other: Residuals) -> Residuals:
        return Residuals(self.truth + other.truth, self.errors + other.errors)


class ExplainedVariance(VarianceShare):
    r"""The share of the variance not left in the errors, :math:`1 - \mathrm{V}(y - \hat y) / \mathrm{V}(y)`.

    Unlike R² it forgives predictions that are off by a constant. A constant target gives 1 if the errors are
    constant too and 0 otherwise, or, with ``force_finite=False``, what the division gives.

    >>> from surefit import metrics
    >>> metrics.explained_variance_score([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    1.0
    """

    name = "explained_variance_score"
    words = "share of variance explained"
    statistic: ClassVar[type[Statistic]] = Residuals

    def _at_once(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        found = spreads(columns_of(y_true, y_pred, sample_weight), with_errors=True)
        return None if found is None else Residuals(*map(Centred.found, found[1:]))

    def finish(self, statistic: Any) -> float | NDArray[np.float64]:
        """Return the share, averaged over outputs."""
        errors = np.where(statistic.errors.constant, 0.0, statistic.errors.scatter)
        return self._shares(errors, np.where(statistic.truth.constant, 0.0, statistic.truth.scatter))


class AdjustedR2(ManyOutputMetric):
    r"""R² as it would be with unbiased variances, :math:`1 - (1 - R^2) (n - 1) / (n - p - 1)`.

    n is the weight of all rows, p = ``n_features`` the number of columns of the model without its intercept;
    NaN where n <= p + 1.

    >>> from surefit import metrics
    >>> metrics.adjusted_r2_score([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], n_features=1)
    0.0
    """

    name = "adjusted_r2_score"
    words = "adjusted R²"
    better: ClassVar[Better | None] = "higher"
    bounded = (-inf, 1.0)
    statistic = Variation

    def __init__(self, *, n_features: WholeNumber = 0, multioutput: ManyOutputs = "uniform_average") -> None:
        self.n_features = n_features
        self.multioutput = multioutput

    def _at_once(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        return Variation.at_once(y_true, y_pred, sample_weight)

    def finish(self, statistic: Variation) -> float | NDArray[np.float64]:
        """Return it, averaged over outputs."""
        rest = statistic.errors.weight - self.n_features - 1
        plain = R2(multioutput="raw_values").finish(statistic)
        share = np.atleast_1d(1 - np.asarray(plain))
        return self._averaged(1 - share * (statistic.errors.weight - 1) / (rest if rest > 0 else np.nan))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add columns."""
        for case in super().cases(rng):
            yield case
            yield case.with_options(n_features=7)
