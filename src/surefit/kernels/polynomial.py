"""Powers of a shifted inner product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement
from math import comb, factorial
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import RefusalError
from surefit.core.parameters import Interval, NonNegative, Positive
from surefit.kernels.base import WIDE, Bounds, Kernel, NativeKernel
from surefit.kernels.rows import dots, result_type, squared_norms

MOST_FEATURES = 10**6  # columns of a feature space that is written down
Degree = Annotated[float, Interval(0, None)]


class Polynomial(Kernel):
    r"""All products of up to ``degree`` columns at the price of one inner product.

    .. math:: k(x, y) = (\gamma \, x'y + c_0)^{degree}

    With d columns the feature space has :math:`\binom{d + degree}{degree}` dimensions. It is positive
    semi-definite for whole degrees; others are taken, but not declared so. ``scale=`` of
    :meth:`scaled_by_width` is the form :math:`(1 + x'y / \sigma^2)^p`.

    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    name = "polynomial"
    free: ClassVar[tuple[str, ...]] = ("coef0", "gamma")

    def __init__(
        self,
        degree: Degree = 3,
        gamma: Positive = 1.0,
        coef0: NonNegative = 1.0,
        *,
        gamma_bounds: Bounds = WIDE,
        coef0_bounds: Bounds = WIDE,
    ) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.gamma_bounds = gamma_bounds
        self.coef0_bounds = coef0_bounds
        self._check()

    @property
    def mercer(self) -> bool:  # type: ignore[override]
        """Whether it is positive semi-definite by construction: for whole degrees."""
        return float(self.degree).is_integer()

    @classmethod
    def scaled_by_width(cls, sigma: float, degree: float = 3) -> Self:
        r"""Return :math:`(1 + x'y / \sigma^2)^p`.

        >>> Polynomial.scaled_by_width(2**0.5, degree=2)([[1.0, 2.0]], [[3.0, 4.0]]).round(9)
        array([[42.25]])
        """
        return cls(degree, gamma=1 / sigma**2, coef0=1.0)

    @classmethod
    def named(cls, parameters: Mapping[str, Any], columns: int | None) -> Self:
        """Make it out of scikit-learn's gamma, coef0 and degree."""
        return cls(**{"gamma": 1 / (columns or 1), **parameters})

    def _base(self, X: Any, Y: Any) -> Matrix:
        return self.gamma * dots(X, Y) + self.coef0

    def _power(self, base: Matrix, degree: float) -> Matrix:
        # numpy's power of whole exponents held as floats is slow, and NaN below 0 for others.
        return base ** (int(degree) if float(degree).is_integer() and degree >= 0 else degree)

    def _gram(self, X: Any, Y: Any) -> Matrix:
        return self._power(self._base(X, Y), self.degree).astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        base = self.gamma * squared_norms(X) + self.coef0
        return self._power(base, self.degree).astype(X.dtype, copy=False)

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        if self.degree == 0:
            return np.zeros_like(K)
        base = self._base(X, None)
        outer = self.degree * self._power(base, self.degree - 1)
        return outer * (self.coef0 if name == "coef0" else base - self.coef0)

    def features(self, X: Any) -> Matrix:
        """Return the features (n, D) whose inner products the kernel is, for whole degrees.

        They are all products of up to ``degree`` columns, those of most columns first, each times the root
        of how often it occurs; with ``coef0=0`` those of exactly ``degree`` columns.

        >>> Polynomial(degree=2).features([[1.0, 2.0]]).round(4)
        array([[1.    , 2.8284, 4.    , 1.4142, 2.8284, 1.    ]])
        """
        rows = self._inputs(X)
        if not self.mercer:
            raise RefusalError(f"a polynomial kernel of degree {self.degree} has no finite feature map.")
        dense = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
        degree = int(self.degree)
        refuse_many(comb(dense.shape[1] + degree, degree))
        orders = [t for t in range(degree, -1, -1) if t == degree or self.coef0 > 0]
        factors = [(comb(degree, t) * self.gamma**t * self.coef0 ** (degree - t)) ** 0.5 for t in orders]
        return np.hstack([f * monomials(dense, t) for f, t in zip(factors, orders, strict=True)])

    def native(self) -> NativeKernel:
        """Return what compiled code needs."""
        return NativeKernel("poly", float(self.gamma), float(self.coef0), float(self.degree))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(2, gamma=0.5, coef0=0.3)
        yield cls(4, gamma=1.5, coef0=0.0)
        yield cls(0)
        yield cls(1, gamma=2.0, coef0=2.0, coef0_bounds="fixed")


def monomials(X: Matrix, order: int) -> Matrix:
    """Return all products of ``order`` columns, so scaled that inner products are (x'y)^order."""
    if order == 0:
        return np.ones((len(X), 1))
    columns = []
    for chosen in combinations_with_replacement(range(X.shape[1]), order):
        times = factorial(order)
        for j in set(chosen):
            times //= factorial(chosen.count(j))
        columns.append(times**0.5 * X[:, list(chosen)].prod(axis=1))
    return np.column_stack(columns)


def refuse_many(columns: int) -> None:
    """Refuse to write down a feature space that no memory holds."""
    if columns > MOST_FEATURES:
        raise RefusalError(
            f"the feature space of this kernel has {columns} dimensions: use the kernel, which needs none of "
            "them, or Nystroem for an approximation."
        )
