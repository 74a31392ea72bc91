"""Deviances of the Tweedie family: normal, Poisson, gamma, and the share of them that a model explains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError, ParameterError
from surefit.core.native.scores.error_sums import Cost
from surefit.core.parameters import Interval
from surefit.data.batches.batch import Batch
from surefit.metrics.absolute import one_output, saved
from surefit.metrics.base import Better, Metric
from surefit.metrics.cases import ROWS, Case
from surefit.metrics.native_sums import columns_of, sums
from surefit.metrics.sums import Sums
from surefit.stats.base import Statistic

COSTS: dict[float, Cost] = {0: "squared", 1: "poisson", 2: "gamma"}
BELOW: dict[float, float] = {
    1: float(np.nextafter(0.0, -1.0)),
    2: 0.0,
}  # the greatest number that the truth may not be
Power = Annotated[float, Interval(None, None)]


def unit_deviance(y: Any, mean: Any, power: float) -> Any:
    r"""What a row costs; it is 0 for y = mean, and near it :math:`(y - \mu)^2 / \mu^p`.

    Logarithms are of 1 + (y - mean)/mean, which keeps the digits of a small difference.
    """
    if power == 0:
        return np.square(y - mean)
    if power in (1, 2):
        apart = np.asarray(y - mean)
        away = np.asarray(apart / mean)
        with np.errstate(divide="ignore"):
            logarithm = np.asarray(np.log1p(away))
        far = away < -0.9  # where 1 + away has lost digits of the ratio
        if far.any():
            ratio = np.asarray(y / mean)[far]
            logarithm[far] = np.log(ratio, out=np.zeros_like(ratio), where=ratio > 0)
        return 2 * (y * logarithm - apart) if power == 1 else 2 * (away - logarithm)
    first = np.maximum(y, 0) if power < 0 else y
    return 2 * (
        np.power(first, 2 - power) / ((1 - power) * (2 - power))
        - y * np.power(mean, 1 - power) / (1 - power)
        + np.power(mean, 2 - power) / (2 - power)
    )


class TweedieDeviance(Metric):
    """The mean deviance of a Tweedie distribution of the given power.

    Power 0 is normal, 1 Poisson, 2 gamma, 3 inverse Gaussian; powers between 0 and 1 do not exist.
    One output. Predictions must be positive but for power 0; the truth must be positive from power 2 on, and
    not negative from power 1 on.

    >>> from surefit import metrics
    >>> round(metrics.mean_tweedie_deviance([2.0, 0.0, 1.0, 4.0], [2.0, 0.5, 2.0, 4.0], power=1), 6)
    0.403426
    """

    name = "mean_tweedie_deviance"
    words = "mean Tweedie deviance"
    task = "regression"
    better: ClassVar[Better | None] = "lower"
    bounded: ClassVar[tuple[float, float]] = (0.0, inf)
    statistic: ClassVar[type[Statistic]] = Sums

    def __init__(self, *, power: Power = 0) -> None:
        self.power = power

    @property
    def context(self) -> dict[str, Any]:
        """How a row is valued."""
        return {"value": self._value, "power": self.power}

    def _at_once(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        cost = COSTS.get(self.power)
        if cost is None or self.statistic is not Sums:
            return None
        columns = columns_of(y_true, y_pred, sample_weight)
        found = sums(cost, columns, above=None if self.power == 0 else (BELOW[self.power], 0.0))
        return None if found is None or columns is None else Sums.found(len(columns[0]), found)

    def _value(self, truth: Matrix, guess: Matrix) -> Matrix:
        return np.asarray(unit_deviance(truth, guess, self.power))

    def finish(self, statistic: Any) -> float:
        """Return the mean; NaN for no rows."""
        return float(statistic.mean[0])

    def _admit(self, y_true: Any, y_pred: Any) -> Any:
        if 0 < self.power < 1:
            raise ParameterError(
                f"{self.name}: power={self.power} belongs to no Tweedie distribution; take 0, or at least 1."
            )
        pair = one_output(super()._admit(y_true, y_pred))
        if self.power != 0:
            _inside(pair.prediction, "y_pred", pair.prediction > 0, "positive", self.power)
        if self.power >= 2:
            _inside(pair.truth, "y_true", pair.truth > 0, "positive", self.power)
        elif self.power >= 1:
            _inside(pair.truth, "y_true", pair.truth >= 0, "0 or more", self.power)
        return pair

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Positive numbers, and the powers."""
        for power in (0, 1, 1.5, 2, 3, -1):
            truth = rng.gamma(2.0, size=ROWS) + 0.01
            yield Case(truth, truth * np.exp(0.3 * rng.normal(size=ROWS)), truth, {"power": power})


