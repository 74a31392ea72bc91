r"""Sums that bound a fit from below: slopes of a loss, and what Fenchel's inequality leaves open.

For :math:`F = \sum_i s_i f(y_i, z_i)`, :math:`z = Xw + b`, slopes :math:`u_i = f'(y_i, z_i)` make a dual
point once they are orthogonal to every direction that no penalty holds back. :class:`Slopes` sums what it
takes to find a correction :math:`u - H Z \beta` that is (Z: the rows along the free directions, H: the
curvatures, so that a slope near the end of its range hardly moves), :class:`FenchelExcess` what that leaves,

.. math:: \sum_i s_i \left( f(y_i, z_i) + f^*(y_i, u_i) - z_i u_i \right) \ge 0 .
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.columns.column_facts import column_facts
from surefit.core.native.linear.linear_loss import LossSums
from surefit.core.native.sums.gram import sandwich
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import LogisticTrial, SoftmaxTrial, SquaredTrial, Trial
from surefit.stats.loss_kernels import fused_excess, fused_sums
from surefit.stats.products import bordered, in_columns, pulled, scores, scores_of


@dataclass(frozen=True, slots=True)
class Correction:
    """How slopes become a dual point: :math:`factor \\cdot (u - H Z \\beta)`, u with its signs scaled.

    free: directions of the coefficients, (p, f). beta: (f,), one more with an intercept, or with a column an
    output. signs: factors of the negative and of the positive slopes.
    """

    free: Vector
    beta: Vector
    factor: float = 1.0
    signs: tuple[float, float] = (1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Slopes(Statistic):
    """At a point: the loss, its gradient, and how the gradient bends along the free directions.

    gradient: (q,) or (q, K), the intercept last. bend: X' S H Z, of shape (1, q, f), (K, q, f) or, for
    coupled outputs, (K, K, q, f). by_sign: the sums of the negative and of the positive slopes. sums: those
    of the columns. energy, squares, free_squares: the sums of squares of the slopes, of each column, and of
    each free direction.

    >>> batch = Batch(np.array([[1.0], [3.0]]), np.array([2.0, 6.0]))
    >>> at = Slopes.of(batch, loss=SquaredTrial(), w=np.array([1.0]), intercept=0.0, free=np.zeros((1, 0)))
    >>> at.gradient, at.bend[0, :, 0], at.squares
    (array([-10.,  -4.]), array([4., 2.]), array([10.,  2.]))
    """

    name = "slopes"

    weight: float
    value: float
    gradient: Vector
    bend: Vector
    by_sign: Vector
    energy: float
    sums: Matrix
    squares: Vector
    free_squares: Vector

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(
        cls,
        batch: Batch,
        *,
        loss: Any = None,
        w: Vector | None = None,
        intercept: Any = None,
        free: Vector | None = None,
        slopes: Vector | None = None,
        signs: tuple[float, float] = (1.0, 1.0),
        **context: Any,
    ) -> Slopes:
        """Evaluate ``loss`` at w and ``intercept``, None for no intercept.

        ``slopes``, one a row, stand in for the loss's own; ``signs`` scale the negative and positive ones.
        """
        if loss is None or w is None or free is None:
            raise ValueError("Slopes need loss=, w= and free=.")
        if slopes is None and signs == (1.0, 1.0) and not free.shape[1]:
            fused = fused_sums(loss, batch, w, intercept, "gap")
            if fused is not None:
                return cls._of_sums(batch, fused, intercept is not None)
        if _is_large(batch, w):
            about = {"loss": loss, "w": w, "intercept": intercept, "free": free, "slopes": slopes}
            return reduce(add, (cls.of(piece, **about, signs=signs) for piece in _pieces(batch, w)))
        rows = Rows.of(batch, w, intercept)
        s, X = rows.s, rows.X
        slope = rows.slopes(batch, loss, slopes, signs)
        bend = rows.bend(loss, None if slopes is None else slope)
        weighted = _by_row(s, slope) * slope
        bends = _bends(X, s, bend, free, intercept)
        squares = _squares(X, s)
        shape = (*bend.shape[1:], *bends[0].shape) if bend.ndim > 1 else (1, *bends[0].shape)
        return cls(
            float(s.sum()),
            float(s @ loss.value(rows.y, rows.z)),
            _bordered(pulled(X, weighted), weighted.sum(axis=0), intercept),
            np.array(bends).reshape(shape),
            np.array([np.minimum(weighted, 0.0).sum(), np.maximum(weighted, 0.0).sum()]),
            float(np.sum(weighted * slope)),
            _bordered(pulled(X, s), s.sum(), intercept),
            _bordered(squares, s.sum(), intercept),
            _bordered(_along(X, s, free, squares), s.sum(), intercept),
        )

    @classmethod
    def _of_sums(cls, batch: Batch, found: LossSums, intercept: bool) -> Slopes:
        """Return what a kernel added up; the intercept is the only free direction."""
        assert found.gradient is not None
        assert found.gap is not None
        weight = float(len(batch)) if batch.weight is None else float(np.sum(batch.weight))
        end, gap, last = None if intercept else -1, found.gap, np.full(int(intercept), weight)
        bends = gap.bends[:end, None][:, : int(intercept)]
        if bends.ndim == 2:
            bend = bends[None]
        else:
            outputs = found.gradient.shape[1]
            bend = np.empty((outputs, outputs, *bends.shape[:2]))
            first, second = np.triu_indices(outputs)
            bend[first, second] = bend[second, first] = bends.transpose(2, 0, 1)
        return cls(
            weight,
            found.value,
            found.gradient[:end],
            bend,
            gap.signs[:2],
            float(gap.signs[2]),
            np.append(gap.sums, last),
            np.append(gap.squares, last),
            last,
        )

    def __add__(self, other: Slopes) -> Slopes:
        return Slopes(*(getattr(self, name) + getattr(other, name) for name in _SLOPES))

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Losses of one output, several, and coupled ones, with and without free directions."""
        w, none = np.ones(4) / 9, np.zeros((4, 0))
        three = {"w": np.eye(4)[:, :3] / 5, "intercept": np.zeros(3), "free": none}
        return (
            Trial("numbers", {"loss": SquaredTrial(), "w": w, "free": np.eye(4)[:, :2]}),
            Trial("sparse", {"loss": LogisticTrial(), "w": w, "intercept": 0.1, "free": none}),
            Trial("numbers", {"loss": SquaredTrial(), "w": w, "free": none, "signs": (0.5, 0.2)}),
            Trial("classes", {"loss": SoftmaxTrial(), **three}),
        )


