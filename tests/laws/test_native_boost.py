"""The kernels of boosting equal their twins, and give the same bits for any number of threads."""

from __future__ import annotations

from dataclasses import astuple, fields

import numpy as np
import pytest

from surefit.core.native.trees.boost_apply import boost_apply, boost_apply_twin
from surefit.core.native.trees.boost_gradients import LOSSES, boost_gradients, boost_gradients_twin
from surefit.core.native.trees.boost_grow import (
    BoostRules,
    BoostTable,
    BoostWork,
    boost_grow,
    boost_grow_twin,
)
from surefit.models.tree.boosting.trees import boosted_trees_of, joined
from surefit.models.tree.rows.bins import find_bins

ROWS = 900
RNG = np.random.default_rng(0)
X = RNG.normal(size=(ROWS, 5))
X[:, 1] = RNG.integers(0, 12, ROWS)  # levels
X[RNG.random(ROWS) < 0.15, 1] = np.nan
X[RNG.random(ROWS) < 0.15, 2] = np.nan
X[:, 3] = np.round(X[:, 3])
G = np.nan_to_num(X[:, 0] + (X[:, 1] % 3) + X[:, 2]) + RNG.normal(size=ROWS)
H = RNG.uniform(0.2, 1.0, ROWS)
BOUNDS = float(np.abs(G).max()), float(H.max()), float(H.sum())
BINS = find_bins(X, max_bins=40, levels=np.array([0, 12, 0, 0, 0]))
CODES = BINS.codes(X)
RULES = {
    "plain": BoostRules(min_rows_leaf=5),
    "stumps": BoostRules(max_depth=1, min_rows_leaf=1),
    "ridge": BoostRules(max_leaves=0, min_rows_leaf=30, l2=4.0),
    "monotone": BoostRules(min_rows_leaf=5, monotone=(1, 0, -1, 0, 0)),
    "groups": BoostRules(
        min_rows_leaf=5, groups=np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]], dtype=np.uint8)
    ),
}


def table() -> BoostTable:
    return BoostTable.of(CODES, BINS.counts, BINS.levels > 0)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
def test_the_kernel_grows_the_tree_of_the_twin(rules: BoostRules) -> None:
    one, two = BoostWork(ROWS), BoostWork(ROWS)
    found = boost_grow(table(), G, H, BOUNDS, rules, one)
    expected = boost_grow_twin(table(), G, H, BOUNDS, rules, two)
    assert len(found.column) > 1
    for entry in fields(found):
        mine, theirs = getattr(found, entry.name), getattr(expected, entry.name)
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9, err_msg=entry.name)
        else:
            np.testing.assert_array_equal(mine, theirs, err_msg=entry.name)
    np.testing.assert_array_equal(one.rows, two.rows)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    many = np.tile(np.arange(ROWS), 30)
    codes, g, h = np.asfortranarray(CODES[many]), G[many] * RNG.random(len(many)), H[many]
    bounds = float(np.abs(g).max()), float(h.max()), float(h.sum())
    rows = BoostTable.of(codes, BINS.counts, BINS.levels > 0)
    found = []
    for threads in (1, 2, 3):
        work = BoostWork(len(many))
        tree = boost_grow(rows, g, h, bounds, BoostRules(), work, _threads=threads)
        found.append([*astuple(tree), work.rows])
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_columns_are_drawn_by_the_seed_alone() -> None:
    rules = BoostRules(min_rows_leaf=5, column_share=0.4)
    trees = [boost_grow(table(), G, H, BOUNDS, rules, BoostWork(ROWS), seed) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(trees[0].column, trees[1].column)
    assert trees[0].column.tolist() != trees[2].column.tolist()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("threads", [1, 3])
def test_rows_end_in_the_leaves_that_growing_left_them_in(order: str, threads: int) -> None:
    work = BoostWork(ROWS)
    tree = boost_grow(table(), G, H, BOUNDS, RULES["plain"], work)
    wanted = np.empty(ROWS)
    for node in np.flatnonzero(tree.column < 0):
        wanted[work.rows[tree.begin[node] : tree.end[node]]] = tree.value[node]
    tree_block = joined([boosted_trees_of(tree, tree.value, BINS)] * 2)
    for rows in (X, CODES):
        by_code = boosted_trees_of(tree, tree.value, BINS, by_code=True)
        nodes = tree_block if rows is X else joined([by_code] * 2)
        found, twin = np.zeros((2, ROWS)), np.zeros((2, ROWS))
        boost_apply(nodes.nodes, np.asarray(rows, order=order), found, 0, 2, _threads=threads)
        boost_apply_twin(nodes.nodes, rows, twin, 0, 2)
        np.testing.assert_array_equal(found, [wanted, wanted])
        np.testing.assert_array_equal(twin, found)


@pytest.mark.parametrize("kind", [*LOSSES, "softmax"])
def test_gradients_are_the_slopes_of_the_loss(kind: str) -> None:
    rng = np.random.default_rng(1)
    z, y, w = rng.normal(size=50), rng.integers(0, 2, 50).astype(float), rng.uniform(0, 2, 50)
    y = y + 0.5 if kind == "gamma" else y
    z = rng.normal(size=(3, 50)) if kind == "softmax" else z
    found = boost_gradients(kind, y, z, w, parameter=0.3)
    twin = boost_gradients_twin(kind, y, z, w, parameter=0.3)
    for entry in fields(found):
        np.testing.assert_allclose(getattr(found, entry.name), getattr(twin, entry.name), rtol=1e-12)
    step = 1e-6
    for at in range(5):
        up, down = z.copy(), z.copy()
        up[..., at] += step * (np.arange(3) == 1 if kind == "softmax" else 1)
        down[..., at] -= step * (np.arange(3) == 1 if kind == "softmax" else 1)
        losses = [boost_gradients(kind, y, s, w, parameter=0.3, only_loss=True).loss for s in (up, down)]
        slope = found.gradient[1, at] if kind == "softmax" else found.gradient[at]
        np.testing.assert_allclose((losses[0] - losses[1]) / (2 * step), slope, atol=1e-7)
