"""The centred Gram matrix S = sum_i (x_i - m)(x_i - m)', the heart of least squares, PCA and Gaussian models.

Peers do what a user would write. The raw X'X is the wrong answer wherever a mean is not zero, and
X'X - n m m' loses its digits where the means are large: the quality figure shows both.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

CHECKED = 10  # columns on which the exact answer is computed


def make(rows: int, columns: int, offset: float) -> Data:
    """Return normal data with means near ``offset``, and some columns' scatter in extended precision."""
    X = np.random.default_rng(0).standard_normal((rows, columns))
    X += offset
    checked = np.linspace(0, columns - 1, CHECKED).astype(int)
    Z = [X[:, j].astype(np.longdouble) for j in checked]
    Z = [z - z.mean() for z in Z]
    Z = [z - z.mean() for z in Z]
    scatter = np.array([[float((a * b).sum()) for b in Z] for a in Z])
    return {"X": X, "checked": checked, "scatter": scatter}


def error(data: Data, result: np.ndarray) -> float:
    """Return max |S_ij - R_ij| / sqrt(R_ii R_jj) over the upper triangle, the half that dsyrk fills."""
    R = data["scatter"]
    scale = np.sqrt(np.diag(R))
    found = result[np.ix_(data["checked"], data["checked"])]
    return float(np.max(np.triu(np.abs(found - R) / np.outer(scale, scale))))


def surefit_gram(data: Data) -> np.ndarray:
    """Our kernel."""
    from surefit.core.native.sums.gram import centred_gram

    scatter: np.ndarray = centred_gram(data["X"]).scatter
    return scatter


def numpy_raw(data: Data) -> np.ndarray:
    """X'X without centring: what the speed of the product alone would be."""
    X = data["X"]
    return X.T @ X


def numpy_centred(data: Data) -> np.ndarray:
    """Centre a copy, then multiply."""
    X = data["X"]
    Z = X - X.mean(axis=0)
    scatter: np.ndarray = Z.T @ Z
    return scatter


def scipy_dsyrk(data: Data) -> np.ndarray:
    """Half of X'X by the symmetric product on the transpose, in Fortran order without a copy; then centre."""
    from scipy.linalg.blas import dsyrk

    return corrected(dsyrk(1.0, data["X"].T), data["X"])


def scipy_dgemm(data: Data) -> np.ndarray:
    """X'X by the general product on the transpose, without a copy; then centre."""
    from scipy.linalg.blas import dgemm

    return corrected(dgemm(1.0, data["X"].T, data["X"].T, trans_b=True), data["X"])


def sklearnex_covariance(data: Data) -> np.ndarray:
    """oneDAL's covariance, times the number of rows."""
    from sklearnex.preview.covariance import EmpiricalCovariance

    X = data["X"]
    scatter: np.ndarray = len(X) * EmpiricalCovariance(store_precision=False).fit(X).covariance_
    return scatter


def corrected(product: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return X'X - n m m'."""
    mean = X.mean(axis=0)
    product -= len(X) * np.outer(mean, mean)
    return product


def case(name: str, rows: int, columns: int, offset: float = 0.0) -> Case:
    """Return a case with its least work: one triangle of products, and X read once."""
    flops, bytes_ = rows * columns * (columns + 1.0), 8.0 * rows * columns
    return Case(name, partial(make, rows, columns, offset), flops, bytes_)


TASK = Task(
    title="Centred Gram matrix, float64",
    cases=[
        case("1e6 x 100", 10**6, 100),
        case("1e5 x 1000", 10**5, 1000),
        case("1e6 x 100, means 1e6", 10**6, 100, offset=1e6),
    ],
    quick=case("2000 x 20, means 1e3", 2000, 20, offset=1e3),
    contenders=[
        Contender("surefit", surefit_gram, ["surefit.core.native.sums.gram"], ours=True),
        Contender("numpy X'X", numpy_raw, ["numpy"]),
        Contender("numpy centred", numpy_centred, ["numpy"]),
        Contender("scipy dsyrk - n m m'", scipy_dsyrk, ["scipy.linalg.blas"]),
        Contender("scipy dgemm - n m m'", scipy_dgemm, ["scipy.linalg.blas"]),
        Contender("sklearnex", sklearnex_covariance, ["sklearnex.preview.covariance"]),
    ],
    quality=Quality("relative error", error, better="lower", absolute=1e-10),
)
