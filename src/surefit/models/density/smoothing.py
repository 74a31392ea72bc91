r"""Smoothing kernels: what weight a row has at a distance.

K is 1 at distance 0 and :math:`K_h(u) = K(u / h) / c_d(h)` integrates to 1 in d dimensions.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.scores.density_sums import DensityTree, density_sums, density_tree, log_kernel
from surefit.core.public import public

KernelName = Literal["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]
_EXACT = 1e-14  # below what a sum of a hundred thousand terms rounds


@public
def log_kernel_volume(kernel: KernelName, dimensions: int, bandwidth: float = 1.0) -> float:
    r"""Return :math:`\log c_d(h) = \log \int K(|x| / h) dx` over d dimensions.

    >>> round(math.exp(log_kernel_volume("gaussian", 1)), 6)  # the square root of 2 pi
    2.506628
    >>> round(math.exp(log_kernel_volume("tophat", 2)), 6)  # the area of a circle
    3.141593
    """
    d = dimensions
    ball = 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1)
    if kernel == "gaussian":
        found = 0.5 * d * math.log(2 * math.pi)
    elif kernel == "tophat":
        found = ball
    elif kernel == "epanechnikov":
        found = ball + math.log(2 / (d + 2))
    elif kernel == "exponential":
        found = ball + math.lgamma(d + 1)
    elif kernel == "linear":
        found = ball - math.log(d + 1)
    else:
        nodes, weights = np.polynomial.legendre.leggauss(64)
        u = 0.5 * (nodes + 1)
        found = ball + math.log(d * float(0.5 * weights @ (u ** (d - 1) * np.cos(0.5 * np.pi * u))))
    return found + d * math.log(bandwidth)


@public
def kernel_values(kernel: KernelName, x: Any, bandwidth: float = 1.0) -> NDArray[np.float64]:
    r"""Return the normalised kernel :math:`\kappa_h(x)` of one variable.

    >>> kernel_values("gaussian", [0.0, 1.0]).round(6)
    array([0.398942, 0.241971])
    """
    u = np.abs(np.asarray(x, dtype=np.float64)) / bandwidth
    return np.exp(log_kernel(kernel, u) - log_kernel_volume(kernel, 1, bandwidth))


def distances(X: Matrix, Y: Matrix, metric: str, options: dict[str, Any]) -> Matrix:
    """Return the distances of all rows of X to all of Y."""
    if metric == "haversine":
        half = 0.5 * (X[:, None, :] - Y[None, :, :])
        across = np.sin(half[:, :, 0]) ** 2
        along = np.cos(X[:, :1]) * np.cos(Y[:, 0]) * np.sin(half[:, :, 1]) ** 2
        return 2 * np.arcsin(np.sqrt(np.minimum(across + along, 1.0)))
    from scipy.spatial.distance import cdist

    names = {"manhattan": "cityblock", "l1": "cityblock", "l2": "euclidean", "infinity": "chebyshev"}
    found: Matrix = cdist(X, Y, names.get(metric, metric), **options)
    return found


def log_sums(
    X: Matrix, weight: Vector, queries: Matrix, kernel: str, h: float, metric: str, options: dict[str, Any]
) -> Vector:
    """Return the logarithm of the kernel sum of each query, row by row in blocks of queries."""
    found = np.empty(len(queries))
    step = max(1, 2**22 // max(1, len(X)))
    for start in range(0, len(queries), step):
        part = slice(start, start + step)
        logs = log_kernel(kernel, distances(queries[part], X, metric, options) / h)
        best = logs.max(axis=1, initial=-np.inf)
        shift = np.where(best == -np.inf, 0.0, best)
        with np.errstate(divide="ignore"):
            found[part] = shift + np.log(np.exp(logs - shift[:, None]) @ weight)
    return found


def tree_sums(
    tree: DensityTree, queries: Matrix, kernel: str, h: float, relative: float, absolute: float
) -> tuple[Vector, Vector]:
    """The same through a tree, with a bound on the relative error of each sum."""
    return density_sums(tree, queries, kernel, h, max(relative, _EXACT), absolute)


def left_out(tree: DensityTree, rows: Matrix, which: NDArray[np.int64], kernel: str, h: float) -> Vector:
    """Return the logarithm of the mean kernel value at some of the rows, one copy of the row left out."""
    found, _ = density_sums(tree, rows[which], kernel, h, _EXACT, skip=which)
    others = float(tree.totals[0]) - np.minimum(tree.weight[tree.places[which]], 1.0)
    with np.errstate(divide="ignore"):
        return found - np.log(others)


def grown(rows: Matrix, weight: Vector, leaf: int = 256) -> DensityTree:
    """Put rows into a tree."""
    return density_tree(rows, weight, max(leaf, 8))
