"""What all support vector machines share: parameters, kernel values, the native solver, what a fit leaves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError
from surefit.core.native.kernel.kernel_sums import kernel_sums
from surefit.core.native.kernel.smo import DualProblem, DualSolution, smo
from surefit.core.parameters import Interval, NonNegative
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.batches.objects import Objects
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.kernels.base import Kernel
from surefit.models.base import Estimator, Learned
from surefit.models.kernel.svm.duality import Machine, certificate
from surefit.models.kernel.svm.kernel_values import KernelValues, dense_if_small, kernel_values
from surefit.models.rows_in_memory import gathered
from surefit.stats.spread import Spread

KernelLike = Literal["linear", "poly", "rbf", "sigmoid", "precomputed"] | Kernel | Callable[..., Any]
Width = Literal["scale", "auto"] | NonNegative
Degree = Annotated[float, Interval(0, None)]
Steps = Annotated[int, Interval(-1, None)]
MEGABYTE = 2**20
FEWEST_STEPS = 10_000_000  # that are allowed where max_iter sets no bound, as in libsvm

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MachineParameters:
    """Signed coefficients (k, support vectors), intercepts (k,), which rows are support vectors and what they
    are (``columns`` and ``starts`` beside the cells of sparse ones), gamma, pairs moved, whether their bound
    was reached, and the shape of X.
    """

    signed: Floats
    intercept: Floats
    support: NDArray[np.int32]
    vectors: NDArray[Any]
    columns: NDArray[np.int64]
    starts: NDArray[np.int64]
    gamma: float
    n_iter: Any
    fit_status: int
    shape_fit: Any


class KernelMachine(Estimator, abstract=True):
    """A weighted sum of kernel values with some of the training rows, and an intercept."""

    learns: ClassVar[type] = MachineParameters

    kernel: Any
    degree: float
    gamma: Any
    coef0: float
    tol: float
    shrinking: bool
    cache_size: float
    max_iter: int

    signed_: Floats
    intercept_: Floats
    support_: NDArray[np.int32]
    _sparse_rows: bool
    vectors_: NDArray[Any]
    columns_: NDArray[np.int64]
    starts_: NDArray[np.int64]
    gamma_: float
    n_iter_: Any

    # --- what comes in ---

    def _accepted(self) -> Accepts:
        if self.kernel == "precomputed" if isinstance(self.kernel, str) else False:
            return replace(self.accepts, pairwise=True, sparse=False)
        if isinstance(self.kernel, Kernel):
            if self.kernel.takes == "objects":
                return replace(self.accepts, objects=True)
            if self.kernel.takes == "gram":
                return replace(self.accepts, pairwise=True, sparse=False)
        return self.accepts

    def _source(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None, **also: Any
    ) -> Source:
        if sparse.issparse(X) and self._accepted().pairwise:
            raise TypeError("Sparse precomputed kernels are not supported: give X.toarray().")
        _refuse_no_weight(sample_weight)
        return super()._source(X, y, sample_weight, reset=reset, classes=classes, **also)

    def _gamma_of(self, batch: Batch) -> float:
        """The width; "scale" weighs cells as the rows are weighted."""
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        X: Any = dense_if_small(batch.X)
        if isinstance(X, Objects) or self._accepted().pairwise:
            return 1.0
        if self.gamma == "auto":
            return 1.0 / X.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            alike = batch.weight is None or bool((batch.weight == batch.weight[0]).all())
            if alike and not sparse.issparse(X):
                spread = float(np.asarray(X, dtype=np.float64).var())
            else:
                weight = np.ones(X.shape[0]) if batch.weight is None else batch.weight
                cells = weight.sum() * X.shape[1]
                if sparse.issparse(X):
                    wide = X.astype(np.float64)
                    mean = float(weight @ np.asarray(wide.sum(axis=1)).ravel()) / cells
                    spread = (
                        float(weight @ np.asarray(wide.multiply(wide).sum(axis=1)).ravel()) / cells - mean**2
                    )
                else:
                    mean = float((weight @ X).sum()) / cells
                    spread = float((weight @ (X - mean) ** 2).sum()) / cells
        if not np.isfinite(spread) or 0 < spread < np.finfo(np.float64).tiny:
            raise DataError(
                f"{type(self).__name__}: the squares of the cells of X leave the range of floats, so that "
                "gamma='scale' has no value: scale the columns to about 1."
            )
        return 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0

    def _values(self, gamma: float, columns: int) -> KernelValues:
        return kernel_values(self.kernel, gamma, self.coef0, self.degree, columns, type(self).__name__)

    @staticmethod
    def _kept(batch: Batch) -> tuple[Batch, NDArray[np.intp]]:
        """The rows whose weight is not 0, and their numbers."""
        if batch.weight is None:
            return batch, np.arange(len(batch))
        rows = np.flatnonzero(batch.weight > 0)
        return batch, rows

    def _evidence(self, source: Source, engine: Engine) -> dict[str, Any]:
        """What the diagnosis looks at."""
        accepted = self._accepted()
        if accepted.pairwise or accepted.objects:
            return {}
        spread = engine.accumulate(Spread.of, source)
        return {"column_moments": spread.moments, "rows": spread.rows}

    # --- what is solved ---

    def _solve(
        self,
        points: Any,
        problem: DualProblem,
        start: Floats | None = None,
        gradient: Floats | None = None,
        tolerance: float | None = None,
    ) -> DualSolution:
        """Solve a dual of a plain kernel and its rows, from nothing or a start."""
        kernel, rows = points
        n = len(problem.low)
        most = max(FEWEST_STEPS, 100 * n) if self.max_iter == -1 else self.max_iter
        found = smo(
            kernel,
            rows,
            problem,
            np.zeros(n) if start is None else start,
            np.zeros(rows.shape[0]) if gradient is None else gradient,
            tolerance=self.tol if tolerance is None else tolerance,
            most_steps=most,
            cache_bytes=int(self.cache_size * MEGABYTE),
            shrinking=bool(self.shrinking),
        )
        if not (np.isfinite(found.gradient).all() and np.isfinite(found.beta).all()):
            raise DataError(
                "The dual coefficients or intercepts are not finite. The input data may contain large "
                f"values and need to be preprocessed: {type(self).__name__} found kernel values that are too "
                "large for floats."
            )
        return found

    @staticmethod
    def _sums_of(points: Any, beta: Floats) -> Floats:
        """K b of a start."""
        kernel, X = points
        at = np.flatnonzero(beta)
        if kernel.kind == "gram":
            return np.asarray(X[:, at] @ beta[at])
        return kernel_sums(kernel, X[at], X, beta[None, at])[:, 0]

    @staticmethod
    def _subset(points: Any, rows: NDArray[np.intp]) -> Any:
        """The points of some rows."""
        kernel, X = points
        if len(rows) == X.shape[0]:
            return points
        return kernel, np.ascontiguousarray(X[np.ix_(rows, rows)]) if kernel.kind == "gram" else X[rows]

    # --- what a fit leaves ---

    def _stored(self, X: Any, support: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """The support vectors as they are kept: rows, or cells, columns and starts of sparse ones."""
        none = np.empty(0, dtype=np.int64)
        if self._accepted().pairwise:
            return np.empty((0, 0)), none, none
        if isinstance(X, Objects):
            return X.items[support], none, none
        rows = X[support]
        if not sparse.issparse(rows):
            return np.array(rows, dtype=np.float64), none, none
        if 2 * rows.nnz >= rows.shape[0] * rows.shape[1]:
            return np.asarray(rows.toarray(), dtype=np.float64), none, none
        rows = rows.tocsr()
        rows.sum_duplicates()
        cells = np.asarray(rows.data, dtype=np.float64)
        return cells, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)

    @property
    def support_vectors_(self) -> Any:
        """The training rows that the answer is made of, sparse where X was."""
        found = self._support_rows()
        return sparse.csr_matrix(found) if self._from_sparse and not sparse.issparse(found) else found

    @property
    def _from_sparse(self) -> bool:
        """Whether the fit was to sparse rows; a file tells by how it keeps them."""
        return bool(self.__dict__.get("_sparse_rows", len(self._fitted("starts_")) > 0))

    def _support_rows(self) -> Any:
        """The support vectors as they are kept."""
        found = self._fitted("vectors_")
        if not len(self.starts_):
            return found
        shape = (len(self.starts_) - 1, self.n_features_in_)
        return sparse.csr_matrix((found, self.columns_, self.starts_), shape=shape)

    def _fitted(self, name: str) -> Any:
        if name not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} is not fitted yet: call fit first.")
        return self.__dict__[name]

    @property
    def dual_coef_(self) -> Any:
        """Multipliers times signs, sparse where the rows were."""
        signed = self._fitted("signed_")
        return sparse.csr_matrix(signed) if self._from_sparse else signed

    @property
    def coef_(self) -> Any:
        """The weights of the columns, of a linear kernel."""
        signed = self._fitted("signed_")
        if self.kernel != "linear" if isinstance(self.kernel, str) else True:
            raise AttributeError("coef_ is only available when using a linear kernel")
        found = self._weights(signed)
        (found.data if sparse.issparse(found) else found).flags.writeable = False
        return found

    def _weights(self, signed: Floats) -> Any:
        rows = self.support_vectors_
        return sparse.csr_matrix(signed) @ rows if sparse.issparse(rows) else signed @ rows

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """How many support vectors there are."""
        return np.array([len(self._fitted("support_"))], dtype=np.int32)

    def _support_points(self) -> Any:
        """The support vectors as kernels take them."""
        rows = self._support_rows()
        return Objects(rows) if self._accepted().objects else rows

    def _scores(self, X: Any, signed: Floats) -> Floats:
        """Sums over support vectors for checked rows, without intercepts: (n, k)."""
        values = self._values(self.gamma_, self.n_features_in_)
        if values.given:
            X = X[:, self.support_]
        return values.sums(self._support_points(), X, signed)

    # --- proof ---

    @abstractmethod
    def _machines(self, batch: Batch, f: Floats) -> list[Machine]:
        """The problems and their points, out of what is fitted; f: sums over support vectors, (n, k)."""

    def _spread(self, batch: Batch) -> Floats:
        """The signed coefficients as one column a machine: (k, support vectors)."""
        return self.signed_

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        batch = gathered(source)
        values = self._values(self.gamma_, self.n_features_in_)
        again = certificate(self._checked_machines(batch, values), self.tol, self._positive(values, batch))
        threshold = float(np.ravel(self.intercept_)[0]) if hasattr(self, "offset_") else 0.0
        if not self._same_rows(batch) or getattr(self, "offset_", 0.0) + threshold != 0.0:
            return replace(again, value=np.inf)
        before = self.certificate_
        change = abs(again.parts.get("objective", 0.0) - before.parts.get("objective", 0.0))
        size = max(1.0, abs(before.parts.get("objective", 0.0)))
        return again if change <= 1e-8 * size else replace(again, value=np.inf)

    def _checked_machines(self, batch: Batch, values: KernelValues) -> list[Machine]:
        X: Any = batch.X
        X = X[:, self.support_] if values.given else X
        return self._machines(batch, values.checked_sums(self._support_points(), X, self._spread(batch)))

    def _positive(self, values: KernelValues, batch: Batch) -> bool:
        if values.mercer:
            return True
        return values.is_positive(*reversed(values.solvable(batch.X)))

    def _same_rows(self, batch: Batch) -> bool:
        """Whether the support vectors are the rows they are said to be."""
        if self._accepted().pairwise:
            return True
        if len(batch) <= int(self.support_.max(initial=-1)):
            return False
        X: Any = batch.X
        kept, rows = self._support_rows(), X[self.support_]
        if isinstance(rows, Objects):
            return bool(np.array_equal(rows.items, kept))
        if sparse.issparse(kept) or sparse.issparse(rows):
            return bool((sparse.csr_matrix(kept) != sparse.csr_matrix(rows)).nnz == 0)
        return bool(np.array_equal(kept, rows))

    def check_loaded(self) -> None:
        """Refuse fitted values that do not belong together."""
        count, who = len(self.support_), type(self).__name__
        if self.signed_.ndim != 2 or self.signed_.shape[1] != count or self.support_.ndim != 1:
            raise FormatError(f"the coefficients of a {who} must have one column a support vector.")
        if count and int(self.support_.min()) < 0:
            raise FormatError(f"the support vectors of a {who} must be rows of numbers 0 or more.")
        pairwise = self._accepted().pairwise
        try:
            rows = self._support_rows()
            if sparse.issparse(rows):
                rows.check_format(full_check=True)
            wide = rows.ndim == 1 or (rows.ndim == 2 and rows.shape[1] == self.n_features_in_)
            fits = pairwise or (rows.shape[0] == count and wide)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            fits = False
        if not fits or (pairwise and int(self.support_.max(initial=-1)) >= self.n_features_in_):
            self._refuse_parts()

    def _refuse_parts(self) -> None:
        raise FormatError(f"the support vectors of a {type(self).__name__} do not fit its other values.")

    def _iteration_limit(self) -> int | None:
        return None

    def _learned(
        self,
        batch: Batch,
        gamma: float,
        signed: Floats,
        intercept: Floats,
        support: NDArray[Any],
        solutions: list[DualSolution],
        steps: Any,
        trace: Trace,
        proof: Certificate,
        evidence: Mapping[str, Any],
        more: Mapping[str, Any] | None = None,
    ) -> Learned:
        """What a fit hands back, after one record of how it went."""
        for _ in trace.iterations(1):
            trace.record(objective=proof.parts.get("dual"), gap=proof.value, passes=len(solutions))
        status = int(any(each.ended == "steps" for each in solutions))
        support = support.astype(np.int32)
        shape = tuple(int(each) for each in batch.X.shape)
        stored = self._stored(batch.X, support)
        self._sparse_rows = sparse.issparse(batch.X)
        parameters = self.learns(
            signed, intercept, support, *stored, gamma, steps, status, shape, **(more or {})
        )
        return Learned(parameters, proof, evidence)


def _refuse_no_weight(sample_weight: Any) -> None:
    """Refuse weights in memory of which none is above 0."""
    found = np.asarray(sample_weight) if isinstance(sample_weight, list | tuple | np.ndarray) else None
    if found is None or found.dtype.kind not in "iuf" or not found.size or not (found <= 0).all():
        return
    which = "negative" if (found < 0).all() else "zero or negative" if (found < 0).any() else "zero"
    raise DataError(
        f"every sample_weight is {which}, so no row counts: give at least one row a positive weight. "
        "Invalid input - all samples have zero or negative weights."
    )


def solved_intercept(
    problem: DualProblem, solution: DualSolution, rows: NDArray[np.intp] | slice = slice(None)
) -> tuple[float, float, float]:
    """Return the mean slope of the free variables, or the middle of the slopes allowed where none is free,
    and the least and the largest slope allowed; minus the slope is the intercept.
    """
    b = solution.beta[rows]
    f = (solution.gradient if problem.row is None else solution.gradient[problem.row])[rows]
    plus, minus, low, high = (a[rows] for a in (problem.plus, problem.minus, problem.low, problem.high))
    up, down = f + np.where(b >= 0, plus, minus), f + np.where(b > 0, plus, minus)
    most = float(np.min(up[b < high], initial=np.inf))
    least = float(np.max(down[b > low], initial=-np.inf))
    free = (b > low) & (b < high) & (up == down)
    if free.any():
        return float(up[free].mean()), least, most
    middle = 0.5 * (least + most) if np.isfinite(least + most) else (most if np.isfinite(most) else least)
    return (middle if np.isfinite(middle) else 0.0), least, most
