"""Scores of columns from sums that add up, so that a table is scored as it is read.

Each is one pass, or two, over the table, and equals the score of the same rows in memory up to rounding.
Weights are frequencies: a row of weight 2 counts as two rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import choose_engine
from surefit.evaluate.select.binned_information import BINS, BinnedCounts, Bins
from surefit.evaluate.select.column_tests import (
    chi2_of_counts,
    f_of_correlations,
    f_of_groups,
    f_score_of_groups,
)
from surefit.stats.base import Joint
from surefit.stats.grouped_spread import GroupedSpread
from surefit.stats.spread import Spread

Kind = Literal["number", "class"]


@dataclass(frozen=True, slots=True)
class Link:
    """Spread of the columns and of the target, and :math:`c_j = \\sum s_i (x_{ij} - m_j)(y_i - m)`."""

    x: Spread
    y: Spread
    cross: Vector

    @classmethod
    def of(cls, batch: Batch) -> Link:
        """That of some rows."""
        x, y = Spread.of(batch), Spread.of(batch, part="y")
        apart = np.asarray(batch.y, dtype=np.float64).ravel() - y.mean[0]
        if batch.weight is not None:
            apart = apart * batch.weight
        X: Any = batch.X
        # A sparse column is not centred: its offset times what rounding leaves of a sum of zero is little.
        cross = X.T @ apart if sparse.issparse(X) else (X - x.mean).T @ apart
        return cls(x, y, np.asarray(cross, dtype=np.float64).ravel())

    def __add__(self, other: Link) -> Link:
        whole = self.y.weight + other.y.weight
        joined = self.y.weight * other.y.weight / np.where(whole > 0, whole, 1.0)
        between = joined * (other.x.mean - self.x.mean) * (other.y.mean - self.y.mean)
        return Link(self.x + other.x, self.y + other.y, self.cross + other.cross + between)

    @property
    def correlation(self) -> Vector:
        """Pearson's, 0 for a constant column."""
        length = np.sqrt(self.x.scatter * self.y.scatter)
        varies = varying(self.x) & varying(self.y)
        return np.clip(np.where(varies, self.cross / np.where(length > 0, length, 1.0), 0.0), -1.0, 1.0)


def varying(spread: Spread) -> NDArray[np.bool_]:
    """Which columns vary by more than rounding leaves of a constant."""
    far = np.maximum(spread.maximum - spread.mean, spread.mean - spread.minimum)
    size = np.maximum(np.abs(spread.maximum), np.abs(spread.minimum))
    return np.asarray((far > 8 * np.finfo(float).eps * size) & (spread.scatter > 0))


def _groups(source: Source) -> tuple[GroupedSpread, Spread]:
    classes = len(source.schema.classes)  # type: ignore[arg-type]
    parts = partial(Joint.of, groups=partial(GroupedSpread.of, classes=classes), spread=Spread.of)
    found = choose_engine(source).accumulate(parts, source)
    return found["groups"], found["spread"]


def _correlation(source: Source) -> Vector:
    return np.abs(choose_engine(source).accumulate(Link.of, source).correlation)


def _f_regression(source: Source) -> Any:
    link = choose_engine(source).accumulate(Link.of, source)
    return f_of_correlations(link.correlation, float(link.y.weight[0]))


def _f_classif(source: Source) -> Any:
    groups, spread = _groups(source)
    found = varying(spread)
    means = np.where(found, groups.mean - spread.mean, 0.0)
    return f_of_groups(groups.weight, means, np.where(found, groups.scatter.sum(axis=0), 0.0))


def _f_score(source: Source) -> Vector:
    groups, spread = _groups(source)
    return f_score_of_groups(groups.weight, groups.mean - spread.mean, groups.scatter)


def _chi2(source: Source) -> Any:
    groups, spread = _groups(source)
    if (spread.minimum < 0).any():
        raise DataError("chi2 is a test of counts, and X has a number below 0: use f_classif.")
    return chi2_of_counts(groups.weight[:, None] * groups.mean, groups.weight)


def _dispersion(source: Source) -> Vector:
    spread = choose_engine(source).accumulate(Spread.of, source)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varying(spread), spread.variance / np.abs(spread.mean), 0.0)


def _binned(source: Source) -> Vector:
    classes = source.schema.classes
    parts: dict[str, Any] = {"x": Spread.of}
    if classes is None:
        parts["y"] = partial(Spread.of, part="y")
    ends = choose_engine(source).accumulate(partial(Joint.of, **parts), source)
    bins = {name: Bins(ends[name].minimum, ends[name].maximum, BINS) for name in parts}
    count = partial(BinnedCounts.of, columns=bins["x"], target=bins.get("y"), classes=classes)
    return choose_engine(source).accumulate(count, source).information


STREAMED: dict[str, tuple[Kind, Callable[[Source], Any]]] = {
    "correlation": ("number", _correlation),
    "f_regression": ("number", _f_regression),
    "f_classif": ("class", _f_classif),
    "f_score": ("class", _f_score),
    "chi2": ("class", _chi2),
    "dispersion": ("number", _dispersion),
    "binned_info_classif": ("class", _binned),
    "binned_info_regression": ("number", _binned),
}
IN_MEMORY: dict[str, Kind] = {
    "mutual_info_classif": "class",
    "mutual_info_regression": "number",
    "relief": "class",
    "relieff": "class",
}
