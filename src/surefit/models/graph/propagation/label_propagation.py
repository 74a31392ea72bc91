"""Labels that spread over rows by how alike they are, solved for instead of iterated."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import splu
from sklearn.base import ClassifierMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, RefusalError
from surefit.core.parameters import Count, Interval, Scale
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.distances import search
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.graph.propagation.weighted_graph import check_square
from surefit.models.rows_in_memory import gathered

UNLABELLED = -1
TOLERANCE = 1e-8  # of a step of the iteration from the answer: what rounding leaves of exact solves is less
_MOST_DENSE = 20_000  # rows whose matrix of all pairs is 3 GiB
_DIRECT = 3000  # rows up to which a dense system is factorised
_ROUNDS = 10_000


@dataclass(frozen=True, slots=True)
class PropagationParameters:
    """Classes; the rows and their weights; the shares of the classes in each, their sums before division, and
    the largest.
    """

    classes: NDArray[Any]
    X: Any
    row_weights: Vector
    label_distributions: Matrix
    row_sums: Vector
    transduction: NDArray[Any]
    n_iter: int


class _Propagation(ClassifierMixin, Estimator, abstract=True):
    """What both have in common; each writes its system."""

    accepts = Accepts(target="class")
    learns = PropagationParameters

    kernel: Any
    gamma: float
    n_neighbors: int
    classes_: NDArray[Any]
    X_: Any
    row_weights_: Vector
    label_distributions_: Matrix
    row_sums_: Vector
    transduction_: NDArray[Any]
    n_iter_: int

    @abstractmethod
    def _solved(self, W: Any, Y: Matrix, known: NDArray[np.bool_], weight: Vector) -> Matrix:
        """The shares of rows that have weight, before they are divided by their sum."""

    @abstractmethod
    def _step(self, W: Any, F: Matrix, Y: Matrix, known: NDArray[np.bool_], weight: Vector) -> Matrix:
        """One step of the iteration whose end ``_solved`` returns."""

    def _source(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None, **also: Any
    ) -> Source:
        if not reset and classes is not None and np.asarray(classes).dtype.kind in "iuf":
            classes = np.unique(np.append(classes, UNLABELLED))  # rows without a label are rows of the fit
        return super()._source(X, y, sample_weight, reset=reset, classes=classes, **also)

    def _problem(self, source: Source) -> tuple[Any, Vector, Matrix, NDArray[np.bool_], NDArray[Any]]:
        """Rows, weights, labels as shares, which are known, and the classes."""
        batch = gathered(source)
        labels = source.schema.classes
        assert labels is not None
        real = np.array([label != UNLABELLED for label in labels.tolist()])
        codes: Any = np.asarray(batch.y, dtype=np.int64)
        n = len(codes)
        Y = np.zeros((n, int(real.sum())))
        known = real[codes]
        Y[np.flatnonzero(known), (np.cumsum(real) - 1)[codes[known]]] = 1.0
        weight = np.ones(n) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        if not (known & (weight > 0)).any():
            raise DataError("every label is -1, which stands for none: give at least one row its class.")
        if self.kernel == "knn" and not (weight == weight[0]).all():
            raise RefusalError("kernel='knn' takes no weights: copies of a row would be its neighbours.")
        X: Any = batch.X
        return X.astype(np.float64) if X.dtype == np.float32 else X, weight, Y, known, labels[real]

    def _alike(self, X: Any) -> Any:
        """The matrix of similarities of all rows: dense, or sparse for nearest neighbours."""
        n = X.shape[0]
        if self.kernel == "knn":
            k = self.n_neighbors
            if k > n:
                raise DataError(f"Expected n_neighbors <= n_samples, but n_neighbors = {k}, n_samples = {n}.")
            near = search.build(X).nearest(X, k).index
            where = (np.repeat(np.arange(n), k), near.ravel())
            return sparse.coo_array((np.ones(n * k), where), shape=(n, n)).tocsr()
        if n > _MOST_DENSE:
            raise RefusalError(f"a matrix of all pairs of {n} rows is too large: choose kernel='knn'.")
        if callable(self.kernel):
            return check_square(self.kernel(X, X))
        return np.exp(-self.gamma * _squares(X, X))

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        X, weight, Y, known, classes = self._problem(source)
        W = self._alike(X)
        here = weight > 0
        raw = np.zeros_like(Y)
        inner = W if here.all() else W[here][:, here]
        raw[here] = self._solved(inner, Y[here], known[here], weight[here])
        if not here.all():  # rows without weight learn from the others and teach none
            raw[~here] = W[~here][:, here] @ (weight[here, None] * raw[here])
        sums = raw.sum(axis=1)
        F = raw / np.where(sums > 0, sums, 1.0)[:, None]
        certificate = self._proof(W, raw, Y, known, weight, 0.0)
        kept = X.copy() if sparse.issparse(X) else np.array(X)
        parameters = PropagationParameters(classes, kept, weight, F, sums, classes[F.argmax(axis=1)], 1)
        return Learned(parameters, certificate, {"rows": len(Y)})

    def _proof(
        self, W: Any, raw: Matrix, Y: Matrix, known: NDArray[np.bool_], weight: Vector, rows: float
    ) -> Certificate:
        here = weight > 0
        inner = W if here.all() else W[here][:, here]
        again = self._step(inner, raw[here], Y[here], known[here], weight[here])
        change = float(np.abs(again - raw[here]).max(initial=0.0))
        parts = {"change": change, "rows": rows}
        measure = "largest change of a share by one more step of the iteration"
        return Certificate("fixed point", measure, max(parts.values()), TOLERANCE, parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        X, weight, Y, known, _ = self._problem(source)
        if Y.shape != self.label_distributions_.shape or X.shape[0] != self.X_.shape[0]:
            raise DataError(
                f"{type(self).__name__}: the model holds {len(self.label_distributions_)} rows, and there "
                f"are {len(Y)} here: pass the rows that were fitted."
            )
        apart = abs(X - self.X_)
        rows = float(apart.max()) if apart.shape[0] and apart.shape[1] else 0.0
        rows = max(rows, float(np.abs(weight - self.row_weights_).max(initial=0.0)))
        raw = self.label_distributions_ * np.where(self.row_sums_ > 0, self.row_sums_, 1.0)[:, None]
        return self._proof(self._alike(X), raw, Y, known, weight, rows)

    def check_loaded(self) -> None:
        """Refuse a file whose rows and shares do not belong together."""
        n, shape = self.X_.shape[0], np.shape(self.label_distributions_)
        if shape != (n, len(self.classes_)) or {np.shape(self.row_sums_), np.shape(self.row_weights_)} != {
            (n,)
        }:
            raise FormatError("the file's rows and the shares of their classes do not belong together.")
        if self.X_.shape[1] != self.n_features_in_ or np.shape(self.transduction_) != (n,):
            raise FormatError("the file's rows do not have the columns that it names.")

    def predict_proba(self, X: Any) -> Matrix:
        """Return for each row the average shares of the rows of the fit, weighted by how alike they are."""
        return self._answer(self._shares, X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest share for each row; of equal ones the first."""
        return self._answer(lambda rows: self.classes_[self._shares(rows).argmax(axis=1)], X)

    def _shares(self, X: Any) -> Matrix:
        X = X.astype(np.float64) if X.dtype == np.float32 else X
        taught = self.row_weights_[:, None] * self.label_distributions_
        if self.kernel == "knn":
            near = search.build(self.X_).nearest(X, self.n_neighbors).index
            found = self.label_distributions_[near].sum(axis=1)
        elif callable(self.kernel):
            found = np.asarray(self.kernel(self.X_, X), dtype=np.float64).T @ taught
        else:
            squares = _squares(X, self.X_)
            # Far from all rows every similarity rounds to 0; their ratios stay as they are.
            squares -= squares[:, self.row_weights_ > 0].min(axis=1, keepdims=True)
            squares = np.maximum(squares, 0.0)  # rows without weight may be nearer, and teach nothing
            found = np.exp(-self.gamma * squares) @ taught
        sums = found.sum(axis=1, keepdims=True)
        even = np.full_like(found, 1.0 / found.shape[1])
        return np.asarray(np.divide(found, sums, out=even, where=sums > 0))


