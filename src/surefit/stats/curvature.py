"""Value, gradient and second derivatives of a loss at a point: what one step of a solver needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.sums.gram import sandwich
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import LogisticTrial, SoftmaxTrial, SquaredTrial, Trial, relative_gap
from surefit.stats.loss_kernels import Wanted, fused_sums
from surefit.stats.products import bordered, pulled, scores_of

WANTED: tuple[Wanted, ...] = ("value", "gradient", "hessian")  # by order


class PointwiseLoss(Protocol):
    """A loss of each row, and its derivatives by the score z: (n,), or (n, K) and (n, K, K)."""

    def value(self, y: Any, z: Any) -> Any:
        """One number a row."""

    def gradient(self, y: Any, z: Any) -> Any:
        """The first derivative, in the shape of z."""

    def curvature(self, y: Any, z: Any) -> Any:
        """The second derivative: in the shape of z, or (n, K, K) where outputs are coupled."""


@dataclass(frozen=True, slots=True)
class Curvature(Statistic):
    r"""Of :math:`F = \sum_i s_i f(y_i, x_i'w + b)`: the value, the gradient and the Hessian in (w, b).

    They are sums: divide by ``weight`` for the mean loss. gradient: (q,), or (q, K) for K outputs; its last
    entry belongs to b, if there is an intercept. hessian: (q, q), or (K, K, q, q). What is beyond the order
    asked for has size 0.

    >>> from surefit.stats.cases import SquaredTrial
    >>> batch = Batch(np.array([[1.0], [3.0]]), np.array([2.0, 6.0]))
    >>> at = Curvature.of(batch, loss=SquaredTrial(), w=np.array([1.0]), intercept=0.0, order=2)
    >>> at.value, at.gradient, at.hessian
    (5.0, array([-10.,  -4.]), array([[10.,  4.],
           [ 4.,  2.]]))
    """

    name = "curvature"

    weight: float
    value: float
    gradient: Vector
    hessian: Matrix

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(
        cls,
        batch: Batch,
        *,
        loss: PointwiseLoss | None = None,
        w: Vector | None = None,
        intercept: Any = None,
        order: Literal[0, 1, 2] = 2,
        **context: Any,
    ) -> Curvature:
        """Evaluate ``loss`` at w and ``intercept``, a number for each output, or None for no intercept."""
        if loss is None or w is None:
            raise ValueError("a Curvature needs loss= and w=.")
        fused = fused_sums(loss, batch, w, intercept, WANTED[order]) if order > 0 or w.any() else None
        if fused is not None:
            weight = float(len(batch)) if batch.weight is None else float(batch.weight.sum())
            end = None if intercept is not None else -1
            gradient = np.zeros(0) if fused.gradient is None else fused.gradient[:end]
            hessian = np.zeros(0) if fused.hessian is None else fused.hessian[:end, :end]
            return cls(weight, fused.value, gradient, hessian)
        if order == 0 and not w.any() and batch.offset is None and getattr(loss, "task", "") == "multiclass":
            return cls(*_of_classes(batch, loss, w.shape[1], intercept), np.zeros(0), np.zeros(0))
        X: Any = batch.X
        s = np.ones(len(batch)) if batch.weight is None else batch.weight
        z = scores_of(batch, w, intercept)
        each, slopes = _both(loss, batch.y, z) if order > 0 else (loss.value(batch.y, z), None)
        value = _total(s, each)
        gradient, hessian = np.zeros(0), np.zeros(0)
        slope = None if slopes is None else _scaled(s, slopes)
        if order == 1:
            assert slope is not None
            gradient = _bordered(pulled(X, slope), slope, intercept)
        elif order == 2:
            assert slope is not None
            bend = _scaled(s, loss.curvature(batch.y, z))
            if z.ndim == 1:
                hessian, cross = _block(X, bend, slope, intercept)
                gradient = _bordered(cross[:, 0], slope, intercept)
            else:
                hessian, cross = _blocks(X, bend, slope, intercept)
                gradient = _bordered(cross, slope, intercept)
        return cls(float(s.sum()), value, gradient, hessian)

    def __add__(self, other: Curvature) -> Curvature:
        return Curvature(
            self.weight + other.weight,
            self.value + other.value,
            self.gradient + other.gradient,
            self.hessian + other.hessian,
        )

    def distance(self, other: Curvature) -> float:
        r"""The greatest relative difference, of the Hessians on the scale :math:`\sqrt{H_{ii} H_{jj}}`."""
        scale = np.sqrt(np.abs(np.diagonal(_flat(self.hessian))))
        gap = np.abs(_flat(self.hessian) - _flat(other.hessian))
        plain = [
            relative_gap(getattr(self, name), getattr(other, name))
            for name in ("weight", "value", "gradient")
        ]
        return max(*plain, float(np.max(gap / np.multiply.outer(scale, scale), initial=0.0)))

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Convex losses at a point that is not the optimum, to each order, for one output and several."""
        w, two, three = np.array([0.3, -0.2, 0.1, 0.05]), np.ones((3, 2)) / 7, np.eye(4)[:, :3] / 5
        return (
            Trial("numbers", {"loss": SquaredTrial(), "w": w, "order": 0}),
            Trial("sparse", {"loss": SquaredTrial(), "w": w, "order": 1}),
            Trial("numbers", {"loss": LogisticTrial(), "w": w, "intercept": 0.25}),
            Trial("sparse", {"loss": LogisticTrial(), "w": w}),
            Trial("targets", {"loss": _Summed(), "w": two, "intercept": np.zeros(2)}),
            Trial("classes", {"loss": SoftmaxTrial(), "w": three, "intercept": np.zeros(3)}),
        )


