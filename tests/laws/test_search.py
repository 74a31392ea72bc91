"""What holds for every search: scikit-learn's scores, paths as single fits, budgets, files, honesty."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline as their_pipeline
from sklearn.preprocessing import StandardScaler as TheirScaler

import surefit
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.evaluate.search.selection_bias import corrected_by_folds, corrected_by_rows
from surefit.metrics import accuracy_score, r2_score, roc_auc_score

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 6))
Y = 2 * X[:, 0] - X[:, 1] + RNG.normal(size=90)
LABELS = np.where(Y > 0, "yes", "no")
FOLDS = KFold(4, shuffle=True, random_state=1)
ALPHAS = [3.0, 0.01, 0.3]
GRIDS: dict[str, tuple[Any, dict[str, list[Any]], Any, str | None]] = {
    "lasso": (surefit.Lasso(tol=1e-10), {"alpha": ALPHAS}, Y, None),
    "elastic net": (surefit.ElasticNet(tol=1e-10), {"alpha": ALPHAS, "l1_ratio": [0.2, 0.9]}, Y, None),
    "ridge": (surefit.Ridge(), {"alpha": ALPHAS}, Y, None),
    "logistic": (surefit.LogisticRegression(tol=1e-10), {"C": ALPHAS}, LABELS, None),
    "theirs": (their_pipeline(TheirScaler(), TheirRidge()), {"ridge__alpha": ALPHAS}, Y, None),
    "pipeline": (
        surefit.make_pipeline(surefit.StandardScaler(), surefit.Lasso(tol=1e-10)),
        {"lasso__alpha": ALPHAS},
        Y,
        "neg_mean_absolute_error",
    ),
}


@pytest.mark.parametrize("name", GRIDS)
def test_scores_are_those_of_scikit_learns_grid_search(name: str) -> None:
    model, grid, y, scoring = GRIDS[name]
    ours = surefit.GridSearch(model, grid, split=FOLDS, scoring=scoring, return_train_score=True).fit(X, y)
    theirs = GridSearchCV(clone(model), grid, cv=FOLDS, scoring=scoring, return_train_score=True).fit(X, y)
    for key in ["split0_test_score", "mean_test_score", "std_test_score", "mean_train_score"]:
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], rtol=1e-5, atol=1e-6)
    assert set(theirs.cv_results_) <= set(ours.cv_results_)
    assert ours.best_params_ == theirs.best_params_
    assert (ours.cv_results_["rank_test_score"] == theirs.cv_results_["rank_test_score"]).all()
    np.testing.assert_array_equal(ours.predict(X), ours.best_estimator_.predict(X))


@pytest.mark.parametrize("name", GRIDS)
def test_a_warm_path_scores_as_single_fits_do(name: str) -> None:
    model, grid, y, scoring = GRIDS[name]
    options = {"split": FOLDS, "scoring": scoring}
    along = surefit.GridSearch(model, grid, **options).fit(X, y).cv_results_
    alone = surefit.GridSearch(model, grid, path=False, **options).fit(X, y).cv_results_
    np.testing.assert_allclose(along["mean_test_score"], alone["mean_test_score"], rtol=1e-5, atol=1e-6)


def test_wide_sparse_and_weighted_paths_score_as_single_fits_do() -> None:
    from scipy import sparse

    wide = RNG.normal(size=(30, 50))
    y = wide[:, 0] + 0.1 * RNG.normal(size=30)
    weight = RNG.integers(0, 3, size=30).astype(float)
    cases = [
        (surefit.Ridge(), wide, None),
        (surefit.Lasso(tol=1e-10), sparse.csr_array(wide), None),
        (surefit.Lasso(tol=1e-10), wide, weight),
        (surefit.Ridge(fit_intercept=False), wide.astype(np.float32), None),
    ]
    for model, table, weights in cases:
        found = [
            surefit.GridSearch(model, {"alpha": [1.0, 0.1]}, path=path, scoring="mean_squared_error")
            .fit(table, y, sample_weight=weights)
            .cv_results_["mean_test_score"]
            for path in (True, False)
        ]
        np.testing.assert_allclose(*found, rtol=1e-4)


def test_the_numbers_do_not_depend_on_the_number_of_jobs() -> None:
    found = [
        surefit.GridSearch(surefit.Lasso(), {"alpha": ALPHAS}, n_jobs=jobs)
        .fit(X, Y)
        .cv_results_["mean_test_score"]
        for jobs in (1, 2)
    ]
    assert (found[0] == found[1]).all()


def test_a_budget_stops_in_time_and_names_what_was_not_tried() -> None:
    grid = {"max_iter": [10, 20, 30]}
    search = surefit.GridSearch(surefit.Lasso(), grid, time_budget=0.0, n_jobs=1, split=2)
    with pytest.raises(RefusalError, match="time_budget"):
        search.fit(X, Y)
    from surefit.evaluate.search.candidate_fits import Deadline

    over = iter([False, False, False, *[True] * 20])  # asked before each fold but the first
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Deadline, "passed", lambda self: next(over))
        search = surefit.GridSearch(surefit.Lasso(), grid, time_budget=6.0, n_jobs=1, split=2).fit(X, Y)
    assert [entry["max_iter"] for entry in search.not_tried_] == [30]
    assert "1 were not" in search.searched_


def test_a_search_that_was_killed_goes_on_where_it_was(tmp_path: Any) -> None:
    calls = []

    class Counted(TheirRidge):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            calls.append(self.alpha)
            return super().fit(X, y, sample_weight)

    search = surefit.GridSearch(Counted(), {"alpha": [1.0, 2.0]}, split=3, checkpoint=tmp_path, n_jobs=1)
    first = search.fit(X, Y).cv_results_["mean_test_score"]
    assert len(calls) == 7  # six folds and the refit
    assert (clone(search).fit(X, Y).cv_results_["mean_test_score"] == first).all()
    assert len(calls) == 8


def test_one_standard_error_takes_the_simplest_and_a_number_is_a_tolerance() -> None:
    grid = {"alpha": np.geomspace(1e-3, 2, 12).tolist()}
    best = surefit.GridSearch(surefit.Lasso(), grid).fit(X, Y)
    careful = surefit.GridSearch(surefit.Lasso(), grid, choice="one_standard_error").fit(X, Y)
    table = best.cv_results_
    near = table["mean_test_score"] >= best.best_score_ - table["error_test_score"][best.best_index_]
    assert careful.best_params_["alpha"] == max(np.array(grid["alpha"])[near])
    loose = surefit.GridSearch(surefit.Lasso(), grid, choice=10.0).fit(X, Y)
    assert loose.best_params_["alpha"] == max(grid["alpha"])
    with pytest.raises(ParameterError, match="complexity"):
        surefit.GridSearch(surefit.Lasso(), {"max_iter": [9, 99]}, choice="one_standard_error").fit(X, Y)
    declared = surefit.GridSearch(surefit.Lasso(), {"max_iter": [99, 90]}, choice=1.0, complexity="max_iter")
    assert declared.fit(X, Y).best_params_ == {"max_iter": 90}


@pytest.mark.covers("intro_to_ml:7.13", by="simplest_within")
def test_occams_razor_takes_degree_3_before_degree_42() -> None:
    assert surefit.simplest_within([0.91, 0.912], complexity=[3, 42], tolerance=0.01) == 0
    assert surefit.simplest_within([0.91, 0.95], complexity=[3, 42], tolerance=0.01) == 1
    assert surefit.simplest_within([5.0, 4.99, np.nan], [1, 2, 0], 0.1, better="lower") == 0
    with pytest.raises(DataError, match="no candidate"):
        surefit.simplest_within([np.nan], [1])


def test_halving_ends_with_all_rows_and_finds_what_the_grid_finds() -> None:
    rows = RNG.normal(size=(300, 4))
    y = rows[:, 0] + 0.1 * RNG.normal(size=300)
    grid = {"alpha": np.geomspace(1e-2, 1e4, 9).tolist()}
    halving = surefit.HalvingSearch(surefit.Ridge(), grid).fit(rows, y)
    assert halving.n_candidates_ == [9, 3, 1]
    assert halving.n_rows_[-1] == 240
    grown = surefit.GridSearch(surefit.Ridge(), grid).fit(rows, y)
    assert abs(halving.best_score_ - grown.best_score_) < 0.01
    assert set(halving.cv_results_["round"]) == {0, 1, 2}


def test_the_score_of_a_search_says_that_it_is_optimistic() -> None:
    search = surefit.GridSearch(surefit.Ridge(), {"alpha": ALPHAS}).fit(X, Y)
    score = search.best_score_
    assert "optimistic" in score.caveat
    assert score.interval is not None
    assert score.interval.low < score < score.interval.high
    again = pickle.loads(pickle.dumps(score))
    assert again == score
    assert again.caveat == score.caveat
    assert search.certificate_.holds
    assert search.certificate_.parts["candidates tried"] == 3
    assert surefit.verify(search.best_estimator_, X, Y).holds


@pytest.mark.parametrize("how", ["rows", "folds"])
def test_the_corrected_score_of_guesses_is_no_skill(how: str) -> None:
    """The best of many guesses looks skilled; corrected, on average, it does not."""
    rng = np.random.default_rng(5)
    best, corrected = [], []
    for _ in range(30):
        truth = rng.integers(2, size=100)
        guesses = [rng.integers(2, size=100) for _ in range(40)]
        best.append(max(accuracy_score(truth, guess) for guess in guesses))
        if how == "rows":
            corrected.append(corrected_by_rows(accuracy_score, truth, guesses, draws=100).estimate)
        else:
            folds = np.array([(guess == truth).reshape(5, -1).mean(axis=1) for guess in guesses])
            corrected.append(corrected_by_folds(folds, 1.0, "accuracy_score", draws=100).estimate)
    assert np.mean(best) > 0.58
    # The mean of 30 has a standard error of about 0.01; the correction is a little below 0.5, never above.
    assert 0.45 < np.mean(corrected) < 0.53


def test_the_short_way_to_a_corrected_score_is_the_long_one() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=50)
    answers = [truth + k * rng.normal(size=50) for k in (0.5, 0.6, 0.7)]
    from surefit.evaluate.search import selection_bias as search_honest

    counts = rng.multinomial(50, np.full(50, 0.02), size=20)
    weight = rng.random(50)
    sums = search_honest._sums(r2_score, truth, answers, weight, rng)
    quick = search_honest._by_sums(r2_score, sums, counts)
    slow = search_honest._by_metric(r2_score, truth, answers, counts, weight)
    np.testing.assert_allclose(quick, slow, rtol=1e-10)
    area = corrected_by_rows(roc_auc_score, truth > 0, answers, draws=20)
    assert 0.5 < area.low <= area.estimate <= area.high <= 1


@pytest.mark.parametrize("model", [surefit.Ridge(), surefit.Ridge(positive=True), surefit.Lasso()], ids=str)
@pytest.mark.parametrize("form", ["pandas", "polars", "whole numbers"])
def test_a_path_over_any_table_is_that_over_its_numbers(model: Any, form: str) -> None:
    numbers = np.round(10 * X)
    table: Any = numbers.astype(int)
    if form != "whole numbers":
        table = pd.DataFrame(numbers).add_prefix("c")
        table = pl.from_pandas(table) if form == "polars" else table
    search = surefit.GridSearch(model, {"alpha": ALPHAS}, split=3)
    held, other = (clone(search).fit(rows, Y).cv_results_["mean_test_score"] for rows in (numbers, table))
    np.testing.assert_allclose(other, held, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:the candidate")
def test_what_keeps_every_candidate_from_being_fitted_is_said_once_more() -> None:
    holes = X.copy()
    holes[3, 1] = np.nan
    words = pd.DataFrame({"x": X[:, 0], "word": np.where(Y > 0, "a", "b")})
    for rows, message in ((holes, "NaN"), (words, "'word'")):
        with pytest.raises(ValueError, match=message):
            surefit.GridSearch(surefit.Ridge(), {"alpha": ALPHAS}, split=3).fit(rows, Y)


@pytest.mark.parametrize("metric", [r2_score, accuracy_score])
def test_groups_of_many_rows_vary_as_the_rows_do(metric, monkeypatch) -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(3, size=1600)
    answers = [np.where(rng.random(1600) < share, truth, rng.integers(3, size=1600)) for share in (0.5, 0.52)]
    by_row = corrected_by_rows(metric, truth, answers, draws=400)
    from surefit.evaluate.search import selection_bias as search_honest

    monkeypatch.setattr(search_honest, "UNITS", 400)
    grouped = corrected_by_rows(metric, truth, answers, draws=400)
    # A deviation of 400 draws has an error of 3.5 %, one of 400 units as much: 15 % is three of both.
    assert grouped.error == pytest.approx(by_row.error, rel=0.15)
    assert abs(grouped.estimate - by_row.estimate) < by_row.error / 3


def test_nested_resampling_of_a_search_chooses_anew_in_each_fold() -> None:
    search = surefit.GridSearch(surefit.Ridge(), {"alpha": ALPHAS}, split=3)
    done = surefit.cross_validate(search, X, Y, split=3, keep_models=True)
    for model, (train, _) in zip(done.models, done.pairs, strict=True):
        assert model.best_params_ == clone(search).fit(X[train], Y[train]).best_params_


def test_a_failing_candidate_counts_as_no_number_or_stops_the_search() -> None:
    grid = {"alpha": [1.0, -1.0]}
    with pytest.warns(surefit.core.errors.SurefitWarning, match="failed"):
        found = surefit.GridSearch(surefit.Ridge(), grid, path=False).fit(X, Y)
    assert found.best_params_ == {"alpha": 1.0}
    assert np.isnan(found.cv_results_["mean_test_score"][1])
    with pytest.raises(ParameterError):
        surefit.GridSearch(surefit.Ridge(), grid, path=False, error_score="raise", n_jobs=1).fit(X, Y)


@pytest.mark.covers("cs443:8.5", by="GridSearch")
@pytest.mark.covers("ml_lecture_notes:5.2", by="GridSearch")
def test_the_validation_loss_has_no_penalty_in_it() -> None:
    """Each strength is fitted on training rows and judged on validation rows."""
    train, test = np.arange(60), np.arange(60, 90)
    search = surefit.GridSearch(
        surefit.Ridge(), {"alpha": ALPHAS}, split=[(train, test)], scoring="mean_squared_error"
    )
    found = search.fit(X, Y).cv_results_["mean_test_score"]
    for alpha, score in zip(ALPHAS, found, strict=True):
        left = Y[test] - surefit.Ridge(alpha).fit(X[train], Y[train]).predict(X[test])
        assert score == pytest.approx(np.mean(left**2), rel=1e-10)
    assert search.best_params_["alpha"] == ALPHAS[int(np.argmin(found))]


def test_a_table_that_is_read_in_batches_can_be_searched() -> None:
    import pyarrow as pa

    table = pa.table({**{f"c{j}": X[:, j] for j in range(6)}, "y": Y})
    search = surefit.GridSearch(surefit.Ridge(), {"alpha": [1.0, 1e4]}, scoring="mean_squared_error", split=3)
    assert search.fit(table, "y").best_params_ == {"alpha": 1.0}
    halving = surefit.HalvingSearch(surefit.Ridge(), {"alpha": [0.1, 1.0, 1e3, 1e4]}, factor=2, split=3)
    held, read = copy.deepcopy(halving).fit(X, Y), copy.deepcopy(halving).fit(table, "y")
    assert read.n_rows_ == held.n_rows_
    np.testing.assert_allclose(read.cv_results_["mean_test_score"], held.cv_results_["mean_test_score"])
    assert read.best_params_ == held.best_params_
    assert "one of 4 candidates, of which 2 came to the last round" in held.best_score_.caveat
    weight = np.arange(len(Y)) % 3.0
    weighed = surefit.read(table.append_column("w", pa.array(weight)), "y", weight="w")
    for model in (surefit.Ridge(), TheirRidge()):  # the chosen one learns from weighted rows too
        read = surefit.GridSearch(model, {"alpha": [1.0, 10.0]}, split=3).fit(weighed)
        again = surefit.Ridge(**read.best_params_).fit(X, Y, sample_weight=weight)
        np.testing.assert_allclose(read.best_estimator_.coef_, again.coef_, rtol=1e-8)


def test_a_step_that_was_fitted_outside_is_named_by_the_search() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), rng.integers(2, size=60)
    chosen = FrozenEstimator(surefit.SelectKBest(k=2).fit(X, y))
    grid = {"gaussiannb__var_smoothing": [1e-9, 1e-3]}
    leaky = surefit.GridSearch(surefit.make_pipeline(chosen, surefit.GaussianNB()), grid, split=2).fit(X, y)
    assert "frozenestimator was fitted outside the folds" in str(leaky.diagnosis_)
    fair = surefit.make_pipeline(surefit.SelectKBest(k=2), surefit.GaussianNB())
    assert "outside" not in str(surefit.GridSearch(fair, grid, split=2).fit(X, y).diagnosis_)
    taken = surefit.SelectFromModel(surefit.LogisticRegression().fit(X, y), prefit=True)
    with pytest.raises(NotFittedError, match="freeze it with"):
        surefit.cross_validate(surefit.make_pipeline(taken, surefit.GaussianNB()), X, y, split=2)