class LabelPropagation(_Propagation):
    r"""Labels by the harmonic equation: each row without one has the average of the rows that are like it.

    .. math:: F_i = \sum_j w_{ij} F_j / \sum_j w_{ij} \text{ where } y_i = -1, \quad F_i = y_i \text{
    elsewhere}

    kernel: "rbf", "knn", or a function of two matrices that returns similarities. gamma: of the rbf kernel;
    n_neighbors: of the graph of nearest neighbours. The equations are solved, so max_iter and tol, which
    scikit-learn's iteration has, change nothing.

    >>> import numpy as np
    >>> from surefit import LabelPropagation
    >>> model = LabelPropagation(gamma=1.0).fit([[0.0], [1.0], [3.0], [4.0]], [0, -1, -1, 1])
    >>> model.transduction_.tolist(), model.certificate_.holds
    ([0, 0, 1, 1], True)
    """

    def __init__(
        self,
        kernel: Literal["rbf", "knn"] | Callable[[Any, Any], Any] = "rbf",
        *,
        gamma: Annotated[float, Interval(0, None), Scale("log")] = 20,
        n_neighbors: Count = 7,
        max_iter: Count = 1000,
        tol: Annotated[float, Interval(0, None)] = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _solved(self, W: Any, Y: Matrix, known: NDArray[np.bool_], weight: Vector) -> Matrix:
        F = Y.copy()
        free = ~known & _reached(W, known)
        if not free.any():
            return F
        P = _averaging(W, weight)
        inner, right = P[free][:, free], P[free][:, known] @ Y[known]
        if sparse.issparse(inner):
            solver = splu((sparse.eye_array(inner.shape[0]) - inner).tocsc())
            found = solver.solve(right)
            found += solver.solve(right - found + inner @ found)
        elif len(inner) <= _DIRECT:
            factor = linalg.lu_factor(np.eye(len(inner)) - inner)
            found = linalg.lu_solve(factor, right)
            found += linalg.lu_solve(factor, right - found + inner @ found)
        else:
            found = _iterated(lambda G: right + inner @ G, right)
        sums = found.sum(axis=1)
        if not np.isfinite(found).all() or (found < -1e-9).any() or (sums < 1e-9).any():
            # Rows that hardly anything ties to a label leave a system that rounding has made singular.
            found = _iterated(lambda G: _divided(right + inner @ G), right)
        F[free] = _divided(np.maximum(found, 0.0))
        return F

    def _step(self, W: Any, F: Matrix, Y: Matrix, known: NDArray[np.bool_], weight: Vector) -> Matrix:
        again = _divided(_averaging(W, weight) @ F)
        again[known] = Y[known]
        return again


class LabelSpreading(_Propagation):
    r"""Labels by a compromise between what rows had and what their like have.

    .. math:: F = (1 - \alpha) (I - \alpha S)^{-1} Y, \quad S = D^{-1/2} W D^{-1/2}

    alpha: how much a row takes over from its neighbours; also rows with a label may change theirs. The other
    parameters are those of LabelPropagation; max_iter and tol change nothing, for the equations are solved.

    >>> from surefit import LabelSpreading
    >>> model = LabelSpreading(gamma=1.0).fit([[0.0], [1.0], [3.0], [4.0]], [0, -1, -1, 1])
    >>> model.transduction_.tolist(), model.certificate_.holds
    ([0, 0, 1, 1], True)
    """

    def __init__(
        self,
        kernel: Literal["rbf", "knn"] | Callable[[Any, Any], Any] = "rbf",
        *,
        gamma: Annotated[float, Interval(0, None), Scale("log")] = 20,
        n_neighbors: Count = 7,
        alpha: Annotated[float, Interval(0, 1, open_low=True, open_high=True)] = 0.2,
        max_iter: Count = 30,
        tol: Annotated[float, Interval(0, None)] = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _solved(self, W: Any, Y: Matrix, known: NDArray[np.bool_], weight: Vector) -> Matrix:
        step = self._stepper(W, Y, weight)
        return _iterated(step, (1 - self.alpha) * Y)

    def _step(self, W: Any, F: Matrix, Y: Matrix, known: NDArray[np.bool_], weight: Vector) -> Matrix:
        return self._stepper(W, Y, weight)(F)

    def _stepper(self, W: Any, Y: Matrix, weight: Vector) -> Callable[[Matrix], Matrix]:
        own = W.diagonal()
        others = W - (sparse.diags_array(own) if sparse.issparse(W) else np.diag(own))
        # A repeated row is like all its copies, but no row is its own neighbour.
        copies = np.maximum(weight - 1.0, 0.0) * own
        degree = np.asarray(weight @ others).ravel() + copies
        degree = np.where(degree > 0, degree, 1.0)
        root = 1 / np.sqrt(degree)
        left, right, again = root[:, None], (root * weight)[:, None], (copies / degree)[:, None]

        def step(F: Matrix) -> Matrix:
            spread = left * (others @ (right * F)) + again * F
            return np.asarray(self.alpha * spread + (1 - self.alpha) * Y)

        return step


def _squares(X: Any, other: Any) -> Matrix:
    """Squared distances of rows, which keep their digits far from 0."""
    if sparse.issparse(X) or sparse.issparse(other):
        X, other = sparse.csr_array(X), sparse.csr_array(other)
        cross = np.asarray((X @ other.T).todense())
        lengths = [np.asarray(A.multiply(A).sum(axis=1)).ravel() for A in (X, other)]
    else:
        centre = other.mean(axis=0)
        X, other = X - centre, other - centre
        cross = X @ other.T
        lengths = [np.einsum("ij,ij->i", A, A) for A in (X, other)]
    return np.asarray(np.maximum(lengths[0][:, None] + lengths[1][None, :] - 2 * cross, 0.0))


def _averaging(W: Any, weight: Vector) -> Any:
    """The matrix of averages: rows sum to one; an isolated row averages nothing."""
    scaled = W * weight[None, :] if not sparse.issparse(W) else W @ sparse.diags_array(weight)
    sums = np.asarray(scaled.sum(axis=1)).ravel()
    inverse = 1 / np.where(sums > 0, sums, 1.0)
    return sparse.diags_array(inverse) @ scaled if sparse.issparse(W) else inverse[:, None] * scaled


def _reached(W: Any, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows some path of similarities joins with a label."""
    if not sparse.issparse(W):
        return np.asarray((W[:, known] > 0).any(axis=1)) | _reached(sparse.csr_array(W), known)
    found = known.copy()
    for _ in range(W.shape[0]):
        more = found | (np.asarray(W @ found.astype(np.float64)).ravel() > 0)
        if (more == found).all():
            break
        found = more
    return found


def _divided(F: Matrix) -> Matrix:
    sums = F.sum(axis=1, keepdims=True)
    return np.asarray(F / np.where(sums > 0, sums, 1.0))


def _iterated(step: Callable[[Matrix], Matrix], start: Matrix) -> Matrix:
    """Repeat a step until it changes nothing but roundings."""
    F, before = start, np.inf
    for _ in range(_ROUNDS):
        again = step(F)
        change = float(np.abs(again - F).max(initial=0.0))
        F = again
        if change <= 1e-15 or (change <= 1e-12 and change >= before):  # what does not shrink is rounding
            break
        before = change
    return F
