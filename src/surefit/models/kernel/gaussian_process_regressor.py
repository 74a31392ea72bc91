"""Regression by a Gaussian process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import ndtri
from sklearn.base import MultiOutputMixin, RegressorMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.parameters import Count, Has, NonNegative, RandomState, WholeNumber
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.kernels import RBF, Kernel, as_kernel
from surefit.models.base import Learned
from surefit.models.kernel.base import (
    KernelModel,
    check_rows,
    held,
    kept_rows,
    kernel_times,
    objects_again,
    seed_in_use,
    whole_gram,
)
from surefit.models.kernel.evidence import (
    Rows,
    best_parameters,
    covariance,
    evidence_of,
    factor,
    log_evidence,
)
from surefit.resample.streams import stream
from surefit.solvers.linalg.positive_solve import solve_factored

TOLERANCE = 1e-9
Optimizer = Literal["fmin_l_bfgs_b"] | Callable[..., Any] | None


@dataclass(frozen=True, slots=True)
class GaussianProcessRegressorParameters:
    """Coefficients of the rows, the kernel, the rows, their scaled targets and weights, the log evidence, and
    mean and deviation of the targets.
    """

    alpha: NDArray[np.float64]
    kernel: Any
    X_train: Any
    y_train: NDArray[np.float64]
    weights: Vector
    log_marginal_likelihood_value: float
    y_mean: Vector
    y_std: Vector


def _apart(one: Any, two: Any) -> float:
    """How far two tables of rows are apart, relative to the largest number; 1 for other objects."""
    if one.dtype.kind != "f" or two.dtype.kind != "f" or one.shape != two.shape:
        return float(not np.array_equal(one, two))
    return float(np.abs(one - two).max(initial=0.0)) / max(float(np.abs(one).max(initial=0.0)), 1e-300)


class NotPositiveError(RefusalError, np.linalg.LinAlgError):
    """A covariance that has no Cholesky factor."""


class GaussianProcess(KernelModel, abstract=True):
    """What Gaussian processes share: a kernel of their own, and rows of any kind that it compares."""

    gamma = degree = coef0 = None

    def _own_kernel(self) -> Kernel:
        """A copy of the kernel as it was given."""
        if self.kernel is None:
            return 1.0 * RBF(1.0)
        return as_kernel(self.kernel).copied()

    def _fitted_kernel(self) -> Kernel:
        found: Kernel = as_kernel(self.kernel_)
        return found

    def _accepted(self) -> Accepts:
        if self.kernel is None:
            return self.accepts
        takes = as_kernel(self.kernel).takes
        if takes == "gram":
            raise ParameterError(
                f"{type(self).__name__} takes no precomputed kernel: it needs the rows, to learn parameters."
            )
        name = "rows" if _takes_rows(as_kernel(self.kernel)) else takes
        if name == "rows":
            return self.accepts
        return Accepts(
            target=self.accepts.target,
            several_targets=self.accepts.several_targets,
            objects=True,
            sparse=False,
        )


def _takes_rows(kernel: Kernel) -> bool:
    """Whether a kernel is one of rows, or one that looks at nothing but places, as noise does."""
    if kernel.takes == "rows":
        return True
    parts = list(kernel.parts().values())
    plain = kernel.name in ("white", "constant")
    return plain if not parts else all(_takes_rows(part) for part in parts)


class GaussianProcessRegressor(MultiOutputMixin, RegressorMixin, GaussianProcess):
    r"""The posterior of a function with kernel k, of which y are values with normal noise of variance alpha.

    .. math:: m(x) = k(x)'(K + \alpha I)^{-1} y, \quad v(x) = k(x, x) - k(x)'(K + \alpha I)^{-1} k(x)

    kernel: None is ``1.0 * RBF(1.0)``. Its free parameters are those of the largest evidence
    :math:`\log N(y; 0, K + \alpha I)`, found by its gradient from their values and from n_restarts_optimizer
    random ones; optimizer None leaves them. The mean is that of :class:`~surefit.KernelRidge` with the same
    kernel and alpha. alpha: one number, or one a row. normalize_y: scale y to mean 0 and variance 1 first.
    evidence_rows: with more rows than that, parameters are learnt from so many drawn. n_targets: of a prior.

    >>> from surefit import GaussianProcessRegressor
    >>> from surefit.kernels import RBF
    >>> model = GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None)
    >>> mean, deviation = model.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.0]).predict([[1.0]], return_std=True)
    >>> mean.round(4), deviation.round(4)
    (array([0.8017]), array([0.2832]))
    """

    accepts = Accepts(target="number", several_targets=True, sparse=False)
    learns = GaussianProcessRegressorParameters

    alpha_: NDArray[np.float64]
    kernel_: Any
    X_train_: Any
    y_train_: NDArray[np.float64]
    weights_: Vector
    log_marginal_likelihood_value_: float
    y_mean_: Vector
    y_std_: Vector

    def __init__(
        self,
        kernel: Annotated[Any, Has("theta")] | None = None,
        *,
        alpha: NonNegative | np.ndarray | list = 1e-10,
        optimizer: Optimizer = "fmin_l_bfgs_b",
        n_restarts_optimizer: WholeNumber = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: Count | None = None,
        random_state: RandomState = None,
        evidence_rows: Count | None = 500,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state
        self.evidence_rows = evidence_rows

    def _iteration_limit(self) -> int | None:
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def _noise(self, rows: int) -> Any:
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim == 0:
            return float(alpha)
        if alpha.shape == (1,):
            return float(alpha[0])
        if alpha.shape != (rows,):
            raise DataError(
                "alpha must be a scalar or an array with same number of entries as y. "
                f"({len(alpha)} != {rows})"
            )
        return alpha

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        self._schema = source.schema
        batch, weight = held(source)
        n = len(weight)
        Y = np.asarray(batch.y, dtype=np.float64)
        flat = Y.ndim == 1
        Y = Y[:, None] if flat else Y
        if self.n_targets is not None and Y.shape[1] != self.n_targets:
            raise DataError(
                "The number of targets seen in `y` is different from the parameter `n_targets`. "
                f"Got {Y.shape[1]} != {self.n_targets}."
            )
        noise, here = self._noise(n), weight > 0
        X: Any = batch.X
        if not here.all():
            noise = noise if np.ndim(noise) == 0 else noise[here]
            X, Y, weight = X[here], Y[here], weight[here]
        mean, deviation = self._scaling(Y, weight)
        Y = (Y - mean) / deviation
        rows, kernel = Rows(X, noise, weight), self._own_kernel()
        if self.optimizer is not None and kernel.n_dims > 0:
            kernel = self._chosen(kernel, rows, Y, trace)
        kept = kept_rows(X) if self.copy_X_train or not isinstance(X, np.ndarray) else X
        made = covariance(kernel, rows, False)
        C = made.matrix
        L = factor(C)
        if L is None:
            raise NotPositiveError(
                f"The kernel, {kernel}, is not returning a positive definite matrix. Try gradually "
                f"increasing the 'alpha' parameter of your {type(self).__name__} estimator."
            )
        a = solve_factored(L, Y)
        a += solve_factored(L, Y - C @ a)
        value = evidence_of(made, L, a, Y)
        self._factor = L
        certificate = self._proof(Y - C @ a, float(np.linalg.norm(C)), a, Y, 0.0)
        parameters = GaussianProcessRegressorParameters(
            a[:, 0] if flat else a, kernel, kept, Y[:, 0] if flat else Y, weight, value, mean, deviation
        )
        return Learned(parameters, certificate, {"rows": n})

    def _scaling(self, Y: Matrix, weight: Vector) -> tuple[Vector, Vector]:
        if not self.normalize_y:
            return np.zeros(Y.shape[1]), np.ones(Y.shape[1])
        mean = weight @ Y / weight.sum()
        deviation = np.sqrt(weight @ (Y - mean) ** 2 / weight.sum())
        small = deviation <= 10 * np.finfo(np.float64).eps * np.abs(mean)
        return mean, np.where(small, 1.0, deviation)

    def _chosen(self, kernel: Kernel, rows: Rows, Y: Matrix, trace: Trace) -> Kernel:
        """The kernel with the parameters of the largest evidence."""
        n = len(Y)
        if self.evidence_rows is not None and n > self.evidence_rows:
            places = np.sort(stream(seed_in_use(self.random_state), 1).permutation(n)[: self.evidence_rows])
            rows, Y = rows.some(places), Y[places]

        def objective(theta: Vector, eval_gradient: bool = True) -> Any:
            value, slope = log_evidence(kernel.clone_with_theta(theta), rows, Y, gradient=eval_gradient)
            for _ in trace.iterations(1):
                trace.record(objective=-value)
            return -value if slope is None else (-value, -slope)

        rng = stream(seed_in_use(self.random_state), 0)
        theta = best_parameters(self.optimizer, objective, kernel, self.n_restarts_optimizer, rng)
        found = kernel.clone_with_theta(theta)
        found.warn_at_bounds()
        return found

    @staticmethod
    def _proof(residual: Matrix, norm: float, a: Matrix, Y: Matrix, change: float) -> Certificate:
        size = norm * np.linalg.norm(a, axis=0) + np.linalg.norm(Y, axis=0)
        left = np.linalg.norm(residual, axis=0) / np.where(size > 0, size, 1.0)
        parts = {"residual": float(left.max(initial=0.0)), "change of the log evidence": change}
        measure = "residual of (K + alpha I) a = y, and change of the log evidence, relative"
        return Certificate("backward stable", measure, max(parts.values()), TOLERANCE, parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        batch, weight = held(source)
        Y = np.asarray(batch.y, dtype=np.float64)
        Y = Y[:, None] if Y.ndim == 1 else Y
        noise, here = self._noise(len(weight)), weight > 0
        X: Any = batch.X
        noise = noise if np.ndim(noise) == 0 else noise[here]
        X, Y, weight = X[here], Y[here], weight[here]
        a = self.alpha_[:, None] if self.alpha_.ndim == 1 else self.alpha_
        if len(a) != len(Y):
            raise DataError(
                f"{type(self).__name__}: the model was fitted to {len(a)} rows, and there are {len(Y)} "
                "here: pass the rows that were fitted."
            )
        mean, deviation = self._scaling(Y, weight)
        Y = (Y - mean) / deviation
        rows = Rows(X, noise, weight)
        made = covariance(self._fitted_kernel(), rows, False)
        C, L = made.matrix, factor(made.matrix)
        value = -np.inf if L is None else evidence_of(made, L, a, Y)
        stated = self.log_marginal_likelihood_value_
        change = abs(value - stated) / max(1.0, abs(stated))
        change = max(
            change,
            float(np.abs(mean - self.y_mean_).max() / max(1.0, np.abs(mean).max())),
            float(np.abs(deviation / self.y_std_ - 1).max()),
            _apart(kept_rows(X), self.X_train_),
            _apart(Y, self.y_train_.reshape(Y.shape)),
        )
        return self._proof(Y - C @ a, float(np.linalg.norm(C)), a, Y, change)

    def check_loaded(self) -> None:
        """Refuse a file whose parts do not belong together."""
        check_rows(self, self.alpha_, self.X_train_)
        check_rows(self, self.alpha_, self.y_train_)

    def _training(self) -> tuple[Rows, Matrix]:
        Y = self.y_train_[:, None] if self.y_train_.ndim == 1 else self.y_train_
        noise = self._noise(len(Y)) if np.ndim(self.alpha) == 0 or len(Y) == np.size(self.alpha) else 0.0
        return Rows(objects_again(self.X_train_), noise, self.weights_), Y

    @property
    def L_(self) -> Matrix:
        """The lower Cholesky factor of K + alpha I."""
        return np.tril(self._lower())

    def _lower(self) -> Matrix:
        if "_factor" not in self.__dict__:
            found = factor(covariance(self._fitted_kernel(), self._training()[0], False).matrix)
            if found is None:
                raise DataError("the kernel of the model's rows has no Cholesky factor: the file is damaged.")
            self._factor = found
        found_before: Matrix = self._factor
        return found_before

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Return the log evidence of the training rows for a kernel's theta, and with ``eval_gradient`` its
        slope; with ``clone_kernel=False`` the fitted kernel keeps that theta.
        """
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return self.log_marginal_likelihood_value_
        kernel = self._fitted_kernel()
        if clone_kernel:
            kernel = kernel.clone_with_theta(theta)
        else:
            kernel.theta = np.asarray(theta)
        value, slope = log_evidence(kernel, *self._training(), gradient=eval_gradient)
        return (value, slope) if eval_gradient else value

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, to: str | Path | None = None
    ) -> Any:
        """Return the mean of f at each row, and with ``return_std`` its deviation or with ``return_cov`` the
        covariance of all; before a fit, those of the prior. Noise is part of them where the kernel has it.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        if not self.__sklearn_is_fitted__():
            return self._prior(X, return_std, return_cov)
        names = ["prediction"]
        if not return_std and not return_cov:
            return self._answer(self._mean, X, to, names)
        mean = self._answer(self._mean, X, None, names)
        if return_std:
            spread = np.sqrt(self._answer(self._variance, X))
            found = np.outer(spread, self.y_std_)
            return mean, found[:, 0] if found.shape[1] == 1 else found
        cov = np.multiply.outer(self._answer(self._covariance, X), self.y_std_**2)
        return mean, cov[:, :, 0] if cov.shape[2] == 1 else cov

    def _prior(self, X: Any, return_std: bool, return_cov: bool) -> Any:
        kernel = self._own_kernel()
        X = X if not _takes_rows(kernel) else np.asarray(X)
        n, k = len(X), self.n_targets or 1
        mean = np.zeros((n, k)).squeeze() if k == 1 else np.zeros((n, k))
        mean = np.atleast_1d(mean)
        if return_cov:
            cov = np.asarray(kernel(X))
            return mean, np.repeat(cov[:, :, None], k, axis=2) if k > 1 else cov
        if return_std:
            std = np.sqrt(np.asarray(kernel.diagonal(X)))
            return mean, np.repeat(std[:, None], k, axis=1) if k > 1 else std
        return mean

    def _mean(self, X: Any) -> NDArray[np.float64]:
        a = self.alpha_[:, None] if self.alpha_.ndim == 1 else self.alpha_
        found = kernel_times(self._fitted_kernel(), X, self.X_train_, a) * self.y_std_ + self.y_mean_
        return np.asarray(found[:, 0] if found.shape[1] == 1 else found)

    def _variance(self, X: Any) -> Vector:
        kernel = self._fitted_kernel()
        half = self._halves(kernel, X)
        # A variance below 0 is rounding.
        return np.maximum(np.asarray(kernel.diagonal(X), dtype=np.float64) - (half**2).sum(axis=0), 0.0)

    def _covariance(self, X: Any) -> Matrix:
        kernel = self._fitted_kernel()
        half = self._halves(kernel, X)
        return np.asarray(whole_gram(kernel, X) - half.T @ half)

    def _halves(self, kernel: Kernel, X: Any) -> Matrix:
        K = np.asarray(kernel(objects_again(self.X_train_), X), dtype=np.float64)
        return np.asarray(linalg.solve_triangular(self._lower(), K, lower=True, check_finite=False))

    def predict_interval(self, X: Any, level: float = 0.95, *, observations: bool = True) -> Matrix:
        r"""Return bounds (n, 2) between which a value lies with probability ``level``.

        observations: of y, whose variance has the noise alpha added, or of the function f alone.

        >>> model = GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None)
        >>> model.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.0]).predict_interval([[1.0]], 0.9).round(3)
        array([[0.104, 1.5  ]])
        """
        if not 0 < level < 1:
            raise ParameterError(f"predict_interval: level={level!r} must be between 0 and 1.")
        mean = np.asarray(self.predict(X))
        if mean.ndim > 1:
            raise ParameterError("predict_interval is for one target: ask for each of several by a model.")
        variance = np.asarray(self._answer(self._variance, X))
        if observations:
            if np.ndim(self.alpha) > 0 and np.size(self.alpha) > 1:
                raise ParameterError(
                    "predict_interval: alpha is one number a row, and new rows have none: ask for "
                    "observations=False, or fit with one alpha."
                )
            variance = variance + float(np.ravel(self.alpha)[0])
        width = float(ndtri(0.5 + level / 2)) * np.sqrt(variance) * self.y_std_[0]
        return np.column_stack([mean - width, mean + width])

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> NDArray[np.float64]:
        """Draw functions from the posterior, or before a fit from the prior, at rows: (n, n_samples), with
        several targets (n, targets, n_samples).
        """
        mean, cov = self.predict(X, return_cov=True)
        rng = stream(seed_in_use(random_state), 0)
        many = mean.ndim == 2
        means, covs = (mean, cov) if many else (mean[:, None], cov[:, :, None])
        drawn = []
        normal = rng.standard_normal((len(means), n_samples))
        for k in range(means.shape[1]):
            values, vectors = np.linalg.eigh(covs[:, :, k])
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            drawn.append(means[:, k : k + 1] + root @ normal)
        return np.stack(drawn, axis=1) if many else drawn[0]
