"""Ridge regression in the feature space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import RegressorMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError
from surefit.core.parameters import Count, RandomState, Strength
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.candidate import Candidate
from surefit.models.kernel.base import (
    KernelModel,
    KernelName,
    KernelParameters,
    by_bands,
    check_rows,
    held,
    kept_rows,
    kernel_times,
    objects_again,
    seed_in_use,
    whole_gram,
)
from surefit.models.kernel.centre_ridge import CentreProblem, solve_centres
from surefit.models.kernel.centres import Centres, chosen_centres, drawn_rows
from surefit.solvers.linalg.positive_solve import solve_positive

TOLERANCE = 1e-10  # of the residual; in fits that approximate, of that of the approximated problem


@dataclass(frozen=True, slots=True)
class KernelRidgeParameters:
    """Coefficients of the rows, or of the centres, and these; the strength; the errors of all tried."""

    dual_coef: NDArray[np.float64]
    X_fit: Any
    alpha: Any
    loo_errors: Any


class KernelRidge(RegressorMixin, KernelModel):
    r"""Minimise :math:`\sum_i s_i (y_i - f(x_i))^2 + \alpha \|f\|^2` over functions of a kernel's space.

    The answer is :math:`f(x) = \sum_i a_i k(x_i, x)` with :math:`(K + \alpha S^{-1}) a = y`. There is no
    intercept: centre y, or add a constant to the kernel, as in ``Linear() + 1``.

    alpha: one number, or one a target; with 0 and K singular, the least squares answer of least length.
    alphas: strengths to choose from by the leave-one-out error, all from one decomposition.
    approximation: "nystroem" writes f with ``n_centres`` centres alone, chosen as ``centres`` says, and reads
    rows past memory in passes; its certificate is about that problem, not the whole one.

    >>> from surefit import KernelRidge
    >>> model = KernelRidge(alpha=1.0).fit([[1.0], [2.0]], [1.0, 2.0])
    >>> model.dual_coef_.round(6), model.predict([[3.0]]).round(6)
    (array([0.166667, 0.333333]), array([2.5]))
    >>> model.certificate_.holds
    True
    """

    accepts = Accepts(target="number", several_targets=True)
    learns = KernelRidgeParameters
    candidate = Candidate(
        "Kernel ridge regression",
        40,
        purpose="distance",
        given={"kernel": "rbf"},
        settings={"alphas": ((0.01, 0.1, 1.0, 10.0),)},
        most_rows=1000,
    )

    dual_coef_: NDArray[np.float64]
    X_fit_: Any
    alpha_: Any
    loo_errors_: Any

    def __init__(
        self,
        alpha: Strength | np.ndarray | list | tuple = 1,
        *,
        kernel: KernelName = "linear",
        gamma: Strength | None = None,
        degree: Strength = 3,
        coef0: float = 1,
        kernel_params: KernelParameters = None,
        alphas: np.ndarray | list | tuple | None = None,
        approximation: Literal["nystroem"] | None = None,
        n_centres: Count = 1000,
        centres: Centres = "uniform",
        random_state: RandomState = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alphas = alphas
        self.approximation = approximation
        self.n_centres = n_centres
        self.centres = centres
        self.random_state = random_state

    def _iteration_limit(self) -> int | None:
        return 0 if self.approximation is None else None

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        self._schema = source.schema
        if self.approximation is not None:
            return self._on_centres(source, engine, trace)
        batch, weight = held(source)
        kernel = self._fitted_kernel()
        Y = self._targets(batch.y)
        here = weight > 0
        K = whole_gram(kernel, batch.X)
        inner, part = (K, Y) if here.all() else (K[np.ix_(here, here)], Y[here])
        errors: Any = None
        alpha = self._strengths(Y.shape[1])
        if self.alphas is not None:
            chosen, errors = choose_strength(inner, part, weight[here], self.alphas)
            alpha = np.full(Y.shape[1], chosen)
        found = np.zeros_like(Y)
        for value in np.unique(alpha):
            mine = alpha == value
            found[np.ix_(here, mine)] = solve_positive(inner, value / weight[here], part[:, mine]).x
        flat = source.schema.target_is_flat
        certificate = self._proof(lambda a: K @ a, float(np.linalg.norm(K)), found, Y, weight, alpha)
        dual = found[:, 0] if flat else found
        kept = alpha[0] if np.ndim(self.alpha) == 0 or self.alphas is not None else alpha
        parameters = KernelRidgeParameters(
            np.ascontiguousarray(dual),
            None if kernel.takes == "gram" else kept_rows(batch.X),
            float(kept) if np.ndim(kept) == 0 else kept,
            errors,
        )
        return Learned(parameters, certificate, {"rows": len(Y)})

    @staticmethod
    def _targets(y: Any) -> Matrix:
        Y = np.asarray(y, dtype=np.float64)
        return Y[:, None] if Y.ndim == 1 else Y

    def _strengths(self, targets: int) -> Vector:
        alpha = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        if alpha.ndim != 1 or (alpha < 0).any() or not np.isfinite(alpha).all():
            raise ParameterError(f"KernelRidge: alpha={self.alpha!r} must hold numbers of at least 0.")
        if len(alpha) not in (1, targets):
            raise DataError(
                f"Number of targets and number of penalties do not correspond: {len(alpha)} != {targets}; "
                "give one alpha, or one a target."
            )
        return np.array(np.broadcast_to(alpha, targets))

    def _fitted_strengths(self, targets: int) -> Vector:
        return np.array(np.broadcast_to(np.atleast_1d(self.alpha_), targets))

    @staticmethod
    def _proof(product: Any, norm: float, a: Matrix, Y: Matrix, weight: Vector, alpha: Vector) -> Certificate:
        """How far the system is from being solved; where it has no answer, how far from its least squares."""
        here = weight > 0
        inverse = np.divide(1.0, weight, out=np.zeros_like(weight), where=here)
        residual = Y - product(a) - inverse[:, None] * alpha * a
        residual[~here] = 0.0
        largest = norm + float(np.abs(inverse).max() * alpha.max(initial=0.0))
        size = largest * np.linalg.norm(a, axis=0) + np.linalg.norm(Y, axis=0)
        size = np.where(size > 0, size, 1.0)
        left = np.linalg.norm(residual, axis=0) / size
        if (alpha == 0).any():  # what is left is orthogonal to what the kernel can reach
            image = np.linalg.norm(product(residual), axis=0) / (largest * size)
            left = np.where(alpha == 0, np.minimum(left, image), left)
        free = float(np.abs(a[~here]).max(initial=0.0))
        parts = {"residual": float(left.max()), "coefficients of rows without weight": free}
        measure = "residual of (K + alpha S^-1) a = y, relative to the sizes of both sides"
        return Certificate("backward stable", measure, max(parts.values()), TOLERANCE, parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        check_rows(self, self.dual_coef_, self.X_fit_)
        if self.approximation is not None:
            problem = self._problem(self.X_fit_, source.schema.targets)
            a = self._targets(self.dual_coef_)
            return problem.proof(source, engine, a, TOLERANCE)
        batch, weight = held(source)
        kernel, Y, a = self._fitted_kernel(), self._targets(batch.y), self._targets(self.dual_coef_)
        if len(a) != len(Y):
            raise DataError(
                f"KernelRidge: the model has {len(a)} coefficients, one for each row of its fit, and there "
                f"are {len(Y)} rows here: pass the rows that were fitted."
            )
        squares: list[float] = []

        def product(b: Matrix) -> Matrix:
            if kernel.takes == "gram":
                K = np.asarray(kernel(batch.X), dtype=np.float64)
                squares.append(float((K**2).sum()))
                return np.asarray(K @ b)
            rows = objects_again(self.X_fit_)

            def band(X: Any) -> Matrix:
                values = np.asarray(kernel(X, rows), dtype=np.float64)
                return np.column_stack([values @ b, (values**2).sum(axis=1)])

            found: Matrix = by_bands(band, batch.X, len(Y))
            squares.append(float(found[:, -1].sum()))
            return found[:, :-1]

        first = product(a)
        alpha = self._fitted_strengths(Y.shape[1])
        again = lambda b: first if b is a else product(b)  # noqa: E731
        return self._proof(again, squares[0] ** 0.5, a, Y, weight, alpha)

    def check_loaded(self) -> None:
        """Refuse a file whose rows and coefficients do not belong together."""
        check_rows(self, self.dual_coef_, self.X_fit_)

    def _problem(self, centres: Any, targets: int) -> CentreProblem:
        alpha = self._strengths(targets)
        return CentreProblem(self._fitted_kernel(), centres, alpha)

    def _on_centres(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        kernel, seed = self._fitted_kernel(), seed_in_use(self.random_state)
        if kernel.takes == "gram" or self.alphas is not None:
            raise ParameterError(
                "KernelRidge: approximation='nystroem' takes no precomputed kernel and no alphas: it needs "
                "k(x, centre) of rows as they pass, and one alpha."
            )
        X, weight, _ = drawn_rows(source, engine, seed)
        chosen, _ = chosen_centres(self.centres, kernel, X, weight, self.n_centres, seed)
        problem = self._problem(kept_rows(chosen), source.schema.targets)
        a, rows = solve_centres(problem, source, engine, trace, TOLERANCE)
        certificate = problem.proof(source, engine, a, TOLERANCE)
        dual = a[:, 0] if source.schema.target_is_flat else a
        strength: Any = np.asarray(self.alpha, dtype=np.float64)
        strength = strength if strength.ndim else float(strength)
        parameters = KernelRidgeParameters(np.ascontiguousarray(dual), problem.centres, strength, None)
        return Learned(parameters, certificate, {"rows": rows})

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return f(x) for each row, or write it ``to`` a file."""
        dual: Any = getattr(self, "dual_coef_", None)
        names = ["prediction"] if np.ndim(dual) < 2 else [f"prediction{k}" for k in range(dual.shape[1])]
        return self._answer(self._predict, X, to, names)

    def _predict(self, X: Any) -> NDArray[np.float64]:
        return kernel_times(self._fitted_kernel(), X, self.X_fit_, self.dual_coef_)

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> NDArray[np.float64]:
        r"""Return what the fit without row i predicts for it, for all rows of the fit, in closed form.

        .. math:: f_{-i}(x_i) = y_i - a_i / [(K + \alpha S^{-1})^{-1}]_{ii}

        A row with a weight is left out whole, however often it counts.

        >>> X, y = [[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0]
        >>> KernelRidge(alpha=1.0).fit(X, y).leave_one_out(X, y).round(6)
        array([0. , 0.6, 1.5])
        """
        source = self._source(X, y, sample_weight, reset=False)
        batch, weight = held(source)
        Y = self._targets(batch.y)
        if self.approximation is not None:
            raise ParameterError("KernelRidge: leave_one_out is for fits without an approximation.")
        K = whole_gram(self._fitted_kernel(), batch.X)
        here = np.flatnonzero(weight > 0)
        found = np.asarray(self._predict(batch.X), dtype=np.float64).reshape(Y.shape)
        alpha = self._fitted_strengths(Y.shape[1])
        for value in np.unique(alpha):
            mine = np.flatnonzero(alpha == value)
            cell = np.ix_(here, mine)
            found[cell] = left_out(K[np.ix_(here, here)], Y[cell], weight[here], value)
        return found[:, 0] if source.schema.target_is_flat else found


