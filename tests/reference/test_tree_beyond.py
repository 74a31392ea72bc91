"""Beyond one greedy tree: the best of depth two, trees of resampled rows, a tree that mimics, drawings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from surefit import DecisionTreeClassifier, DecisionTreeRegressor, LogisticRegression, PoissonRegressor
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.plots import plot_tree, to_svg
from surefit.trees import depth_two_gap, mimic, model_tree, multiway_tree, oblique_tree, stability


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
    with pytest.raises(RefusalError, match="without missing values"):
        depth_two_gap(DecisionTreeClassifier(), np.where(X > 2, np.nan, X), y)


@pytest.mark.covers("ml_for_data_science:2.2.7", by="trees.stability")
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
    with pytest.raises(DataError, match="plot_tree draws a fitted"):
        plot_tree(LogisticRegression().fit(X, y))


WEATHER = {  # sky: days on which they played and did not
    "sunny": (2, 3),
    "cloudy": (4, 0),
    "rain": (3, 2),
}


@pytest.mark.covers("course_summary:5.3", by="trees.multiway_tree")
@pytest.mark.covers("ml_for_data_science:2.2.4", by="trees.multiway_tree")
def test_the_courses_split_into_three():
    rows = [[sky] for sky, (yes, no) in WEATHER.items() for _ in range(yes + no)]
    y = [answer for yes, no in WEATHER.values() for answer in ["yes"] * yes + ["no"] * no]
    tree = multiway_tree(rows, y, names=["sky"])
    assert tree.root.gain == pytest.approx(0.2467498198)
    assert tree.predict([["cloudy"], ["sunny"], ["hail"]]).tolist() == ["yes", "no", "yes"]
    assert "sky = cloudy: yes  (4 rows)" in tree.to_text()
    many = [[sky[0], i] for i, sky in enumerate(rows)]  # a column that numbers the rows
    assert multiway_tree(many, y).root.column == 1
    assert multiway_tree(many, y, criterion="gain_ratio").root.gain < multiway_tree(many, y).root.gain


def test_a_missing_level_has_a_branch_of_its_own():
    rows = pd.DataFrame({"sky": ["sunny", None, np.nan, "rain"], "wind": ["no", "no", "no", "no"]})
    tree = multiway_tree(rows, ["a", "b", "b", "a"])
    assert "sky is missing: b  (2 rows)" in tree.to_text()
    assert tree.predict([[np.nan, "no"], ["rain", "no"]]).tolist() == ["b", "a"]


def test_models_in_leaves_follow_slopes_that_change():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(400, 2))
    y = np.where(X[:, 0] > 0.5, 3 * X[:, 1], -2 * X[:, 1]) + 0.1 * rng.normal(size=400)
    tree = model_tree(X, y, max_depth=1)
    assert tree.tree.tree_.feature[0] == 0
    assert tree.tree.node_threshold_[0] == pytest.approx(0.5, abs=0.1)
    assert np.var(y - tree.predict(X)) < 0.1 * np.var(
        y - DecisionTreeRegressor(max_depth=4).fit(X, y).predict(X)
    )
    counts = rng.poisson(np.exp(np.where(X[:, 0] > 0, X[:, 1], -X[:, 1])))
    glm = model_tree(X, counts, leaf=lambda: PoissonRegressor(alpha=1e-3), max_depth=1)
    assert glm.tree.tree_.feature[0] == 0
    assert (glm.predict(X) > 0).all()


def test_an_oblique_split_does_what_takes_many_straight_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = np.where(X @ [1.0, 2.0, -1.0] > 0.3, "in", "out")
    slanted = oblique_tree(X, y, classify=True, max_depth=1)
    straight = DecisionTreeClassifier(max_depth=3).fit(X, y)
    assert np.mean(slanted.predict(X) == y) > 0.96 > straight.score(X, y)
    direction = slanted.directions[0] / slanted.directions[0, 0]
    np.testing.assert_allclose(direction, [1, 2, -1], rtol=0.25)
    numbers = oblique_tree(X, X @ [1.0, 2.0, -1.0], classify=False, max_depth=4)
    plain = DecisionTreeRegressor(max_depth=4).fit(X, X @ [1.0, 2.0, -1.0])
    truth = X @ [1.0, 2.0, -1.0]
    assert np.var(truth - numbers.predict(X)) < 0.5 * np.var(truth - plain.predict(X))
    with pytest.raises(DataError, match="finite numbers"):
        oblique_tree(np.where(X > 2, np.nan, X), y, classify=True)


@pytest.mark.covers("ml_for_data_science:2.2.8", by="plots.plot_tree")
def test_the_courses_noisy_sine_by_depth():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 6, size=(80, 1)), axis=0)
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=80)
    fresh = np.linspace(0, 6, 500)[:, None]
    models = [DecisionTreeRegressor(max_depth=depth).fit(X, y) for depth in (1, 2, 3, 4, 8)]
    training = [np.mean((model.predict(X) - y) ** 2) for model in models]
    truth = [np.mean((model.predict(fresh) - np.sin(fresh[:, 0])) ** 2) for model in models]
    assert (np.diff(training) < 0).all()
    assert min(truth[1:4]) < truth[0]
    assert min(truth[1:4]) < truth[4]  # the deepest has learnt the noise
    svg = to_svg(plot_tree(models[1]))
    assert svg.count("x0 &lt;= ") >= 3
    assert "Decision tree with 4 leaves" in svg


def test_a_tree_of_models_refuses_labels_in_a_sentence():
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(DataError, match=r"a model tree needs a numeric target.*classify=True"):
        model_tree(X, np.where(X[:, 0] > 0, "yes", "no"))
