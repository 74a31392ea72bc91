"""Beyond one greedy tree: the best of depth two, trees of resampled rows, a tree that mimics, drawings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from surefit import DecisionTreeClassifier, DecisionTreeRegressor, LogisticRegression
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.models.tree.mimic import mimic
from surefit.models.tree.optimal import depth_two_gap
from surefit.models.tree.stability import stability
from surefit.plots import plot_tree, to_svg


def cost(y):
    return len(y) * np.var(y) if len(y) else 0.0


def brute_force(X, y):
    """The least sum of squares of all trees of depth two."""

    def stump(rows):
        found = [cost(y[rows])]
        for j in range(X.shape[1]):
            for value in np.unique(X[rows, j])[:-1]:
                left = X[rows, j] <= value
                found.append(cost(y[rows][left]) + cost(y[rows][~left]))
        return min(found)

    everyone = np.arange(len(X))
    found = [stump(everyone)]
    for j in range(X.shape[1]):
        for value in np.unique(X[:, j])[:-1]:
            left = X[:, j] <= value
            found.append(stump(everyone[left]) + stump(everyone[~left]))
    return min(found)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_tree_of_depth_two_is_that_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(14, 2)), 1)
    y = rng.normal(size=14) + 3
    found = depth_two_gap(DecisionTreeRegressor(), X, y)
    assert found.optimal * len(y) == pytest.approx(brute_force(X, y))
    assert found.greedy >= found.optimal - 1e-12


def test_a_greedy_tree_misses_what_look_ahead_finds():
    # Exclusive or, and a column that looks better at first.
    X = np.array([[a, b, c] for a, b, c in product([0, 1], [0, 1], range(4))], dtype=float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    X[:, 2] = np.where(np.arange(16) % 5 == 0, y, X[:, 2])
    found = depth_two_gap(DecisionTreeClassifier(), X, y)
    assert found.optimal == pytest.approx(0.0, abs=1e-12)
    assert found.root == (0, 0.5)
    assert found.gap > 0.1
    with pytest.raises(RefusalError, match="without gaps"):
        depth_two_gap(DecisionTreeClassifier(), np.where(X > 2, np.nan, X), y)


@pytest.mark.covers("ml_for_data_science:2.2.7", by="models.tree.stability.stability")
def test_trees_of_resampled_rows_differ_more_when_they_are_deep():
    X, y = load_diabetes(return_X_y=True)
    deep = stability(DecisionTreeRegressor(), X, y, times=6, random_state=0)
    shallow = stability(DecisionTreeRegressor(max_depth=2), X, y, times=6, random_state=0)
    assert deep.mean_disagreement > 2 * shallow.mean_disagreement
    assert deep.root_columns.sum() == 6
    np.testing.assert_array_equal(deep.root_columns, shallow.root_columns)
    assert np.argmax(deep.root_columns) in (2, 8)  # body mass index and the logarithm of triglycerides
    np.testing.assert_array_equal(deep.disagreement, deep.disagreement.T)
    with pytest.raises(ParameterError, match="at least 2"):
        stability(DecisionTreeRegressor(), X, y, times=1)


def test_a_tree_speaks_for_another_model():
    X, y = load_iris(return_X_y=True)
    other = LogisticRegression().fit(X[::2], y[::2])
    found = mimic(other, X[::2], max_depth=3)
    assert found.fidelity == np.mean(found.tree.predict(X[::2]) == other.predict(X[::2]))
    assert found.fidelity > 0.95
    assert 0.9 < found.fidelity_on(other, X[1::2]) <= 1.0


def test_a_drawing_shows_every_node_down_to_its_depth():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = DecisionTreeClassifier().fit(X, load_iris().target_names[y])
    svg = to_svg(plot_tree(model, max_depth=2))
    shown = int((model._nodes().depths <= 2).sum())
    assert svg.count(">50 / 0 / 0<") == 1
    assert svg.count("&lt;= 2.45<") == svg.count("&lt;= 1.75<") == 1
    assert sum(svg.count(f">{name}<") for name in ("setosa", "versicolor", "virginica")) == shown
    numbers = to_svg(plot_tree(DecisionTreeRegressor(max_depth=1).fit(X, y)))
    assert "150 rows" in numbers
    with pytest.raises(DataError, match="no tree to draw"):
        plot_tree(LogisticRegression().fit(X, y))
