"""Positive definite matrices: checks, factors, triangles and the gamma function of several variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.distributions.base import Array, Distribution, array_parameter, refuse_parameter
from surefit.distributions.special import log_gamma


def prepare_definite(distribution: Distribution, name: str) -> None:
    """Check that a parameter is a symmetric positive definite matrix."""
    matrix = array_parameter(distribution, name, 2)
    size = np.sqrt(np.abs(np.diagonal(matrix))) if matrix.shape[0] == matrix.shape[1] else None
    # Asymmetry is measured on the scale of the two columns, so that small ones count as much as large ones.
    if size is None or (np.abs(matrix - matrix.T) > 1e-10 * np.multiply.outer(size, size)).any():
        refuse_parameter(distribution, name, "it must be a symmetric matrix")
    matrix = (matrix + matrix.T) / 2.0
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        refuse_parameter(distribution, name, "it must be positive definite")
    matrix.flags.writeable = False
    object.__setattr__(distribution, name, matrix)


def log_determinant(matrix: Array) -> float:
    """Return log |M| of a positive definite matrix."""
    return float(2.0 * np.log(np.diagonal(np.linalg.cholesky(matrix))).sum())


def inverse(matrix: Array) -> Array:
    """Return the inverse of a positive definite matrix, which a natural parameter is."""
    found = np.linalg.solve(matrix, np.eye(len(matrix)))
    return np.asarray((found + found.T) / 2.0)


def whitened(factor: Array, x: Array) -> Array:
    """Return L^-1 x for many vectors x along the last axis."""
    from scipy.linalg import solve_triangular

    flat = x.reshape(-1, x.shape[-1])
    return np.asarray(solve_triangular(factor, flat.T, lower=True).T.reshape(x.shape))


def triangle(matrix: Any, off_diagonal: float = 1.0) -> Array:
    """Return the upper triangle as a vector, entries off the diagonal times a factor; of many at once."""
    matrix = np.asarray(matrix, dtype=np.float64)
    i, j = np.triu_indices(matrix.shape[-1])
    return np.asarray(matrix[..., i, j] * np.where(i == j, 1.0, off_diagonal))


def from_triangle(vector: Any, size: int, off_diagonal: float = 1.0) -> Array:
    """Return the symmetric matrix of such a vector."""
    i, j = np.triu_indices(size)
    matrix = np.zeros((size, size))
    matrix[i, j] = matrix[j, i] = np.asarray(vector, dtype=np.float64) / np.where(i == j, 1.0, off_diagonal)
    return matrix


def definite(x: Array) -> Any:
    """Whether each of many matrices is symmetric and positive definite."""
    size = np.sqrt(np.abs(np.diagonal(x, axis1=-2, axis2=-1)))
    close = np.abs(x - np.swapaxes(x, -1, -2)) <= 1e-10 * size[..., :, None] * size[..., None, :]
    return close.all(axis=(-2, -1)) & (np.linalg.eigvalsh(x)[..., 0] > 0)


def log_determinants(x: Array) -> Array:
    """Return log |X| of many matrices."""
    return np.asarray(np.linalg.slogdet(x)[1])


def log_multigamma(a: float, size: int) -> float:
    r"""Return :math:`\log \Gamma_d(a)`, the gamma function of d x d matrices."""
    steps = np.arange(size) / 2.0
    return float(size * (size - 1) / 4.0 * np.log(np.pi) + log_gamma(a - steps).sum())


def multidigamma(a: float, size: int) -> float:
    """Return the derivative of it by a."""
    from scipy.special import digamma

    return float(digamma(a - np.arange(size) / 2.0).sum())


def bartlett(rng: np.random.Generator, n: int, dof: float, size: int) -> Array:
    """Draw lower triangles A with AA' of a standard Wishart distribution."""
    found = np.tril(rng.normal(size=(n, size, size)), -1)
    found[:, range(size), range(size)] = np.sqrt(rng.chisquare(dof - np.arange(size), (n, size)))
    return found
