r"""The proof of principal axes: they solve the eigen-equations, and no other direction has more.

With scatter M, axes V (rows) and :math:`\Lambda` along them, three numbers are measured, each the relative
change of M that would make the answer exact:

- the eigen-equations, :math:`\|MV' - V'\Lambda\|_F / \|M\|_F`;
- orthonormality, :math:`\max |VV' - I|`;
- the excess of other directions: what is left, :math:`D = M - V'\Lambda V`, has no eigenvalue above
  :math:`\lambda_k + \tau` exactly if :math:`(\lambda_k + \tau)I - D` has a Cholesky factor.

By Eckart and Young, axes without excess leave the least squared distance that any k axes can leave.

Where no other direction can be excluded, one is searched for: random directions orthogonal to the axes are
multiplied by the scatter again and again. Their largest Rayleigh quotient can only fall short of what is to
be found, and by how much is bounded (Dixon, 1983): after j products of each of r random directions, the
largest eigenvalue elsewhere is at most :math:`(0.8 \sqrt p\, \delta^{-1/r})^{2/(2j+1)}` times the quotient
found, but for a chance :math:`\delta`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.engine.serial import Serial
from surefit.models.prepare.recompute import change

DIRECTIONS = 10
PRODUCTS = 20
CHANCE = 1e-10


class ExcessVariance(NamedTuple):
    """What the best direction found has beyond the last axis, and the most that any can have in all.

    Both are relative to the first axis; the latter holds but for a chance of 1e-10.
    """

    excess: float
    most: float


def largest_elsewhere(
    product: Callable[[Matrix], Matrix], axes: Matrix, along: NDArray[np.float64]
) -> ExcessVariance:
    """Search outside the axes (k, p), which have the scatter ``along`` each; one product a step."""
    if len(along) == 0 or along[0] <= 0:
        return ExcessVariance(0.0, 0.0)
    block = np.random.default_rng(0).standard_normal((axes.shape[1], DIRECTIONS))
    found = 0.0
    for _ in range(PRODUCTS):
        block -= axes.T @ (axes @ block)
        lengths = np.linalg.norm(block, axis=0)
        block /= np.where(lengths > 0, lengths, 1.0)
        image = product(block)
        found = max(found, float((block * image).sum(axis=0).max()))
        block = image
    slack = (0.8 * np.sqrt(axes.shape[1]) * CHANCE ** (-1 / DIRECTIONS)) ** (2 / (2 * PRODUCTS - 1))
    first, last = float(along[0]), float(along[-1])
    return ExcessVariance(max(0.0, found - last) / first, float(slack) * found / first)


TOLERANCE = 1e-9
LARGEST_FACTORED = 5000  # rows or columns; beyond it other directions are searched, not excluded
MOST_CELLS = 2**27  # of rows that are held in memory to be verified


_MEASURE = "eigen-equations, orthonormality and excess of other directions, relative to the scatter"


def proof(
    image: Matrix, axes: Matrix, along: Vector, norm: float, excess: float, tolerance: float = TOLERANCE
) -> Certificate:
    """Certify axes (k, p) with scatter ``along`` each, from their image M V' (p, k) and the norm of M."""
    residual = float(np.linalg.norm(image - axes.T * along))
    parts = {
        "eigen-equations": residual / norm if norm > 0 else residual,
        "orthonormality": orthonormality(axes),
        "excess of other directions": excess,
    }
    return Certificate("backward stable", _MEASURE, max(parts.values()), tolerance, parts)


def orthonormality(axes: Matrix) -> float:
    """The largest entry of V V' - I."""
    return float(np.abs(axes @ axes.T - np.eye(len(axes))).max(initial=0.0))


def stationary(residual: float, axes: Matrix, tolerance: float) -> Certificate:
    """Certify axes found by products with the scatter: whether others have more is left to ``verify``."""
    parts = {"eigen-equations": residual, "orthonormality": orthonormality(axes)}
    measure = "eigen-equations and orthonormality, relative to the largest scatter"
    return Certificate("stationary", measure, max(parts.values()), max(TOLERANCE, tolerance), parts)


