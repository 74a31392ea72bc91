"""Quantiles: exact for rows in memory, from a sketch with a stated error for sources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, Source
from surefit.engine.base import Engine
from surefit.models.prepare.recompute import block, change
from surefit.stats.base import Joint
from surefit.stats.sketch import Sketch


@dataclass(frozen=True, slots=True)
class ExactQuantiles:
    """Some quantiles of rows in memory, read off their sorted columns, beside the sketch of the same rows."""

    sketch: Sketch
    shares: list[float]
    found: NDArray[np.float64]

    @classmethod
    def of(cls, batch: Batch, shares: list[float]) -> ExactQuantiles:
        """Sort column after column."""
        sketch, found = Sketch.beside_quantiles(batch, shares)
        return cls(sketch, shares, found)

    @property
    def error(self) -> NDArray[np.float64]:
        """No rank is off."""
        return np.zeros(self.found.shape[1])

    def quantile(self, q: Any) -> NDArray[np.float64]:
        """The quantiles that were asked for, as ``Sketch.quantile`` gives them."""
        found = self.found[[self.shares.index(share) for share in np.atleast_1d(q)]]
        return found if np.ndim(q) else found[0]


class ExactInMemory(ABC):
    """Makes a fit on rows in memory exact, for estimators whose statistic is a sketch.

    What is kept for later rows is a sketch of bounded size, itself exact for up to 4096 distinct values.
    """

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Any:
        if not isinstance(source, ArraySource) or not self._is_sketched():
            return super()._learn(source, engine, trace)  # type: ignore[misc]
        whole = self._of_memory(source.batch, source.schema)
        self.statistic_ = _shrunk(whole)
        self._schema = source.schema
        return self._finish(whole, source.schema)  # type: ignore[attr-defined]

    def _is_sketched(self) -> bool:
        """Whether the statistic holds a sketch."""
        return True

    @abstractmethod
    def _of_memory(self, batch: Batch, schema: Schema) -> Any:
        """The statistic, with exact quantiles in the place of a sketch."""


def _shrunk(statistic: Any) -> Any:
    if isinstance(statistic, Joint):
        return Joint({name: _shrunk(member) for name, member in statistic.members.items()})
    return statistic.sketch if isinstance(statistic, ExactQuantiles) else statistic


def quantile_change(
    source: Source,
    engine: Engine,
    shares: list[float],
    found: NDArray[np.float64],
    error: NDArray[np.float64],
) -> float:
    """How far quantiles, (shares, columns), are off, against a recomputation from the rows.

    Exact ones are compared with those of the sorted column, in units of its range. Those with an error are
    counted out: by how much more than the error their ranks are from the shares.
    """
    sorted_columns: dict[int, list[Any]] = {j: [] for j in np.flatnonzero(error == 0).tolist()}
    ranks: Any = 0.0
    for counted, levels in engine.map(partial(_ranks, found=found, exact=list(sorted_columns)), source):
        ranks = ranks + counted
        for j, column in levels.items():
            sorted_columns[j].append(column)
    below, upto, total = ranks[0], ranks[1], ranks[2, 0]
    worst = 0.0
    for j in range(found.shape[1]):
        if j in sorted_columns:
            values, mass = (np.concatenate(parts) for parts in zip(*sorted_columns[j], strict=True))
            unit = np.ptp(values) + 1e-6 * np.abs(values).max() if len(values) else 1.0
            worst = max(worst, change(found[:, j], plain_quantiles(values, mass, shares), unit))
        else:  # the rank of a value that comes often is an interval
            off = np.maximum(below[:, j] / total[j] - shares, shares - upto[:, j] / total[j])
            worst = max(worst, float(off.max()) - error[j] - 1 / total[j])
    return worst


def _ranks(batch: Batch, found: NDArray[np.float64], exact: list[int]) -> tuple[Any, dict[int, Any]]:
    """The weights below, up to and beside each quantile, and the distinct values of some columns."""
    X, s = block(batch)
    ranks, levels = np.zeros((3, *found.shape)), {}
    for j in range(X.shape[1]):
        there = ~np.isnan(X[:, j])
        values, weight = X[there, j], s[there]
        if j in exact:
            distinct, place = np.unique(values, return_inverse=True)
            levels[j] = distinct, np.bincount(place, weight, len(distinct))
        ranks[0, :, j] = [weight[values < value].sum() for value in found[:, j]]
        ranks[1, :, j] = [weight[values <= value].sum() for value in found[:, j]]
        ranks[2, :, j] = weight.sum()
    return ranks, levels


def plain_quantiles(values: NDArray[Any], weight: NDArray[Any], shares: list[float]) -> NDArray[np.float64]:
    """Quantiles by sorting, interpolated as numpy does; weights repeat a value, parts of one too."""
    if len(values) == 0:
        return np.full(len(shares), np.nan)
    if np.array_equal(weight, np.rint(weight)) and weight.sum() < 1e8:
        return np.quantile(np.repeat(values, weight.astype(np.int64)), shares)
    levels, place = np.unique(values, return_inverse=True)
    mass = np.bincount(place, weight)
    ends = np.cumsum(mass)
    # A value of weight w takes the places of its repetitions: from the first one's to the last one's.
    first, last = ends - mass, ends - 1
    low, high = np.minimum(first, (first + last) / 2), np.maximum(last, (first + last) / 2)
    places = np.stack([low, high], axis=1).ravel()
    return np.interp(places[0] + np.array(shares) * (places[-1] - places[0]), places, np.repeat(levels, 2))
