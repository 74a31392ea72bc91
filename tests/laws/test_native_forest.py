"""The forest's kernels equal their twins, and its quick search the exact search of one tree."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from surefit.core.native.trees import forest_columns as native_columns
from surefit.core.native.trees.forest_columns import forest_columns, forest_columns_twin
from surefit.core.native.trees.forest_draws import forest_draws, forest_draws_twin
from surefit.core.native.trees.forest_grow import Rules, Sample, forest_grow, forest_grow_twin
from surefit.core.native.trees.forest_walk import (
    forest_apply,
    forest_apply_twin,
    forest_sums,
    forest_sums_twin,
)
from surefit.models.tree.nodes.forest_arrays import tree_nodes

SEEDS = np.array([3, 9], dtype=np.uint64)
RULES = {
    "none": Rules(),
    "columns": Rules(max_columns=2),
    "one": Rules(max_columns=1),
    "rows": Rules(min_rows_split=8, min_rows_leaf=4, max_columns=3),
    "weight": Rules(min_weight_leaf=5.0),
    "decrease": Rules(max_depth=5, min_decrease=0.01),
    "drawn": Rules(max_columns=2, random_threshold=True),
}
TARGETS = {"gini2": ("gini", 2), "gini3": ("gini", 3), "entropy": ("entropy", 3), "squared": ("squared", 0)}


def table(rows, missing=False, dtype=np.float64):
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, 4)).astype(dtype)
    X[:, 1] = np.round(2 * X[:, 1])
    X[:, 3] = 1.0
    score = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=rows) / 2
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, score


def wide_table(rows, missing=False):
    """Few columns as above, and many that are sparse, or the same in all rows."""
    X, score = table(rows, missing)
    rng = np.random.default_rng(rows + 1)
    more = rng.normal(size=(rows, 36)) * (rng.random((rows, 36)) < 0.05)
    more[:, ::7] = 0.0
    more[:, 1] *= -1.0  # zeros of both signs
    return np.hstack([X, more]), score


def target(score, classes):
    if not classes:
        return score[:, None], ()
    return np.digitize(score, [0.0] if classes == 2 else [-0.7, 0.6])[:, None], (classes,)


def trees(forest, criterion, classes):
    levels = np.zeros(forest.importance.shape[1], dtype=np.int64)
    return [tree_nodes(forest, t, criterion, classes, levels) for t in range(forest.trees)]


def assert_same_trees(one, two, criterion, classes):
    for mine, other in zip(trees(one, criterion, classes), trees(two, criterion, classes), strict=True):
        for name in ("feature", "left", "right", "missing_left", "rows"):
            np.testing.assert_array_equal(getattr(mine.grown, name), getattr(other.grown, name), name)
        for name in ("threshold", "impurity", "weight"):
            a, b = getattr(mine.grown, name), getattr(other.grown, name)
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(mine.value, other.value, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.importance, two.importance, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("rows", [1, 2, 40, 1500])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("max_columns", [0, 1])
def test_columns_equal_the_twin(rows, missing, max_columns):
    X, _ = table(rows, missing)
    a, b = forest_columns(X, max_columns), forest_columns_twin(X, max_columns)
    assert (a.rank is None) == (max_columns == 1)
    for entry in fields(a):
        np.testing.assert_array_equal(getattr(a, entry.name), getattr(b, entry.name), entry.name)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("max_columns", [2, 5])
def test_columns_with_zeros_equal_the_twin(missing, max_columns):
    X, _ = wide_table(1500, missing)
    a, b = forest_columns(X, max_columns), forest_columns_twin(X, max_columns)
    assert (a.rank is None) == (max_columns == 5)
    for entry in fields(a):
        np.testing.assert_array_equal(getattr(a, entry.name), getattr(b, entry.name), entry.name)


@pytest.mark.parametrize("rows", [800, 3000])
@pytest.mark.parametrize("max_columns", [2, 5, 30])
def test_cells_of_wide_tables_lie_by_column_and_grow_the_same_trees(monkeypatch, rows, max_columns):
    X, score = wide_table(rows, missing=True)
    given = {"criterion": "squared", "rules": Rules(max_columns=max_columns), "quick": True}
    by_row = forest_columns(X, max_columns)
    expected = forest_grow(X, score[:, None], SEEDS, columns=by_row, **given)
    monkeypatch.setattr(native_columns, "WIDE", 1)
    by_column = forest_columns(X, max_columns)
    assert by_column.by_column
    assert not by_row.by_column
    for entry in fields(by_row):
        np.testing.assert_array_equal(getattr(by_column, entry.name), getattr(by_row, entry.name))
    found = forest_grow(X, score[:, None], SEEDS, columns=by_column, **given)
    for entry in fields(expected):
        np.testing.assert_array_equal(getattr(found, entry.name), getattr(expected, entry.name), entry.name)


@pytest.mark.parametrize("drawn", [False, True], ids=["found", "drawn"])
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("max_columns", [2, 5], ids=["very few", "few"])
def test_few_of_many_columns_are_searched_exactly(name, drawn, max_columns):
    criterion, number = TARGETS[name]
    for rows, missing in ((2, False), (90, True), (700, False)):
        X, score = wide_table(rows, missing)
        Y, classes = target(score, number)
        rules = Rules(max_columns=max_columns, min_rows_leaf=1 + rows // 300, random_threshold=drawn)
        given = {"criterion": criterion, "classes": classes, "rules": rules}
        columns = None if drawn else forest_columns(X, max_columns)
        quick = forest_grow(X, Y, SEEDS, Sample(draws=rows), columns=columns, quick=True, **given)
        exact = forest_grow(X, Y, SEEDS, Sample(draws=rows), **given)
        assert_same_trees(quick, exact, criterion, classes)


def test_bins_hold_whole_values_in_order():
    X, _ = table(3000)
    found = forest_columns(X)
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        bins = found.bins[order, j].astype(int)
        assert (np.diff(bins) >= 0).all()
        same = np.diff(X[order, j]) == 0
        assert (np.diff(bins)[same] == 0).all()
    counts = np.bincount(found.bins[:, 0])
    assert 250 <= len(counts) <= 255
    assert counts.min() >= 1
    assert counts.max() <= 2 * 3000 / 255
    for end in (counts[:10], counts[::-1][:10]):  # few rows can be cut off, be a column told by bins alone
        assert end[0] == 1
        assert (np.diff(end) >= 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_draws_equal_the_twin(weighted):
    cumulative = np.cumsum(np.arange(300.0) % 3) if weighted else None
    a, b = forest_draws(5, 1000, 300, cumulative), forest_draws_twin(5, 1000, 300, cumulative)
    np.testing.assert_array_equal(a, b)
    assert a.sum() == 1000
    assert not weighted or (a[::3] == 0).all()


def test_equal_weights_draw_as_none():
    np.testing.assert_array_equal(forest_draws(1, 50, 20), forest_draws(1, 50, 20, np.arange(1.0, 21.0)))


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
@pytest.mark.parametrize("name", TARGETS)
def test_quick_search_equals_the_exact_one(name, rules):
    criterion, number = TARGETS[name]
    for rows, missing in ((1, False), (90, True), (700, False)):
        X, score = table(rows, missing)
        Y, classes = target(score, number)
        for sample in (Sample(), Sample(draws=rows)):
            given = {"criterion": criterion, "classes": classes, "rules": rules}
            columns = None if rules.random_threshold else forest_columns(X, rules.max_columns)
            quick = forest_grow(X, Y, SEEDS, sample, columns=columns, quick=True, **given)
            exact = forest_grow(X, Y, SEEDS, sample, **given)
            assert_same_trees(quick, exact, criterion, classes)


@pytest.mark.parametrize("name", TARGETS)
def test_samples_of_few_of_many_rows_are_searched_exactly(name):
    criterion, number = TARGETS[name]
    X, score = table(4000, missing=True)
    Y, classes = target(score, number)
    given = {"criterion": criterion, "classes": classes, "rules": Rules(max_columns=1)}
    for draws in (60, 600):  # few enough for nodes to sort their values, and not so few
        quick = forest_grow(
            X, Y, SEEDS, Sample(draws=draws), columns=forest_columns(X, 1), quick=True, **given
        )
        exact = forest_grow(X, Y, SEEDS, Sample(draws=draws), **given)
        assert_same_trees(quick, exact, criterion, classes)


@pytest.mark.parametrize("name", TARGETS)
def test_equal_to_the_twin(name):
    criterion, number = TARGETS[name]
    X, score = table(60, missing=True)
    Y, classes = target(score, number)
    levels, rules = np.zeros(4, dtype=np.int64), Rules(max_columns=2)
    sample = Sample(draws=60, cumulative=np.cumsum(np.arange(60.0) % 4))
    one = forest_grow(X, Y, SEEDS, sample, criterion=criterion, classes=classes, rules=rules)
    two = forest_grow_twin(
        X, Y, SEEDS, sample, criterion=criterion, classes=classes, levels=levels, rules=rules
    )
    assert_same_trees(one, two, criterion, classes)


def test_balanced_samples_give_classes_the_same_weight():
    X, score = table(200)
    Y, classes = target(score, 3)
    sample = Sample(draws=200, balanced=True)
    found = forest_grow(
        X, Y, SEEDS, sample, criterion="gini", classes=classes, columns=forest_columns(X), quick=True
    )
    for t in range(2):
        total = found.value[found.leaf_start[t] : found.leaf_start[t + 1]].sum(axis=0)
        np.testing.assert_allclose(total, 200 / 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_large_nodes_are_searched_by_bins(dtype, order):
    X, score = table(5000, dtype=dtype)
    X = np.asarray(X, order=order)
    X.setflags(write=False)
    Y, classes = target(score, 2)
    given = {"criterion": "gini", "classes": classes, "columns": forest_columns(X), "quick": True}
    one = forest_grow(X, Y, SEEDS, Sample(draws=5000), _threads=1, **given)
    two = forest_grow(X, Y, SEEDS, Sample(draws=5000), _threads=2, **given)
    for entry in fields(one):
        np.testing.assert_array_equal(getattr(one, entry.name), getattr(two, entry.name), entry.name)
    leaves = forest_apply(one, X)
    for t, seed in enumerate(SEEDS.tolist()):  # every row of the sample is in exactly one leaf
        counts = forest_draws(seed, 5000, 5000)
        held = np.bincount(leaves[:, t], counts)
        np.testing.assert_array_equal(held, one.weight[one.leaf_start[t] : one.leaf_start[t + 1]])
    pure = one.value.min(axis=1) == 0
    assert pure.all()  # full depth: values differ in every row


@pytest.mark.parametrize("missing", [False, True])
def test_walks_equal_the_twins(missing):
    X, score = table(2500, missing)
    Y, classes = target(score, 3)
    found = forest_grow(X, Y, SEEDS, criterion="gini", classes=classes, rules=Rules(max_depth=6))
    left_out = np.zeros((2, 2500), dtype=np.uint8)
    left_out[0, ::3] = 1
    for given in (None, left_out):
        np.testing.assert_array_equal(
            forest_apply(found, X, None, given), forest_apply_twin(found, X, None, given)
        )
        for a, b in zip(
            forest_sums(found, X, found.value, None, given),
            forest_sums_twin(found, X, found.value, None, given),
            strict=True,
        ):
            np.testing.assert_allclose(a, b, rtol=1e-14)


def test_a_node_takes_16_bytes():
    X, score = table(300)
    found = forest_grow(X, score[:, None], SEEDS, criterion="squared")
    assert found.nodes.itemsize * found.nodes.shape[1] == 16
