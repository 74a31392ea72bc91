"""A metric for each group of rows, as a statistic that adds up like any other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.metrics.labels import as_labels, encode
from surefit.stats.base import Statistic


@dataclass(frozen=True, slots=True)
class Grouped(Statistic):
    """The statistic of each group, by the group's name."""

    members: dict[Any, Any]

    @classmethod
    def of(cls, batch: Batch, **context: Any) -> Grouped:
        """No group is known from rows alone; :func:`of` makes it."""
        return cls({})

    def __add__(self, other: Grouped) -> Grouped:
        joined = dict(self.members)
        for name, member in other.members.items():
            joined[name] = joined[name] + member if name in joined else member
        return Grouped(joined)


def of(metric: Any, truth: Any, prediction: Any, weight: Any, by: Any) -> Grouped:
    """Make the statistic of each group of some rows."""
    names, codes = encode(as_labels(by, "by"))
    columns = [None if column is None else np.asarray(column) for column in (truth, prediction, weight)]
    if any(column is not None and len(column) != len(codes) for column in columns):
        raise DataError(f"{metric.name}: by has {len(codes)} rows; give one group for each row of the truth.")
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(codes, minlength=len(names)))[:-1])
    found = {}
    for name, rows in zip(names.tolist(), parts, strict=True):
        part = [None if column is None else column[rows] for column in columns]
        if part[2] is None or part[2].any():  # a group without weight has no row that counts
            found[name] = metric.of(*part)
    return Grouped(found)


def finish(metric: Any, grouped: Grouped) -> dict[Any, Any]:
    """Score each group."""
    return {name: metric.finish(grouped.members[name]) for name in sorted(grouped.members)}
