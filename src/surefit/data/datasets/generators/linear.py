"""Linear regression with planted coefficients: sparse, ill-conditioned, contaminated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.core.parameters import Count, Fraction, Interval, Positive, RandomState
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.base import Codes, Generated, Mask, checked, stream

Correlation = Annotated[float, Interval(-1, 1, open_low=True, open_high=True)]
Condition = Annotated[float, Interval(1, None)]


@dataclass(frozen=True, eq=False)
class SparseRegression(Generated):
    """A few columns act and the others are noise: ``y = b + Xw + e``, ``e ~ N(0, noise²)``.

    Neighbouring columns are correlated as ``correlation ** distance``; the noise is such that the variance of
    ``Xw`` is ``snr`` times that of ``e``. The best risk of any model is ``noise²``.

    >>> drawn = SparseRegression.draw(rows=100, columns=50, informative=3, random_state=0)
    >>> drawn.X.shape, len(drawn.support), int((drawn.coefficients != 0).sum())
    ((100, 50), 3, 3)
    """

    name = "sparse_regression"
    X: Matrix
    y: Vector
    coefficients: Vector
    intercept: float
    support: Codes
    noise: float
    correlation: float

    @property
    def optimal_risk(self) -> float:
        """Expected squared error of the truth itself."""
        return self.noise**2

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 200,
        columns: Count = 20,
        informative: Count = 5,
        *,
        correlation: Correlation = 0.0,
        snr: Positive = 10.0,
        intercept: float = 1.0,
        random_state: RandomState = 0,
    ) -> Self:
        """Plant coefficients of size 1 to 2 and either sign in ``informative`` random columns."""
        if informative > columns:
            raise ParameterError(
                f"SparseRegression.draw: informative={informative} is more than columns={columns}; "
                "ask for more columns."
            )
        random = stream(random_state)
        X = random.standard_normal((rows, columns))
        for column in range(1, columns if correlation else 0):
            X[:, column] *= np.sqrt(1.0 - correlation**2)
            X[:, column] += correlation * X[:, column - 1]
        support = np.sort(random.permutation(columns)[:informative])
        planted = random.uniform(1.0, 2.0, informative) * random.choice([-1.0, 1.0], informative)
        coefficients = np.zeros(columns)
        coefficients[support] = planted
        distance = np.abs(support[:, None] - support)
        noise = float(np.sqrt(planted @ np.power(float(correlation), distance) @ planted / snr))
        y = intercept + X @ coefficients + noise * random.standard_normal(rows)
        return cls(X, y, coefficients, float(intercept), support, noise, float(correlation))

    def surprise(self) -> dict[str, float]:
        """Noise of the right size and unrelated to every column; columns as correlated as stated."""
        residual = self.y - self.intercept - self.X @ self.coefficients
        products = self.X[:, 1:] * self.X[:, :-1]
        return {
            "coefficients": surprise.score(self.X, residual, self.noise),
            "noise": surprise.noise(residual, self.noise),
            "scale": surprise.total(self.X**2, 1.0, 2.0),
            "correlation": surprise.total(products, self.correlation, 1.0 + self.correlation**2)
            if products.size
            else 0.0,
        }


@dataclass(frozen=True, eq=False)
class IllConditioned(Generated):
    """Columns that nearly depend on each other: ``σ_max(X) / σ_min(X) = condition``, centred or not.

    The singular values fall geometrically, and every column sums to zero, so that centring changes nothing.

    >>> drawn = IllConditioned.draw(rows=50, columns=4, condition=1e5, random_state=0)
    >>> round(float(np.linalg.cond(drawn.X)))
    100000
    """

    name = "ill_conditioned"
    X: Matrix
    y: Vector
    coefficients: Vector
    intercept: float
    noise: float
    condition: float
    singular_values: Vector

    @property
    def optimal_risk(self) -> float:
        """Expected squared error of the truth itself."""
        return self.noise**2

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 200,
        columns: Count = 10,
        *,
        condition: Condition = 1e6,
        noise: Positive = 0.1,
        random_state: RandomState = 0,
    ) -> Self:
        """Put the singular values between random orthonormal vectors."""
        if rows <= columns:
            raise ParameterError(
                f"IllConditioned.draw: rows={rows} leave no {columns} columns that sum to zero; "
                f"ask for at least {columns + 1} rows."
            )
        if columns == 1 and condition > 1:
            raise ParameterError("IllConditioned.draw: one column has condition 1; ask for two or more.")
        random = stream(random_state)
        left = random.standard_normal((rows, columns))
        left, _ = np.linalg.qr(left - left.mean(axis=0))
        right, _ = np.linalg.qr(random.standard_normal((columns, columns)))
        singular_values = np.sqrt(rows) * float(condition) ** -np.linspace(0.0, 1.0, columns)
        X = np.ascontiguousarray((left * singular_values) @ right.T)
        coefficients = random.standard_normal(columns)
        intercept = float(random.standard_normal())
        y = intercept + X @ coefficients + noise * random.standard_normal(rows)
        return cls(X, y, coefficients, intercept, float(noise), float(condition), singular_values)

    def surprise(self) -> dict[str, float]:
        """The condition number to 1e-6, and noise of the right size, unrelated to every column."""
        found = np.linalg.svd(self.X - self.X.mean(axis=0), compute_uv=False)
        residual = self.y - self.intercept - self.X @ self.coefficients
        return {
            "condition": surprise.exact(found[0] / found[-1], self.condition, 1e-6),
            "singular values": surprise.exact(found, self.singular_values, 1e-12),
            "coefficients": surprise.score(self.X, residual, self.noise),
            "noise": surprise.noise(residual, self.noise),
        }


@dataclass(frozen=True, eq=False)
class Contaminated(Generated):
    """A linear truth with a share of gross errors in y, all upwards: what robust losses are for.

    >>> drawn = Contaminated.draw(rows=100, share=0.1, random_state=0)
    >>> bool((drawn.y - drawn.intercept - drawn.X @ drawn.coefficients)[drawn.outliers].min() > 5)
    True
    """

    name = "contaminated"
    X: Matrix
    y: Vector
    coefficients: Vector
    intercept: float
    noise: float
    share: float
    shift: float
    outliers: Mask

    @property
    def optimal_risk(self) -> float:
        """Expected squared error of the truth on a clean row."""
        return self.noise**2

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 200,
        columns: Count = 3,
        *,
        share: Fraction = 0.1,
        shift: Positive = 20.0,
        noise: Positive = 1.0,
        random_state: RandomState = 0,
    ) -> Self:
        """Add ``shift`` to each target with probability ``share``."""
        random = stream(random_state)
        X = random.standard_normal((rows, columns))
        coefficients = random.standard_normal(columns)
        outliers = random.random(rows) < share
        y = 1.0 + X @ coefficients + noise * random.standard_normal(rows) + shift * outliers
        return cls(X, y, coefficients, 1.0, float(noise), float(share), float(shift), outliers)

    def surprise(self) -> dict[str, float]:
        """The share of outliers, and noise of the right size once their shift is taken away."""
        residual = self.y - self.intercept - self.X @ self.coefficients - self.shift * self.outliers
        return {
            "share": surprise.total(self.outliers, self.share, self.share * (1.0 - self.share)),
            "coefficients": surprise.score(self.X, residual, self.noise),
            "noise": surprise.noise(residual, self.noise),
        }