@dataclass(frozen=True, slots=True)
class FenchelExcess(Statistic):
    """What a dual point leaves of the gap between loss and conjugate, summed over the rows, and its squares.

    ``slopes`` of the context, one a row, stand in for the loss's own where these are not unique.

    >>> batch = Batch(np.array([[1.0], [3.0]]), np.array([2.0, 6.0]))
    >>> step = Correction(np.zeros((1, 0)), np.array([0.0]))
    >>> FenchelExcess.of(batch, loss=SquaredTrial(), w=np.array([1.0]), intercept=0.0, step=step).total
    0.0
    """

    name = "fenchel_excess"

    weight: float
    total: float
    energy: float = 0.0

    @classmethod
    def of(
        cls,
        batch: Batch,
        *,
        loss: Any = None,
        w: Vector | None = None,
        intercept: Any = None,
        step: Correction | None = None,
        slopes: Vector | None = None,
        **context: Any,
    ) -> FenchelExcess:
        """Evaluate at w and ``intercept``."""
        if loss is None or w is None or step is None:
            raise ValueError("a FenchelExcess needs loss=, w= and step=.")
        if slopes is None and w.ndim == 1 and not step.free.shape[1]:
            shift = float(step.beta[-1]) if step.beta.size else 0.0
            fused = fused_excess(loss, batch, w, intercept, (step.factor, shift, *step.signs))
            if fused is not None:
                weight = float(len(batch)) if batch.weight is None else float(np.sum(batch.weight))
                return cls(weight, *fused)
        if _is_large(batch, w) or (isinstance(batch.X, np.ndarray) and len(batch) > _rows_at_once(w)):
            about = {"loss": loss, "w": w, "intercept": intercept, "step": step, "slopes": slopes}
            return reduce(add, (cls.of(piece, **about) for piece in _pieces(batch, w)))
        rows = Rows.of(batch, w, intercept)
        u = rows.slopes(batch, loss, slopes, step.signs)
        if np.any(step.beta):
            moved = rows.along(step.free, step.beta, intercept is not None)
            bend = rows.bend(loss, None if slopes is None else u)
            u = u - (np.einsum("iab,ib->ia", bend, moved) if bend.ndim == 3 else bend * moved)
        u = step.factor * u
        total = float(rows.s @ loss.excess(rows.y, rows.z, u))
        return cls(float(rows.s.sum()), total, float(np.sum(_by_row(rows.s, u) * u * u)))

    def __add__(self, other: FenchelExcess) -> FenchelExcess:
        return FenchelExcess(self.weight + other.weight, self.total + other.total, self.energy + other.energy)

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """A dual point scaled down, and one moved along a free direction."""
        w = np.ones(4) / 9
        scaled = Correction(np.zeros((4, 0)), np.zeros(0), 0.5, (0.9, 1.0))
        moved = Correction(np.eye(4)[:, :1], np.array([0.1, 0.2]))
        return (
            Trial("numbers", {"loss": SquaredTrial(), "w": w, "step": scaled}),
            Trial("sparse", {"loss": SquaredTrial(), "w": w, "intercept": 0.1, "step": moved}),
        )


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a batch that count, and their scores."""

    X: Any
    y: Any
    s: Vector
    z: Vector
    kept: Any

    @classmethod
    def of(cls, batch: Batch, w: Vector, intercept: Any) -> Rows:
        """Drop the rows of weight 0 and score the others."""
        X: Any = batch.X
        y, s = batch.y, np.ones(len(batch)) if batch.weight is None else np.asarray(batch.weight, np.float64)
        kept: Any = slice(None)
        if not s.all():
            kept = s > 0
            X, y, s = X[kept], None if y is None else y[kept], s[kept]
            batch = Batch(X, y, s, offset=None if batch.offset is None else batch.offset[kept])
        return cls(X, y, s, scores_of(batch, w, intercept), kept)

    def slopes(self, batch: Batch, loss: Any, given: Vector | None, signs: tuple[float, float]) -> Vector:
        """Return the loss's slopes, or those given, the negative and the positive ones each scaled."""
        if given is None:
            u = loss.gradient(self.y, self.z)
        else:
            u = given[batch.start : batch.start + len(batch)][self.kept]
        return np.asarray(u if signs == (1.0, 1.0) else u * np.where(u < 0, *signs))

    def bend(self, loss: Any, given: Vector | None) -> Vector:
        """Return the curvature; for given slopes of a loss with kinks, how far each can move."""
        if given is None or loss.smooth:
            return finite_curvature(loss, self.y, self.z)
        far = np.full(given.shape, 1e300)
        low, high = loss.gradient(self.y, -far), loss.gradient(self.y, far)
        return np.asarray(np.clip(np.minimum(given - low, high - given), 0.0, 1.0))

    def along(self, free: Vector, beta: Vector, intercept: bool) -> Vector:
        """Return what rows change by for a step along the free directions, the intercept's last."""
        moved = scores(self.X, free @ beta[: free.shape[1]])
        return moved + beta[-1] if intercept else moved


