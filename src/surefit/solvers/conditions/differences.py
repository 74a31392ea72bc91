r"""Numerical derivatives, each with an estimate of its own error.

A central difference :math:`(f(x + h) - f(x - h)) / 2h` errs by :math:`h^2` where h is large and by rounding
over h where it is small. Ridders' method takes steps from large to small, extrapolates them to zero as
polynomials in :math:`h^2`, and keeps, for each entry alone, the value whose neighbours agree best: the best
step is found, not guessed. Where a formula takes complex numbers, the imaginary part at :math:`x + ih` is
exact.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, RefusalError

Function = Callable[[Any], Any]  # of a vector
Method = Literal["central", "complex"]

FIRST, SHRINK, STEPS = 0.1, 3.0, 24  # from a tenth of x down to 1e-12 of it, each step a third of the last
EPS = float(np.finfo(float).eps)
ORDERS = 6  # of extrapolation; higher ones only add up roundings
PATIENCE = 3  # steps without a better value, once there is one of nine digits


def numerical_gradient(f: Function, x: ArrayLike, *, method: Method = "central") -> Vector:
    """Return the gradient of a function of a vector, by differences.

    >>> numerical_gradient(lambda x: x[0] ** 2 * x[1], [3.0, 2.0]).round(9)
    array([12.,  9.])
    """
    slopes = numerical_jacobian(f, x, method=method)
    if slopes.shape[0] != 1:
        raise DataError(
            f"the function returns {slopes.shape[0]} numbers, so it has no gradient; use numerical_jacobian."
        )
    gradient: Vector = slopes[0]
    return gradient


def numerical_jacobian(f: Function, x: ArrayLike, *, method: Method = "central") -> Matrix:
    """Return the Jacobian by differences: one row an output, one column a coordinate of x.

    >>> numerical_jacobian(lambda x: [x[0] * x[1], x[1]], [2.0, 3.0], method="complex")
    array([[3., 2.],
           [0., 1.]])
    """
    point = _point(x)
    if method == "complex":
        return _complex_step(f, point)
    return jacobian_with_errors(f, point)[0]


def numerical_hessian(f: Function, x: ArrayLike, gradient: Function | None = None) -> Matrix:
    """Return the symmetric matrix of second derivatives, of the gradient where one is given.

    >>> numerical_hessian(lambda x: x[0] ** 2 * x[1], [3.0, 2.0]).round(7) + 0.0
    array([[4., 6.],
           [6., 0.]])
    """
    return hessian_with_errors(f, _point(x), gradient)[0]


def hessian_with_errors(f: Function, point: Vector, gradient: Function | None) -> tuple[Matrix, Matrix]:
    """Return the Hessian and, entry by entry, how far neighbouring extrapolations are from it."""
    n = len(point)
    if gradient is not None:
        slopes, errors = jacobian_with_errors(gradient, point)
        if slopes.shape != (n, n):
            raise DataError(
                f"the gradient returns {slopes.shape[0]} numbers for {n} coordinates; give one each."
            )
        return 0.5 * (slopes + slopes.T), np.maximum(errors, errors.T)
    hessian, off = np.empty((n, n)), np.empty((n, n))
    centre = _values(f, point)
    for i in range(n):
        for j in range(i + 1):
            bend, error = _extrapolated(partial(_bend, f, point, centre, i, j), point, centre, 2)
            hessian[i, j] = hessian[j, i] = bend[0]
            off[i, j] = off[j, i] = error[0]
    return hessian, off


def jacobian_with_errors(f: Function, point: Vector) -> tuple[Matrix, Matrix]:
    """Return the Jacobian and, entry by entry, how far neighbouring extrapolations are from it."""
    centre = _values(f, point)
    columns = [
        _extrapolated(partial(_slope, f, point, j), point[j : j + 1], centre) for j in range(len(point))
    ]
    return np.column_stack([value for value, _ in columns]), np.column_stack([error for _, error in columns])


def _extrapolated(
    difference: Callable[[float], Vector], around: Vector, centre: Vector, order_of_step: int = 1
) -> tuple[Matrix, Matrix]:
    """Return the limit of a difference as its step goes to zero, with an error for each entry.

    ``centre`` holds the values between those that are subtracted: below their rounding all differences are 0,
    and would agree.
    """
    rounding = EPS * np.abs(np.where(np.isfinite(centre), centre, 0.0))
    step = FIRST * max(float(np.abs(around).max()), 1.0)
    first = difference(step)
    for _ in range(40):  # a step out of the domain, or into overflow, is too large
        if np.isfinite(first).all():
            break
        step /= 10
        first = difference(step)
    else:
        raise DataError("the function is not finite around the point; choose a point inside its domain.")
    rows = [first]
    best, error, since = first, np.full(first.shape, np.inf), 0
    for number in range(1, STEPS):
        step /= SHRINK
        new = [difference(step)]
        factor = SHRINK**2
        since += 1
        for order in range(min(number, ORDERS)):
            new.append((factor * new[order] - rows[order]) / (factor - 1))
            factor *= SHRINK**2
            if order + 1 == len(rows):
                break
            # Three neighbours: where a function swings many times within a step, two may agree by chance.
            neighbours = np.abs(np.array([new[-2], rows[order], rows[order + 1]]) - new[-1])
            guess = neighbours.max(axis=0) + rounding / step**order_of_step
            better = guess < error
            best, error = np.where(better, new[-1], best), np.where(better, guess, error)
            since = 0 if better.any() else since
        if since >= PATIENCE and np.all(error <= 1e-9 * np.abs(best)):
            break
        rows = new
    return best, error


def _slope(f: Function, x: Vector, j: int, h: float) -> Vector:
    ahead, behind = _moved(x, j, h), _moved(x, j, -h)
    slope: Vector = (_values(f, ahead) - _values(f, behind)) / (ahead[j] - behind[j])
    return slope


def _bend(f: Function, x: Vector, centre: Vector, i: int, j: int, h: float) -> Vector:
    if i == j:
        return (_values(f, _moved(x, i, h)) - 2 * centre + _values(f, _moved(x, i, -h))) / h**2
    corners = [_values(f, _moved(_moved(x, i, a * h), j, b * h)) * a * b for a in (1, -1) for b in (1, -1)]
    total: Vector = np.sum(corners, axis=0)
    return total / (4 * h**2)


def _moved(x: Vector, j: int, h: float) -> Vector:
    moved = x.copy()
    moved[j] += h
    return moved


def _values(f: Function, x: Vector) -> Vector:
    with np.errstate(all="ignore"):
        return np.atleast_1d(np.asarray(f(x), dtype=np.float64)).ravel()


def _complex_step(f: Function, point: Vector) -> Vector:
    """Return the imaginary parts, after a look whether the formula goes on to complex numbers."""
    columns = []
    for j in range(len(point)):
        step = 1e-150 if point[j] == 0 else 1e-20 * abs(point[j])
        moved = point.astype(np.complex128)
        moved[j] += 1j * step
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                value = np.atleast_1d(np.asarray(f(moved), dtype=np.complex128)).ravel()
        except (TypeError, np.exceptions.ComplexWarning):
            raise RefusalError(
                "the function does not accept complex numbers; use method='central'."
            ) from None
        columns.append(value.imag / step)
    slopes = np.column_stack(columns)
    plain, error = jacobian_with_errors(f, point)
    if np.any(np.abs(slopes - plain) > 10 * error + 1e-4 * np.abs(plain).max(initial=0.0)):
        raise RefusalError(
            "the function has no complex extension, as with abs, max or a comparison; use method='central'."
        )
    return slopes


def _point(x: ArrayLike) -> Vector:
    point = np.atleast_1d(np.array(x, dtype=np.float64))
    if point.ndim != 1 or not np.isfinite(point).all():
        raise DataError("the point must be a vector of finite numbers.")
    return point
