"""Trees against scikit-learn, split for split, and against the courses' tables."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.tree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

import surefit
from surefit import DecisionTreeClassifier, DecisionTreeRegressor, trees
from surefit.models.tree.nodes.criteria import NUMBER_CRITERIA, absolute_gains, gain, impurity, terms

# Temperature and whether the patient was sick.
TEMPERATURE = np.array([36.5, 36.6, 36.8, 36.9, 37.0, 37.2, 37.5, 37.6, 39.5])
SICK = np.array([0, 0, 0, 1, 0, 1, 1, 1, 1])


def without_ties(X):
    """Numbers that float32 holds, with some noise in each cell, so that no two splits are equal."""
    noise = np.random.default_rng(0).normal(size=X.shape)
    return (X + 1e-3 * X.std(axis=0) * noise).astype(np.float32).astype(np.float64)


def assert_same_tree(ours, theirs):
    a, b = ours.tree_, theirs.tree_
    np.testing.assert_array_equal(a.children_left, b.children_left)
    np.testing.assert_array_equal(a.children_right, b.children_right)
    np.testing.assert_array_equal(a.n_node_samples, b.n_node_samples)
    np.testing.assert_allclose(a.impurity, b.impurity, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(a.value, b.value, rtol=1e-9, atol=1e-12)


def left_of(view, at, x):
    return np.where(np.isnan(x), bool(view.missing_go_to_left[at]), x <= view.threshold[at])


def assert_same_splits(ours, theirs, X, worth):
    """The same columns and thresholds from the root on, down to where another split is worth as much."""
    a, b = ours.tree_, theirs.tree_
    stack, same, ties = [(0, 0, np.arange(len(X)))], 0, 0
    while stack:
        i, k, rows = stack.pop()
        if a.children_left[i] < 0 or b.children_left[k] < 0:
            assert a.children_left[i] == b.children_left[k]
            continue
        mine, its = (left_of(v, at, X[rows, v.feature[at]]) for v, at in ((a, i), (b, k)))
        if np.array_equal(mine, its):
            same += 1
            if a.feature[i] == b.feature[k]:
                assert a.threshold[i] == pytest.approx(b.threshold[k], rel=1e-9)
            stack.append((a.children_left[i], b.children_left[k], rows[mine]))
            stack.append((a.children_right[i], b.children_right[k], rows[~mine]))
        else:
            ties += 1
            assert worth(rows, mine) == pytest.approx(worth(rows, its), rel=1e-9)
    assert same > ties
    return same


def worth_of_classes(y, criterion, classes):
    def worth(rows, left):
        counts = [np.bincount(y[r], minlength=classes)[None].astype(float) for r in (rows[left], rows)]
        return gain(
            counts[0], counts[0].sum(axis=1), counts[1], counts[1].sum(axis=1), criterion, (classes,)
        )[0]

    return worth


def worth_of_numbers(y, weight, criterion):
    w = np.ones(len(y)) if weight is None else weight

    def worth(rows, left):
        if criterion == "absolute_error":
            return absolute_gains(y[rows, None], w[rows], left[None])[0]
        each = terms(y[rows, None], w[rows], NUMBER_CRITERIA[criterion], ())
        sums = [each[left].sum(axis=0)[None], each.sum(axis=0)[None]]
        weights = [np.array([w[rows][left].sum()]), np.array([w[rows].sum()])]
        return gain(sums[0], weights[0], sums[1], weights[1], NUMBER_CRITERIA[criterion], ())[0]

    return worth


CLASS_TABLES = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer, "digits": load_digits}


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("name", CLASS_TABLES)
def test_scikit_learns_tree_split_for_split(name, criterion):
    X, y = CLASS_TABLES[name](return_X_y=True)
    X = without_ties(X + 0.0)
    X = X[:, X.std(axis=0) > 0]
    ours = DecisionTreeClassifier(criterion=criterion).fit(X, y)
    theirs = sklearn.tree.DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, y)
    worth = worth_of_classes(y, criterion, len(np.unique(y)))
    assert assert_same_splits(ours, theirs, X, worth) >= 4
    assert ours.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("weighted", [False, True])
def test_scikit_learns_regression_tree_split_for_split(criterion, weighted):
    X, y = load_diabetes(return_X_y=True, scaled=False)
    X = without_ties(X)
    y = y + np.random.default_rng(1).uniform(size=len(y))
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(y)) if weighted else None
    given = {"criterion": criterion, "min_samples_leaf": 7, "max_depth": 5}
    ours = DecisionTreeRegressor(**given).fit(X, y, weight)
    theirs = sklearn.tree.DecisionTreeRegressor(**given, random_state=0).fit(X, y, weight)
    assert assert_same_splits(ours, theirs, X, worth_of_numbers(y, weight, criterion)) >= 15
    if weighted:  # so that no two splits are worth the same
        assert_same_tree(ours, theirs)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)


def test_missing_values_and_several_outputs_as_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    X = without_ties(X)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    y = y + np.random.default_rng(1).uniform(size=len(y))
    for target in (y, np.column_stack([y, y * X.shape[1] + np.arange(len(y))])):
        given = {"min_samples_leaf": 10, "max_depth": 3}
        ours = DecisionTreeRegressor(**given).fit(X, target)
        theirs = sklearn.tree.DecisionTreeRegressor(**given, random_state=0).fit(X, target)
        np.testing.assert_array_equal(ours.tree_.feature, theirs.tree_.feature)
        np.testing.assert_array_equal(ours.tree_.missing_go_to_left, theirs.tree_.missing_go_to_left)


@pytest.mark.parametrize("cls", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
def test_the_pruning_path_of_scikit_learn(cls):
    X, y = load_breast_cancer(return_X_y=True)
    X = without_ties(X)
    target = y if "Class" in cls else X[:, 0]
    columns = X[:, 1:4]
    given = {"min_samples_leaf": 12}
    ours = getattr(surefit, cls)(**given)
    theirs = getattr(sklearn.tree, cls)(**given, random_state=0)
    mine, its = (m.cost_complexity_pruning_path(columns, target) for m in (ours, theirs))
    np.testing.assert_allclose(mine.ccp_alphas, its.ccp_alphas, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(mine.impurities, its.impurities, rtol=1e-7, atol=1e-12)
    alpha = float(its.ccp_alphas[len(its.ccp_alphas) // 2]) * 1.001
    ours.set_params(ccp_alpha=alpha).fit(columns, target)
    theirs.set_params(ccp_alpha=alpha).fit(columns, target)
    assert_same_tree(ours, theirs)


def test_the_methods_and_attributes_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    for ours, theirs in (
        (DecisionTreeClassifier(max_depth=3), sklearn.tree.DecisionTreeClassifier(max_depth=3)),
        (DecisionTreeRegressor(max_depth=3), sklearn.tree.DecisionTreeRegressor(max_depth=3)),
    ):
        ours.fit(X, y)
        theirs.fit(X, y)
        missed = {name for name in dir(theirs) if not name.startswith("_")} - set(dir(ours))
        assert missed <= {"class_weight"}  # which a regressor of theirs has and does not use
        view = {name for name in dir(theirs.tree_) if not name.startswith("_")}
        assert view - set(dir(ours.tree_)) <= {
            "capacity",
            "compute_node_depths",
            "compute_partial_dependence",
        }
        assert (ours.get_depth(), ours.get_n_leaves()) == (theirs.get_depth(), theirs.get_n_leaves())
        assert ours.decision_path(X).shape == theirs.decision_path(X).shape
        np.testing.assert_allclose(
            ours.tree_.compute_feature_importances(normalize=False).sum(),
            theirs.tree_.compute_feature_importances(normalize=False).sum(),
            rtol=1e-9,
        )


TABLE = {  # threshold: weighted Gini, Gini gain, information gain in bits, gain ratio, weighted error
    36.55: (0.4166666667, 0.0771604938, 0.1426902795, 0.2835328689, 0.3333333333),
    36.70: (0.3174603175, 0.1763668430, 0.3197600621, 0.4184221100, 0.2222222222),
    36.85: (0.1851851852, 0.3086419753, 0.5577277787, 0.6073508755, 0.1111111111),
    36.95: (0.3444444444, 0.1493827160, 0.2294368407, 0.2315027575, 0.2222222222),
    37.10: (0.1777777778, 0.3160493827, 0.5900048960, 0.5953174735, 0.1111111111),
    37.35: (0.2962962963, 0.1975308642, 0.3788788371, 0.4125890841, 0.2222222222),
    37.55: (0.3809523810, 0.1128747795, 0.2247875096, 0.2941457524, 0.3333333333),
    38.55: (0.4444444444, 0.0493827160, 0.1021871709, 0.2030511248, 0.4444444444),
}


@pytest.mark.covers("ml_for_data_science:2.2.2", by="trees.impurity")
@pytest.mark.covers("ml_for_data_science:2.2.2", by="trees.impurity_decrease")
def test_impurities_of_nine_temperatures_and_of_their_thresholds():
    assert trees.impurity([4, 5], "gini") == pytest.approx(0.4938271605, abs=1e-10)
    assert trees.impurity([4, 5], "entropy") == pytest.approx(0.9910760598, abs=1e-10)
    assert trees.impurity([4, 5], "entropy") * np.log(2) == pytest.approx(0.6869615766, abs=1e-10)
    assert trees.impurity([4, 5], "misclassification") == pytest.approx(4 / 9)
    for threshold, (weighted, gini, bits, _, error) in TABLE.items():
        left = threshold >= TEMPERATURE
        parts = [np.bincount(SICK[side], minlength=2) for side in (left, ~left)]
        assert trees.impurity_decrease(parts, "gini") == pytest.approx(gini, abs=1e-9)
        assert trees.impurity_decrease(parts, "entropy") == pytest.approx(bits, abs=1e-9)
        sides = [part.sum() / 9 * trees.impurity(part, "gini") for part in parts]
        assert sum(sides) == pytest.approx(weighted, abs=1e-9)
        missed = trees.impurity_decrease(parts, "misclassification")
        assert 4 / 9 - missed == pytest.approx(error, abs=1e-9)


@pytest.mark.covers("ml_for_data_science:2.2.2", by="DecisionTreeClassifier")
def test_the_courses_table_of_thresholds():
    counts, n = np.array([[4.0, 5.0]]), np.array([9.0])
    assert impurity(counts, n, "gini", (2,))[0] == pytest.approx(40 / 81)
    assert impurity(counts, n, "entropy", (2,))[0] == pytest.approx(0.9910760598)
    assert impurity(counts, n, "misclassification", (2,))[0] == pytest.approx(4 / 9)
    for threshold, (weighted, gini, bits, ratio, error) in TABLE.items():
        left = threshold >= TEMPERATURE
        sums, rows = np.bincount(SICK[left], minlength=2)[None].astype(float), np.array([float(left.sum())])
        found = {k: gain(sums, rows, counts, n, k, (2,))[0] for k in ("gini", "entropy", "gain_ratio")}
        missed = gain(sums, rows, counts, n, "misclassification", (2,))[0]
        assert found["gini"] == pytest.approx(gini, abs=1e-9)
        assert 40 / 81 - found["gini"] == pytest.approx(weighted, abs=1e-9)
        assert found["entropy"] == pytest.approx(bits, abs=1e-9)
        assert found["gain_ratio"] == pytest.approx(ratio, abs=1e-9)
        assert 4 / 9 - missed == pytest.approx(error, abs=1e-9)
    chosen = {
        criterion: DecisionTreeClassifier(criterion=criterion, max_depth=1)
        .fit(TEMPERATURE[:, None], SICK)
        .tree_.threshold[0]
        for criterion in ("gini", "information_gain", "gain_ratio", "misclassification")
    }
    assert chosen == pytest.approx(
        {"gini": 37.1, "information_gain": 37.1, "gain_ratio": 36.85, "misclassification": 36.85}
    )


@pytest.mark.covers("ml_for_data_science:2.2.1", by="DecisionTreeClassifier")
@pytest.mark.covers("intro_to_ml:6.3", by="DecisionTreeClassifier")
def test_xor_has_no_gain_at_the_root_and_is_solved_at_depth_two():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    for criterion in ("gini", "entropy"):
        model = DecisionTreeClassifier(criterion=criterion).fit(X, y)
        assert model.score(X, y) == 1.0
        assert model.get_depth() == 2
        assert DecisionTreeClassifier(criterion=criterion, min_gain=1e-6).fit(X, y).get_depth() == 0
    assert surefit.verify(model, X, y).holds


@pytest.mark.covers("intro_to_ml:6.1", by="DecisionTreeClassifier")
def test_the_first_tree_of_the_course():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    model = DecisionTreeClassifier(max_depth=1).fit(X, [0, 0, 1, 1])
    assert model.tree_.threshold[0] == 2.5
    assert model.score(X, [0, 0, 1, 1]) == 1.0
    boxes = model.boxes()  # the answer is the class of the one rectangle that holds the row
    for x in np.linspace(0.0, 5.0, 23):
        inside = (boxes.lower[:, 0] < x) & (x <= boxes.upper[:, 0])
        assert inside.sum() == 1
        assert model.predict([[x]])[0] == boxes.weights[inside].argmax()
    assert "2.5" in model.to_text()


@pytest.mark.covers("intro_to_ml:6.4", by="DecisionTreeRegressor")
@pytest.mark.covers("course_summary:5.4", by="DecisionTreeRegressor")
def test_the_first_regression_tree_of_the_course():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    model = DecisionTreeRegressor().fit(X, [1.0, 1.0, 5.0, 5.0])
    assert model.tree_.threshold[0] == 2.5
    assert model.tree_.value[1:, 0, 0].tolist() == [1.0, 5.0]
    assert model.tree_.impurity.tolist() == [4.0, 0.0, 0.0]


@pytest.mark.covers("intro_to_ml:6.2", "course_summary:5.2", by="trees.impurity")
def test_impurities_of_the_courses():
    quarter = [0.25, 0.75]
    assert trees.impurity(quarter) == pytest.approx(0.375)
    assert trees.impurity(quarter, "entropy") == pytest.approx(0.8112781245)
    assert trees.impurity(quarter, "entropy") * np.log(2) == pytest.approx(0.5623351446)
    assert trees.impurity(quarter, "misclassification") == pytest.approx(0.25)
    for name, most in (("misclassification", 0.5), ("entropy", 1.0), ("gini", 0.5)):
        found = np.array([trees.impurity([p, 1 - p], name) for p in np.linspace(0, 1, 101)])
        assert found[[0, -1]].tolist() == [0.0, 0.0]
        assert (found.argmax(), found.max()) == (50, pytest.approx(most))
        np.testing.assert_allclose(found, found[::-1], atol=1e-15)
    for k in (2, 3, 7):
        assert trees.impurity(np.ones(k), "entropy") == pytest.approx(np.log2(k))
        assert trees.impurity(np.ones(k)) == pytest.approx(1 - 1 / k)
        assert trees.impurity(np.ones(k), "misclassification") == pytest.approx(1 - 1 / k)
    root = DecisionTreeClassifier(max_depth=1, criterion="entropy").fit(
        np.arange(14.0)[:, None], [0] * 9 + [1] * 5
    )
    assert root.tree_.impurity[0] == pytest.approx(trees.impurity([9, 5], "entropy"))


@pytest.mark.covers("course_summary:5.2", by="trees.impurity_decrease")
def test_the_information_gain_of_three_parts():
    assert trees.impurity([9, 5], "entropy") == pytest.approx(0.9402859587)
    assert trees.impurity_decrease([[2, 3], [4, 0], [3, 2]], "entropy") == pytest.approx(0.2467498198)
    assert trees.impurity_decrease([[2, 3], [4, 0], [3, 2], [0, 0]], "entropy") == pytest.approx(0.2467498198)
    for parts, message in [([1, 2], "1 dimensions"), ([[1, -2]], "at least 0"), ([[0, 0]], "above 0")]:
        with pytest.raises(surefit.errors.DataError, match=message):
            trees.impurity_decrease(parts)
    with pytest.raises(surefit.errors.ParameterError, match="criterion='chi'"):
        trees.impurity([1, 2], "chi")


@pytest.mark.covers("course_summary:5.1", by="trees.impurity_decrease")
def test_gini_sees_what_the_error_does_not():
    a, b = [[30, 10], [10, 30]], [[20, 40], [20, 0]]
    assert [trees.impurity_decrease(s, "misclassification") for s in (a, b)] == pytest.approx([1 / 4, 1 / 4])
    assert [0.5 - trees.impurity_decrease(s) for s in (a, b)] == pytest.approx([0.375, 1 / 3])


@pytest.mark.covers("course_summary:5.6", by="DecisionTreeClassifier")
def test_training_accuracy_never_falls_with_depth():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 1)), np.arange(50) % 2
    scores = [DecisionTreeClassifier(max_depth=depth).fit(X, y).score(X, y) for depth in range(1, 12)]
    assert (np.diff(scores) >= 0).all()
    assert DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0


@pytest.mark.covers("course_summary:5.6", by="DecisionTreeClassifier")
def test_every_brake_on_a_tree_holds_and_costs_training_accuracy():
    X, y = load_breast_cancer(return_X_y=True)
    y = y ^ (np.random.default_rng(0).random(len(y)) < 0.1)
    settings = {
        "min_samples_split": [2, 20, 100, 570],
        "min_samples_leaf": [1, 10, 50, 285],
        "max_depth": [None, 5, 2, 1],
    }
    for name, values in settings.items():
        models = [DecisionTreeClassifier(**{name: value}, random_state=0).fit(X, y) for value in values]
        scores = [model.score(X, y) for model in models]
        assert scores[0] == 1.0
        assert (np.diff(scores) <= 0).all()  # stronger brakes fit worse, and in the end hardly at all
        assert scores[-1] < 0.9
        for value, model in zip(values, models, strict=True):
            tree = model.tree_
            inner = tree.children_left >= 0
            if name == "min_samples_split":
                assert (tree.n_node_samples[inner] >= value).all()
            elif name == "min_samples_leaf":
                assert (tree.n_node_samples[~inner] >= value).all()
            elif value is not None:
                assert model.get_depth() <= value
    assert DecisionTreeClassifier(min_samples_split=570).fit(X, y).get_n_leaves() == 1
    # With one column to choose from, the root is often another than the best of all thirty.
    roots = {
        DecisionTreeClassifier(max_features=1, max_depth=1, random_state=s).fit(X, y).tree_.feature[0]
        for s in range(30)
    }
    best = {DecisionTreeClassifier(max_depth=1, random_state=s).fit(X, y).tree_.feature[0] for s in range(30)}
    assert len(best) == 1
    assert len(roots) > 5


@pytest.mark.covers("course_summary:5.5", by="DecisionTreeClassifier.prune")
@pytest.mark.covers("ml_for_data_science:2.2.6", by="DecisionTreeClassifier.cost_complexity_pruning_path")
def test_pruning_on_a_validation_part_never_lowers_its_accuracy():
    X, y = load_breast_cancer(return_X_y=True)
    y = y ^ (np.random.default_rng(0).random(len(y)) < 0.15)
    grown = DecisionTreeClassifier().fit(X[:300], y[:300])
    pruned = grown.prune(X[300:450], y[300:450])
    prices = grown.cost_complexity_pruning_path(X[:300], y[:300]).ccp_alphas
    leaves = [DecisionTreeClassifier(ccp_alpha=a).fit(X[:300], y[:300]).get_n_leaves() for a in prices]
    assert (np.diff(leaves) < 0).all()
    assert (leaves[0], leaves[-1]) == (grown.get_n_leaves(), 1)
    assert pruned.score(X[300:450], y[300:450]) >= grown.score(X[300:450], y[300:450])
    assert pruned.get_n_leaves() < grown.get_n_leaves() / 2
    assert pruned.score(X[450:], y[450:]) > grown.score(X[450:], y[450:])
    assert surefit.verify(pruned, X[:300], y[:300]).holds  # what is left is what was grown
    plain = pruned.simplify()
    np.testing.assert_array_equal(plain.predict(X), pruned.predict(X))


def test_folds_choose_the_price_of_a_leaf():
    from surefit.models.tree.trees.post_pruning import choose_pruning

    X, y = load_breast_cancer(return_X_y=True)
    y = y ^ (np.random.default_rng(0).random(len(y)) < 0.1)
    choice = choose_pruning(DecisionTreeClassifier(), X, y, cv=5)
    assert choice.careful >= choice.best
    assert choice.model.get_n_leaves() < DecisionTreeClassifier().fit(X, y).get_n_leaves() / 3
    mean = choice.errors.mean(axis=1)
    k = len(choice.alphas) // 2
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    scores = cross_val_score(DecisionTreeClassifier(ccp_alpha=choice.alphas[k]), X, y, cv=StratifiedKFold(5))
    assert mean[k] == pytest.approx(1 - scores.mean(), abs=1e-12)
    at_best = DecisionTreeClassifier(ccp_alpha=choice.model.ccp_alpha).fit(X, y)
    np.testing.assert_array_equal(choice.model.predict(X), at_best.predict(X))


@pytest.mark.covers("ml_for_data_science:2.1", by="DecisionTreeRegressor.boxes")
def test_a_tree_is_a_sum_over_boxes():
    X, y = load_diabetes(return_X_y=True)
    model = DecisionTreeRegressor(max_depth=4).fit(X, y)
    parts = model.boxes()
    assert (parts.holds(X).sum(axis=1) == 1).all()
    np.testing.assert_allclose(parts.evaluate(X)[:, 0], model.predict(X), rtol=1e-12)


@pytest.mark.covers("ml_for_data_science:2.2.3", by="DecisionTreeClassifier")
def test_levels_are_split_in_one_step_where_numbers_take_three():
    codes = np.array([0, 1, 2, 3, 4, 5] * 10)[:, None]
    y = np.isin(codes[:, 0], [0, 2, 4]).astype(int)
    assert DecisionTreeClassifier(categorical_features=[0]).fit(codes, y).get_n_leaves() == 2
    assert DecisionTreeClassifier().fit(codes, y).get_n_leaves() == 6


@pytest.mark.covers("ml_for_data_science:2.2", by="DecisionTreeClassifier")
def test_of_equal_splits_the_first_column_and_the_lowest_threshold_win():
    X = np.array([[1, 4, 1], [2, 3, 2], [3, 2, 3], [4, 1, 4]], dtype=float)
    model = DecisionTreeClassifier(max_depth=1).fit(X, [0, 1, 1, 0])
    assert (model.tree_.feature[0], model.tree_.threshold[0]) == (0, 1.5)
    again = DecisionTreeClassifier(max_depth=1).fit(X[::-1], [0, 1, 1, 0])
    assert (again.tree_.feature[0], again.tree_.threshold[0]) == (0, 1.5)
