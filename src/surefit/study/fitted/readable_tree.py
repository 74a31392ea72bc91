"""A tree whose rules name the levels of categories, where a preparer made codes of them."""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable
from dataclasses import replace
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from surefit.models.prepare.tables.table_preparer import TablePreparer, column_plans
from surefit.models.tree.export.conditions import Condition

GONE = "(missing or new)"


def readable(pipeline: Any) -> Any:
    """The last step of a fitted pipeline; of a tree a copy, which draws and writes rules in words.

    >>> import pyarrow as pa
    >>> import surefit
    >>> table = pa.table({"city": ["Rome", "Oslo"] * 20, "y": [1.0, 5.0] * 20})
    >>> tree = surefit.DecisionTreeRegressor()
    >>> print(readable(surefit.make_pipeline(surefit.TablePreparer("tree"), tree).fit(table, "y")).to_text())
    (40 rows, impurity 4)
    |-- city in {Oslo}: 5  (20 rows, impurity 0)
    |-- city not in {Oslo}: 1  (20 rows, impurity 0)
    """
    steps = [step for _, step in pipeline.steps] if hasattr(pipeline, "steps") else [pipeline]
    tree = steps[-1]
    if not hasattr(tree, "_splits") or len(steps) != 2 or not isinstance(steps[0], TablePreparer):
        return tree
    names = _names(steps[0])
    coded = np.isin(steps[0].get_feature_names_out(), list(names))
    view, cls = copy.copy(tree), cast(Hashable, type(tree))
    view.__class__ = _with_levels(cls)
    view.__dict__.update(_coded=coded, _levels_of=names)
    return view


class _Levels:
    """Mixed into the class of a tree: its rules name levels where the rows hold their codes."""

    _coded: NDArray[np.bool_]
    _levels_of: dict[str, list[str]]

    def _matrix(self, X: Any) -> NDArray[np.float64]:
        """Codes below zero are gaps and new levels, for which no rule of levels holds."""
        rows = super()._matrix(X)  # type: ignore[misc]
        return np.where(self._coded & (rows < 0), np.nan, rows)

    def _splits(self) -> dict[int, Condition]:
        splits = super()._splits()  # type: ignore[misc]
        return {at: _named(split, self._levels_of) for at, split in splits.items()}


@cache
def _with_levels(cls: Hashable) -> Any:
    """The class of a tree with the mixin; no member of the registry."""
    own: Any = cls
    return type(own)(own.__name__, (_Levels, own), {"__module__": own.__module__}, abstract=True)


def _names(preparer: TablePreparer) -> dict[str, list[str]]:
    """The levels of every column that comes out as codes, or as zeros and ones, by its name."""
    known = zip(column_plans(preparer), preparer.kinds_, preparer.roles_, preparer.categories_, strict=True)
    found = {}
    for plan, kind, role, levels in known:
        if role == "ordinal":
            found[plan.name] = [str(level) for level in levels]
        elif kind == "boolean" and role != "dropped":
            found[plan.name] = ["no", "yes"]
    return found


def _named(split: Condition, names: dict[str, list[str]]) -> Condition:
    if split.name not in names or split.threshold is None or math.isinf(split.threshold):
        return split
    left = names[split.name][: max(0, math.floor(split.threshold) + 1)]
    return replace(split, threshold=None, levels=tuple(left) or (GONE,))
