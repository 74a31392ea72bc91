r"""Large positive definite systems: a factor in tiles on all threads, and conjugate gradients to polish it.

A factor in float32 takes half the time of one in float64 and is exact to seven digits. Conjugate gradients
with float64 products, preconditioned by it, find the others in a few iterations unless the condition number
is far beyond 1e7; then the factor is made again in float64. Tiles are fixed, so that the bits do not depend
on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.blas_threads import one_blas_thread
from surefit.core.config import threads
from surefit.engine.thread_map import in_turn

TILE = 512
SMALL = 1500  # rows, up to which LAPACK in one piece is as fast
ITERATIONS = 60  # of conjugate gradients; where they do not end, a factor in float64 costs less
EPS = np.finfo(np.float64).eps


@dataclass(frozen=True, slots=True)
class Solved:
    """The answer, the largest relative residual of a column, and how it was found."""

    x: Matrix
    residual: float
    method: str


def in_parallel(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """Return what ``work`` makes of each item, on all threads."""
    with one_blas_thread():  # for one thread of ours too, since BLAS's own have other roundings
        return list(in_turn(work, items, threads()))


def cholesky_in_place(A: NDArray[Any]) -> bool:
    """Put the lower Cholesky factor over the lower triangle of A; False where A has none.

    What is above the diagonal is not looked at, and not cleared outside of the tiles on the diagonal.
    """
    n = len(A)
    (factorise,) = linalg.get_lapack_funcs(("potrf",), (A,))
    (solve,) = linalg.get_blas_funcs(("trsm",), (A,))
    for start in range(0, n, TILE):
        stop = min(start + TILE, n)
        corner, info = factorise(A[start:stop, start:stop], lower=1, clean=1)
        if info != 0:
            return False
        A[start:stop, start:stop] = corner
        if stop == n:
            break
        cuts = [(row, min(row + TILE, n)) for row in range(stop, n, TILE)]

        def panel(cut: tuple[int, int], corner: Any = corner, start: int = start, stop: int = stop) -> None:
            # P L' = A, of which the transpose is a column-major matrix as it lies.
            block = A[cut[0] : cut[1], start:stop]
            block[...] = solve(1.0, corner, block.T, lower=1).T

        in_parallel(panel, cuts)
        left = A[:, start:stop]

        def update(cut: tuple[int, int], left: Any = left, stop: int = stop) -> None:
            A[cut[0] : cut[1], stop : cut[1]] -= left[cut[0] : cut[1]] @ left[stop : cut[1]].T

        in_parallel(update, reversed(cuts))  # the longest first, so that no thread waits at the end
    return True


def solve_factored(L: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """Return the answer of L L' x = B for the lower triangle of L, tile by tile."""
    x = np.array(B, dtype=L.dtype)
    n = len(L)
    starts = range(0, n, TILE)
    for a in starts:
        b = min(a + TILE, n)
        x[a:b] = linalg.solve_triangular(L[a:b, a:b], x[a:b], lower=True, check_finite=False)
        x[b:] -= L[b:, a:b] @ x[a:b]
    for a in reversed(starts):
        b = min(a + TILE, n)
        x[a:b] -= L[b:, a:b].T @ x[b:]
        x[a:b] = linalg.solve_triangular(L[a:b, a:b], x[a:b], lower=True, trans=1, check_finite=False)
    return x


def times(A: Matrix, B: Matrix) -> Matrix:
    """Return A B, a band of rows a time, on all threads."""
    if len(A) <= SMALL:
        return np.asarray(A @ B)
    cuts = [slice(row, row + TILE) for row in range(0, len(A), TILE)]
    return np.concatenate(in_parallel(lambda cut: A[cut] @ B, cuts))


