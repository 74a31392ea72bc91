"""Many tests at once: p-values that allow for their number, and models that cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, ParameterError

Correction = Literal["holm", "bonferroni", "bh", "none"]
CORRECTIONS = ("holm", "bonferroni", "bh", "none")


def adjust_pvalues(pvalues: Any, method: Correction = "holm") -> NDArray[np.float64]:
    """Adjust p-values for their number, so that each can be compared with the level as it is.

    "holm" and "bonferroni" bound the chance of any false find, Holm's at no price to power; "bh" (Benjamini
    and Hochberg) the share of false finds among those made.

    >>> adjust_pvalues([0.01, 0.04, 0.03]), adjust_pvalues([0.01, 0.04, 0.03], "bh")
    (array([0.03, 0.06, 0.06]), array([0.03, 0.04, 0.04]))
    """
    values = np.asarray(pvalues, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise DataError("p-values must be a list of numbers between 0 and 1.")
    if method not in CORRECTIONS:
        raise ParameterError(f"correction={method!r} must be one of {', '.join(CORRECTIONS)}.")
    count = len(values)
    if method == "none" or count == 0:
        return values.copy()
    if method == "bonferroni":
        return np.asarray(np.minimum(values * count, 1.0))
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    if method == "holm":
        raised = np.maximum.accumulate(ranked * (count - np.arange(count)))
    else:
        raised = np.minimum.accumulate((ranked * count / np.arange(1, count + 1))[::-1])[::-1]
    found = np.empty(count)
    found[order] = np.minimum(raised, 1.0)
    return found


def tie_groups(alike: Any) -> list[list[int]]:
    """The largest sets of models of which no two can be told apart; a model may be in several.

    alike: a symmetric table of whether two models cannot be told apart, the best model first.

    >>> tie_groups([[True, True, False], [True, True, True], [False, True, True]])
    [[0, 1], [1, 2]]
    """
    table = np.asarray(alike, dtype=bool)
    neighbours = [set(np.flatnonzero(row).tolist()) - {number} for number, row in enumerate(table)]
    found = _cliques(set(), set(range(len(table))), set(), neighbours)
    return sorted([sorted(group) for group in found])


def tie_letters(groups: Sequence[Sequence[int]], models: int) -> list[str]:
    """The groups of each model as letters: two models that share one cannot be told apart.

    >>> tie_letters([[0, 1], [1, 2]], 3)
    ['a', 'ab', 'b']
    """
    marks = [chr(ord("a") + number) if number < 26 else f"({number + 1})" for number in range(len(groups))]
    return [
        "".join(mark for mark, group in zip(marks, groups, strict=True) if member in group)
        for member in range(models)
    ]


def _cliques(inside: set[int], open_: set[int], closed: set[int], near: list[set[int]]) -> Iterator[set[int]]:
    """Bron and Kerbosch's search, with a pivot."""
    if not open_ and not closed:
        yield inside
        return
    pivot = max(open_ | closed, key=lambda member: len(near[member] & open_))
    for member in sorted(open_ - near[pivot]):
        yield from _cliques(inside | {member}, open_ & near[member], closed & near[member], near)
        open_ = open_ - {member}
        closed = closed | {member}
