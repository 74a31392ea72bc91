"""Derivatives of a likelihood by its coefficients and by further parameters, together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.sums.gram import sandwich
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial
from surefit.stats.products import scores_of


@dataclass(frozen=True, slots=True)
class Pieces:
    """Of each row: value (n,), derivatives by the score z and by the m further parameters v.

    z, v: (n,) and (n, m). zz, zv: (n,) and (n, m). vv: pairs (j, k, (n,)) for the entries that are not 0,
    j <= k.
    """

    value: Vector
    z: Vector
    v: Vector
    zz: Vector
    zv: Matrix
    vv: tuple[tuple[Any, Any, Matrix], ...]


class JointLikelihood(Protocol):
    """A likelihood of rows, negated, by score and further parameters."""

    def pieces(self, y: Any, z: Vector, v: Vector) -> Pieces:
        """Return value and derivatives of each row."""


@dataclass(frozen=True, slots=True)
class JointCurvature(Statistic):
    """Sums over the rows: value, gradient and Hessian by (w, b, v); b only if there is an intercept.

    >>> batch = Batch(np.array([[1.0], [3.0]]), np.array([2.0, 6.0]))
    >>> at = JointCurvature.of(batch, likelihood=_Scaled(), w=np.array([1.0]), v=np.zeros(1))
    >>> at.value, at.gradient
    (5.0, array([-10.,  -4.]))
    """

    name = "joint_curvature"

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
        likelihood: JointLikelihood | None = None,
        w: Vector | None = None,
        intercept: Any = None,
        v: Vector | None = None,
        order: Literal[0, 1, 2] = 2,
        **context: Any,
    ) -> JointCurvature:
        """Evaluate at w, ``intercept`` (None for none) and v."""
        if likelihood is None or w is None or v is None:
            raise ValueError("a JointCurvature needs likelihood=, w= and v=.")
        batch = _counted(batch)
        X: Any = batch.X
        s = np.ones(len(batch)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        at = likelihood.pieces(batch.y, scores_of(batch, w, intercept), v)
        value = float(s @ at.value)
        if order == 0 or not np.isfinite(value):
            size = len(w) + (intercept is not None) + len(v)
            return cls(float(s.sum()), value, np.zeros(size), np.zeros((size, size)))
        slope, cross = s * at.z, s[:, None] * at.zv
        bend = sandwich(X, s * at.zz, np.column_stack([slope, cross]))
        own = np.zeros((len(v), len(v)))
        for j, k, each in at.vv:
            np.add.at(own, (j, k), s * each)
        own = own + np.triu(own, 1).T
        parts = [bend.gram, bend.cross[:, 1:]]
        if intercept is None:
            hessian = np.block([parts, [bend.cross[:, 1:].T, own]])
            gradient = np.concatenate([bend.cross[:, 0], s @ at.v])
        else:
            side = bend.sums[:, None]
            corner = np.array([[float((s * at.zz).sum())]])
            lower = cross.sum(axis=0)[None]
            hessian = np.block(
                [
                    [bend.gram, side, bend.cross[:, 1:]],
                    [side.T, corner, lower],
                    [bend.cross[:, 1:].T, lower.T, own],
                ]
            )
            gradient = np.concatenate([bend.cross[:, 0], [slope.sum()], s @ at.v])
        return cls(float(s.sum()), value, gradient, hessian)

    def __add__(self, other: JointCurvature) -> JointCurvature:
        return JointCurvature(
            self.weight + other.weight,
            self.value + other.value,
            self.gradient + other.gradient,
            self.hessian + other.hessian,
        )

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """A squared residual with a scale, with and without intercept."""
        at = {"likelihood": _Scaled(), "w": np.ones(4) / 9, "v": np.array([0.3])}
        return (Trial("numbers", {**at, "intercept": 0.2}), Trial("sparse", at))


def _counted(batch: Batch) -> Batch:
    """Leave out the rows of weight 0, which may lie anywhere."""
    if batch.weight is None or (batch.weight > 0).all():
        return batch
    kept, X = batch.weight > 0, batch.X
    offset = None if batch.offset is None else batch.offset[kept]
    y = None if batch.y is None else batch.y[kept]
    return Batch(X[kept], y, batch.weight[kept], offset=offset)  # type: ignore[index]


class _Scaled:
    """Half the squared residual over exp(v), and v / 2."""

    def pieces(self, y: Any, z: Vector, v: Vector) -> Pieces:
        r, e = z - y, np.exp(-v[0])
        half = 0.5 * e * r**2
        zero, column = np.zeros(len(z), dtype=np.intp), -(e * r)[:, None]
        return Pieces(
            half + 0.5 * v[0], e * r, (0.5 - half)[:, None], np.full(len(z), e), column, ((zero, zero, half),)
        )
