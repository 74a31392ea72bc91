"""Generalised linear models: six response families with their true link and coefficients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.core.parameters import Count, NonNegative, Positive, RandomState
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.base import Generated, checked, stream

FamilyName = Literal["gaussian", "binomial", "poisson", "gamma", "inverse_gaussian", "negative_binomial"]


@dataclass(frozen=True)
class Family:
    """A response distribution: its link, how the variance follows the mean, and how to draw from it."""

    link: str
    dispersion: float | None  # what it is unless asked otherwise; None where the family leaves no choice
    mean: Callable[[Vector], Vector]
    slope: Callable[[Vector], Vector]  # of the mean, as a function of the mean
    variance: Callable[[Vector, float], Vector]
    sample: Callable[[np.random.Generator, Vector, float], NDArray[Any]]


def _same(mean: Vector) -> Vector:
    return mean


FAMILIES: dict[str, Family] = {
    "gaussian": Family(
        "identity",
        1.0,
        _same,
        np.ones_like,
        lambda mean, phi: np.full_like(mean, phi),
        lambda random, mean, phi: random.normal(mean, np.sqrt(phi)),
    ),
    "binomial": Family(
        "logit",
        None,
        expit,
        lambda mean: mean * (1.0 - mean),
        lambda mean, phi: mean * (1.0 - mean),
        lambda random, mean, phi: (random.random(len(mean)) < mean).astype(np.int64),
    ),
    "poisson": Family(
        "log", None, np.exp, _same, lambda mean, phi: mean, lambda random, mean, phi: random.poisson(mean)
    ),
    "gamma": Family(
        "log",
        0.5,
        np.exp,
        _same,
        lambda mean, phi: phi * mean**2,
        lambda random, mean, phi: random.gamma(1.0 / phi, mean * phi),
    ),
    "inverse_gaussian": Family(
        "log",
        0.2,
        np.exp,
        _same,
        lambda mean, phi: phi * mean**3,
        lambda random, mean, phi: random.wald(mean, 1.0 / phi),
    ),
    "negative_binomial": Family(
        "log",
        0.5,
        np.exp,
        _same,
        lambda mean, phi: mean + phi * mean**2,
        lambda random, mean, phi: random.negative_binomial(1.0 / phi, 1.0 / (1.0 + phi * mean)),
    ),
}


@dataclass(frozen=True, eq=False)
class GeneralizedLinear(Generated):
    """``E[y] = μ`` with ``link(μ) = b + Xw`` and a variance that follows the mean.

    Variance by family: gaussian ``φ``, binomial (0 and 1) ``μ(1-μ)``, poisson ``μ``, gamma ``φμ²``,
    inverse_gaussian ``φμ³``, negative_binomial ``μ + φμ²``. Links: identity, logit, and log for the others.

    >>> drawn = GeneralizedLinear.draw("poisson", rows=4, columns=2, random_state=0)
    >>> drawn.link, drawn.y.dtype.name, bool(np.allclose(np.log(drawn.mean), drawn.predictor))
    ('log', 'int64', True)
    """

    name = "generalized_linear"
    X: Matrix
    y: NDArray[Any]
    family: str
    link: str
    coefficients: Vector
    intercept: float
    dispersion: float

    @property
    def predictor(self) -> Vector:
        """The linear score of every row."""
        return np.asarray(self.intercept + self.X @ self.coefficients)

    @property
    def mean(self) -> Vector:
        """The true mean of every row."""
        return FAMILIES[self.family].mean(self.predictor)

    @property
    def variance(self) -> Vector:
        """The true variance of every row; its average is the best squared error."""
        return FAMILIES[self.family].variance(self.mean, self.dispersion)

    @classmethod
    @checked
    def draw(
        cls,
        family: FamilyName = "poisson",
        rows: Count = 500,
        columns: Count = 5,
        *,
        signal: NonNegative = 0.7,
        intercept: float = 0.5,
        dispersion: Positive | None = None,
        random_state: RandomState = 0,
    ) -> Self:
        """Draw normal columns and coefficients scaled so that the linear score has deviation ``signal``."""
        kind = FAMILIES[family]
        if dispersion is not None and kind.dispersion is None:
            raise ParameterError(
                f"GeneralizedLinear.draw: the {family} family has no dispersion; leave it out."
            )
        phi = float(dispersion or kind.dispersion or 1.0)
        random = stream(random_state)
        X = random.standard_normal((rows, columns))
        coefficients = random.standard_normal(columns)
        coefficients *= signal / np.linalg.norm(coefficients)
        y = kind.sample(random, kind.mean(intercept + X @ coefficients), phi)
        return cls(X, y, family, kind.link, coefficients, float(intercept), phi)

    def surprise(self) -> dict[str, float]:
        """The score vanishes at the truth, and the squared residuals average to the variance."""
        mean, variance = self.mean, self.variance
        slope = FAMILIES[self.family].slope(mean)
        ratio = (self.y - mean) ** 2 / variance
        spread = float(np.var(ratio)) or 1.0
        return {
            "coefficients": surprise.score(
                self.X, (self.y - mean) * slope / variance, slope / np.sqrt(variance)
            ),
            "variance": surprise.total(ratio, 1.0, spread),
        }
