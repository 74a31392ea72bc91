"""Nonnegative matrix factorisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, ParameterError
from surefit.core.native.linear.nonnegative_rows import nonnegative_rows, nonnegative_rows_twin
from surefit.core.parameters import (
    Count,
    Fraction,
    Interval,
    NonNegative,
    RandomState,
    Tolerance,
    WholeNumber,
)
from surefit.core.trace import Trace
from surefit.data.door import Accepts, admit
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.factor.rows_of_source import rows_of_source
from surefit.models.transformer import InvertibleMap
from surefit.resample.streams import seed_of, stream
from surefit.solvers.linalg.principal_axes import signed
from surefit.stats.spread import Spread

Loss = Literal["frobenius", "kullback-leibler", "itakura-saito"]
SETTLED = 1e-10  # of the violation at the start of a row: its weights are the best for the parts
SWEEPS = 10_000
SAME = 1e-8  # what recomputing may change in the objective, relative to that of nothing
LOOSE = 1e-2  # weights are known to two digits less than the error that they leave
TINY = float(np.finfo(np.float32).eps)  # what is not divided by; as scikit-learn's
POWERS = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}
NUDGE = 1e-6  # below it an entry of a start is 0, as scikit-learn's


@dataclass(frozen=True, slots=True)
class NMFParameters:
    """Parts, how many, how far the products are from X, and how many iterations it took."""

    components: Matrix
    n_components: int
    reconstruction_err: float
    n_iter: int


class NMF(ClassNamePrefixFeaturesOutMixin, InvertibleMap):
    r"""Nonnegative parts H and weights W with :math:`X \approx WH`.

    The objective is :math:`\frac12\|X - WH\|_F^2` (or another divergence, with ``solver="mu"``) plus
    :math:`\alpha_W p (l_1 \|W\|_1 + \frac{1 - l_1}2\|W\|^2)` and the same for H with n in place of p.
    solver: coordinate descent ("cd"), each row of W by itself, or multiplicative updates ("mu"). init: see
    scikit-learn; nndsvd starts come of singular vectors, and are the same for rows in any order. tol: the
    share of the first violation of the conditions of optimality ("cd") or of the first error ("mu") at which
    to stop.

    ``transform`` finds the best weights of each row by itself. ``verify`` finds the weights again and
    compares the objective.

    >>> from surefit import NMF
    >>> model = NMF(1).fit([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> (model.components_ / model.components_[0, 0]).round(4)
    array([[1., 2.]])
    """

    accepts = Accepts()
    learns = NMFParameters

    components_: Matrix
    n_components_: int
    reconstruction_err_: float
    n_iter_: int

    def __init__(
        self,
        n_components: Count | Literal["auto"] | None = "auto",
        *,
        init: Literal["random", "nndsvd", "nndsvda", "nndsvdar", "custom"] | None = None,
        solver: Literal["mu", "cd"] = "cd",
        beta_loss: Loss | Annotated[float, Interval()] = "frobenius",
        tol: Tolerance = 1e-4,
        max_iter: Count = 200,
        random_state: RandomState = None,
        alpha_W: NonNegative = 0.0,
        alpha_H: NonNegative | Literal["same"] = "same",
        l1_ratio: Fraction = 0.0,
        verbose: WholeNumber | bool = 0,
        shuffle: bool = False,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle

    def _iteration_limit(self) -> int | None:
        return None

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @property
    def _power(self) -> float:
        return power_of(self.beta_loss)

    @property
    def _multiplies(self) -> bool:
        return self.solver == "mu"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, W: Any = None, H: Any = None) -> Self:
        """Fit; W and H: where to begin with ``init="custom"``."""
        if W is not None or H is not None:
            self._custom = (W, H)
        try:
            return super().fit(X, y, sample_weight)
        finally:
            self.__dict__.pop("_custom", None)

    def fit_transform(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> Any:  # type: ignore[override]
        """Fit, and return the weights of the rows; W and H: where to begin with ``init="custom"``."""
        self._custom = (W, H)
        try:
            return super().fit_transform(X, y)
        finally:
            self.__dict__.pop("_custom", None)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        columns = engine.accumulate(Spread.of, source)
        X, s = rows_of_source(source, type(self).__name__)
        self._check(X)
        W, H = self._begin(X, s)
        climb = self._multiply if self._multiplies else self._descend
        count = climb(X, s, W, H, trace)
        W = self._weights_for(X, H)
        error, value, _ = self._judge(X, s, H, W)
        parameters = NMFParameters(H, len(H), error, count)
        cut = self._cut(trace, count)
        evidence = {"column_moments": columns.moments, "rows": columns.rows}
        return Learned(parameters, self._certificate(0.0, value, {"cut": cut, "weights": s @ W}), evidence)

    def _cut(self, trace: Trace, count: int) -> float:
        """The progress of the last iteration as a share of tol, where the climb was cut short."""
        last = trace.last
        if hasattr(self, "_piecewise") or last is None or self.tol == 0 or count < self.max_iter:
            return 0.0
        gap = np.inf if last.gap is None else float(last.gap)
        return gap / self.tol if gap > self.tol else 0.0

    def _unproved(self, certificate: Certificate) -> str:
        return (
            f"{type(self).__name__}: Maximum number of iterations {self.max_iter} reached. Increase it to "
            f"improve convergence. {certificate.statement}"
        )

    def _certificate(self, changed: float, objective: float, witness: Any) -> Certificate:
        measure = "change of error and weights, as a share of what rounding allows"
        parts = {"objective": objective, "change": changed, "progress, over tol": float(witness["cut"])}
        value = max(changed / SAME, float(witness["cut"]))
        return Certificate("measured", measure, value, 1.0, parts, witness)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Find the weights of all rows again, by whole matrices, and what they leave of X."""
        X, s = rows_of_source(source, type(self).__name__)
        H = np.asarray(self.components_, dtype=np.float64)
        W = self._weights_for(X, H, plain=True)
        error, value, scale = self._judge(X, s, H, W)
        told, witness = float(self.certificate_.parts["objective"]), self.certificate_.witness
        sums, known = s @ W, np.asarray(witness["weights"])
        size = max(float(np.abs(known).max(initial=0.0)), np.finfo(float).tiny)
        moved = float(np.abs(sums - known).max(initial=0.0)) / size if sums.shape == known.shape else np.inf
        changed = max(
            abs(error**2 - self.reconstruction_err_**2) / scale, abs(value - told) / scale, LOOSE * moved
        )
        if len(H) != self.n_components_ or not np.isfinite(changed) or (H < 0).any():
            changed = np.inf
        return self._certificate(changed, value, witness)

    def _judge(self, X: Any, s: Vector, H: Matrix, W: Matrix) -> tuple[float, float, float]:
        """Error (the root of twice the divergence), objective, and the size that changes are measured by."""
        far = divergence(X, W, H, self._power, s)
        l1_W, l1_H, l2_W, l2_H = self._penalties(float(s.sum()), X.shape[1])
        value = far + float(s @ (l1_W * W.sum(axis=1) + 0.5 * l2_W * (W**2).sum(axis=1)))
        value += l1_H * float(H.sum()) + 0.5 * l2_H * float((H**2).sum())
        squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else (X**2).sum(axis=1)
        whole = (
            float(s @ np.asarray(squares).ravel())
            if self._power == 2
            else abs(far) + float(s @ np.asarray(X.sum(axis=1)).ravel())
        )
        return float(np.sqrt(max(2 * far, 0.0))), value, max(whole, np.finfo(np.float64).tiny)

    def _penalties(self, rows: float, columns: int) -> tuple[float, float, float, float]:
        alpha_H = self.alpha_W if self.alpha_H == "same" else self.alpha_H
        r = self.l1_ratio
        return (
            columns * self.alpha_W * r,
            rows * alpha_H * r,
            columns * self.alpha_W * (1 - r),
            rows * alpha_H * (1 - r),
        )

    def _check(self, X: Any) -> None:
        least = X.min() if X.shape[1] else 0.0
        if least < 0:
            raise DataError(
                f"Negative values in data passed to NMF (input X): the least is {least:g}; "
                "shift or drop such columns."
            )
        if not self._multiplies and self._power != 2:
            raise ParameterError(
                f"Invalid beta_loss parameter: solver {self.solver!r} does not handle beta_loss = "
                f"{self.beta_loss!r}"
            )
        if least == 0 and self._power <= 0:
            raise DataError(
                "When beta_loss <= 0 and X contains zeros, the solver may diverge. Please add small values "
                "to X, or use a positive beta_loss."
            )

    def _begin(self, X: Any, s: Vector) -> tuple[Matrix, Matrix]:
        """Weights and parts to begin with."""
        n, p = X.shape
        given = getattr(self, "_custom", (None, None))
        count = self.n_components
        if count == "auto":
            count = len(given[1]) if self.init == "custom" and given[1] is not None else p
        count = p if count is None else int(count)
        rng = stream(0 if self.random_state is None else seed_of(self.random_state), 0)
        mean = float(s @ np.asarray(X.sum(axis=1)).ravel()) / float(s.sum()) / p
        if self.init == "custom":
            return _given(given[0], (n, count), "W"), _given(given[1], (count, p), "H")
        how = self.init
        if how is not None and how != "random" and count > min(n, p):
            raise ParameterError(
                f"init = '{how}' can only be used when n_components <= min(n_samples, n_features)"
            )
        if how is None:
            how = "nndsvda" if count <= min(n, p) else "random"
        if how == "random":
            size = np.sqrt(mean / count)
            H = np.abs(size * rng.standard_normal((count, p)))
            return np.abs(size * rng.standard_normal((n, count))), H
        W, H = _by_singular_vectors(X, s, count, rng)
        if how == "nndsvda":
            W[W == 0], H[H == 0] = mean, mean
        elif how == "nndsvdar":
            W[W == 0] = np.abs(mean * rng.standard_normal(int((W == 0).sum())) / 100)
            H[H == 0] = np.abs(mean * rng.standard_normal(int((H == 0).sum())) / 100)
        return W, H

    def _descend(self, X: Any, s: Vector, W: Matrix, H: Matrix, trace: Trace) -> int:
        """Coordinate descent on W and on H in turn; both are changed in place."""
        l1_W, l1_H, l2_W, l2_H = self._penalties(float(s.sum()), X.shape[1])
        Ht, first = np.ascontiguousarray(H.T), 0.0
        seed = 0 if self.random_state is None else seed_of(self.random_state)
        rng, plain = stream(seed, 1), bool((s == 1).all())
        for iteration in trace.iterations(self.max_iter):
            order = rng.permutation(len(H)) if self.shuffle else None
            found = nonnegative_rows(_ridged(Ht.T @ Ht, l2_W), np.asarray(X @ Ht) - l1_W, W, order=order)
            sW = W if plain else s[:, None] * W
            order = rng.permutation(len(H)) if self.shuffle else None
            found += nonnegative_rows(_ridged(W.T @ sW, l2_H), np.asarray(X.T @ sW) - l1_H, Ht, order=order)
            first = found if iteration == 0 else first
            share = found / first if first > 0 else 0.0
            trace.record(gap=share)
            if share <= self.tol:
                break
        H[...] = Ht.T
        return len(trace)

    def _multiply(self, X: Any, s: Vector, W: Matrix, H: Matrix, trace: Trace) -> int:
        """Multiplicative updates, until ten of them gain no more than a share ``tol`` of the first error."""
        penalties = self._penalties(float(s.sum()), X.shape[1])
        begun = last = self._root(X, W, H, s)
        gain = np.inf
        for iteration in trace.iterations(self.max_iter):
            multiplied(X, s, W, H, self._power, penalties)
            if self.tol > 0 and iteration % 10 == 9:
                now = self._root(X, W, H, s)
                gain, last = (last - now) / begun if begun > 0 else 0.0, now
            trace.record(objective=last, gap=gain if np.isfinite(gain) else None)
            if gain < self.tol:
                break
        return len(trace)

    def _root(self, X: Any, W: Matrix, H: Matrix, s: Vector) -> float:
        return float(np.sqrt(max(2 * divergence(X, W, H, self._power, s), 0.0)))

    def _weights_for(self, X: Any, H: Matrix, *, plain: bool = False) -> Matrix:
        """The best weights of each row for given parts."""
        l1, _, l2, _ = self._penalties(1.0, X.shape[1])
        if self._multiplies:
            W = np.full((X.shape[0], len(H)), 1.0)
            W *= np.asarray(X.mean(axis=1)).reshape(-1, 1) / max(float(H.mean()) * len(H), NUDGE)
            W = np.maximum(W, NUDGE)
            for _ in range(self.max_iter):
                multiplied(X, np.ones(X.shape[0]), W, H, self._power, (l1, 0.0, l2, 0.0), parts=False)
            return W
        W = np.zeros((X.shape[0], len(H)))
        square, cross = _ridged(H @ H.T, l2), np.ascontiguousarray(np.asarray(X @ H.T) - l1)
        solve = nonnegative_rows_twin if plain else nonnegative_rows
        solve(square, cross, W, sweeps=SWEEPS, tolerance=SETTLED)
        return W

    def _transform(self, X: Any) -> Any:
        if X.shape[1] and X.min() < 0:
            raise DataError("Negative values in data passed to NMF (input X): parts add up to none.")
        H = np.asarray(self.components_, dtype=np.float64)
        return self._weights_for(X, H).astype(X.dtype, copy=False)

    def _inverse_transform(self, X: Any) -> Any:
        return np.asarray(X @ self.components_).astype(X.dtype, copy=False)

    def check_loaded(self) -> None:
        """Refuse parts of another width."""
        super().check_loaded()
        if self.components_.ndim != 2 or self.components_.shape[1] != self.n_features_in_:
            raise FormatError("the file's parts do not fit its columns: it is damaged.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class MiniBatchNMF(NMF):
    r"""Nonnegative parts learnt from batches, which may come one after the other.

    Each batch finds its weights W for the parts; then :math:`\sum \rho^{b} W'W` and :math:`\sum \rho^b W'X`,
    faded by ``forget_factor`` a batch, tell where the parts go. Other parameters are those of :class:`NMF`;
    fresh_restarts, fresh_restarts_max_iter and transform_max_iter change nothing: weights are always exact.

    >>> from surefit import MiniBatchNMF
    >>> model = MiniBatchNMF(1, batch_size=2).fit([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> (model.components_ / model.components_[0, 0]).round(4)
    array([[1., 2.]])
    """

    def __init__(
        self,
        n_components: Count | Literal["auto"] | None = "auto",
        *,
        init: Literal["random", "nndsvd", "nndsvda", "nndsvdar", "custom"] | None = None,
        batch_size: Count = 1024,
        beta_loss: Loss | Annotated[float, Interval()] = "frobenius",
        tol: Tolerance = 1e-4,
        max_no_improvement: Count | None = 10,
        max_iter: Count = 200,
        alpha_W: NonNegative = 0.0,
        alpha_H: NonNegative | Literal["same"] = "same",
        l1_ratio: Fraction = 0.0,
        forget_factor: Fraction = 0.7,
        fresh_restarts: bool = False,
        fresh_restarts_max_iter: Count = 30,
        transform_max_iter: Count | None = None,
        random_state: RandomState = None,
        verbose: WholeNumber | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.batch_size = batch_size
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.max_iter = max_iter
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.forget_factor = forget_factor
        self.fresh_restarts = fresh_restarts
        self.fresh_restarts_max_iter = fresh_restarts_max_iter
        self.transform_max_iter = transform_max_iter
        self.random_state = random_state
        self.verbose = verbose

    solver = "cd"
    shuffle = False

    @property
    def _multiplies(self) -> bool:
        return self._power != 2

    def _descend(self, X: Any, s: Vector, W: Matrix, H: Matrix, trace: Trace) -> int:
        order = _by_content(X)
        X, s = X[order], s[order]
        n = X.shape[0]
        batches = [slice(a, min(a + self.batch_size, n)) for a in range(0, n, self.batch_size)]
        fade = self.forget_factor ** (min(self.batch_size, n) / n)
        _, l1_H, _, l2_H = self._penalties(float(s.sum()), X.shape[1])
        A, B = np.zeros((len(H), len(H))), np.zeros(H.shape)
        Ht, size = np.ascontiguousarray(H.T), max(float(np.linalg.norm(H)), NUDGE)
        least, since = np.inf, 0
        for _ in trace.iterations(self.max_iter):
            before = Ht.copy()
            for rows in batches:
                some = self._weights_for(X[rows], Ht.T.copy())
                weighted = s[rows, None] * some
                A, B = fade * A + some.T @ weighted, fade * B + np.asarray((X[rows].T @ weighted).T)
                nonnegative_rows(_ridged(A, l2_H), np.ascontiguousarray(B.T) - l1_H, Ht, sweeps=5)
            moved = float(np.linalg.norm(Ht - before)) / size
            trace.record(gap=moved)
            since = 0 if moved < least else since + 1
            least = min(least, moved)
            if moved <= self.tol or since == self.max_no_improvement:
                break
        H[...] = Ht.T
        return len(trace)

    def partial_fit(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> Self:
        """Learn from one more batch of rows; the first also sets the start."""
        fresh = not self.__sklearn_is_fitted__()

        def step() -> None:
            source = admit(self, self._accepted(), X, None, None, reset=fresh)
            if fresh:
                kept = self.max_iter
                self._custom, self._piecewise = (W, H), True
                try:
                    self.max_iter = 1
                    self._fit(X, None, None)
                finally:
                    self.max_iter = kept
                    del self._custom, self._piecewise
                self._sums = None
            rows, s = rows_of_source(source, "MiniBatchNMF")
            self._check(rows)
            parts = np.ascontiguousarray(self.components_.T)
            weights = self._weights_for(rows, parts.T.copy())
            weighted = s[:, None] * weights
            old = getattr(self, "_sums", None)
            A, B = (0.0, 0.0) if old is None else (self.forget_factor * old[0], self.forget_factor * old[1])
            self._sums = (A + weights.T @ weighted, B + np.asarray((rows.T @ weighted).T))
            _, l1, _, l2 = self._penalties(float(s.sum()), rows.shape[1])
            nonnegative_rows(
                _ridged(self._sums[0], l2), np.ascontiguousarray(self._sums[1].T) - l1, parts, sweeps=5
            )
            self.components_ = np.ascontiguousarray(parts.T)
            weights = self._weights_for(rows, self.components_)
            error, value, _ = self._judge(rows, s, self.components_, weights)
            self.reconstruction_err_ = error
            self.n_iter_ = getattr(self, "n_iter_", 0) + (not fresh)
            self.certificate_ = self._certificate(0.0, value, {"cut": 0.0, "weights": s @ weights})

        return self._atomically(step)


def _by_content(X: Any) -> NDArray[np.intp]:
    """An order of rows that depends on their values alone."""
    if sparse.issparse(X):
        keys = np.asarray(X @ np.sqrt(np.arange(1.0, X.shape[1] + 1)))
        return np.argsort(keys, kind="stable")
    return np.lexsort(X.T[::-1]) if X.shape[1] else np.arange(len(X))


def _given(value: Any, shape: tuple[int, ...], name: str) -> Matrix:
    found = np.array(value, dtype=np.float64)
    if found.shape != shape:
        raise ParameterError(
            f"Array with wrong shape passed to NMF (input {name}). Expected {shape}, but got {found.shape}"
        )
    if (found < 0).any() or not np.isfinite(found).all():
        raise ParameterError(f"Negative values in data passed to NMF (input {name})")
    if found.max(initial=0.0) == 0:
        raise ParameterError(f"Array passed to NMF (input {name}) is full of zeros.")
    return found


def _ridged(square: Matrix, l2: float) -> Matrix:
    found = np.ascontiguousarray(square)
    if l2:
        found = found.copy()
        found[np.diag_indices_from(found)] += l2
    return found


def _by_singular_vectors(X: Any, s: Vector, count: int, rng: Any) -> tuple[Matrix, Matrix]:
    """Boutsidis and Gallopoulos (2008): the larger of the positive and negative part of each pair."""
    V, sizes = _right_vectors(X, s, count, rng)
    U = np.asarray(X @ V.T) / np.where(sizes > 0, sizes, 1.0)
    W, H = np.zeros_like(U), np.zeros_like(V)
    norm = np.sqrt
    W[:, 0], H[0] = norm(sizes[0]) * np.abs(U[:, 0]), norm(sizes[0]) * np.abs(V[0])
    for j in range(1, count):
        best = (0.0, U[:, j] * 0, V[j] * 0)
        for sign in (1.0, -1.0):
            x, y = np.maximum(sign * U[:, j], 0), np.maximum(sign * V[j], 0)
            a, b = float(norm(s @ x**2)), float(norm(y @ y))
            if a * b > best[0]:
                best = (a * b, x / a, y / b)
        W[:, j], H[j] = norm(sizes[j] * best[0]) * best[1], norm(sizes[j] * best[0]) * best[2]
    W[W < NUDGE], H[H < NUDGE] = 0, 0
    return W, H


def _right_vectors(X: Any, s: Vector, count: int, rng: Any) -> tuple[Matrix, Vector]:
    """Leading right singular vectors of the weighted rows, as rows, and singular values."""
    p = X.shape[1]

    def product(V: Matrix) -> Matrix:
        return np.asarray(X.T @ (s[:, None] * np.asarray(X @ V)))

    if p <= 500:
        values, vectors = np.linalg.eigh(product(np.eye(p)))
    else:
        basis = np.linalg.qr(product(rng.standard_normal((p, min(p, count + 10)))))[0]
        for _ in range(4):
            basis = np.linalg.qr(product(basis))[0]
        values, small = np.linalg.eigh(basis.T @ product(basis))
        vectors = basis @ small
    axes = signed(np.ascontiguousarray(vectors[:, ::-1][:, :count].T))
    return axes, np.sqrt(np.maximum(values[::-1][:count], 0.0))


def power_of(loss: Any) -> float:
    """The power of a divergence by its name, or the number itself."""
    return POWERS[loss] if isinstance(loss, str) else float(loss)


def divergence(X: Any, W: Matrix, H: Matrix, power: float, s: Vector) -> float:
    r"""The weighted sum over cells of :math:`d_\beta(x, wh)`.

    >>> divergence(np.array([[3.0]]), np.array([[1.0]]), np.array([[1.0]]), 2.0, np.ones(1))
    2.0
    """
    if power == 2:
        if sparse.issparse(X):
            data = np.repeat(s, np.diff(X.indptr)) @ X.data**2
            whole = float(((W.T @ (s[:, None] * W)) * (H @ H.T)).sum())
            return float(data + whole - 2 * (np.asarray(X @ H.T) * W * s[:, None]).sum()) / 2
        return float(s @ ((X - W @ H) ** 2).sum(axis=1)) / 2
    dense = X.toarray() if sparse.issparse(X) else X
    made = W @ H
    there = dense > TINY
    x, y = dense[there].astype(np.float64), np.maximum(made[there], TINY)
    weight = np.broadcast_to(s[:, None], dense.shape)[there]
    if power == 1:
        return float(weight @ (x * np.log(x / y) - x)) + float(s @ made.sum(axis=1))
    if power == 0:
        return float(weight @ (x / y - np.log(x / y) - 1))
    rest = float(s @ (np.maximum(made, TINY) ** power).sum(axis=1)) * (power - 1)
    return (float(weight @ (x**power - power * x * y ** (power - 1))) + rest) / (power * (power - 1))


def multiplied(
    X: Any,
    s: Vector,
    W: Matrix,
    H: Matrix,
    power: float,
    penalties: tuple[float, float, float, float],
    *,
    parts: bool = True,
) -> None:
    """One multiplicative update of W, and of H where ``parts``, in place; neither raises the objective."""
    l1_W, l1_H, l2_W, l2_H = penalties
    exponent = 1 / (2 - power) if power < 1 else 1 / (power - 1) if power > 2 else 1.0
    up, down = _pull(X, W, H, power)
    _scale(
        W,
        np.asarray(up @ H.T),
        np.asarray(down @ H.T) if down is not None else W @ (H @ H.T),
        l1_W,
        l2_W,
        exponent,
    )
    if not parts:
        return
    sW = s[:, None] * W
    up, down = _pull(X, W, H, power)
    _scale(
        H,
        np.asarray(up.T @ sW).T,
        np.asarray(down.T @ sW).T if down is not None else (sW.T @ W) @ H,
        l1_H,
        l2_H,
        exponent,
    )


def _pull(X: Any, W: Matrix, H: Matrix, power: float) -> tuple[Any, Any]:
    """What pulls each cell up and down; None stands for the product itself."""
    if power == 2:
        return X, None
    dense = X.toarray() if sparse.issparse(X) else X
    made = np.maximum(W @ H, TINY)
    return dense * made ** (power - 2), made ** (power - 1)


def _scale(factor: Matrix, up: Matrix, down: Matrix, l1: float, l2: float, exponent: float) -> None:
    down = down + l1 + l2 * factor
    down[down == 0] = TINY
    step = up / down
    factor *= step if exponent == 1 else step**exponent
