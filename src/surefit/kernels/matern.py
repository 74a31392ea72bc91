"""Matern's kernels: of functions that are so many times smooth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Self

import numpy as np
from scipy.special import gamma as gamma_function
from scipy.special import kv

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Interval, Positive
from surefit.kernels.base import CASE_COLUMNS, WIDE, Bounds, Kernel, NativeKernel
from surefit.kernels.rows import (
    Columns,
    checked_columns,
    distances,
    one_a_column,
    result_type,
    scaled_columns,
)

Smoothness = Annotated[float, Interval(0, None, open_low=True)]


class Matern(Kernel):
    r"""A kernel of the distance whose functions are smooth to a chosen degree.

    .. math:: k = \frac{2^{1 - \nu}}{\Gamma(\nu)} t^\nu K_\nu(t), \quad t = \sqrt{2 \nu} \, |x - y| / \ell

    nu: 0.5 is the exponential kernel, whose functions have kinks; 1.5 has one derivative, 2.5 two; infinity
    is the Gaussian kernel. length_scale: one for all columns, or one a column.

    >>> Matern(nu=1.5)([[0.0]], [[1.0]]).round(6)
    array([[0.483358]])
    """

    name = "matern"
    free = ("length_scale",)

    def __init__(
        self,
        length_scale: Positive | Columns = 1.0,
        length_scale_bounds: Bounds = WIDE,
        nu: Smoothness = 1.5,
    ) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds
        self.nu = nu
        self._check()

    def _check(self) -> None:
        super()._check()
        checked_columns(type(self).__name__, "length_scale", self.length_scale)

    def _scaled(self, X: Any) -> Any:
        scale = one_a_column("Matern", "length_scale", np.asarray(self.length_scale, dtype=float), X.shape[1])
        return scaled_columns(X, np.broadcast_to(1 / scale, X.shape[1]))

    def _times(self, X: Any, Y: Any) -> Matrix:
        found = distances(self._scaled(X), None if Y is None else self._scaled(Y))
        return found if np.isinf(self.nu) else found * np.sqrt(2 * self.nu)

    def _gram(self, X: Any, Y: Any) -> Matrix:
        t, nu = self._times(X, Y), self.nu
        if nu == 0.5:
            K = np.exp(-t)
        elif nu == 1.5:
            K = (1 + t) * np.exp(-t)
        elif nu == 2.5:
            K = (1 + t + t**2 / 3) * np.exp(-t)
        elif np.isinf(nu):
            K = np.exp(-(t**2) / 2)
        else:
            K = _bessel(t, nu, nu, 1.0)
        return K.astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        return np.ones(X.shape[0], dtype=X.dtype)

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        # dk / d log l_j = (-k'(t) / t) (dt^2 / 2 of column j), and the first factor has closed forms.
        t, nu = self._times(X, None), self.nu
        if nu == 0.5:
            outer = np.divide(np.exp(-t), t, out=np.zeros_like(t), where=t > 0)
        elif nu == 1.5:
            outer = np.exp(-t)
        elif nu == 2.5:
            outer = (1 + t) / 3 * np.exp(-t)
        elif np.isinf(nu):
            outer = np.exp(-(t**2) / 2)
        else:
            outer = _bessel(t, nu, nu - 1, 0.0)
        if np.size(self.length_scale) == 1:
            return outer * t**2
        Z = self._scaled(X)
        factor = 1.0 if np.isinf(nu) else 2 * nu
        layers = [factor * outer * distances(Z[:, [j]], None) ** 2 for j in range(Z.shape[1])]
        return np.stack(layers, axis=2)

    def is_stationary(self) -> bool:
        """Whether it depends on x - y alone: it does."""
        return True

    def native(self) -> NativeKernel | None:
        """Return what compiled code needs: the smoothest of them is the Gaussian."""
        if not np.isinf(self.nu) or np.size(self.length_scale) > 1:
            return None
        return NativeKernel("rbf", gamma=float(0.5 / np.ravel(self.length_scale)[0] ** 2))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        for nu in (0.5, 1.5, 2.5, 0.8, 3.2, np.inf):
            yield cls(0.9, nu=nu)
        for nu in (0.5, 1.7):
            yield cls(rng.uniform(0.5, 2.0, size=CASE_COLUMNS), nu=nu)

    def __repr__(self) -> str:
        return super().__repr__().replace("nu=inf", "nu=float('inf')")


def _bessel(t: Matrix, nu: float, order: float, at_zero: float) -> Matrix:
    """2^(1 - nu) / gamma(nu) t^order K_order(t), with its limit (or what a factor of 0 makes of it) at 0."""
    found = np.full_like(t, at_zero)
    here = t > np.finfo(np.float64).tiny
    found[here] = 2 ** (1 - nu) / gamma_function(nu) * t[here] ** order * kv(order, t[here])
    return found
