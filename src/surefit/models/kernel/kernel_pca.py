"""Principal components in the feature space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, RefusalError
from surefit.core.parameters import Count, RandomState, Strength, Tolerance, WholeNumber
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.kernels import Kernel, pivoted_cholesky
from surefit.models.base import Learned
from surefit.models.factor.optimality import largest_elsewhere
from surefit.models.kernel.base import (
    KernelName,
    KernelParameters,
    check_rows,
    held,
    kept_rows,
    kernel_times,
    seed_in_use,
    whole_gram,
)
from surefit.models.kernel.nystroem import FeatureRows
from surefit.resample.streams import stream
from surefit.solvers.linalg.positive_solve import solve_positive, times
from surefit.solvers.linalg.randomized_svd import leading_axes

TOLERANCE = 1e-9
ZERO = 1e-12  # of the largest eigenvalue: below it nothing but rounding is left
ITERATIONS = 500
SMALL = 500  # rows, whose eigenvectors cost nothing worth saving


class NoInverseError(RefusalError, NotFittedError):
    """The inverse was not asked for when the model was made, and for users of scikit-learn not fitted."""


@dataclass(frozen=True, slots=True)
class KernelPCAParameters:
    """Eigenvalues and eigenvectors of the centred kernel, the rows and their weights, means of the kernel,
    and what undoes the map.
    """

    eigenvalues: Vector
    eigenvectors: Matrix
    X_fit: Any
    weights: Vector
    means: Vector
    gamma: Any
    X_transformed_fit: Any
    dual_coef: Any


class KernelPCA(FeatureRows):
    r"""The axes of most variance in the feature space of a kernel, from the centred Gram matrix.

    .. math:: \tilde K = K - 1 K - K 1 + 1 K 1, \quad \tilde K u_k = \lambda_k u_k, \quad
        z_k(x) = \sum_i u_{ik} \tilde k(x, x_i) / \sqrt{\lambda_k}

    n_components: how many axes; None all with an eigenvalue above 0. fit_inverse_transform: learn by kernel
    ridge of strength alpha to go back from scores to rows. eigen_solver: "dense" takes all eigenvectors at
    once; "arpack" and "randomized" products with the Gram matrix; "auto" what costs less. The variance along
    an axis is ``eigenvalues_ / n``. tol: of the eigen-equations; max_iter: how many products at most.
    iterated_power, copy_X, n_jobs: without effect.

    >>> from surefit import KernelPCA
    >>> model = KernelPCA(1).fit([[2.0, 0.0], [0.0, 1.0], [-2.0, 0.0], [0.0, -1.0]])
    >>> model.eigenvalues_ / 4, model.transform([[1.0, 5.0]]).round(6)
    (array([2.]), array([[1.]]))
    """

    accepts = Accepts(target="none")
    learns = KernelPCAParameters

    eigenvalues_: Vector
    eigenvectors_: Matrix
    X_fit_: Any
    weights_: Vector
    means_: Vector
    gamma_: Any
    X_transformed_fit_: Any
    dual_coef_: Any

    def __init__(
        self,
        n_components: Count | None = None,
        *,
        kernel: KernelName = "linear",
        gamma: Strength | None = None,
        degree: Strength = 3,
        coef0: float = 1,
        kernel_params: KernelParameters = None,
        alpha: Strength = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: Literal["auto", "dense", "arpack", "randomized"] = "auto",
        tol: Tolerance = 0,
        max_iter: Count | None = None,
        iterated_power: WholeNumber | Literal["auto"] = "auto",
        remove_zero_eig: bool = False,
        random_state: RandomState = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    def _iteration_limit(self) -> int | None:
        return None

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise DataError("Cannot fit_inverse_transform with a precomputed kernel: it needs the rows.")
        self._schema = source.schema
        batch, weight = held(source)
        kernel, X = self._fitted_kernel(), batch.X
        n = len(weight)
        count = n if self.n_components is None else min(int(self.n_components), n)
        root = np.sqrt(weight)
        F = self._factor(kernel, X, n)
        if F is not None:
            means = F @ (weight @ F) / weight.sum()
            values, U = _of_factor(root[:, None] * (F - weight @ F / weight.sum()), count)
        else:
            K = whole_gram(kernel, X)
            means = K @ weight / weight.sum()
            values, U = self._eigen(K, root, means, count, trace)
        values, U = self._cleaned(values, U)
        if self.remove_zero_eig or self.n_components is None:
            values, U = values[values > 0], U[:, values > 0]
        # The largest score is positive, whatever the weight of its row.
        scores = np.divide(U, root[:, None], out=np.zeros_like(U), where=root[:, None] > 0)
        signs = np.where(scores[np.abs(scores).argmax(axis=0), np.arange(U.shape[1])] < 0, -1.0, 1.0)
        U = np.ascontiguousarray(U * signs)
        rows = None if kernel.takes == "gram" else kept_rows(X)
        gamma = 1 / self.n_features_in_ if self.gamma is None else self.gamma
        back, dual = (
            self._way_back(kernel, X, U * np.sqrt(values), weight, root)
            if self.fit_inverse_transform
            else (None, None)
        )
        parameters = KernelPCAParameters(values, U, rows, weight, means, float(gamma), back, dual)
        image = self._images(kernel, X, rows, U, root, weight, means)
        return Learned(parameters, self._proof(image, U, values, 0.0), {"rows": n})

    @staticmethod
    def _factor(kernel: Kernel, X: Any, n: int) -> Matrix | None:
        """A factor of few columns, where the feature space is known to be small."""
        plain = kernel.native()
        if plain is None or plain.kind not in ("linear", "poly"):
            return None
        degree = int(plain.degree) if plain.kind == "poly" else 1
        most = comb(X.shape[1] + degree, degree)
        if 4 * most > n or most > SMALL:
            return None
        found = pivoted_cholesky(kernel, X, 2 * most, tolerance=1e-15)
        return found.factor if found.errors[-1] <= 1e-12 * max(found.errors[0], 1e-300) else None

    def _eigen(
        self, K: Matrix, root: Vector, means: Vector, count: int, trace: Trace
    ) -> tuple[Vector, Matrix]:
        n, share = len(K), root**2 / (root @ root)
        total = float(share @ means)
        few = n > SMALL and 10 * (count + 10) <= n
        if n <= SMALL or self.eigen_solver == "dense" or (self.eigen_solver == "auto" and not few):
            C = (K - (means[:, None] + means) + total) * np.outer(root, root)
            subset = None if 2 * count > n else (n - count, n - 1)
            values, U = linalg.eigh(C, subset_by_index=subset, overwrite_a=True, check_finite=False)
            return values[::-1][:count], U[:, ::-1][:, :count]

        def product(block: Matrix) -> Matrix:
            turned = root[:, None] * block
            image = times(K, turned)
            sums = turned.sum(axis=0)
            image += np.outer(total - means, sums) - means @ turned
            return np.asarray(root[:, None] * image)

        trace_of = float((root**2) @ (np.diagonal(K) - 2 * means + total))
        limit = self.max_iter or ITERATIONS
        start = stream(seed_in_use(self.random_state), 0).standard_normal((n, min(n, count + 10)))
        axes, _ = leading_axes(
            product, start, count, trace_of, tolerance=self.tol or 1e-11, limit=limit, trace=trace
        )
        values, U = axes.scatter, axes.axes.T
        if len(values) < count:  # the others are rounding
            values = np.append(values, np.zeros(count - len(values)))
            U = np.hstack([U, np.zeros((n, count - U.shape[1]))])
        return values, U

    @staticmethod
    def _cleaned(values: Vector, U: Matrix) -> tuple[Vector, Matrix]:
        """Eigenvalues that are rounding become 0; those that are too negative for that are refused."""
        largest = float(np.abs(values).max(initial=0.0))
        if values.min(initial=0.0) < -1e-5 * largest:
            raise RefusalError(
                "There are significant negative eigenvalues "
                f"({-values.min() / largest:g} of the maximum positive): the kernel is not positive "
                "semi-definite on these rows."
            )
        return np.where(values > ZERO * largest, values, 0.0), U

    def _way_back(
        self, kernel: Kernel, X: Any, Z: Matrix, weight: Vector, root: Vector
    ) -> tuple[Matrix, Matrix]:
        """Kernel ridge from scores to rows."""
        scores = np.divide(Z, root[:, None], out=np.zeros_like(Z), where=root[:, None] > 0)
        if not hasattr(X, "dtype") or X.dtype.kind != "f":
            raise DataError("fit_inverse_transform goes back to rows of numbers, and X holds objects.")
        dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        here = weight > 0
        dual = np.zeros_like(dense)
        kernel = self._made_kernel(self.n_features_in_)
        dual[here] = solve_positive(
            whole_gram(kernel, scores[here]), self.alpha / weight[here], dense[here]
        ).x
        return scores, dual

    @staticmethod
    def _images(
        kernel: Kernel, X: Any, rows: Any, U: Matrix, root: Vector, weight: Vector, means: Vector
    ) -> Matrix:
        """The centred kernel times eigenvectors, made anew from the kernel."""
        turned = root[:, None] * U
        image = kernel_times(kernel, X, rows, turned)
        total = float(weight @ means) / weight.sum()
        image = image + np.outer(total - means, turned.sum(axis=0)) - means @ turned
        return np.asarray(root[:, None] * image)

    def _proof(
        self, image: Matrix, U: Matrix, values: Vector, means: float, back: float = 0.0, excess: float = 0.0
    ) -> Certificate:
        largest = float(values.max(initial=0.0)) or 1.0
        left = np.linalg.norm(image - U * values, axis=0)
        kept = U[:, values > 0]
        parts = {
            "eigen-equations": float(left.max(initial=0.0)) / largest,
            "orthonormality": float(np.abs(kept.T @ kept - np.eye(kept.shape[1])).max(initial=0.0)),
            "means of the kernel": means,
            "way back": back,
            "excess of other directions": excess,
        }
        measure = "eigen-equations, orthonormality and excess of other directions, relative to the first"
        return Certificate("stationary", measure, max(parts.values()), max(TOLERANCE, 10 * self.tol), parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        check_rows(self, self.eigenvectors_, self.X_fit_)
        batch, weight = held(source)
        kernel, X = self._fitted_kernel(), batch.X
        if len(weight) != len(self.eigenvectors_):
            raise DataError(
                f"KernelPCA: the model was fitted to {len(self.eigenvectors_)} rows, and there are "
                f"{len(weight)} here: pass the rows that were fitted."
            )
        root = np.sqrt(weight)
        share = weight / weight.sum()
        means = kernel_times(kernel, X, self.X_fit_, share[:, None])[:, 0]
        size = max(float(np.abs(means).max(initial=0.0)), 1e-300)
        shift = max(
            float(np.abs(means - self.means_).max()) / size,
            float(np.abs(weight - self.weights_).max() / weight.max()),
        )
        U, values = self.eigenvectors_, self.eigenvalues_

        def product(block: Matrix) -> Matrix:
            return self._images(kernel, X, self.X_fit_, block, root, weight, means)

        excess = 0.0
        if self.n_components is not None and U.shape[1] < len(U):
            kept, along = U[:, values > 0], values[values > 0]
            excess = largest_elsewhere(  # of what is left, so that rounding along the axes is not found again
                lambda block: product(block) - (kept * along) @ (kept.T @ block), kept.T, along
            ).excess
        back = 0.0
        if self.dual_coef_ is not None:
            dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
            shown = kernel_times(kernel, self.X_transformed_fit_, self.X_transformed_fit_, self.dual_coef_)
            inverse = np.divide(self.alpha, weight, out=np.zeros_like(weight), where=weight > 0)
            left = dense - shown - inverse[:, None] * self.dual_coef_
            back = float(np.abs(left[weight > 0]).max(initial=0.0) / max(np.abs(dense).max(), 1e-300))
            scores = root[:, None] * self.X_transformed_fit_ - U * np.sqrt(values)
            back = max(
                back, float(np.abs(scores).max(initial=0.0)) / max(float(values.max(initial=0.0)), 1e-300)
            )
        return self._proof(product(U), U, values, shift, back, excess)

    def check_loaded(self) -> None:
        """Refuse a file whose parts do not belong together."""
        check_rows(self, self.eigenvectors_, self.X_fit_)
        check_rows(self, self.eigenvectors_, self.means_)
        check_rows(self, self.eigenvectors_, self.weights_)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def _features(self, X: Any) -> Matrix:
        kernel, values = self._fitted_kernel(), self.eigenvalues_
        narrow = getattr(X, "dtype", None) == np.float32 and isinstance(X, np.ndarray)
        scale = np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
        # Rows of the fit count as often as their weight says.
        coefficients = np.sqrt(self.weights_)[:, None] * self.eigenvectors_ * scale
        share = self.weights_ / self.weights_.sum()
        found = kernel_times(kernel, X, self.X_fit_, np.column_stack([coefficients, share]))
        sums = coefficients.sum(axis=0)
        scores = (
            found[:, :-1] - np.outer(found[:, -1] - share @ self.means_, sums) - self.means_ @ coefficients
        )
        return scores.astype(np.float32) if narrow else scores

    def inverse_transform(self, X: Any) -> NDArray[np.float64]:
        """Return rows whose scores are near X, by the kernel ridge that ``fit_inverse_transform`` learnt."""
        check_is_fitted(self)
        if self.dual_coef_ is None:
            raise NoInverseError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the "
                "inverse transform is not available."
            )
        rows = check_array(X, dtype=[np.float64, np.float32])
        found = kernel_times(self._fitted_kernel(), rows, self.X_transformed_fit_, self.dual_coef_)
        return found.astype(np.float32) if rows.dtype == np.float32 else found


def _of_factor(F: Matrix, count: int) -> tuple[Vector, Matrix]:
    """Eigenvalues and eigenvectors of F F', as many as are asked for; those past its columns are 0."""
    U, lengths, _ = linalg.svd(F, full_matrices=False, check_finite=False)
    values, missing = lengths[:count] ** 2, count - min(count, len(lengths))
    return np.append(values, np.zeros(missing)), np.hstack([U[:, :count], np.zeros((len(F), missing))])