def _inside(column: Matrix, what: str, inside: NDArray[np.bool_], words: str, power: float) -> None:
    if inside.all():
        return
    row = int(np.argmin(np.ravel(inside)))
    raise DataError(
        f"{what} of row {row} is {np.ravel(column)[row]:g}; a deviance of power {power:g} needs it {words}."
    )


class PoissonDeviance(TweedieDeviance):
    r"""The mean Poisson deviance, :math:`\frac{2}{W} \sum_i s_i (y_i \log (y_i / \mu_i) - y_i + \mu_i)`.

    >>> from surefit import metrics
    >>> round(metrics.mean_poisson_deviance([2, 0, 1, 4], [0.5, 0.5, 2.0, 2.0]), 4)
    1.426
    """

    name = "mean_poisson_deviance"
    words = "mean Poisson deviance"
    power = 1

    def __init__(self) -> None:
        pass

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Positive numbers, and those of its power."""
        cases = (case for case in TweedieDeviance.cases(rng) if case.options["power"] == cls.power)
        return (Case(case.truth, case.prediction, case.perfect) for case in cases)


class GammaDeviance(PoissonDeviance):
    r"""The mean gamma deviance, :math:`\frac{2}{W} \sum_i s_i (\log (\mu_i / y_i) + y_i / \mu_i - 1)`.

    >>> from surefit import metrics
    >>> round(metrics.mean_gamma_deviance([2, 0.5, 1, 4], [0.5, 0.5, 2.0, 2.0]), 4)
    1.0569
    """

    name = "mean_gamma_deviance"
    power = 2


@dataclass(frozen=True, slots=True)
class Explained(Statistic):
    """The deviance, and that of the truth about its mean.

    A deviance is a Bregman divergence: about a mean it adds up as a variance does,
    D(both) = D(one) + W_one d(m_one, m) + D(two) + W_two d(m_two, m), and no digits cancel.
    """

    losses: Sums
    mean: float
    spread: float
    power: float

    @classmethod
    def of(
        cls, batch: Batch, *, prediction: Any = None, value: Any = None, power: float = 0, **context: Any
    ) -> Explained:
        """Compute it over the targets of a batch and what was predicted for them."""
        losses = Sums.of(batch, prediction=prediction, value=value)
        truth, weight = np.ravel(np.asarray(batch.y, dtype=np.float64)), batch.weight
        if losses.weight == 0:
            return cls(losses, 0.0, 0.0, power)
        mean = float(np.average(truth, weights=weight))
        mean += float(np.average(truth - mean, weights=weight))
        spread = np.asarray(unit_deviance(truth, mean, power))
        return cls(losses, mean, float(spread.sum() if weight is None else spread @ weight), power)

    def __add__(self, other: Explained) -> Explained:
        losses = self.losses + other.losses
        if self.losses.weight == 0 or other.losses.weight == 0:
            kept = other if self.losses.weight == 0 else self
            return Explained(losses, kept.mean, kept.spread, kept.power)
        mean = self.mean + (other.mean - self.mean) * (other.losses.weight / losses.weight)
        between = (
            part.losses.weight * float(unit_deviance(part.mean, mean, self.power)) for part in (self, other)
        )
        return Explained(losses, mean, self.spread + other.spread + sum(between), self.power)


class D2Tweedie(TweedieDeviance):
    """The share of the deviance of the mean that the prediction saves; with power 0 it is R².

    A constant target gives 1 if every prediction is right and 0 otherwise; fewer than two rows give NaN.

    >>> from surefit import metrics
    >>> round(metrics.d2_tweedie_score([0.5, 1, 2.5, 7], [1, 1, 5, 3.5], power=1), 4)
    0.4879
    """

    name = "d2_tweedie_score"
    words = "D² by the Tweedie deviance"
    better: ClassVar[Better | None] = "higher"
    bounded: ClassVar[tuple[float, float]] = (-inf, inf)
    statistic: ClassVar[type[Statistic]] = Explained

    def finish(self, statistic: Any) -> float:
        """Return the share saved."""
        if statistic.losses.rows < 2:
            return float("nan")
        return float(saved(statistic.losses.sums, np.array([statistic.spread]))[0])
