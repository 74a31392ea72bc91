"""From rows to kernel values: by compiled code for the plain kernels, by Python for all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.blas_threads import one_blas_thread
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.native.kernel.kernel_sums import PlainKernel, kernel_sums
from surefit.kernels.base import Kernel
from surefit.kernels.conversion import as_kernel

PLAIN = ("linear", "poly", "rbf", "sigmoid")  # names that compiled code knows
MOST_BYTES = 2**32  # of a Gram matrix in Python
FEW = 2**16  # kernel values, which take less time than to hold BLAS to one thread
SMALL = 2**20  # cells of a sparse table that is solved as a dense one, to the same bits
BLOCK = 512  # rows of kernel values at once in Python
DEFINITE_UP_TO = 1500  # rows whose Gram matrix is factored to see whether it is positive

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KernelValues:
    """A kernel as a machine uses it: compiled, evaluated in Python, or given as a matrix (both None)."""

    plain: PlainKernel | None = None
    python: Any = None
    scale: Floats | None = None
    mercer: bool = True

    @property
    def given(self) -> bool:
        """Whether rows are kernel values themselves."""
        return self.plain is None and self.python is None

    def rows(self, X: Any) -> Any:
        """Rows as the plain kernel compares them, in float64."""
        if sparse.issparse(X):
            found = X.tocsr().astype(np.float64, copy=False)
        else:
            found = np.ascontiguousarray(X, dtype=np.float64)
        if self.scale is None:
            return found
        if self.scale.ndim == 1:
            scaled = found.multiply(self.scale).tocsr() if sparse.issparse(found) else found * self.scale
        else:
            scaled = np.asarray(found @ self.scale)
        return scaled

    def shift(self, rows: Any) -> Floats | float:
        """What dense rows may be moved by without changing the kernel, so that distances keep digits."""
        assert self.plain is not None
        if self.plain.kind != "rbf" or sparse.issparse(rows) or not len(rows):
            return 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            centre = np.asarray(rows.mean(axis=0))
        return centre if np.isfinite(centre).all() else 0.0

    def solvable(self, X: Any) -> tuple[PlainKernel, Any]:
        """Return what the native solver takes: a plain kernel and its rows, or a Gram matrix."""
        if self.plain is not None:
            rows = self.rows(dense_if_small(X))
            return self.plain, rows - self.shift(rows) if isinstance(rows, np.ndarray) else rows
        return PlainKernel("gram"), X if self.given else self.gram(X)

    def gram(self, X: Any) -> Floats:
        """Return k(X, X) of a kernel in Python."""
        n = X.shape[0]
        if 8 * n * n > MOST_BYTES:
            raise RefusalError(
                f"the kernel matrix of {n} rows takes {8 * n * n / 2**30:.3g} GiB: a kernel in Python is "
                "evaluated for all pairs at once. Give fewer rows, or one of the kernels 'linear', 'poly', "
                "'rbf' and 'sigmoid', which are evaluated as they are needed."
            )
        return np.ascontiguousarray(self._values(X, X), dtype=np.float64)

    def _values(self, X: Any, Y: Any) -> Floats:
        found = self.python(X, Y)
        found = np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64)
        if found.shape != (X.shape[0], Y.shape[0]):
            raise DataError(
                f"the kernel must give a number for each pair of rows, {X.shape[0]} by {Y.shape[0]} of them, "
                f"but it gave an array of shape {found.shape}."
            )
        return found

    def sums(self, support: Any, X: Any, coef: Floats) -> Floats:
        """Return the sums over support rows of coef[t, j] k(x, support[j]) for each row x: (n, t)."""
        if self.given:
            return np.asarray(X @ coef.T)
        if self.plain is None:
            return np.vstack([self._values(block, support) @ coef.T for block in _blocks(X)])
        points, queries = self._pair(support, X)
        if points.shape[0] * queries.shape[0] < FEW:
            return kernel_sums(self.plain, points, queries, coef)
        with one_blas_thread():  # products on two threads of ours would wait for those of BLAS
            return kernel_sums(self.plain, points, queries, coef)

    def _pair(self, support: Any, X: Any) -> tuple[Any, Any]:
        """Both as compiled code takes them: dense, and moved alike, or both sparse, as the support is."""
        points, queries = self.rows(support), self.rows(X)
        if sparse.issparse(points):
            return points, sparse.csr_matrix(queries)
        shift = self.shift(points)
        return points - shift, (queries.toarray() if sparse.issparse(queries) else queries) - shift

    def checked_sums(self, support: Any, X: Any, coef: Floats) -> Floats:
        """Do the same by numpy alone, for verification."""
        if self.plain is None:
            return self.sums(support, X, coef)
        points, queries = self._pair(support, X)
        if points.shape[0] == 0:
            return np.zeros((queries.shape[0], len(coef)))
        return np.vstack([self.plain.values(block, points) @ coef.T for block in _blocks(queries)])

    def is_positive(self, points: Any, kernel: PlainKernel) -> bool:
        """Whether the kernel is known, or seen, to be positive semi-definite on these rows."""
        if self.mercer:
            return True
        n = points.shape[0]
        if n > DEFINITE_UP_TO:
            return False
        K = np.asarray(points if kernel.kind == "gram" else kernel.values(points, points))
        if not np.isfinite(K).all():
            return False
        ridge = 1e-10 * max(float(np.abs(K.diagonal()).max(initial=0.0)), np.finfo(float).tiny)
        try:
            np.linalg.cholesky(0.5 * (K + K.T) + ridge * np.eye(n))
        except np.linalg.LinAlgError:
            return False
        return True


def dense_if_small(X: Any) -> Any:
    """Return a small sparse table as a dense one, and every other table as it is."""
    return X.toarray() if sparse.issparse(X) and X.shape[0] * X.shape[1] <= SMALL else X


def _blocks(X: Any) -> Iterator[Any]:
    for start in range(0, max(X.shape[0], 1), BLOCK):
        yield X[start : start + BLOCK]


def kernel_values(
    kernel: Any, gamma: float, coef0: float, degree: float, columns: int, who: str
) -> KernelValues:
    """Return the values of a kernel that was asked for by name, as a kernel, or as a function of matrices."""
    if isinstance(kernel, str):
        if kernel == "precomputed":
            return KernelValues(mercer=False)
        if kernel in PLAIN:
            whole = float(degree).is_integer() and coef0 >= 0
            return KernelValues(
                PlainKernel(kernel, gamma, coef0, degree),  # type: ignore[arg-type]
                mercer=kernel in ("linear", "rbf") or (kernel == "poly" and whole),
            )
        made = as_kernel(kernel, columns=columns, gamma=gamma, coef0=coef0, degree=degree)
        return of_kernel(made)
    if isinstance(kernel, Kernel):
        return of_kernel(kernel)
    if callable(kernel) and not isinstance(kernel, type):
        return KernelValues(python=kernel, mercer=False)
    raise ParameterError(
        f"{who}: kernel={kernel!r} is not allowed; it must be a name such as 'rbf', a kernel such as "
        "RBF(2.0), or a function that gives the kernel matrix of two tables."
    )


def of_kernel(kernel: Kernel) -> KernelValues:
    """Return the values of one of our kernels, compiled where it is a plain one."""
    if kernel.takes == "gram":
        return KernelValues(mercer=kernel.mercer)
    native = kernel.native() if kernel.takes == "rows" else None
    if native is None or native.kind not in PLAIN:
        return KernelValues(python=kernel, mercer=kernel.mercer)
    kind: Any = native.kind
    plain = PlainKernel(kind, native.gamma, native.coef0, native.degree)
    return KernelValues(plain, None, native.scale, kernel.mercer)