def _total(s: Vector, each: Vector) -> float:
    """Return the weighted sum; a row of weight 0 does not count though its loss be infinite."""
    with np.errstate(invalid="ignore"):
        found = float((s * each).sum())
    return float((s * each)[s > 0].sum()) if np.isnan(found) else found


class _Summed(SquaredTrial):
    def value(self, y: Any, z: Any) -> Any:
        return super().value(y, z).sum(axis=1)


def _of_classes(batch: Batch, loss: Any, outputs: int, intercept: Any) -> tuple[float, float]:
    """Return weight and loss of rows that all have the same scores: one row a class tells them."""
    weight = np.bincount(np.asarray(batch.y, dtype=np.intp), batch.weight, minlength=outputs)
    z = np.zeros((outputs, outputs)) + (0.0 if intercept is None else intercept)
    return float(weight.sum()), float(weight @ loss.value(np.arange(outputs), z))


def _both(loss: Any, y: Any, z: Any) -> tuple[Any, Any]:
    """Return values and gradients, in one go where the loss can."""
    together = getattr(loss, "value_and_gradient", None)
    found: tuple[Any, Any] = (loss.value(y, z), loss.gradient(y, z)) if together is None else together(y, z)
    return found


def _scaled(s: Vector, rows: Any) -> Vector:
    return np.asarray(s.reshape(-1, *[1] * (rows.ndim - 1)) * rows)


def _bordered(part: Any, slope: Any, intercept: Any) -> Matrix:
    return np.asarray(part) if intercept is None else np.concatenate([part, slope.sum(axis=0)[None]])


def _block(X: Any, bend: Vector, slope: Vector | None, intercept: Any) -> tuple[Matrix, Matrix]:
    """One block of the Hessian, and X' slope."""
    found = sandwich(X, bend, slope)
    if intercept is None:
        return found.gram, found.cross
    return bordered(found.gram, found.sums, found.sums, float(bend.sum())), found.cross


def _blocks(X: Any, bend: Vector, slope: Vector, intercept: Any) -> tuple[Matrix, Matrix]:
    outputs = slope.shape[1]
    size = X.shape[1] + (intercept is not None)
    hessian = np.zeros((outputs, outputs, size, size))
    for a in range(outputs):
        for b in range(a, outputs):
            if bend.ndim == 3:
                hessian[a, b] = hessian[b, a] = _block(X, bend[:, a, b], None, intercept)[0]
            elif a == b:
                hessian[a, a] = _block(X, bend[:, a], None, intercept)[0]
    return hessian, pulled(X, slope)


def _flat(hessian: Matrix) -> Vector:
    if hessian.ndim != 4:
        return hessian if hessian.size else np.zeros((0, 0))
    outputs, _, size, _ = hessian.shape
    return hessian.transpose(0, 2, 1, 3).reshape(outputs * size, outputs * size)
