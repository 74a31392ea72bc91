"""The searches find the very rows that comparing all pairs in float64 finds, ties by row number."""

from __future__ import annotations

import numpy as np
import pytest

from surefit.core.native.neighbours.edit_distance import edit_distances, edit_distances_twin
from surefit.core.native.neighbours.near_rows import rows_nearest, rows_within
from surefit.core.native.neighbours.norms import Norm
from surefit.core.native.neighbours.point_tree import (
    grow_point_tree,
    nearest_twin,
    tree_nearest,
    tree_within,
    within_twin,
)

NORMS = [Norm(), Norm.of(1), Norm.of(np.inf), Norm("differing", 1.0)]
SIZES = [(1, 1), (5, 3), (40, 2), (700, 3), (700, 10)]


def rows(n, d, seed, grid=False):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return np.round(2 * X) if grid else X


def check(ours, twin):
    np.testing.assert_array_equal(ours.index, twin.index)
    np.testing.assert_array_equal(ours.value, twin.value)


@pytest.mark.parametrize("grid", [False, True], ids=["plain", "ties"])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: norm.kind)
def test_trees_and_scans_equal_the_twin(norm, size, grid):
    X, Q = rows(*size, 1, grid), rows(30, size[1], 2, grid)
    limit = np.full(len(Q), 1.5)
    for kind in ("box", "none") if norm.kind == "differing" else ("box", "ball", "none"):
        for bucket in (16, 48):
            tree = grow_point_tree(X, norm, kind=kind, bucket=bucket)
            for k in {1, min(5, len(X)), min(60, len(X))}:
                twin = nearest_twin(X, norm, Q, k, False)
                for threads in (1, 3):
                    check(tree_nearest(tree, Q, k, _threads=threads), twin)
            for by_distance in (False, True):
                ours, twin = (
                    f(*a, False, by_distance)
                    for f, a in (
                        (tree_within, (tree, Q, limit)),
                        (within_twin, (X, norm, Q, limit)),
                    )
                )
                check(ours, twin)
                np.testing.assert_array_equal(ours.start, twin.start)
            if len(X) > 1:
                check(tree_nearest(tree, X, 1, own=True), nearest_twin(X, norm, X, 1, True))


@pytest.mark.parametrize("kind", ["box", "ball"])
def test_any_power_is_found_up_to_rounding(kind):
    X, Q = rows(500, 4, 3), rows(20, 4, 4)
    ours = tree_nearest(grow_point_tree(X, Norm.of(3.5), kind=kind), Q, 6)
    twin = nearest_twin(X, Norm.of(3.5), Q, 6, False)
    np.testing.assert_array_equal(ours.index, twin.index)
    np.testing.assert_allclose(ours.value, twin.value, rtol=1e-13)


def test_trees_are_the_same_for_any_number_of_threads():
    X = rows(5000, 4, 5)
    one, more = (grow_point_tree(X, _threads=count) for count in (1, 3))
    for name in ("points", "ids", "bounds"):
        np.testing.assert_array_equal(getattr(one, name), getattr(more, name))
    assert sorted(one.ids[one.ids >= 0].tolist()) == list(range(len(X)))


@pytest.mark.parametrize("grid", [False, True], ids=["plain", "ties"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_products_equal_the_twin(size, grid):
    X, Q = rows(*size, 6, grid), rows(70, size[1], 7, grid)
    for k in {1, min(5, len(X)), min(60, len(X))}:
        check(rows_nearest(X, Q, k), nearest_twin(X, Norm(), Q, k, False))
    if len(X) > 1:
        check(rows_nearest(X, X, 1, own=True), nearest_twin(X, Norm(), X, 1, True))
    limit = np.full(len(Q), 2.0)
    check(rows_within(X, Q, limit), within_twin(X, Norm(), Q, limit, False, False))


@pytest.mark.parametrize(
    ("scale", "shift"),
    [(1e-9, 1e6), (1e150, 0.0), (1e-140, 0.0), (1.0, 1e8)],
    ids=["far", "large", "small", "farther"],
)
def test_float32_picks_only_candidates(scale, shift):
    X = rows(600, 5, 8) * scale + shift
    Q = np.concatenate([X[:20] + scale * 1e-3, [X[0] * 3]])
    check(rows_nearest(X, Q, 7), nearest_twin(X, Norm(), Q, 7, False))


def test_a_row_far_from_all_others_costs_no_digits():
    X = rows(400, 3, 9)
    X[7] = 1e12
    check(rows_nearest(X, X[:50] + 1e-3, 5), nearest_twin(X, Norm(), X[:50] + 1e-3, 5, False))


def test_edit_distances_equal_the_twin():
    rng = np.random.default_rng(0)
    words = ["", "ü", "\U0001f600a"] + [
        "".join(rng.choice(list("abü"), rng.integers(0, 9))) for _ in range(40)
    ]
    np.testing.assert_array_equal(edit_distances(words, words[:30]), edit_distances_twin(words, words[:30]))