def finite_curvature(loss: Any, y: Any, z: Vector) -> Vector:
    """Return the curvature, 0 where a kink makes it infinite."""
    bend = np.asarray(loss.curvature(y, z), dtype=np.float64)
    return np.where(np.isfinite(bend), bend, 0.0)


CELLS = 1 << 18  # of the curvature of coupled outputs that are held at once; of one output, four a row


def _is_large(batch: Batch, w: Vector) -> bool:
    return w.ndim == 2 and len(batch) > _rows_at_once(w)


def _rows_at_once(w: Vector) -> int:
    return max(1, CELLS // (w.shape[1] ** 2 if w.ndim == 2 else 4))


def _pieces(batch: Batch, w: Vector) -> Iterator[Batch]:
    """Yield some rows at a time."""
    X: Any = batch.X
    step = _rows_at_once(w)
    for first in range(0, len(batch), step):
        some = slice(first, first + step)
        beside = {
            name: None if (rows := getattr(batch, name)) is None else rows[some]
            for name in ("y", "weight", "offset")
        }
        yield replace(batch, X=X[some], start=batch.start + first, **beside)


_SLOPES = tuple(entry.name for entry in fields(Slopes))


def _columns(bend: Vector) -> Iterable[Vector]:
    flat = bend.reshape(len(bend), int(np.prod(bend.shape[1:])))
    return (flat[:, k] for k in range(flat.shape[1]))


def _by_row(s: Vector, like: Vector) -> Vector:
    return s if like.ndim == 1 else s[:, None]


def _bordered(part: Any, last: Any, intercept: Any) -> Matrix:
    return np.asarray(part) if intercept is None else np.concatenate([part, np.asarray(last)[None]])


def _bends(X: Any, s: Vector, bend: Vector, free: Vector, intercept: Any) -> list[Vector]:
    """Return X' diag(h) Z for each entry h of the curvature, one product for all where Z is the intercept."""
    if free.shape[1] or intercept is None or bend.ndim < 3:
        return [_bend(X, s * column, free, intercept) for column in _columns(bend)]
    first, second = np.triu_indices(bend.shape[1])  # the rest is the same again
    half = s[:, None] * bend[:, first, second]
    found = np.vstack([pulled(X, half), half.sum(axis=0)])
    whole = np.empty((*bend.shape[1:], len(found), 1))
    whole[first, second, :, 0] = whole[second, first, :, 0] = found.T
    return list(whole.reshape(-1, len(found), 1))


def _bend(X: Any, h: Vector, free: Vector, intercept: Any) -> Vector:
    """Return X' diag(h) Z; with kinks, few rows have any h."""
    some = np.flatnonzero(h)
    if 2 * len(some) < len(h):
        X, h = X[some], h[some]
    if 2 * free.shape[1] > free.shape[0]:
        found = sandwich(X, h)
        part, sums = found.gram @ free, found.sums
    else:
        Z = scores(X, free) if free.shape[1] else np.zeros((len(h), 0))
        part, sums = pulled(X, h[:, None] * Z), pulled(X, h)
    if intercept is None:
        return part
    return bordered(part, sums, sums @ free, float(h.sum()))


def _along(X: Any, s: Vector, free: Vector, squares: Vector) -> Vector:
    """Return the squares along each free direction; those of columns are known."""
    columns = np.argmax(np.abs(free), axis=0) if free.shape[1] else np.zeros(0, dtype=np.intp)
    if np.count_nonzero(free) == len(columns) and np.all(np.abs(free[columns, range(len(columns))]) == 1):
        return np.asarray(squares[columns])
    return _squares(scores(X, free), s)


def _squares(X: Any, s: Vector) -> Vector:
    if not hasattr(X, "tocsr"):
        return np.asarray(np.einsum("ij,ij,i->j", X, X, s), dtype=np.float64)
    own = type(X)((X.data, X.indices, X.indptr), shape=X.shape)  # which may remember what it finds
    if not own.has_canonical_format:  # an entry stored twice counts as the sum of the two
        own = own.copy()
        own.sum_duplicates()
    if in_columns(own):
        return column_facts(own, np.zeros(len(s)), s, False).scatter
    squared = (
        own.copy() if own.nnz == 0 else own._with_data(np.square(own.data, dtype=np.float64), copy=False)
    )
    return np.asarray(squared.T @ s, dtype=np.float64).ravel()
