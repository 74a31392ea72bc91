"""Selection, importance and curves against scikit-learn, closed forms, exhaustive search and the courses."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn import feature_selection as theirs
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import partial_dependence as their_dependence
from sklearn.neighbors import KNeighborsClassifier

import surefit
from surefit.evaluate.explain import permutation_importance as importance
from surefit.evaluate.model_averaging import averaged, posterior_weights
from surefit.evaluate.select import column_scores as select_scores
from surefit.evaluate.select.column_scores import relief, relieff
from surefit.metrics import accuracy_score, log_loss, r2_score

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 6))
Y = X[:, 1] + 0.5 * X[:, 4] + 0.5 * RNG.normal(size=80)
LABELS = RNG.integers(3, size=80)
COUNTS = RNG.poisson(2.0, size=(80, 6)).astype(float)


def test_tests_of_columns_are_scikit_learns() -> None:
    for ours, other, table, y in [
        (select_scores.f_regression, theirs.f_regression, X, Y),
        (select_scores.f_classif, theirs.f_classif, X, LABELS),
        (select_scores.chi2, theirs.chi2, COUNTS, LABELS),
    ]:
        for found, expected in zip(ours(table, y), other(table, y), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6)
    far = select_scores.f_classif(X + 1e6, LABELS)[0]
    np.testing.assert_allclose(far, select_scores.f_classif(X, LABELS)[0], rtol=1e-7)
    np.testing.assert_allclose(select_scores.r_regression(X, Y), theirs.r_regression(X, Y), rtol=1e-10)
    np.testing.assert_allclose(
        select_scores.mutual_info_classif(COUNTS, LABELS),
        theirs.mutual_info_classif(COUNTS, LABELS, discrete_features=True),
        rtol=1e-10,
    )


@pytest.mark.parametrize("name", ["SelectKBest", "SelectPercentile", "SelectFpr", "SelectFdr", "SelectFwe"])
def test_filters_keep_what_scikit_learns_keep(name: str) -> None:
    options: dict[str, Any] = {"SelectKBest": {"k": 2}, "SelectPercentile": {"percentile": 34}}.get(name, {})
    ours = getattr(surefit, name)(select_scores.f_regression, **options).fit(X, Y)
    other = getattr(theirs, name)(theirs.f_regression, **options).fit(X, Y)
    assert (ours.get_support() == other.get_support()).all()
    np.testing.assert_array_equal(ours.transform(X), other.transform(X))


def test_weights_of_models_keep_what_scikit_learns_keep() -> None:
    for threshold in (None, "median", "1.25*mean", 0.3):
        ours = surefit.SelectFromModel(surefit.Ridge(), threshold=threshold).fit(X, Y)
        other = theirs.SelectFromModel(surefit.Ridge(), threshold=threshold).fit(X, Y)
        assert (ours.get_support() == other.get_support()).all()
        assert ours.threshold_ == pytest.approx(other.threshold_)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_sequential_selection_is_scikit_learns(direction: str) -> None:
    from sklearn.model_selection import KFold

    options: Any = {"n_features_to_select": 3, "direction": direction, "cv": KFold(3), "n_jobs": 1}
    ours = surefit.SequentialFeatureSelector(surefit.LinearRegression(), **options).fit(X, Y)
    other = theirs.SequentialFeatureSelector(surefit.LinearRegression(), **options).fit(X, Y)
    assert (ours.get_support() == other.get_support()).all()


@pytest.mark.covers("ml_for_data_science:5.2", by="ExhaustiveSelector")
@pytest.mark.covers("ml_for_data_science:5.2.3", by="SequentialFeatureSelector")
@pytest.mark.covers("intro_to_ml:7.14", by="SequentialFeatureSelector")
def test_exhaustive_search_is_the_oracle_of_the_wrappers() -> None:
    """No wrapper beats the best of all subsets, and each finds it here; greedy steps may miss an XOR pair."""
    options: Any = {"cv": 3, "n_jobs": 1}
    model = surefit.LinearRegression()
    oracle = surefit.ExhaustiveSelector(model, **options).fit(X, Y)
    assert oracle.n_subsets_ == 2**6 - 1
    wrappers = [
        surefit.SequentialFeatureSelector(model, n_features_to_select="best", floating=True, **options),
        surefit.SequentialFeatureSelector(
            model, n_features_to_select="best", direction="backward", floating=True, **options
        ),
        surefit.AnnealingSelector(model, n_steps=150, **options),
        surefit.GeneticSelector(model, population=12, generations=8, **options),
    ]
    for wrapper in wrappers:
        assert wrapper.fit(X, Y).score_ == pytest.approx(oracle.score_, abs=1e-12)
    bits = RNG.integers(2, size=(120, 4))
    target = bits[:, 0] ^ bits[:, 1]
    near = KNeighborsClassifier(3)
    forward = surefit.SequentialFeatureSelector(near, n_features_to_select=1, **options).fit(bits, target)
    backward = surefit.SequentialFeatureSelector(
        near, n_features_to_select=2, direction="backward", **options
    ).fit(bits, target)
    assert forward.score_ < 0.8
    assert backward.get_support().tolist() == [True, True, False, False]


def test_floating_never_ends_below_plain_steps() -> None:
    rng = np.random.default_rng(8)
    base = rng.normal(size=(60, 3))
    table = np.column_stack(
        [base, base[:, 0] + base[:, 1] + 0.3 * rng.normal(size=60), rng.normal(size=(60, 2))]
    )
    y = base[:, 0] + base[:, 1] + base[:, 2]
    scores = [
        surefit.SequentialFeatureSelector(
            surefit.LinearRegression(), n_features_to_select=3, floating=floating, cv=3, n_jobs=1
        )
        .fit(table, y)
        .score_
        for floating in (False, True)
    ]
    assert scores[1] >= scores[0]


@pytest.mark.covers("ml_for_data_science:5.2.1", by="SelectByPermutation")
@pytest.mark.covers("ml_for_data_science:5.2.1", by="information.mutual_information")
@pytest.mark.covers("intro_to_ml:7.17", by="SelectKBest")
def test_filters_of_the_courses() -> None:
    information = partial(select_scores.mutual_info_classif, discrete_features=True)
    for counts, expected in [([1, 1, 1, 1], 0.0), ([2, 0, 0, 2], np.log(2)), ([3, 1, 1, 3], 0.1308120359)]:
        x, y = np.repeat([0, 0, 1, 1], counts), np.repeat([0, 1, 0, 1], counts)
        found = surefit.SelectKBest(information, k=1).fit(x[:, None], y).scores_
        assert found[0] == pytest.approx(expected, abs=1e-10)
    bits_of = surefit.information.mutual_information([[3, 1], [1, 3]], base=2.0)
    assert bits_of == pytest.approx(0.1887218755, abs=1e-10)
    x = np.array([-1.0, 0.0, 1.0])
    assert select_scores.r_regression(x[:, None], x**2)[0] == pytest.approx(0.0)
    assert select_scores.mutual_info_classif(x[:, None], x**2, discrete_features=True)[0] == pytest.approx(
        0.6365141683
    )
    bits = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    xor = bits[:, 0] ^ bits[:, 1]
    assert surefit.SelectKBest(information, k=1).fit(bits, xor).scores_.max() == pytest.approx(0.0)
    assert select_scores.interaction_gain(bits, xor)[0, 1] == pytest.approx(np.log(2))
    kept = surefit.SelectByPermutation("correlation", alpha=0.02, draws=99).fit(X, Y)
    assert kept.get_support()[[1, 4]].all()
    assert kept.pvalues_[1] == 0.01


@pytest.mark.covers("intro_to_ml:7.15", by="SelectKBest")
@pytest.mark.covers("intro_to_ml:7.16", by="SelectKBest")
def test_the_f_score_and_the_correlation_of_the_course() -> None:
    x = np.array([[1.0], [2.0], [3.0], [4.0], [6.0], [8.0]])
    assert select_scores.f_score(x, [1, 1, 1, 0, 0, 0])[0] == pytest.approx(1.6)
    assert surefit.SelectKBest("f_score", k=1).fit(x, [1, 1, 1, 0, 0, 0]).scores_ == pytest.approx([1.6])
    both = np.column_stack([np.cos(7 * x[:, 0]), x[:, 0]])
    nearest = surefit.SelectKBest("correlation", k=1).fit(both, 3 - 2 * x[:, 0])
    assert nearest.get_support().tolist() == [False, True]
    assert nearest.scores_[1] == pytest.approx(1.0)
    assert select_scores.r_regression(x, 3 - 2 * x[:, 0])[0] == pytest.approx(-1.0)
    assert select_scores.r_regression(np.full((6, 1), 1e9), x[:, 0])[0] == 0.0


@pytest.mark.covers("ml_for_data_science:5.2.2", by="SelectKBest")
def test_relief_of_the_course_and_an_exclusive_or() -> None:
    table, y = np.array([[0, 0.2], [0.1, 0.9], [0.9, 0.1], [1, 0.8]]), [0, 0, 1, 1]
    np.testing.assert_allclose(relief(table, y, scale=False), [3.2, -1.92], rtol=1e-12)
    chosen = surefit.SelectKBest(lambda X, y: relief(X, y, scale=False), k=1).fit(table, y)
    np.testing.assert_allclose(chosen.scores_, [3.2, -1.92], rtol=1e-12)
    assert chosen.get_support().tolist() == [True, False]
    bits = np.random.default_rng(0).integers(2, size=(300, 5)).astype(float)
    for weights in (relief(bits, bits[:, 0] != bits[:, 1]), relieff(bits, bits[:, 0] != bits[:, 1])):
        assert set(np.argsort(weights)[-2:]) == {0, 1}


@pytest.mark.covers("ml_for_data_science:5.2.4", by="SelectFromModel")
@pytest.mark.covers("intro_to_ml:7.18", by="SelectFromModel")
def test_embedded_selection_keeps_what_the_lasso_uses() -> None:
    lasso = surefit.Lasso(0.2).fit(X, Y)
    kept = surefit.SelectFromModel(surefit.Lasso(0.2)).fit(X, Y).get_support()
    assert (kept == (np.abs(lasso.coef_) >= 1e-5)).all()
    assert set(surefit.SelectFromPath(n_features=2).fit(X, Y).order_[:2]) == {1, 4}
    forest = surefit.SelectFromModel(RandomForestRegressor(20, random_state=0), max_features=2).fit(X, Y)
    assert set(np.flatnonzero(forest.get_support())) <= {1, 4}


@pytest.mark.covers("ml_for_data_science:1.4", by="selection_leak_demo")
def test_noise_has_no_skill_inside_the_folds_and_much_outside() -> None:
    for kind, least in (("selection", 0.75), ("oversampling", 0.75), ("picture", 0.75)):
        demo = surefit.selection_leak_demo(kind, repetitions=6, columns=500)
        error = demo.inside.std(ddof=1) / np.sqrt(6)
        assert abs(demo.inside.mean() - 0.5) < 4 * error + 0.02
        assert demo.outside.mean() > least
        assert "the truth is 0.50" in str(demo)


@pytest.mark.covers("ml_for_data_science:1.4", by="OversampledClassifier")
def test_copies_are_drawn_among_the_rows_of_the_fold() -> None:
    rng = np.random.default_rng(0)
    noise, y = rng.normal(size=(100, 5)), np.where(np.arange(100) % 5 == 0, "rare", "common")
    model = surefit.OversampledClassifier(KNeighborsClassifier(1), random_state=2)
    fitted = model.fit(noise, y)
    assert np.unique(y[fitted.rows_], return_counts=True)[1].tolist() == [80, 80]
    assert (fitted.rows_[:100] == np.arange(100)).all()
    assert fitted.score(noise, y) == 1.0  # it remembers what it has seen
    found = surefit.cross_validate(model, noise, y, metrics="balanced_accuracy_score", random_state=0)
    copies = fitted.rows_
    before = surefit.cross_validate(
        KNeighborsClassifier(1), noise[copies], y[copies], metrics="balanced_accuracy_score", random_state=0
    )
    inside, outside = (np.mean(one.scores["balanced_accuracy_score"]) for one in (found, before))
    assert abs(inside - 0.5) < 0.2  # of 20 and 80 rows, whose shares vary by 0.06
    assert outside > 0.85
    # In-sample error is optimistic: a tree that fits noise is right on all rows, and a coin on others.
    tree = surefit.DecisionTreeClassifier().fit(noise[:50], y[:50])
    assert tree.score(noise[:50], y[:50]) == 1.0
    assert tree.score(noise[50:], y[50:]) < 0.85


def test_shuffled_answers_of_linear_models_and_forests_are_those_of_asking() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(150, 5))
    y = table[:, 0] - table[:, 2] + rng.normal(size=150)
    labels = np.where(y > 0.5, "c", np.where(y > -0.5, "b", "a"))
    orders = np.array([rng.permutation(150) for _ in range(3)])
    cases = [
        (surefit.Ridge().fit(table, y), r2_score, y),
        (surefit.LogisticRegression().fit(table, labels), accuracy_score, labels),
        (RandomForestRegressor(7, random_state=0).fit(table, y), r2_score, y),
        (RandomForestClassifier(7, random_state=0).fit(table, labels), log_loss, labels),
    ]
    for model, metric, target in cases:
        if metric is log_loss:
            metric = log_loss.__class__(labels=model.classes_)
        fast = importance._fast(model, metric, table, target, None, orders, range(5))
        slow = importance._slow(model, metric, table, target, None, orders, range(5))
        assert fast is not None
        for one, two in zip(fast[:3], slow[:3], strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-9)


def test_importances_are_scikit_learns_up_to_the_shuffling() -> None:
    from sklearn.inspection import permutation_importance as their_importance

    model = surefit.LinearRegression().fit(X, Y)
    ours = surefit.permutation_importance(model, X, Y, repeats=40)
    other = their_importance(model, X, Y, n_repeats=40, random_state=0)
    spread = 4 * np.hypot(ours.importances_std, other.importances_std) / np.sqrt(40)
    assert (np.abs(ours.mean - other.importances_mean) <= spread + 1e-3).all()
    assert ours.low[1] > 0
    assert ours.baseline == pytest.approx(model.score(X, Y))


def test_intervals_of_importances_cover_the_truth() -> None:
    """For y = x0 + noise and the true coefficient, the mean squared error grows by 2 when x0 is shuffled."""
    model = surefit.LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    covered = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(100, 1))
        y = table[:, 0] + rng.normal(size=100)
        found = surefit.permutation_importance(
            model, table, y, metric="mean_squared_error", repeats=10, level=0.9, random_state=seed
        )
        covered += bool(found.low[0] <= 2.0 <= found.high[0])
    # Between four standard errors of a share of 0.9 from 300 draws.
    assert 0.83 < covered / 300 < 0.97


def test_partial_dependence_is_scikit_learns() -> None:
    model = RandomForestRegressor(10, random_state=0).fit(X, Y)
    values = [-1.0, 0.0, 1.0]
    ours = surefit.partial_dependence(model, X, 1, values=values)
    other = their_dependence(model, X, [1], custom_values={1: np.array(values)}, method="brute")
    np.testing.assert_allclose(ours.mean, other["average"][0], rtol=1e-12)
    assert (ours.low < ours.mean).all()


@pytest.mark.covers("intro_to_ml:1.12", by="BayesianModelAverage")
def test_averages_of_hypotheses() -> None:
    """Every subset of {a, b, c} is a hypothesis; a is seen to be in the set."""
    sets = np.array([[h >> k & 1 for k in range(3)] for h in range(8)], dtype=float)
    with np.errstate(divide="ignore"):
        weights = posterior_weights(np.log(sets[:, 0]))
    np.testing.assert_allclose(averaged(sets, weights), [1.0, 0.5, 0.5])
    exact = [surefit.BayesianLinearRegression(), surefit.BayesianLinearRegression()]
    found = surefit.BayesianModelAverage(exact, weights="evidence", prior=[0.25, 0.75]).fit(X, Y)
    np.testing.assert_allclose(found.weights_, [0.25, 0.75])
    np.testing.assert_allclose(found.predict(X), found.models_[0].predict(X))
    labels = np.where(Y > 0, "p", "n")
    mixed = surefit.BayesianModelAverage([surefit.LogisticRegression(C=c) for c in (0.01, 10.0)]).fit(
        X, labels
    )
    assert mixed.weights_[1] > 0.99
    assert mixed.score(X, labels) > 0.8
