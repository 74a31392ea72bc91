"""Which way of searching suits: measured figures, and the sentence that tells them.

A tree saves work only where a query can leave most leaves out, which depends on how many directions the rows
really spread in. So a tree is grown, which is cheap, a few rows are searched for, and the share of leaves
that they look at is counted; beyond a limit all pairs are compared instead. The limits are where the two take
equally long, measured with 1e4 to 1e6 rows in 2 to 50 columns (``benchmarks/tasks/neighbors.py``).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from surefit.core.errors import ParameterError, RefusalError
from surefit.core.native.neighbours.norms import Norm
from surefit.core.native.neighbours.point_tree import GROUP
from surefit.distances.base import Distance, Native, length
from surefit.distances.conversion import as_distance
from surefit.distances.search.by_values import MatrixIndex, MetricTree
from surefit.distances.search.index import Index
from surefit.distances.search.native import NativeIndex

ALGORITHMS = ("auto", "ball_tree", "kd_tree", "brute")
FEW_ROWS = 256  # all of which are compared sooner than a tree is grown
SURE_COLUMNS = 4  # up to which a tree is always worth it
MOST_COLUMNS = 24  # beyond which boxes leave nothing out, unless rows lie in few directions
PRODUCTS, SCANS = 0.06, 0.5  # shares of leaves up to which a tree is quicker than products, or than a scan
SLOW_METRIC = 200  # things from which on a tree spares enough calls of a Python metric

Algorithm = Literal["auto", "ball_tree", "kd_tree", "brute"]


def build(
    X: Any,
    distance: Distance | str | Any = "euclidean",
    *,
    algorithm: Algorithm = "auto",
    leaf_size: int = 30,
    p: float = 2.0,
    params: dict[str, Any] | None = None,
    neighbours: int = 5,
) -> Index:
    """Return an index over rows: a matrix, a sparse matrix, or what the distance compares.

    distance: one of ours, a name, a kernel, or a function, as ``as_distance`` takes it, with ``p`` and
    ``params``. neighbours: how many will be asked for, which the choice depends on a little.

    >>> print(build(np.zeros((10, 2))))
    brute, Euclidean(): 10 rows are few enough to compare all pairs
    """
    if algorithm not in ALGORITHMS:
        raise ParameterError(
            f"algorithm={algorithm!r} is not allowed; it must be one of {', '.join(ALGORITHMS)}."
        )
    own = as_distance(distance, p, params).fitted(X)
    things = own.inputs(X)
    sparse = hasattr(things, "toarray")
    native = None if sparse or own.takes not in ("rows", "cells") else own.native()
    if native is None:
        return _by_values(things, own, algorithm, leaf_size, sparse)
    rows = np.ascontiguousarray(native.rows(things), dtype=np.float64)
    if algorithm == "auto":
        return _chosen(rows, own, native, neighbours)
    if algorithm == "brute":
        return NativeIndex(rows, own, native, "none", "as asked for")
    if algorithm == "ball_tree" and not _is_norm(native.norm):
        raise RefusalError(
            f"algorithm='ball_tree' needs the triangle inequality, which {own!r} does not have."
        )
    bucket = max(GROUP, leaf_size // GROUP * GROUP)
    kind: Literal["box", "ball"] = "box" if algorithm == "kd_tree" else "ball"
    return NativeIndex(rows, own, native, kind, "as asked for", bucket)


def _is_norm(norm: Norm) -> bool:
    return norm.kind != "power" or norm.p >= 1


def _by_values(things: Any, own: Distance, algorithm: str, leaf_size: int, sparse: bool) -> Index:
    if algorithm == "kd_tree":
        raise RefusalError(
            f"algorithm='kd_tree' cuts rows by columns, and {own!r} does not go by columns: use 'auto'."
        )
    if algorithm == "ball_tree" and (sparse or own.takes == "pairs"):
        what = "sparse input" if sparse else "distances of all pairs"
        raise RefusalError(
            f"Metric {own.name!r} not valid for {what}. algorithm='ball_tree' takes dense rows or objects: "
            "use 'auto' or 'brute'."
        )
    asked = algorithm == "ball_tree" and (own.metric or own.name == "from_function")
    if algorithm == "ball_tree" and not asked:
        return MatrixIndex(things, own, f"{own!r} has no triangle inequality, which a tree needs")
    costly = own.name == "from_function" and own.metric and length(things) >= SLOW_METRIC
    if asked or (algorithm == "auto" and costly and not sparse):
        why = "as asked for" if asked else "a tree spares calls of a Python metric"
        return MetricTree(things, own, why, leaf_size)
    return MatrixIndex(
        things, own, "as asked for" if algorithm == "brute" else "it compares all pairs by values"
    )


def _chosen(rows: Any, own: Distance, native: Native, neighbours: int) -> Index:
    count, width = rows.shape
    if count < FEW_ROWS:
        return NativeIndex(rows, own, native, "none", f"{count} rows are few enough to compare all pairs")
    bucket = GROUP if width <= 3 else 2 * GROUP
    if width <= SURE_COLUMNS:
        why = f"with {width} column{'s' * (width != 1)} a tree leaves most rows out"
        return NativeIndex(rows, own, native, "box", why, bucket)
    products = native.norm.kind == "squared"
    if products and width > MOST_COLUMNS:
        return NativeIndex(rows, own, native, "none", f"boxes in {width} columns leave too little out")
    tree = NativeIndex(rows, own, native, "box", "", bucket)
    share, limit = tree.visited_share(neighbours), PRODUCTS if products else SCANS
    told = f"a query would look at {share:.1%} of the leaves of a tree"
    if share <= limit:
        tree.why = f"{told}, at most {limit:.0%}"
        return tree
    return NativeIndex(rows, own, native, "none", f"{told}, more than {limit:.0%}")
