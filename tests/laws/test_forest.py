"""Laws of forests: samples, leaves, votes, out-of-bag numbers, and the tree that a forest of one is."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import surefit
from surefit import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]
ALL = CLASSIFIERS + REGRESSORS


def table(cls, rows=200, columns=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    score = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=rows) / 3
    return X, np.digitize(score, [-0.5, 0.5]) if cls in CLASSIFIERS else score


@pytest.mark.covers("intro_to_ml:6.5", by="RandomForestClassifier")
@pytest.mark.covers("course_summary:5.9", by="RandomForestClassifier")
@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_one_tree_of_all_rows_and_columns_is_the_decision_tree(criterion):
    X, y = table(RandomForestClassifier)
    forest = RandomForestClassifier(1, bootstrap=False, max_features=None, criterion=criterion).fit(X, y)
    tree = DecisionTreeClassifier(criterion=criterion).fit(X, y)
    mine, theirs = forest.estimators_[0].tree_, tree.tree_
    np.testing.assert_array_equal(mine.feature, theirs.feature)
    np.testing.assert_array_equal(mine.threshold, theirs.threshold)
    np.testing.assert_allclose(mine.impurity, theirs.impurity, atol=1e-12)
    np.testing.assert_allclose(mine.value, theirs.value)
    np.testing.assert_array_equal(mine.n_node_samples, theirs.n_node_samples)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_one_tree_of_numbers_is_the_decision_tree(criterion):
    X, y = table(RandomForestRegressor, rows=80)
    y = np.exp(y / 2)
    forest = RandomForestRegressor(1, bootstrap=False, criterion=criterion).fit(X, y)
    tree = DecisionTreeRegressor(criterion=criterion).fit(X, y)
    mine, theirs = forest.estimators_[0].tree_, tree.tree_
    np.testing.assert_array_equal(mine.feature, theirs.feature)
    np.testing.assert_array_equal(mine.threshold, theirs.threshold)
    np.testing.assert_allclose(mine.impurity, theirs.impurity, atol=1e-10)
    np.testing.assert_allclose(mine.value, theirs.value)


def test_a_tree_by_drawn_columns_is_the_decision_tree_with_its_seed():
    X, y = table(RandomForestRegressor)
    forest = RandomForestRegressor(3, bootstrap=False, max_features=2, random_state=5).fit(X, y)
    for view in forest.estimators_:
        again = DecisionTreeRegressor(max_features=2, random_state=view.random_state).fit(X, y)
        np.testing.assert_array_equal(view.tree_.feature, again.tree_.feature)
        np.testing.assert_allclose(view.predict(X), again.predict(X))


@pytest.mark.parametrize("cls", ALL)
def test_every_row_is_in_one_leaf_of_each_tree(cls):
    X, y = table(cls)
    model = cls(5, bootstrap=True).fit(X, y)
    leaves = model.apply(X)
    assert leaves.shape == (len(X), 5)
    for t, (view, rows) in enumerate(zip(model.estimators_, model.estimators_samples_, strict=True)):
        assert (view.tree_.children_left[leaves[:, t]] == -1).all()
        held = np.bincount(leaves[rows, t], minlength=view.tree_.node_count)
        np.testing.assert_array_equal(
            held[leaves[:, t]], view.tree_.weighted_n_node_samples[leaves[:, t]].astype(int)
        )
        np.testing.assert_array_equal(view.apply(X), leaves[:, t])


@pytest.mark.covers("ml_for_data_science:2.4.1", by="RandomForestClassifier")
def test_a_bootstrap_leaves_out_the_share_of_one_over_e():
    X, y = table(RandomForestClassifier, rows=1000)
    model = RandomForestClassifier(50, max_depth=1).fit(X, y)
    shares = [1 - len(np.unique(rows)) / len(X) for rows in model.estimators_samples_]
    # One tree's share has a standard deviation of sqrt(e^-1 (1 - 2 e^-1) / n), below 0.01.
    assert abs(np.mean(shares) - (1 - 1 / 1000) ** 1000) < 4 * 0.01 / np.sqrt(50)


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_votes_and_probabilities_agree(cls):
    X, y = table(cls)
    model = cls(15).fit(X, y)
    each = [view.predict_proba(X) for view in model.estimators_]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(each, axis=0), atol=1e-14)
    ballots = np.mean([np.eye(3)[p.argmax(axis=1)] for p in each], axis=0)
    np.testing.assert_allclose(model.votes(X), ballots, atol=1e-14)
    full = model.votes(X).max(axis=1) == 1
    np.testing.assert_array_equal(model.predict(X)[full], model.votes(X)[full].argmax(axis=1))


@pytest.mark.covers("ml_for_data_science:2.4", by="RandomForestRegressor")
@pytest.mark.parametrize("cls", REGRESSORS)
def test_predictions_are_means_within_the_range_of_the_target(cls):
    X, y = table(cls)
    model = cls(10).fit(X, y)
    far = np.random.default_rng(1).normal(size=(100, 5)) * 100
    found = model.predict(far)
    np.testing.assert_allclose(found, np.mean([view.predict(far) for view in model.estimators_], axis=0))
    assert y.min() <= found.min()
    assert found.max() <= y.max()


@pytest.mark.parametrize("cls", ALL)
def test_more_trees_leave_the_first_as_they_are(cls):
    X, y = table(cls)
    whole = cls(12, random_state=3).fit(X, y)
    grown = cls(5, random_state=3, warm_start=True).fit(X, y).set_params(n_estimators=12).fit(X, y)
    for name in ("nodes_", "leaf_value_", "tree_seeds_"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(grown, name), name)
    assert surefit.verify(grown, X, y).holds
    with pytest.raises(ValueError, match="must be larger or equal"):
        grown.set_params(n_estimators=2).fit(X, y)


@pytest.mark.covers("ml_for_data_science:2.4.1", by="RandomForestRegressor")
def test_out_of_bag_numbers_are_those_of_trees_that_did_not_see_the_row():
    X, y = table(RandomForestRegressor)
    model = RandomForestRegressor(30, oob_score=True).fit(X, y)
    total, count = np.zeros(len(X)), np.zeros(len(X))
    for view, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(X)), rows)
        total[out] += view.predict(X[out])
        count[out] += 1
    np.testing.assert_allclose(model.oob_prediction_, total / count)
    loss = np.mean((total / count - y) ** 2)
    assert model.certificate_.parts["loss"] == pytest.approx(loss)
    assert model.oob_score_ == pytest.approx(1 - loss / y.var())
    curve = model.oob_curve(X, y)
    assert len(curve) == 30
    np.testing.assert_allclose(curve[[9, 19, 29]], model.loss_curve_)


def test_the_errors_of_trees_make_up_the_error_of_their_mean():
    X, y = table(RandomForestRegressor, rows=400)
    model = RandomForestRegressor(60).fit(X, y)
    assert model.averaged_error(1) == pytest.approx(model.member_error_)
    assert 0 < model.member_correlation_ < 1
    # A row is out of bag of some 22 of 60 trees, so its mean has the error of so many.
    assert model.averaged_error(22) == pytest.approx(model.certificate_.value, rel=0.03)


def test_a_forest_stops_when_it_has_settled():
    X, y = table(RandomForestClassifier, rows=400)
    model = RandomForestClassifier(300, settled=0.2).fit(X, y)
    assert len(model) < 300
    recent = model.loss_curve_[-4:]
    assert np.ptp(recent) <= 0.2 * recent[-1]
    assert len(RandomForestClassifier(60).fit(X, y)) == 60


@pytest.mark.covers("ml_for_data_science:2.4.2", by="RandomForestClassifier.oob_importance")
@pytest.mark.covers("intro_to_ml:6.6", by="RandomForestClassifier.oob_importance")
@pytest.mark.covers("ml_for_data_science:5.2.4", by="RandomForestClassifier.oob_importance")
def test_shuffling_finds_what_matters_together_and_not_what_looks_useful():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, (600, 2)), rng.normal(size=600)]).astype(float)
    y = X[:, 0].astype(int) ^ X[:, 1].astype(int)
    y[rng.random(600) < 0.15] ^= 1
    model = RandomForestClassifier(60, random_state=0).fit(X, y)
    worth = model.oob_importance(X, y)
    assert (worth.mean[:2] > 0.2).all()
    assert abs(worth.mean[2]) < 0.05
    assert (worth.standard_error > 0).all()
    # Noise among the labels is fitted by the column with many values, which impurity takes for worth.
    assert worth.impurity[2] > 0.3
    assert worth.relevance.argmin() == 2
    noise = rng.normal(size=(600, 3))
    lost = RandomForestClassifier(40, random_state=0).fit(noise, y).oob_importance(noise, y)
    assert len(lost.overrated) >= 2


def test_shuffling_needs_rows_that_were_left_out():
    X, y = table(ExtraTreesClassifier)
    with pytest.raises(surefit.core.errors.RefusalError, match="bootstrap=True"):
        ExtraTreesClassifier(3).fit(X, y).oob_importance(X, y)


@pytest.mark.covers("intro_to_ml:6.7", by="RandomForestClassifier.feature_importances_")
def test_impurity_importance_is_the_mean_of_the_trees():
    X, y = table(RandomForestClassifier)
    model = RandomForestClassifier(8).fit(X, y)
    each = np.mean([view.feature_importances_ for view in model.estimators_], axis=0)
    np.testing.assert_allclose(model.feature_importances_, each / each.sum(), atol=1e-12)


def test_quantiles_hold_their_share_of_new_rows():
    X, y = table(RandomForestRegressor, rows=1500)
    model = RandomForestRegressor(40, min_samples_leaf=10, keep_members=True).fit(X[:1000], y[:1000])
    low, middle, high = model.predict_quantiles(X[1000:]).T
    assert ((low <= middle) & (middle <= high)).all()
    inside = np.mean((y[1000:] >= low) & (y[1000:] <= high))
    # 500 rows: two standard errors of a share of 0.9 are 0.027; leaves are not points, hence wider.
    assert 0.87 <= inside <= 0.99
    np.testing.assert_array_equal(model.predict_interval(X[:3]), model.predict_quantiles(X[:3], (0.05, 0.95)))
    with pytest.raises(surefit.core.errors.RefusalError, match="keep_members"):
        RandomForestRegressor(2).fit(X, y).predict_quantiles(X)


def test_quantiles_of_one_tree_are_those_of_its_leaf():
    y = np.array([1.0, 2.0, 3.0, 10.0])
    model = RandomForestRegressor(1, bootstrap=False, max_depth=1, keep_members=True)
    model.fit(np.array([[0.0], [0.0], [0.0], [5.0]]), y)
    np.testing.assert_array_equal(
        model.predict_quantiles([[0.0], [5.0]], (0.0, 0.5, 1.0)), [[1, 2, 3], [10, 10, 10]]
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "load"),
    [
        (RandomForestClassifier, sklearn.ensemble.RandomForestClassifier, load_breast_cancer),
        (ExtraTreesClassifier, sklearn.ensemble.ExtraTreesClassifier, load_iris),
        (RandomForestRegressor, sklearn.ensemble.RandomForestRegressor, load_diabetes),
        (ExtraTreesRegressor, sklearn.ensemble.ExtraTreesRegressor, load_diabetes),
    ],
)
def test_real_tables_are_learnt_as_well_as_by_scikit_learn(ours, theirs, load):
    X, y = load(return_X_y=True)
    test = np.arange(len(X)) % 3 == 0
    mine, other = (
        np.mean([cls(50, random_state=s).fit(X[~test], y[~test]).score(X[test], y[test]) for s in range(3)])
        for cls in (ours, theirs)
    )
    # Scores of one forest vary by some 0.015 with its seed, and so the difference of two means by 0.012.
    assert abs(mine - other) < 0.035


def test_weights_draw_rows_as_repetition_does():
    """What weight equals repetition is for a bootstrap: the distribution of what is drawn."""
    X, y = table(RandomForestRegressor, rows=60)
    times = np.random.default_rng(2).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), times)
    given = {"n_estimators": 400, "max_samples": 60, "max_depth": 3}
    one = RandomForestRegressor(**given, random_state=1).fit(X, y, times)
    two = RandomForestRegressor(**given, random_state=2).fit(X[rows], y[rows])
    each = np.array([view.predict(X) for view in one.estimators_])
    error = np.sqrt(2) * each.std(axis=0) / np.sqrt(400)
    assert (np.abs(one.predict(X) - two.predict(X)) < 5 * error).all()
    assert not any(np.isin(rows, np.flatnonzero(times == 0)).any() for rows in one.estimators_samples_)


@pytest.mark.parametrize("weight", ["balanced", "balanced_subsample", {0: 1.0, 1: 30.0}])
def test_class_weights_favour_rare_classes(weight):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + 2 * rng.normal(size=400) > 3.2).astype(int)
    given = {"n_estimators": 20, "max_depth": 3, "random_state": 0}
    plain = RandomForestClassifier(**given).fit(X, y).predict_proba(X)[:, 1].mean()
    heavy = RandomForestClassifier(**given, class_weight=weight).fit(X, y).predict_proba(X)[:, 1].mean()
    assert heavy > 2 * plain


def test_categories_missing_values_and_several_outputs():
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": rng.choice(["a", "b", "c"], 300), "x": rng.normal(size=300)})
    y = (frame["kind"] == "b") ^ (frame["x"] > 0)
    frame.loc[::7, "x"] = np.nan
    model = RandomForestClassifier(20, max_features=None).fit(frame, y)
    assert model.score(frame, y) > 0.9
    assert surefit.verify(model, frame, y).holds
    X, z = table(RandomForestRegressor)
    both = RandomForestRegressor(40, oob_score=True).fit(X, np.column_stack([z, -2 * z]))
    np.testing.assert_allclose(both.predict(X)[:, 1], -2 * both.predict(X)[:, 0])
    codes = np.column_stack([z > 0, np.digitize(z, [-1, 1])])
    several = RandomForestClassifier(5).fit(X, codes)
    assert [p.shape for p in several.predict_proba(X)] == [(200, 2), (200, 3)]
    assert (several.predict(X) == codes).mean() > 0.9


@pytest.mark.parametrize("cls", ALL)
def test_limits_hold_in_every_tree(cls):
    X, y = table(cls)
    small = cls(4, max_leaf_nodes=6, min_samples_leaf=7).fit(X, y)
    for view in small.estimators_:
        assert view.get_n_leaves() <= 6
        tree = view.tree_
        assert (tree.n_node_samples[tree.children_left < 0] >= 7).all()
    pruned, full = cls(4, ccp_alpha=0.02).fit(X, y), cls(4).fit(X, y)
    assert len(pruned.nodes_) < len(full.nodes_)
    assert surefit.verify(pruned, X, y).holds


def test_rising_columns_give_rising_predictions():
    X, y = table(RandomForestRegressor)
    model = RandomForestRegressor(10, monotonic_cst=[0, 0, 1, 0, 0]).fit(X, y)
    row = np.tile(X[:1], (50, 1))
    row[:, 2] = np.linspace(-3, 3, 50)
    assert (np.diff(model.predict(row)) >= -1e-12).all()


@pytest.mark.parametrize("cls", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_a_tree_by_bins_is_near_the_exact_one(cls):
    X, y = table(
        RandomForestClassifier if cls is DecisionTreeClassifier else RandomForestRegressor, rows=6000
    )
    whole = np.round(X[:, :3] * 20)  # fewer values than bins: nothing is lost
    one = cls(split_search="histogram", max_depth=6).fit(whole, y)
    two = cls(split_search="exact", max_depth=6).fit(whole, y)
    np.testing.assert_array_equal(one.tree_.feature, two.tree_.feature)
    np.testing.assert_array_equal(one.tree_.threshold, two.tree_.threshold)
    binned = cls(split_search="histogram", max_depth=8).fit(X[:4000], y[:4000])
    exact = cls(max_depth=8).fit(X[:4000], y[:4000])
    assert abs(binned.score(X[4000:], y[4000:]) - exact.score(X[4000:], y[4000:])) < 0.05
    proof = surefit.verify(binned, X[:4000], y[:4000])
    assert proof.holds
    assert proof.claim == "measured"
    changed = y[:4000].copy()
    changed[0] = y[:4000].max() if changed[0] < y[:4000].max() else y[:4000].min()
    assert not surefit.verify(binned, X[:4000], changed).holds
    with pytest.raises(ValueError, match="split_search='exact'"):
        cls(split_search="histogram", max_leaf_nodes=5).fit(X, y)


def test_hard_tables():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(40), np.arange(40.0), np.arange(40.0), rng.normal(size=40) * 1e-12])
    for y in (1e6 + np.arange(40.0), 1e-12 * np.arange(40.0), 1e12 * np.arange(40.0), np.ones(40)):
        model = RandomForestRegressor(10).fit(X, y)
        assert surefit.verify(model, X, y).holds
        assert np.abs(model.predict(X) - y).max() <= 0.25 * np.ptp(y)
    one = RandomForestClassifier(3).fit([[1.0]], [7])
    assert one.predict([[0.0]]).tolist() == [7]
    wide = rng.normal(size=(10, 300))
    assert RandomForestRegressor(5).fit(wide, wide[:, 0]).predict(wide).shape == (10,)
    with pytest.raises(ValueError, match="infinity"):
        RandomForestRegressor(2).fit([[np.inf], [1.0]], [0.0, 1.0])
