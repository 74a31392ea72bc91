"""Independent components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, ParameterError
from surefit.core.parameters import Count, Interval, RandomState
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.factor.rows_of_source import rows_of_source
from surefit.models.transformer import InvertibleMap
from surefit.resample.streams import seed_of, stream
from surefit.solvers.linalg.principal_axes import EPS, signed
from surefit.stats.overflow import SQUARED_TWICE, refuse_overflow
from surefit.stats.spread import Spread

Contrast = Callable[..., tuple[Any, Any]]
SAME = 1e-6  # how far sources may be from uncorrelated with variance 1


@dataclass(frozen=True, slots=True)
class FastICAParameters:
    """Unmixing and mixing, means, whitening, and how many iterations it took."""

    components: Matrix
    mixing: Matrix
    mean: Vector
    whitening: Matrix
    n_iter: int


class FastICA(ClassNamePrefixFeaturesOutMixin, InvertibleMap):
    r"""Sources :math:`s = U(x - m)` as independent, that is as far from normal, as can be.

    Rows are whitened first: turned along their principal axes and scaled to variance 1. Then a rotation W
    is sought for which :math:`E[G(w'z)]` is extreme, by Newton steps (Hyvärinen, 1999) for all sources at
    once ("parallel") or one after the other ("deflation"). fun: the slope of G, "logcosh", "exp", "cube", or
    a function that returns it and its own slope. whiten: "unit-variance" scales the sources to variance 1,
    "arbitrary-variance" by the square root of n less, False takes rows as white. tol: the largest change of
    a direction at which to stop.

    ``verify`` takes one more step: no direction may turn by more than ``tol``, and the sources must be
    uncorrelated.

    >>> import numpy as np
    >>> from surefit import FastICA
    >>> rng = np.random.default_rng(0)
    >>> S = np.column_stack([np.sign(rng.normal(size=500)), rng.uniform(-1, 1, 500)])
    >>> found = FastICA(2, random_state=0).fit_transform(S @ [[1.0, 0.5], [0.3, 1.0]])
    >>> bool((np.abs(np.corrcoef(S.T, found.T)[:2, 2:]).max(axis=1) > 0.99).all())
    True
    """

    accepts = Accepts(sparse=False)
    learns = FastICAParameters

    components_: Matrix
    mixing_: Matrix
    mean_: Vector
    whitening_: Matrix
    n_iter_: int

    def __init__(
        self,
        n_components: Count | None = None,
        *,
        algorithm: Literal["parallel", "deflation"] = "parallel",
        whiten: Literal["arbitrary-variance", "unit-variance"] | bool = "unit-variance",
        fun: Literal["logcosh", "exp", "cube"] | Callable[..., Any] = "logcosh",
        fun_args: dict[str, Any] | None = None,
        max_iter: Count = 200,
        tol: Annotated[float, Interval(0, None)] = 1e-4,
        w_init: NDArray[Any] | list[Any] | None = None,
        whiten_solver: Literal["eigh", "svd"] = "svd",
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.whiten = whiten
        self.fun = fun
        self.fun_args = fun_args
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.whiten_solver = whiten_solver
        self.random_state = random_state

    def _iteration_limit(self) -> int | None:
        return None

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _contrast(self) -> Contrast:
        """The slope of the contrast and its own mean slope."""
        given = dict(self.fun_args or {})
        if callable(self.fun):
            theirs = self.fun

            def own(values: Any) -> tuple[Any, Any]:
                slope, curve = theirs(values, **given)
                return slope, np.asarray(curve)

            return own
        alpha = given.get("alpha", 1.0)
        if self.fun == "logcosh" and not 1 <= alpha <= 2:
            raise ParameterError("alpha must be in [1,2]")
        known: dict[str, Contrast] = {"logcosh": _Logcosh(float(alpha)), "exp": _exp, "cube": _cube}
        return known[str(self.fun)]

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        columns = engine.accumulate(Spread.of, source)
        X, s = rows_of_source(source, "FastICA")
        X = np.asarray(X, dtype=np.float64)
        total = float(s.sum())
        if self.whiten is True:
            raise ParameterError("whiten=True is not allowed: say 'unit-variance' or 'arbitrary-variance'.")
        if len(X) < 2:
            raise DataError("n_samples = 1 is too few for variances: give more than one sample.")
        mean = s @ X / total if self.whiten else np.zeros(X.shape[1])
        centred = X - mean
        if self.whiten:
            refuse_overflow((s[:, None] * centred**2).sum(axis=0), X.shape[1], total, SQUARED_TWICE)
        K, Z = self._whitened(centred, s, total)
        contrast = self._contrast()
        W, count, worst = self._rotate(Z, s / total, contrast, trace)
        unmixing = W @ K
        if self.whiten == "arbitrary-variance":
            unmixing = unmixing / np.sqrt(total)
        mixing = linalg.pinv(unmixing, check_finite=False)
        parameters = FastICAParameters(unmixing, mixing, mean, K, count)
        step = self._step_change(Z, s / total, W, contrast)
        evidence = {"column_moments": columns.moments, "rows": columns.rows}
        return Learned(parameters, self._certificate(min(worst, step), 0.0, 0.0), evidence)

    def _whitened(self, centred: Matrix, s: Vector, total: float) -> tuple[Matrix, Matrix]:
        """A matrix (k, p) that whitens rows, and the rows that it makes."""
        width = centred.shape[1]
        count = min(len(centred), width) if self.n_components is None else self.n_components
        if not self.whiten:
            return np.eye(width), centred
        if count > min(len(centred), width):
            count = min(len(centred), width)
        scatter = centred.T @ (s[:, None] * centred) / total
        values, vectors = np.linalg.eigh(scatter)
        values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
        floor = max(float(values[0]), 0.0) * EPS * width
        values = np.maximum(values, max(floor, np.finfo(np.float64).tiny))
        K = signed(np.ascontiguousarray(vectors.T)) / np.sqrt(values)[:, None]
        return K, centred @ K.T

    def _rotate(self, Z: Matrix, s: Vector, contrast: Contrast, trace: Trace) -> tuple[Matrix, int, float]:
        count = Z.shape[1]
        if self.w_init is None:
            rng = stream(0 if self.random_state is None else seed_of(self.random_state), 0)
            W = rng.standard_normal((count, count))
        else:
            W = np.array(self.w_init, dtype=np.float64)
            if W.shape != (count, count):
                raise ParameterError(f"w_init has invalid shape -- should be {(count, count)}")
        if self.algorithm == "deflation":
            return _one_by_one(Z, s, W, contrast, self.tol, self.max_iter, trace)
        W, change = _decorrelated(W), np.inf
        for _ in trace.iterations(self.max_iter):
            following = _decorrelated(_newton(Z, s, W, contrast))
            change = float(np.abs(np.abs(np.einsum("ij,ij->i", following, W)) - 1).max())
            W = following
            trace.record(gap=change)
            if change < self.tol:
                break
        return W, len(trace), change

    def _step_change(self, Z: Matrix, s: Vector, W: Matrix, contrast: Contrast) -> float:
        """How far one more step turns a direction."""
        following = _newton(Z, s, W, contrast)
        if self.algorithm == "parallel":
            following = _decorrelated(following)
        else:
            for j in range(len(W)):
                following[j] -= following[j] @ W[:j].T @ W[:j]
                following[j] /= np.sqrt((following[j] ** 2).sum())
        return float(np.abs(np.abs(np.einsum("ij,ij->i", following, W)) - 1).max())

    def _certificate(self, turned: float, correlated: float, changed: float) -> Certificate:
        allowed = max(self.tol, 1e-12)
        parts = {
            "turn of a direction by another step": turned,
            "departure of the sources from uncorrelated": correlated,
            "change by recomputing the other numbers": changed,
        }
        value = max(turned / allowed, correlated / SAME, changed / SAME)
        return Certificate(
            "stationary", "turn of a direction by a step, as a share of tol", value, 1.0, parts
        )

    def _unproved(self, certificate: Certificate) -> str:
        return (
            "FastICA did not converge. Consider increasing tolerance or the maximum number of iterations. "
            f"{certificate.statement}"
        )

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Step once more from the sources themselves, whitened by nothing but their own covariance."""
        X, s = rows_of_source(source, "FastICA")
        total = float(s.sum())
        X = np.asarray(X, dtype=np.float64)
        mean = s @ X / total if self.whiten else np.zeros(X.shape[1])
        deviation = np.sqrt(s @ (X - mean) ** 2 / total)
        deviation = np.where(deviation > 0, deviation, 1.0)
        changed = float((np.abs(mean - self.mean_) / deviation).max(initial=0.0)) if self.whiten else 0.0
        U = self.components_ * (np.sqrt(total) if self.whiten == "arbitrary-variance" else 1.0)
        S = (X - mean) @ U.T
        told = np.abs(self.components_ @ self.mixing_ - np.eye(len(U))).max(initial=0.0)
        varied = s @ S**2 / total > 0.5
        correlated = 0.0
        if self.whiten:
            there = S[:, varied]
            correlated = float(
                np.abs(there.T @ (s[:, None] * there) / total - np.eye(there.shape[1])).max(initial=0.0)
            )
            W = np.eye(len(U))
        else:
            W, S = U, X
        turned = self._step_change(S, s / total, W, self._contrast())
        return self._certificate(turned, correlated, max(changed, float(told) if varied.all() else 0.0))

    def _transform(self, X: Any) -> Any:
        return ((X - self.mean_) @ self.components_.T).astype(X.dtype, copy=False)

    def _inverse_transform(self, X: Any) -> Any:
        return (X @ self.mixing_.T + self.mean_).astype(X.dtype, copy=False)

    def check_loaded(self) -> None:
        """Refuse arrays that do not belong together."""
        super().check_loaded()
        shape = self.components_.shape
        if len(shape) != 2 or shape[1] != self.n_features_in_ or self.mixing_.shape != shape[::-1]:
            raise FormatError("the file's components do not fit its columns: it is damaged.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True, slots=True)
class _Logcosh:
    alpha: float

    def __call__(self, x: Any) -> tuple[Any, Any]:
        slope = np.tanh(self.alpha * x)
        return slope, self.alpha * (1 - slope**2)


def _exp(x: Any) -> tuple[Any, Any]:
    bell = np.exp(-(x**2) / 2)
    return x * bell, (1 - x**2) * bell


def _cube(x: Any) -> tuple[Any, Any]:
    return x**3, 3 * x**2


def _newton(Z: Matrix, s: Vector, W: Matrix, contrast: Contrast) -> Matrix:
    """E[g(w'z) z] - E[g'(w'z)] w for each row w; s are shares of the rows."""
    slope, curve = contrast((Z @ W.T).T)
    curve = np.asarray(curve)
    mean = curve @ s if curve.ndim == 2 else curve
    found: Matrix = (slope * s) @ Z - np.reshape(mean, (-1, 1)) * W
    return found


def _decorrelated(W: Matrix) -> Matrix:
    values, vectors = np.linalg.eigh(W @ W.T)
    values = np.maximum(values, np.finfo(np.float64).tiny)
    found: Matrix = (vectors / np.sqrt(values)) @ vectors.T @ W
    return found


def _one_by_one(
    Z: Matrix, s: Vector, start: Matrix, contrast: Contrast, tol: float, limit: int, trace: Trace
) -> tuple[Matrix, int, float]:
    W, most, worst = np.zeros_like(start), 0, 0.0
    for j in range(len(start)):
        w = start[j] / np.sqrt((start[j] ** 2).sum())
        change, steps = np.inf, 0
        for _ in trace.iterations(limit):
            following = _newton(Z, s, w[None], contrast)[0]
            following -= following @ W[:j].T @ W[:j]
            following /= np.sqrt((following**2).sum())
            change = abs(abs(float(following @ w)) - 1)
            w, steps = following, steps + 1
            trace.record(gap=change)
            if change < tol:
                break
        W[j], most, worst = w, max(most, steps), max(worst, change)
    return W, most, worst
