"""The tree grower equals its twin: every criterion, weights, levels, missing values, limits, threads."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from surefit.core.native.trees.tree_apply import tree_apply, tree_apply_twin
from surefit.core.native.trees.tree_grow import CRITERIA, Rules, tree_grow, tree_grow_twin

CLASSES = CRITERIA[:5]
RULES = {
    "none": Rules(),
    "depth": Rules(max_depth=3),
    "rows": Rules(min_rows_split=20, min_rows_leaf=7),
    "weight": Rules(min_weight_leaf=5.0),
    "decrease": Rules(min_decrease=0.01),
    "leaves": Rules(max_leaves=7),
    "columns": Rules(max_columns=2, seed=3),
    "random": Rules(random_threshold=True, seed=5),
}


def table(rows=44, missing=False, levels=False, weighted=False, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4)).astype(dtype)
    X[:, 3] = 1.0
    X[:, 1] = np.round(X[:, 1], 1)
    counts = np.zeros(4, dtype=np.int64)
    if levels:
        X[:, 2] = rng.integers(0, 70, rows)
        counts[2] = 70
    score = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=rows) / 2
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.integers(0, 4, rows).astype(float) if weighted else None
    return X, score, weight, counts


def targets(criterion, score, outputs=1):
    columns = [score, np.roll(score, 7)][:outputs]
    if criterion in CLASSES:
        return np.column_stack([np.digitize(c, [-0.7, 0.6]) for c in columns]), (3,) * outputs
    return np.column_stack([np.exp(c / 2) for c in columns]), ()


def assert_same(a, b):
    for entry in fields(a):
        mine, other = getattr(a, entry.name), getattr(b, entry.name)
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12, err_msg=entry.name)
        else:
            np.testing.assert_array_equal(mine, other, err_msg=entry.name)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
@pytest.mark.parametrize("criterion", CRITERIA)
def test_equal_to_the_twin(criterion, rules):
    for flags in ({"weighted": True}, {"levels": True, "missing": True}):
        X, score, weight, levels = table(**flags)
        Y, classes = targets(criterion, score)
        options = {"criterion": criterion, "classes": classes, "levels": levels, "rules": rules}
        found = tree_grow(X, Y, weight, **options)
        assert len(found.feature) > 1
        assert_same(found, tree_grow_twin(X, Y, weight, **options))
        np.testing.assert_array_equal(tree_apply(found, X), tree_apply_twin(found, X))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared"])
def test_several_outputs(criterion):
    X, score, _, levels = table(missing=True, levels=True)
    Y, classes = targets(criterion, score, outputs=2)
    options = {"criterion": criterion, "classes": classes, "levels": levels, "rules": Rules(max_depth=4)}
    assert_same(tree_grow(X, Y, **options), tree_grow_twin(X, Y, None, **options))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_classes_in_any_layout(dtype, order):
    X, score, weight, levels = table(weighted=True, dtype=dtype)
    Y = (score > 0).astype(int)[:, None]
    for rules in (Rules(), Rules(monotone=(1, 0, -1, 0)), Rules(max_leaves=9), Rules(min_rows_leaf=4)):
        options = {"criterion": "gini", "classes": (2,), "levels": levels, "rules": rules}
        found = tree_grow(np.asarray(X, order=order), Y, weight, **options)
        assert_same(found, tree_grow_twin(X, Y, weight, **options))


@pytest.mark.parametrize("criterion", ["gini", "squared"])
def test_same_bits_for_any_number_of_threads(criterion):
    X, score, weight, levels = table(rows=20000, missing=True, weighted=True)
    Y, classes = targets(criterion, score)
    options = {"criterion": criterion, "classes": classes, "levels": levels}
    one = tree_grow(X, Y, weight, **options, _threads=1)
    for threads in (2, 3):
        other = tree_grow(X, Y, weight, **options, _threads=threads)
        for entry in fields(one):
            np.testing.assert_array_equal(getattr(one, entry.name), getattr(other, entry.name))
    leaves = tree_apply(one, X, _threads=1)
    np.testing.assert_array_equal(leaves, tree_apply(one, X, _threads=3))


def test_weight_equals_repetition():
    X, score, weight, levels = table(weighted=True, missing=True)
    Y, classes = targets("entropy", score)
    repeated = np.repeat(np.arange(len(X)), weight.astype(int))
    options = {"criterion": "entropy", "classes": classes, "levels": levels}
    one, other = tree_grow(X, Y, weight, **options), tree_grow(X[repeated], Y[repeated], **options)
    np.testing.assert_array_equal(one.feature, other.feature)
    np.testing.assert_array_equal(one.threshold, other.threshold)


def test_monotone_columns_are_obeyed():
    X, score, _, levels = table(rows=400)
    signs = (1, -1, 0, 0)
    tree = tree_grow(X, score[:, None], criterion="squared", levels=levels, rules=Rules(monotone=signs))
    mean = tree.sums[:, 0] / tree.weight
    for j, sign in enumerate(signs[:2]):
        moved = np.repeat(X[:1], 200, axis=0)
        moved[:, j] = np.linspace(-3, 3, 200)
        for row in X[:20]:
            others = [k for k in range(4) if k != j]
            moved[:, others] = row[others]
            assert (sign * np.diff(mean[tree_apply(tree, moved)]) >= 0).all()


def test_the_largest_and_the_closest_numbers():
    for x in ([-1.7e308, 1.7e308], [1.0, np.nextafter(1.0, 2.0)], [-np.inf, np.inf], [0.0, 5e-324]):
        X = np.array(x)[:, None]
        tree = tree_grow(X, np.array([[0], [1]]), criterion="gini", classes=(2,))
        assert tree_apply(tree, X).tolist() == [1, 2]
