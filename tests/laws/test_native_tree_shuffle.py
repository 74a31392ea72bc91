"""The kernel of shuffled columns equals its twin: numbers, levels, missing values, widths, threads, types."""

from __future__ import annotations

import numpy as np
import pytest

from surefit.core.native.trees.tree_grow import Rules, tree_grow
from surefit.core.native.trees.tree_shuffle import tree_shuffle, tree_shuffle_twin


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_kernel_changes_what_the_twin_changes(dtype: type, missing: bool, threads: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4)).astype(dtype)
    y = (X[:, 0] * X[:, 1] + X[:, 2]).astype(np.float64)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    tree = tree_grow(X, y[:, None], criterion="squared", rules=Rules(min_rows_leaf=5))
    values = rng.normal(size=(len(tree.feature), 2))
    order = np.array([rng.permutation(700) for _ in range(10)])
    found, expected = np.zeros((2, 4, 10, 700, 2))
    tree_shuffle(tree, values, X, order, found, _threads=threads)
    tree_shuffle_twin(tree, values, X, order, expected)
    np.testing.assert_array_equal(found, expected)
    assert np.any(found != 0)


def test_rows_that_do_not_exist_are_refused() -> None:
    X = np.arange(4.0)[:, None]
    tree = tree_grow(X, X, criterion="squared")
    with pytest.raises(ValueError, match="order must name rows"):
        tree_shuffle(
            tree, np.zeros((len(tree.feature), 1)), X, np.array([[0, 1, 2, 4]]), np.zeros((1, 1, 4, 1))
        )
