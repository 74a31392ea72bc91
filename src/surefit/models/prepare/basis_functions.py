"""Functions of one number, side by side: splines, bumps, hats, waves and powers."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, CubicSpline

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Basis = Literal["bspline", "natural", "gaussian", "hat", "fourier", "polynomial"]


def b_splines(x: Vector, knots: Vector, degree: int) -> Matrix:
    """Return the B-splines of a degree on knots, which add up to 1; outside they stay as at the end.

    >>> b_splines(np.array([0.0, 0.5, 3.0]), np.array([0.0, 1.0, 2.0]), 1)
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    ends = np.repeat(knots[0], degree), np.repeat(knots[-1], degree)
    padded = np.concatenate([ends[0], knots, ends[1]])
    inside = np.clip(x, knots[0], knots[-1])
    return np.asarray(BSpline.design_matrix(inside, padded, degree).toarray())


def natural_splines(x: Vector, knots: Vector) -> Matrix:
    """Return the cubic splines that are 1 at one knot and 0 at the others, and straight outside.

    >>> natural_splines(np.array([0.0, 3.0]), np.array([0.0, 1.0, 2.0])).round(6)
    array([[ 1.  ,  0.  ,  0.  ],
           [ 0.25, -1.5 ,  2.25]])
    """
    spline = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")
    inside = np.clip(x, knots[0], knots[-1])
    return np.asarray(spline(inside) + (x - inside)[:, None] * spline(inside, 1))


def gaussian(distance: Matrix, width: float) -> Matrix:
    r"""Return :math:`e^{-t^2 / (2 \sigma^2)}`."""
    return np.asarray(np.exp(-0.5 * (distance / width) ** 2))


def hat(distance: Matrix, width: float) -> Matrix:
    r"""Return :math:`1 - |t| / \alpha` where that is positive, 0 elsewhere."""
    return np.asarray(np.maximum(1.0 - np.abs(distance) / width, 0.0))


def waves(x: Vector, period: float, functions: int) -> Matrix:
    """Return sine and cosine of one wave a period, then of two, and so on."""
    angle = 2.0 * np.pi * (x / period)
    return np.column_stack(
        [(np.sin, np.cos)[k % 2]((k // 2 + 1) * angle) for k in range(functions)] or [np.zeros((len(x), 0))]
    )


def powers(x: Vector, highest: int) -> Matrix:
    """Return x, x squared, and so on."""
    return np.asarray(x[:, None] ** np.arange(1, highest + 1))


def function_names(basis: Basis, functions: int) -> list[str]:
    """Return what each function is called, after the column's name."""
    if basis == "polynomial":
        return ["" if k == 0 else f"^{k + 1}" for k in range(functions)]
    if basis == "fourier":
        return [f"_{('sin', 'cos')[k % 2]}{k // 2 + 1}" for k in range(functions)]
    return [f"_{basis}{k}" for k in range(functions)]