def of_scatter(M: Matrix, axes: Matrix, along: Vector) -> Certificate:
    """Certify axes of a scatter matrix."""
    left = M - (axes.T * along) @ axes
    return proof(M @ axes.T, axes, along, float(np.linalg.norm(M)), excess_in(left, along))


def excess_in(left: Matrix, along: Vector) -> float:
    """How far an eigenvalue of what is left can be above the last one kept, relative to the first.

    The answer is the least of 1e-14, 1e-13, ... that a Cholesky factor proves; 0 when nothing was to be kept.
    """
    if len(along) == 0:
        return 0.0
    first = float(along[0])
    if first <= 0:
        return 0.0 if not left.any() else np.inf
    for power in range(-14, 3):
        shifted = -left
        shifted[np.diag_indices_from(shifted)] += along[-1] + first * 10.0**power
        _, failed = linalg.lapack.dpotrf(shifted, overwrite_a=1)
        if not failed:
            return 10.0**power
    return np.inf


def recomputed(model: Any, samples: Any, source: Source, engine: Engine) -> Certificate:
    """Certify a fitted model from the data, by plain passes: no statistic of the fit, and no eigen-solver."""
    rows = PlainRows(source, engine)
    axes = np.asarray(model.components_, dtype=np.float64)
    codes, image, norm = rows.projected(axes)
    along = np.asarray(model.explained_variance_) * (rows.weight - 1)
    excess, most = rows.excess(axes, along)
    found = proof(image, axes, along, norm, excess)
    parts = {**found.parts, "change of the other numbers": _change(model, samples, rows, codes)}
    value = max(parts.values())
    if most is None:
        return Certificate(found.claim, found.measure, value, found.tolerance, parts)
    parts["most that another direction can have, but for a chance of 1e-10"] = most
    return Certificate("stationary", found.measure, value, found.tolerance, parts)


def _change(model: Any, samples: Any, rows: PlainRows, codes: Vector) -> float:
    """The largest change of mean, variances, shares and counts, against the scatter along each axis."""
    free, total = rows.weight - 1, float(rows.squares.sum())
    width, kept = len(rows.mean), len(model.components_)
    others = min(width, rows.effective) - kept
    left = max(total - float(codes.sum()), 0.0)
    deviation = np.sqrt(rows.squares / rows.weight)
    size = codes.max(initial=0.0)
    unit = codes + 1e-5 * size  # what rounding moves in a faint axis is small beside the first
    scale = np.where(unit > 0, unit, 1.0)
    share = np.divide(codes, total, out=np.zeros_like(codes), where=total > 0)
    noise = left / others / free if others > 0 else 0.0
    spread = total if total > 0 else 1.0
    steps = [
        change(samples, rows.weight, rows.weight),
        change(model.n_components_, kept),
        change(model.mean_, rows.mean, _or_one(deviation + 1e-6 * np.abs(rows.mean))),
        change(model.explained_variance_ * free, codes, scale),
        change(model.explained_variance_ratio_ * spread, share * spread, scale),
        change(model.singular_values_**2, codes, scale),
        change(model.noise_variance_ * free, noise * free, spread),
        change(model.reconstruction_error_ * rows.weight, left, spread),
    ]
    if hasattr(model, "var_"):
        steps.append(change(model.var_, rows.squares / rows.weight, _or_one(rows.squares / rows.weight)))
    return max(steps)


def _or_one(unit: Vector) -> Vector:
    return np.where(unit > 0, unit, 1.0)