def preconditioned(
    product: Callable[[Matrix], Matrix],
    precondition: Callable[[Matrix], Matrix],
    B: Matrix,
    *,
    tolerance: float,
    limit: int,
    record: Callable[[float], bool] | None = None,
) -> tuple[Matrix, float]:
    """Return the answer of A x = B by conjugate gradients, and its largest relative residual.

    Columns are systems of their own that go through the products together. It ends at ``tolerance``, after
    ``limit`` products, or where nothing is gained any more.
    """
    scale = np.linalg.norm(B, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    x = precondition(B)
    residual = B - product(x)
    z = precondition(residual)
    direction = z.copy()
    size = (residual * z).sum(axis=0)
    best, answer = float((np.linalg.norm(residual, axis=0) / scale).max(initial=0.0)), x.copy()
    lost = 0
    for _ in range(limit):
        if best <= tolerance or lost > 5:
            break
        image = product(direction)
        curvature = (direction * image).sum(axis=0)
        step = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0)
        x = x + step * direction
        residual = residual - step * image
        worst = float((np.linalg.norm(residual, axis=0) / scale).max(initial=0.0))
        better = worst < best
        lost = 0 if better else lost + 1
        if better:
            best, answer = worst, x
        if record is not None and record(worst):
            break
        z = precondition(residual)
        new = (residual * z).sum(axis=0)
        direction = z + np.divide(new, size, out=np.zeros_like(new), where=size > 0) * direction
        size = new
    return answer, best


def solve_positive(K: Matrix, shift: Vector, B: Matrix) -> Solved:
    """Return the answer of (K + diag(shift)) x = B, for K symmetric and, as a rule, positive semi-definite.

    K is not changed. A system that has no Cholesky factor is solved by eigenvectors, those of eigenvalues
    that are rounding left out.

    >>> solve_positive(np.array([[1.0, 2.0], [2.0, 4.0]]), np.ones(2), np.array([[1.0], [2.0]])).x.round(6)
    array([[0.166667],
           [0.333333]])
    """

    def product(x: Matrix) -> Matrix:
        return times(K, x) + shift[:, None] * x

    def residual(x: Matrix) -> float:
        scale = np.linalg.norm(B, axis=0)
        return float(
            (np.linalg.norm(B - product(x), axis=0) / np.where(scale > 0, scale, 1.0)).max(initial=0)
        )

    singular = bool((shift == 0).any())  # as it may be, and then small pivots would hide it
    if len(K) > SMALL and not singular:
        factor = K.astype(np.float32)
        factor.flat[:: len(K) + 1] = np.diagonal(K) + shift
        if cholesky_in_place(factor):
            x, left = preconditioned(product, _widened(factor), B, tolerance=64 * EPS, limit=ITERATIONS)
            if left <= 1e-13:
                return Solved(x, left, "conjugate gradients after Cholesky in float32")
        del factor
    whole = K.copy()
    whole.flat[:: len(K) + 1] += shift
    if not singular and cholesky_in_place(whole):
        x, left = preconditioned(product, lambda b: solve_factored(whole, b), B, tolerance=4 * EPS, limit=3)
        if left <= 1e-6:
            return Solved(x, left, "Cholesky")
    whole = K.copy()
    whole.flat[:: len(K) + 1] += shift
    values, vectors = linalg.eigh(whole, overwrite_a=True, check_finite=False)
    kept = np.abs(values) > len(K) * EPS * np.abs(values).max(initial=0.0)
    V = vectors[:, kept]
    x = V @ ((V.T @ B) / values[kept, None])
    return Solved(x, residual(x), "eigenvectors")


def _widened(factor: NDArray[np.float32]) -> Callable[[Matrix], Matrix]:
    def precondition(b: Matrix) -> Matrix:
        # float32 holds no numbers below 1e-38, so columns are scaled first.
        size = np.abs(b).max(axis=0)
        size = np.where(size > 0, size, 1.0)
        return np.asarray(solve_factored(factor, (b / size).astype(np.float32)).astype(np.float64) * size)

    return precondition