def left_out(K: Matrix, Y: Matrix, weight: Vector, alpha: float) -> Matrix:
    """Return the predictions for each row by the fit of the others."""
    whole = K + np.diag(alpha / weight)
    values, vectors = linalg.eigh(whole)
    kept = np.abs(values) > len(K) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)
    V, inverse = vectors[:, kept], 1 / values[kept]
    a = V @ (inverse[:, None] * (V.T @ Y))
    own = (V**2) @ inverse
    return np.asarray(Y - a / own[:, None])


def choose_strength(K: Matrix, Y: Matrix, weight: Vector, alphas: Any) -> tuple[float, Vector]:
    """Return the strength of the least leave-one-out error, and the mean squared errors of all.

    With :math:`S^{1/2} K S^{1/2} = Q \\Lambda Q'` once, each strength costs two products with Q.
    """
    tried = np.asarray(alphas, dtype=np.float64)
    if tried.ndim != 1 or not len(tried) or not (np.isfinite(tried) & (tried > 0)).all():
        raise ParameterError("KernelRidge: alphas must hold positive numbers.")
    root = np.sqrt(weight)
    values, Q = linalg.eigh(K * np.outer(root, root))
    turned, squares = Q.T @ (root[:, None] * Y), Q**2
    errors = np.empty(len(tried))
    for place, alpha in enumerate(tried):
        inverse = 1 / (np.maximum(values, 0.0) + alpha)
        left = (Q @ (inverse[:, None] * turned)) / (squares @ inverse)[:, None]  # root of the weight times it
        errors[place] = (left**2).sum() / (weight.sum() * Y.shape[1])
    return float(tried[int(errors.argmin())]), errors
