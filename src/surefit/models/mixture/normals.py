"""Forms of covariance, from sums over rows to parameters, and checks of what a user starts with."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError
from surefit.core.native.sums.mixture_sums import NormalMixture
from surefit.models.mixture.base import Theta, log_weights
from surefit.stats.component_moments import LOG_2_PI, ComponentMoments

Form = Literal["full", "tied", "diag", "spherical"]
NONE_LOST = 10 * np.finfo(np.float64).eps  # added to each weight, as scikit-learn does: none is divided by 0


def collapse(component: int) -> DataError:
    """The error for a component that has no density."""
    return DataError(
        "Fitting the mixture model failed because some components have ill-defined empirical covariance "
        "(for instance caused by singleton or collapsed samples). Try to decrease the number of "
        f"components, increase reg_covar, or scale the input data: component {component} collapsed."
    )


def is_diagonal(form: Form) -> bool:
    """Whether columns are independent within a component."""
    return form in ("diag", "spherical")


def finished(moments: ComponentMoments, form: Form, floor: float) -> Theta:
    """The likeliest parameters for given shares, with ``floor`` added to every variance."""
    weight = moments.weight + NONE_LOST
    covariances = covariances_of(moments.scatter, weight, form, floor)
    weights = weight / weight.sum()
    return {
        "weights": weights,
        "means": moments.mean,
        "covariances": covariances,
        "factors": factors_of(covariances, form),
    }


def covariances_of(
    scatter: NDArray[np.float64], weight: Vector, form: Form, floor: float
) -> NDArray[np.float64]:
    """Scatter over weight in the form asked for."""
    found: NDArray[np.float64]
    if form == "tied":
        found = scatter.sum(axis=0) / weight.sum()
        found[np.diag_indices_from(found)] += floor
    elif form == "full":
        found = scatter / weight[:, None, None]
        np.einsum("kii->ki", found)[...] += floor
    else:
        found = scatter / weight[:, None] + floor
        if form == "spherical":
            found = found.mean(axis=1)
    return found


def factors_of(covariances: NDArray[np.float64], form: Form) -> NDArray[np.float64]:
    """Factors F with F F' the inverse of each covariance."""
    if is_diagonal(form):
        if not (covariances > 0).all():
            raise collapse(int(np.argmin(covariances.reshape(len(covariances), -1).min(axis=1))))
        found: NDArray[np.float64] = 1.0 / np.sqrt(covariances)
        return found
    if form == "tied":
        return _factor(covariances, 0)
    return np.stack([_factor(covariance, k) for k, covariance in enumerate(covariances)])


def _factor(covariance: Matrix, k: int) -> Matrix:
    try:
        root = linalg.cholesky(covariance, lower=True, check_finite=False)
    except linalg.LinAlgError:
        raise collapse(k) from None
    found: Matrix = linalg.solve_triangular(root, np.eye(len(root)), lower=True, check_finite=False).T
    return np.ascontiguousarray(found)


def as_mixture(theta: Theta, form: Form) -> NormalMixture:
    """The densities as the kernel takes them, shares of the components included."""
    means, factors = np.asarray(theta["means"]), np.asarray(theta["factors"])
    count, width = means.shape
    if form == "tied":
        factors = np.broadcast_to(factors, (count, width, width))
    elif form == "spherical":
        factors = np.repeat(factors[:, None], width, axis=1)
    scales = factors if is_diagonal(form) else np.einsum("kii->ki", factors)
    offset = log_weights(theta) + np.log(scales).sum(axis=1) - 0.5 * width * LOG_2_PI
    return NormalMixture(np.ascontiguousarray(means), np.ascontiguousarray(factors), offset)


def factors_of_precisions(precisions: NDArray[np.float64], form: Form) -> NDArray[np.float64]:
    """Upper triangular factors F with F F' a precision: factors from the last row up."""
    if is_diagonal(form):
        return np.sqrt(precisions)
    if form == "tied":
        return _upper(precisions)
    return np.stack([_upper(precision) for precision in precisions])


def _upper(precision: Matrix) -> Matrix:
    root: Matrix = linalg.cholesky(precision[::-1, ::-1], lower=True)[::-1, ::-1]
    return np.ascontiguousarray(root)


def covariances_of_factors(factors: NDArray[np.float64], form: Form) -> NDArray[np.float64]:
    """The inverse of F F'."""
    if is_diagonal(form):
        found: NDArray[np.float64] = 1.0 / factors**2
        return found
    if form == "tied":
        root = linalg.solve_triangular(factors, np.eye(len(factors)), lower=False)
        return np.asarray(root.T @ root)
    return np.stack([covariances_of_factors(factor, "tied") for factor in factors])


def checked_weights(weights: Any, count: int) -> Vector:
    """Shares that a user starts with."""
    found = _shaped(weights, (count,), "weights")
    if (found < 0).any() or (found > 1).any():
        raise ParameterError(
            "The parameter 'weights' should be in the range [0, 1], but got max value "
            f"{found.min():.5f}, min value {found.max():.5f}"
        )
    if not np.isclose(found.sum(), 1.0, rtol=0, atol=1e-8):
        raise ParameterError(
            f"The parameter 'weights' should be normalized, but got sum(weights) = {found.sum():.5f}"
        )
    return found


def checked_means(means: Any, count: int, width: int) -> Matrix:
    """Means that a user starts with."""
    return _shaped(means, (count, width), "means")


def checked_precisions(precisions: Any, form: Form, count: int, width: int) -> NDArray[np.float64]:
    """Inverse covariances that a user starts with."""
    shapes: dict[Form, tuple[int, ...]] = {
        "full": (count, width, width),
        "tied": (width, width),
        "diag": (count, width),
        "spherical": (count,),
    }
    found = _shaped(precisions, shapes[form], f"{form} precision")
    if is_diagonal(form):
        if (found <= 0).any():
            raise ParameterError(f"'{form} precision' should be positive")
        return found
    for each in found if form == "full" else [found]:
        if not np.allclose(each, each.T) or not (np.linalg.eigvalsh(each) > 0).all():
            raise ParameterError(f"'{form} precision' should be symmetric, positive-definite")
    return found


def _shaped(value: Any, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    found = np.array(value, dtype=np.float64)
    if found.shape != shape:
        raise ParameterError(
            f"The parameter '{name}' should have the shape of {shape}, but got {found.shape}"
        )
    if not np.isfinite(found).all():
        raise ParameterError(f"The parameter '{name}' must hold finite numbers.")
    return found
