"""What the laws try a statistic on: rows of several kinds, small losses, and how results are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.batches.table import Table
from surefit.data.schema import Column

Rows = Literal["numbers", "sparse", "gaps", "targets", "classes", "codes", "table"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One way to try a statistic: which rows, and the context that ``of`` gets."""

    rows: Rows
    context: dict[str, Any] = field(default_factory=dict)

    def batch(self, rows: int, seed: int = 0) -> Batch:
        """Make rows, without weights; the numbers lie on a grid, so that some repeat."""
        return _MAKERS[self.rows](rows, np.random.default_rng(seed))


def _grid(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    slopes = rng.normal(size=(columns, columns))
    return np.round(rng.normal(size=(rows, columns)) @ slopes, 2) + 3.0


def _numbers(rows: int, rng: np.random.Generator) -> Batch:
    return Batch(_grid(rows, 4, rng), rng.normal(size=rows))


def _sparse(rows: int, rng: np.random.Generator) -> Batch:
    from scipy.sparse import csr_array

    X = _grid(rows, 4, rng) * (rng.random((rows, 4)) < [0.1, 0.3, 0.9, 1.0])
    return Batch(csr_array(X), rng.normal(size=rows))


def _gaps(rows: int, rng: np.random.Generator) -> Batch:
    X = _grid(rows, 3, rng)
    X[rng.random((rows, 3)) < 0.2] = np.nan
    return Batch(X)


def _targets(rows: int, rng: np.random.Generator) -> Batch:
    return Batch(np.asfortranarray(_grid(rows, 3, rng)), rng.normal(size=(rows, 2)))


def _classes(rows: int, rng: np.random.Generator) -> Batch:
    return Batch(_grid(rows, 4, rng), rng.integers(3, size=rows))


def _codes(rows: int, rng: np.random.Generator) -> Batch:
    return Batch(rng.integers(0, [2, 3, 7], size=(rows, 3)).astype(np.float64), rng.integers(3, size=rows))


def _table(rows: int, rng: np.random.Generator) -> Batch:
    columns = (
        Column("colour", "category", np.array(["blue", "green", "red"])),
        Column("size"),
        Column("grade", "category", np.array([1, 2])),
        Column("word", "text"),
    )
    words = np.array(["so", "on", "and", None], dtype=object)[rng.integers(4, size=rows)]
    size = np.round(rng.normal(size=rows), 1)
    size[rng.random(rows) < 0.2] = np.nan
    stored = [rng.integers(-2, 3, size=rows), size, rng.integers(-1, 2, size=rows), words]
    return Batch(Table.build(columns, stored, rows), rng.integers(3, size=rows))


_MAKERS: dict[Rows, Callable[[int, np.random.Generator], Batch]] = {
    "numbers": _numbers,
    "sparse": _sparse,
    "gaps": _gaps,
    "targets": _targets,
    "classes": _classes,
    "codes": _codes,
    "table": _table,
}


class SquaredTrial:
    """Half the squared residual."""

    def value(self, y: Any, z: Any) -> Any:
        """Return (y - z)^2 / 2."""
        return 0.5 * (y - z) ** 2

    def gradient(self, y: Any, z: Any) -> Any:
        """Return z - y."""
        return z - y

    def curvature(self, y: Any, z: Any) -> Any:
        """Return 1."""
        return np.ones_like(z)

    def least(self, y: Any) -> Any:
        """Return 0."""
        return np.zeros(len(y))

    def excess(self, y: Any, z: Any, u: Any) -> Any:
        """Return what Fenchel's inequality leaves: (z - y - u)^2 / 2."""
        return 0.5 * (z - y - u) ** 2


class LogisticTrial:
    """The logistic loss of a target above or below 0."""

    def value(self, y: Any, z: Any) -> Any:
        """Return log(1 + exp(z)), less z where y > 0."""
        return np.logaddexp(0.0, z) - (y > 0) * z

    def gradient(self, y: Any, z: Any) -> Any:
        """Return p - 1 or p, with p = 1 / (1 + exp(-z))."""
        return 1.0 / (1.0 + np.exp(-z)) - (y > 0)

    def curvature(self, y: Any, z: Any) -> Any:
        """Return p (1 - p)."""
        p = 1.0 / (1.0 + np.exp(-z))
        return p * (1.0 - p)


class SoftmaxTrial:
    """The cross-entropy of class codes, whose curvature couples the outputs."""

    def _chances(self, z: Any) -> Any:
        high = np.exp(z - z.max(axis=1, keepdims=True))
        return high / high.sum(axis=1, keepdims=True)

    def value(self, y: Any, z: Any) -> Any:
        """Return -log p_y."""
        return -np.log(np.take_along_axis(self._chances(z), y[:, None], axis=1)[:, 0])

    def gradient(self, y: Any, z: Any) -> Any:
        """Return p - e_y."""
        return self._chances(z) - np.eye(z.shape[1])[y]

    def curvature(self, y: Any, z: Any) -> Any:
        """Return diag(p) - p p'."""
        p = self._chances(z)
        return p[:, :, None] * (np.eye(z.shape[1]) - p[:, None, :])


def relative_gap(one: Any, two: Any) -> float:
    """Return the greatest difference, relative to the greatest entry; inf where shape or text differ."""
    if isinstance(one, tuple):
        gaps = [relative_gap(a, b) for a, b in zip(one, two, strict=False)]
        return max(gaps, default=0.0) if len(one) == len(two) else np.inf
    a, b = np.asarray(one), np.asarray(two)
    if a.shape != b.shape:
        return np.inf
    different = (a != b) & ~((a != a) & (b != b))
    if not different.any():
        return 0.0
    if a.dtype.kind not in "biuf" or b.dtype.kind not in "biuf":
        return np.inf
    size = max(float(np.abs(c[np.isfinite(c)]).max(initial=0.0)) for c in (a, b))
    return float(np.abs(a - b)[different].max() / size) if size > 0 else np.inf
