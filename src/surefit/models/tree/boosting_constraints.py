"""Which columns may be split by together."""

from __future__ import annotations

from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import ParameterError


def interaction_groups(asked: Any, width: int) -> NDArray[np.uint8]:
    """Return (groups, columns), 1 where a column belongs to a group; no rows for no constraint.

    >>> interaction_groups([[0, 1]], 3).tolist()
    [[1, 1, 0], [0, 0, 1]]
    """
    if asked is None:
        return np.empty((0, 0), dtype=np.uint8)
    groups: Any = asked
    if isinstance(asked, str):
        groups = [[j] for j in range(width)] if asked == "no_interactions" else combinations(range(width), 2)
    try:
        sets = [set(group) for group in groups]
    except TypeError:
        raise ParameterError(
            f"Interaction constraints must be a sequence of tuples or lists, got: {asked!r}."
        ) from None
    for group in sets:
        if not all(isinstance(j, Integral) and 0 <= int(j) < width for j in group):
            raise ParameterError(
                "Interaction constraints must consist of integer indices in [0, n_features - 1] = "
                f"[0, {width - 1}], specifying the position of features, got invalid indices: {group!r}."
            )
    rest = set(range(width)).difference(*sets)
    found = np.zeros((len(sets) + bool(rest), width), dtype=np.uint8)
    for row, group in zip(found, [*sets, rest], strict=False):
        row[list(group)] = 1
    return found