class PlainRows:
    """Weight, mean and products of the rows of a source, by whole blocks of plain arithmetic."""

    def __init__(self, source: Source, engine: Engine) -> None:
        self._source = source
        # Sums come from where the rows lie; at home one batch at a time, lest many products be held at once.
        self._engine = engine if engine.name == "dask" else Serial()
        weight, counted, sums = self._summed(_totals)
        self.weight, self.counted = float(weight), int(counted)
        self.mean: Vector = np.asarray(sums / np.longdouble(self.weight), dtype=np.float64)
        (self.squares,) = self._summed(partial(_squares, self.mean))

    def _summed(self, of: Callable[[Matrix, Vector], tuple[Any, ...]]) -> list[Any]:
        """Add up what ``of`` says of each block of rows."""
        return _added(self._engine.map(partial(_of_blocks, of), self._source))

    @property
    def effective(self) -> int:
        """The number of rows, where a weight of 2 is two of them."""
        return max(self.counted, int(self.weight))

    def times(self, V: Matrix) -> Matrix:
        """M V, in one pass."""
        (product,) = self._summed(partial(_product, self.mean, V))
        return np.asarray(product)

    def projected(self, axes: Matrix) -> tuple[Vector, Matrix, float]:
        """The scatter along each axis, M V', and the norm of M: bounded below where M is not formed."""
        self._scatter: Matrix | None = None
        along, image, *whole = self._summed(partial(_projections, self.mean, axes, self._forms_scatter))
        if whole:
            self._scatter = whole[0]
            return along, image, float(np.linalg.norm(whole[0]))
        return along, image, max(float(np.linalg.norm(along)), float(self.squares.max(initial=0.0)))

    @property
    def _forms_scatter(self) -> bool:
        return len(self.mean) <= min(LARGEST_FACTORED, max(self.counted, 500))

    def excess(self, axes: Matrix, along: Vector) -> tuple[float, float | None]:
        """How much more than the last axis another direction has, relative to the first.

        Where that can only be searched for, also the most that any other can have in all.
        """
        if self._scatter is not None:
            return excess_in(self._scatter - (axes.T * along) @ axes, along), None
        if self.counted <= LARGEST_FACTORED and self.counted * len(self.mean) <= MOST_CELLS:
            left = np.vstack([np.sqrt(s)[:, None] * (X - self.mean) for X, s in _all_blocks(self._source)])
            left -= (left @ axes.T) @ axes
            return excess_in(left @ left.T, along), None
        return largest_elsewhere(self.times, axes, along)


def _blocks(batch: Batch) -> Iterator[tuple[Matrix, Vector]]:
    X: Any = batch.X
    step = max(1, 2**20 // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        some = slice(start, start + step)
        part = X[some].toarray() if sparse.issparse(X) else X[some]
        s = np.ones(len(part)) if batch.weight is None else batch.weight[some]
        yield np.asarray(part, dtype=np.float64)[s > 0], s[s > 0]


def _all_blocks(source: Source) -> Iterator[tuple[Matrix, Vector]]:
    return (block for batch in source for block in _blocks(batch))


def _of_blocks(of: Callable[[Matrix, Vector], tuple[Any, ...]], batch: Batch) -> list[Any]:
    return _added(of(X, s) for X, s in _blocks(batch))


def _added(found: Iterable[Sequence[Any]]) -> list[Any]:
    """Add up one after the other, member by member; nothing is said of no rows."""
    total: list[Any] = []
    for more in found:
        total = [a + b for a, b in zip(total, more, strict=True)] if total and more else total or list(more)
    return total


def _totals(X: Matrix, s: Vector) -> tuple[Any, ...]:
    """Weight, rows and sums; about a row, so that a large offset does not cancel."""
    weight = s.astype(np.longdouble)
    pivot = X[0] if len(X) else np.zeros(X.shape[1])
    return weight.sum(), len(X), weight.sum() * pivot + weight @ (X - pivot)


def _squares(mean: Vector, X: Matrix, s: Vector) -> tuple[Any, ...]:
    return (s @ (X - mean) ** 2,)


def _product(mean: Vector, V: Matrix, X: Matrix, s: Vector) -> tuple[Any, ...]:
    centred = X - mean
    return (centred.T @ (s[:, None] * (centred @ V)),)


def _projections(mean: Vector, axes: Matrix, whole: bool, X: Matrix, s: Vector) -> tuple[Any, ...]:
    centred = X - mean
    codes = centred @ axes.T
    found = s @ codes**2, centred.T @ (s[:, None] * codes)
    return (*found, (s[:, None] * centred).T @ centred) if whole else found
