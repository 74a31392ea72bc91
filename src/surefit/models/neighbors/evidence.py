"""What a fit measures of its rows for the diagnosis, on a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.distances import Distance, search
from surefit.distances.base import length
from surefit.distances.search import Index

SAMPLE = 500  # rows that are compared with each other
ASKED = 100  # rows whose nearest of all is looked at
NEAREST = 10


def row_evidence(rows: Any, distance: Distance, index: Index, codes: Any) -> dict[str, Any]:
    """Spreads of columns, how unlike distances are, hubs, and equal rows of unlike classes.

    distance_spread: the mean distance of a sample of rows over the mean distance of the nearest. hubs: how
    often the row that is the nearest most often is one of the nearest of another, how often on average, and
    its number. clashing_rows: pairs of numbers of equal rows with other classes.
    """
    count = length(rows)
    if count < 3:
        return {}
    evidence: dict[str, Any] = {}
    places = np.linspace(0, count - 1, min(SAMPLE, count)).astype(np.int64)
    sample = rows[places]
    dense = isinstance(sample, np.ndarray) and sample.dtype.kind == "f"
    if dense and distance.name in ("euclidean", "manhattan", "minkowski", "chebyshev", "sqeuclidean"):
        with np.errstate(over="ignore", invalid="ignore"):
            evidence["distance_columns"] = np.asarray(sample.std(axis=0), dtype=np.float64)
    slow = distance.name == "from_function" or (distance.takes != "rows" and len(places) > 100)
    if not slow and len(places) > NEAREST:
        among = search.build(sample, distance, algorithm="brute")
        found = among.nearest(None, NEAREST)
        things = distance.inputs(sample)
        with np.errstate(over="ignore", invalid="ignore"):
            some = distance.between(things[:ASKED], things)
            nearest = found.distance[: min(ASKED, len(places)), 0]
            evidence["distance_spread"] = (float(some.mean()), float(nearest.mean()), len(places))
        often = np.bincount(found.index.ravel(), minlength=len(places))
        evidence["hubs"] = (int(often.max()), NEAREST, int(places[often.argmax()]), len(places))
    if codes is not None and np.ndim(codes) == 1 and not slow:
        asked = np.linspace(0, count - 1, min(ASKED, count)).astype(np.int64)
        near = index.nearest(rows[asked], min(3, count))
        unlike = (near.distance == 0) & (codes[near.index] != codes[asked][:, None])
        evidence["clashing_rows"] = (
            [(int(asked[i]), int(near.index[i, j])) for i, j in np.argwhere(unlike)],
            len(asked),
        )
    return evidence
