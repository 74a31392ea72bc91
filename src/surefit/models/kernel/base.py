"""What kernel models share: the kernel that the parameters mean, and blocks of its values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, FormatError
from surefit.core.parameters import Has
from surefit.data.batches.batch import Batch
from surefit.data.batches.objects import Objects
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.kernels import Kernel, as_kernel
from surefit.models.base import Estimator
from surefit.models.rows_in_memory import gathered
from surefit.resample.streams import seed_of
from surefit.solvers.linalg.positive_solve import in_parallel

KernelName = str | Annotated[Any, Has("theta")] | Callable[[Any, Any], Any]
KernelParameters = dict[str, Any] | None
BAND = 2**22  # kernel values of a band of rows, which a thread makes at a time


class KernelModel(Estimator, abstract=True):
    """A model that compares rows by a kernel.

    kernel: a name (``"linear"``, ``"poly"``, ``"rbf"``, ``"laplacian"``, ``"sigmoid"``, ``"cosine"``,
    ``"chi2"``, ``"precomputed"`` ...), a kernel such as ``0.5 * RBF(2.0) + Linear()``, or a function of two
    objects.
    gamma, degree, coef0: of a named kernel; kernel_params: of a function, or further ones of a name.
    """

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    kernel_params: KernelParameters = None

    def _made_kernel(self, columns: int) -> Kernel:
        """The kernel for rows of so many columns."""
        given = dict(self.kernel_params or {})
        if isinstance(self.kernel, str):
            named = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
            return as_kernel(self.kernel, columns=columns, **{**named, **given})
        if callable(self.kernel) and not hasattr(self.kernel, "theta") and given:
            return as_kernel(partial(self.kernel, **given))
        return as_kernel(self.kernel)

    def _fitted_kernel(self) -> Kernel:
        return self._made_kernel(self.n_features_in_)

    def _accepted(self) -> Accepts:
        accepts = super()._accepted()
        if self.kernel == "precomputed":
            return replace(accepts, pairwise=True)
        if isinstance(self.kernel, str) or not (callable(self.kernel) or hasattr(self.kernel, "theta")):
            return accepts
        takes = as_kernel(self.kernel).takes
        if takes == "gram":
            return replace(accepts, pairwise=True)
        return replace(accepts, objects=True, sparse=False) if takes == "objects" else accepts


def held(source: Source) -> tuple[Batch, Vector]:
    """Return all rows in memory, and the weight of each."""
    batch = gathered(source)
    n = batch.X.shape[0]
    weight = np.ones(n) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
    if not (weight > 0).any():
        raise DataError(
            "every sample_weight is zero, so no row counts: give at least one row a positive weight."
        )
    X = some_floats(batch.X)
    return batch if X is batch.X else Batch(X, batch.y, batch.weight), weight


def some_floats(X: Any) -> Any:
    """Rows of numbers in float64, since the kernel of others is rounded as they are; objects as they are."""
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X


def kept_rows(X: Any) -> Any:
    """The rows as they are kept in a model, a copy: dense, CSR, or an array of objects."""
    if isinstance(X, Objects):
        return X.items.copy()
    return X.tocsr(copy=True) if sparse.issparse(X) else np.array(X, order="C")


def objects_again(X: Any) -> Any:
    """What a kernel takes of kept rows."""
    return Objects(X) if isinstance(X, np.ndarray) and X.dtype.kind in "OU" and X.ndim == 1 else X


def whole_gram(kernel: Kernel, X: Any) -> Matrix:
    """Return k(X, X) in float64, exactly symmetric, in bands on all threads."""
    n = X.shape[0]
    if kernel.takes == "gram" or n * n <= BAND // 4:
        return finite_gram(np.array(kernel(X), dtype=np.float64))
    K = np.empty((n, n))
    size = 512

    def band(start: int) -> None:
        stop = min(start + size, n)
        K[start:stop, start:stop] = kernel(X[start:stop])  # noise is of a row with itself
        if stop < n:
            right = kernel(X[start:stop], X[stop:])
            K[start:stop, stop:] = right
            for left in range(stop, n, size):  # in squares, which stay in the cache
                K[left : left + size, start:stop] = right[:, left - stop : left - stop + size].T

    in_parallel(band, range(0, n, size))
    return finite_gram(K)


def finite_gram(K: Matrix) -> Matrix:
    """Return kernel values, all of which are finite; else columns are beyond what the kernel can square."""
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.isfinite(K.sum()) or np.isfinite(K).all()
    if not whole:
        raise FloatingPointError("the kernel of some rows is beyond the range of floats")
    return K


def by_bands(work: Callable[[Any], Any], X: Any, columns: int) -> Any:
    """Join what ``work`` makes of bands of rows, on all threads, of ``columns`` values a row meanwhile."""
    n = X.shape[0]
    size = max(1, min(n, BAND // max(columns, 1)))
    if n <= size:
        return work(X)
    return np.concatenate(in_parallel(work, [X[row : row + size] for row in range(0, n, size)]))


def kernel_times(kernel: Kernel, X: Any, rows: Any, coefficients: Matrix) -> Matrix:
    """Return k(X, rows) coefficients, a band of rows at a time."""
    if kernel.takes == "gram":
        return np.asarray(kernel(X, X) @ coefficients)
    other = objects_again(rows)
    found: Matrix = by_bands(lambda band: kernel(band, other) @ coefficients, X, len(coefficients))
    return found


def check_rows(model: Any, coefficients: Any, rows: Any) -> None:
    """Refuse a model file whose rows and coefficients do not belong together."""
    if rows is not None and rows.shape[0] != len(coefficients):
        raise FormatError(
            f"the file's {type(model).__name__} has coefficients of {len(coefficients)} rows, and "
            f"{rows.shape[0]} rows."
        )


def seed_in_use(random_state: Any) -> int:
    """The seed of a fit: None is a fixed one, so that equal fits are equal."""
    return 0 if random_state is None else seed_of(random_state)
