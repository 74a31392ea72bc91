"""Drawing rows with replacement, in proportion to their weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.resample.base import Indices


def draw_rows(
    rows: int, size: int, generator: np.random.Generator, weight: NDArray[np.float64] | None = None
) -> Indices:
    r"""Draw ``size`` row numbers; row :math:`i` comes with probability :math:`s_i / W`.

    The cumulative weight is inverted at uniform numbers, so that from the same generator the same rows come,
    whether a row has weight 2 or stands there twice.

    >>> draw_rows(3, 5, np.random.default_rng(0), np.array([0.0, 2.0, 0.0]))
    array([1, 1, 1, 1, 1])
    """
    places = generator.random(size)
    if weight is None:
        return np.minimum((places * rows).astype(np.intp), rows - 1)
    cumulative = np.cumsum(weight)
    found = np.searchsorted(cumulative, places * cumulative[-1], side="right")
    # A place just below 1 can round up to the whole weight, which is past the last row that counts.
    return np.minimum(found, np.flatnonzero(weight)[-1])
