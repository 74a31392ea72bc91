"""Members that learn from more rows, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from surefit.data.batch import Batch
from surefit.data.source import Source


def updated_members(
    base: Any, members: Sequence[Any], parts: Sequence[Callable[[Batch], Batch]], source: Source
) -> list[Any]:
    """Return copies of the members, or of ``base`` where there is none yet, that know the rows as well."""
    from copy import deepcopy

    found = [clone(base) if member is None else deepcopy(member) for member in members]
    for batch in source:
        for member, rows in zip(found, parts, strict=True):
            seen = rows(batch)
            if len(seen):
                _learn_more(member, seen)
    return found


def _learn_more(member: Any, rows: Batch) -> None:
    weights = {} if rows.weight is None else {"sample_weight": rows.weight}
    y = np.asarray(rows.y)
    if is_regressor(member):
        member.partial_fit(rows.X, y.astype(np.float64), **weights)
    else:
        member.partial_fit(rows.X, y, classes=np.array([0, 1]), **weights)
