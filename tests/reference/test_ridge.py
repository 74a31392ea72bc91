"""Ridge against scikit-learn, brute force and closed forms, on data that are hard on purpose."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy import sparse
from sklearn.model_selection import KFold, ShuffleSplit

import surefit
from surefit import Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV
from surefit.core.errors import DataError, ParameterError, RefusalError

ALPHAS = np.logspace(-3, 3, 13)


@dataclass
class Case:
    X: Any
    y: Any
    weight: Any = None
    options: dict[str, Any] = field(default_factory=dict)
    peer: dict[str, Any] = field(default_factory=dict)


def rows(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=p) + rng.normal(size=n), rng.uniform(0.0, 2.0, n)


X, y, weight = rows(100, 8)
weight[:10] = 0.0
WIDE, y_wide, weight_wide = rows(20, 50, seed=1)
weight_wide[:2] = 0.0
Y = np.column_stack([y, y**2, y[::-1]])
SPARSE = sparse.random(300, 40, 0.1, format="csr", random_state=0)
EXACT_CG = {"solver": "sparse_cg", "tol": 1e-14, "max_iter": 10_000}
CASES = {
    "plain": Case(X, y),
    "weights with zeros": Case(X, y, weight),
    "no intercept": Case(X, y, weight, {"fit_intercept": False}),
    "several targets": Case(X, Y, weight),
    "a column of targets": Case(X, y[:, None]),
    "a penalty a target": Case(X, Y, weight, {"alpha": [0.1, 1.0, 100.0]}),
    "offsets of 1e6": Case(X + 1e6, y + 1e6, weight),
    "scales from 1e-12 to 1e12": Case(X * np.logspace(-12, 12, 8), y),
    "constant columns": Case(np.column_stack([X, np.full(100, 1e6 + 0.1), np.zeros(100)]), y),
    "collinear": Case(np.column_stack([X, X[:, 0] + X[:, 1]]), y),
    "twins": Case(np.column_stack([X, X]), y, weight),
    "fewer rows than columns": Case(WIDE, y_wide),
    "fewer rows, weights": Case(WIDE, np.column_stack([y_wide, -y_wide]), weight_wide),
    "fewer rows, no intercept": Case(WIDE, y_wide, weight_wide, {"fit_intercept": False}),
    "fewer rows, tiny penalty": Case(WIDE, y_wide, None, {"alpha": 1e-9}, {"solver": "svd"}),
    "one row": Case(X[:1], y[:1]),
    "two rows": Case(X[:2], y[:2]),
    "one column": Case(X[:, :1], y),
    "no penalty": Case(X, y, weight, {"alpha": 0.0}),
    "no penalty, collinear": Case(
        np.column_stack([X, X[:, 0] + X[:, 1]]), y, None, {"alpha": 0.0}, {"solver": "svd"}
    ),
    "a huge penalty": Case(X, y, weight, {"alpha": 1e12}),
    "sparse": Case(SPARSE, y[:1] * np.arange(300.0), None, {}, EXACT_CG),
    "sparse, fewer rows": Case(SPARSE[:30], np.arange(30.0), None, {}, EXACT_CG),
    "sparse, no intercept": Case(SPARSE, np.arange(300.0), None, {"fit_intercept": False}, EXACT_CG),
    "column by column in memory": Case(np.asfortranarray(X), y, weight),
    "whole numbers": Case(np.round(10 * X).astype(int), np.round(y).astype(int)),
}


def fitted(cls, case, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", surefit.core.errors.SurefitWarning)
        return cls(**{**case.options, **options}).fit(case.X, case.y, case.weight)


def assert_equal_models(ours, theirs, X, rtol=1e-8):
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    scale = np.abs(theirs.coef_).max()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=rtol, atol=rtol * scale)
    expected = theirs.predict(X)
    np.testing.assert_allclose(ours.predict(X), expected, rtol=rtol, atol=rtol * np.abs(expected).max())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_agrees_with_scikit_learn(case):
    ours, theirs = fitted(Ridge, case), fitted(peers.Ridge, case, **case.peer)
    assert_equal_models(ours, theirs, case.X)
    assert ours.certificate_.holds
    assert surefit.verify(ours, case.X, case.y, case.weight).holds


def test_float32_is_fitted_in_full_precision():
    single = X.astype(np.float32)
    ours = Ridge().fit(single, y)
    theirs = peers.Ridge().fit(single.astype(np.float64), y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12)


def test_no_penalty_and_fewer_rows_is_the_shortest_interpolation():
    model = Ridge(alpha=0.0).fit(WIDE, y_wide)
    centred = WIDE - WIDE.mean(axis=0)
    np.testing.assert_allclose(
        model.coef_, np.linalg.pinv(centred, rcond=1e-12) @ (y_wide - y_wide.mean()), rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(model.predict(WIDE), y_wide, rtol=1e-10)


NAMES = ["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga"]


@pytest.mark.parametrize("solver", NAMES)
@pytest.mark.parametrize("name", ["plain", "several targets", "no intercept", "offsets of 1e6", "sparse"])
def test_every_solver_gives_the_same_answer(solver, name):
    case = CASES[name]
    exact = fitted(Ridge, case, solver="cholesky")
    found = fitted(Ridge, case, solver=solver, tol=1e-6)
    assert_equal_models(found, exact, case.X)
    assert (found.effective_dof_ is None) == (solver in ("lsqr", "sparse_cg", "sag", "saga"))
    assert solver in ("auto", found.solver_)
    assert surefit.verify(found, case.X, case.y, case.weight).holds


def test_conjugate_gradients_hold_their_tolerance_and_say_when_not():
    loose = Ridge(solver="lsqr", tol=1e-2).fit(X, y)
    assert loose.n_iter_ == len(loose.trace_) >= 1
    assert loose.certificate_.value <= 1e-4
    assert (np.diff(loose.trace_.column("gap")) < 0).all()
    with pytest.warns(surefit.core.certificate.CertificateWarning, match="limit of iterations"):
        short = Ridge(solver="lsqr", max_iter=2).fit(X, y)
    assert short.n_iter_ == 2
    assert not surefit.verify(short, X, y).holds


def test_more_columns_than_a_square_matrix_is_kept_for(monkeypatch):
    from surefit.models.linear.squares import ridge, ridge_fit

    for module in (ridge, ridge_fit):
        monkeypatch.setattr(module, "LARGEST_GRAM", 6)
    model = Ridge().fit(X, y)
    assert model.solver_ == "conjugate gradients"
    np.testing.assert_allclose(model.coef_, peers.Ridge().fit(X, y).coef_, rtol=1e-6)
    for change in (model.partial_fit, model.forget):
        with pytest.raises(RefusalError, match=r"kept no statistic.*kept up to 6 columns, and there are 8"):
            change(X[:5], y[:5])
    with pytest.raises(RefusalError, match="kept no statistic"):
        model.merge(Ridge().fit(X, y))
    with pytest.raises(RefusalError, match=r"keeps no statistic of 8 columns.*up to 6"):
        Ridge().partial_fit(X, y)


def test_fewer_rows_keep_no_statistic():
    with pytest.raises(RefusalError, match="fewer rows than columns, and was solved from the rows"):
        Ridge().fit(WIDE, y_wide).partial_fit(WIDE, y_wide)
    grown = Ridge().partial_fit(WIDE, y_wide).partial_fit(*rows(60, 50, seed=2)[:2])
    both = [np.concatenate(part) for part in zip((WIDE, y_wide), rows(60, 50, seed=2)[:2], strict=True)]
    np.testing.assert_allclose(grown.coef_, Ridge().fit(*both).coef_, rtol=1e-9)


def test_large_dense_problems_choose_passes_and_give_up_on_hard_ones(monkeypatch):
    from surefit.models.linear.squares import ridge_fit

    monkeypatch.setattr(ridge_fit, "LARGE", 1)
    monkeypatch.setattr(ridge_fit, "COLUMNS_A_PASS", 0.2)
    tall, target, _ = rows(2000, 10, seed=3)
    easy = Ridge().fit(tall, target)
    assert easy.solver_ == "conjugate gradients"
    np.testing.assert_allclose(easy.coef_, peers.Ridge().fit(tall, target).coef_, rtol=1e-8)
    mixed = tall @ np.vander(np.linspace(0.1, 1, 10))
    hard = Ridge(alpha=1e-8).fit(mixed, target)
    assert hard.solver_ in ("cholesky", "triangular factor")
    assert 0 < len(hard.trace_) < 50
    assert surefit.verify(hard, mixed, target).holds


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"alpha": 0.0}, {"alpha": 50.0}], ids=str)
def test_not_negative_coefficients_meet_their_optimality_conditions(options):
    model = Ridge(positive=True, **options).fit(X, Y, weight)
    centred = options.get("fit_intercept", True)
    A = X - np.average(X, axis=0, weights=weight) if centred else X
    r = Y - model.predict(X)
    pull = A.T @ (weight[:, None] * r) - options.get("alpha", 1.0) * model.coef_.T
    assert (model.coef_ >= 0).all()
    assert (model.coef_ == 0).any()
    assert (model.coef_ > 0).any()
    np.testing.assert_allclose(pull[model.coef_.T > 0], 0.0, atol=1e-9)
    assert pull[model.coef_.T == 0].max() <= 1e-9
    assert surefit.verify(model, X, Y, weight).holds
    assert model.partial_fit(X, Y, weight).solver_ == "active set"


@pytest.mark.parametrize("positive", [False, True])
def test_effective_degrees_of_freedom_are_the_trace_of_the_hat_matrix(positive):
    for data, target, s in ((X, y, weight), (WIDE, y_wide, weight_wide)):
        step = 1e-4
        model = Ridge(alpha=2.0, positive=positive).fit(data, target, s)
        trace = 0.0
        for i in range(len(target)):
            moved = target.copy()
            moved[i] += step
            trace += (Ridge(alpha=2.0, positive=positive).fit(data, moved, s).predict(data)[i]) / step
            trace -= model.predict(data)[i] / step
        np.testing.assert_allclose(model.effective_dof_, trace, rtol=1e-6)


CV_CASES = {
    "plain": Case(X, y),
    "weights with zeros": Case(X, y, weight),
    "no intercept": Case(X, y, weight, {"fit_intercept": False}),
    "several targets": Case(X, Y, weight),
    "a column of targets": Case(X, y[:, None]),
    "a penalty a target": Case(X, Y, weight, {"alpha_per_target": True}),
    "a penalty for one target": Case(X, y, None, {"alpha_per_target": True}),
    "fewer rows": Case(WIDE, y_wide, weight_wide),
    "fewer rows, no intercept": Case(WIDE, y_wide, None, {"fit_intercept": False}),
    "sparse": Case(SPARSE, np.arange(300.0) % 7),
    "scored": Case(X, y, weight + 0.1, {"scoring": "neg_mean_absolute_error"}),
    "scored a target": Case(X, Y, None, {"scoring": "r2", "alpha_per_target": True}),
    "scored by a function": Case(
        X, y, None, {"scoring": lambda m, rows, t: -np.median(abs(m.predict(rows) - t))}
    ),
    "five folds": Case(X, y, None, {"cv": 5}),
    "weighted folds": Case(X, y, weight, {"cv": 5}),
    "folds and targets": Case(X, Y, None, {"cv": 3}),
    "shuffled folds": Case(
        X, y, None, {"cv": KFold(4, shuffle=True, random_state=0), "scoring": "neg_mean_absolute_error"}
    ),
    "overlapping splits": Case(X, y, None, {"cv": ShuffleSplit(4, random_state=0)}),
    "short folds": Case(WIDE, y_wide, None, {"cv": 3}),
    "given splits": Case(X, y, None, {"cv": [(np.arange(50), np.arange(50, 100))]}),
}


@pytest.mark.parametrize("case", CV_CASES.values(), ids=CV_CASES.keys())
def test_chosen_penalties_agree_with_scikit_learn(case):
    alone = "cv" not in case.options
    options = {"alphas": ALPHAS, "store_cv_results": alone}
    ours, theirs = fitted(RidgeCV, case, **options), fitted(peers.RidgeCV, case, **options)
    np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-10)
    assert np.shape(ours.best_score_) == np.shape(theirs.best_score_)
    assert_equal_models(ours, theirs, case.X)
    assert surefit.verify(ours, case.X, case.y, case.weight).holds
    if alone:
        assert ours.cv_results_.shape == theirs.cv_results_.shape
        largest = np.abs(theirs.cv_results_).max()
        np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-9, atol=1e-10 * largest)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("data", [(X, y, weight), (WIDE, y_wide, weight_wide)], ids=["tall", "wide"])
def test_leaving_one_out_is_what_brute_force_finds(data, intercept):
    rows_, target, s = data
    scorer = lambda model, predictions, truth, sample_weight=None: 0.0  # noqa: E731
    options = {"fit_intercept": intercept, "store_cv_results": True, "scoring": scorer}
    found = RidgeCV(alphas=[0.01, 3.0], **options).fit(rows_, target, s).cv_results_
    for a, alpha in enumerate([0.01, 3.0]):
        for i in range(len(target)):
            rest = np.arange(len(target)) != i
            model = Ridge(alpha=alpha, fit_intercept=intercept).fit(rows_[rest], target[rest], s[rest])
            np.testing.assert_allclose(found[i, a], model.predict(rows_[[i]])[0], rtol=1e-10, atol=1e-10)


def test_folds_of_a_source_take_rows_in_turn(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({**{f"x{j}": X[:, j] for j in range(8)}, "y": y, "w": weight})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=30)
    turns = [
        (np.flatnonzero(np.arange(100) % 3 != k), np.flatnonzero(np.arange(100) % 3 == k)) for k in range(3)
    ]
    here = RidgeCV(alphas=ALPHAS, cv=turns).fit(X, y, weight)
    there = RidgeCV(alphas=ALPHAS, cv=3).fit(surefit.read(tmp_path, target="y", weight="w"))
    assert there.alpha_ == here.alpha_
    np.testing.assert_allclose(there.best_score_, here.best_score_, rtol=1e-12)
    alone = RidgeCV(alphas=ALPHAS, store_cv_results=True).fit(surefit.read(tmp_path, target="y", weight="w"))
    expected = RidgeCV(alphas=ALPHAS, store_cv_results=True).fit(X, y, weight)
    np.testing.assert_allclose(alone.cv_results_, expected.cv_results_, rtol=1e-9)
    with pytest.raises(RefusalError, match="give cv as a number of folds"):
        RidgeCV(cv=KFold(3)).fit(surefit.read(tmp_path, target="y", weight="w"))


@pytest.mark.parametrize("solver", ["auto", "lsqr"])
def test_files_larger_than_a_batch_give_the_same_fit(tmp_path, solver):
    import pyarrow as pa
    import pyarrow.parquet as pq

    for k in range(3):
        some = slice(30 * k, 30 * k + 40)
        part = {f"x{j}": X[some, j] for j in range(8)}
        pq.write_table(pa.table({**part, "y": y[some]}), tmp_path / f"{k}.parquet")
    rows_ = np.concatenate([np.arange(30 * k, min(30 * k + 40, 100)) for k in range(3)])
    model = Ridge(solver=solver, tol=1e-7).fit(str(tmp_path), "y")
    np.testing.assert_allclose(model.coef_, Ridge().fit(X[rows_], y[rows_]).coef_, rtol=1e-9)
    assert surefit.verify(model, str(tmp_path), "y").holds


THREE = np.digitize(y, [-1.0, 1.0])
TWO = np.where(y > 0, "yes", "no")
CLASS_CASES = {
    "two classes": Case(X, TWO),
    "three classes": Case(X, THREE, weight),
    "balanced": Case(X, THREE, None, {"class_weight": "balanced"}),
    "weights by class": Case(X, THREE, weight, {"class_weight": {0: 2.0, 1: 0.5}}),
    "no intercept": Case(X, TWO, None, {"fit_intercept": False}),
    "fewer rows": Case(WIDE, y_wide > 0),
    "one class": Case(X, np.full(100, "only")),
}


@pytest.mark.parametrize("case", CLASS_CASES.values(), ids=CLASS_CASES.keys())
def test_classifiers_agree_with_scikit_learn(case):
    ours, theirs = fitted(RidgeClassifier, case), fitted(peers.RidgeClassifier, case)
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    scores = theirs.decision_function(case.X)
    np.testing.assert_allclose(ours.decision_function(case.X), scores, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(ours.predict(case.X), theirs.predict(case.X))
    assert surefit.verify(ours, case.X, case.y, case.weight).holds


@pytest.mark.parametrize(
    "options", [{}, {"cv": 3}, {"scoring": "accuracy"}, {"cv": 3, "scoring": "f1_macro"}], ids=str
)
@pytest.mark.parametrize("name", ["three classes", "balanced", "weights by class"])
def test_chosen_classifiers_agree_with_scikit_learn(name, options):
    case = CLASS_CASES[name]
    ours = fitted(RidgeClassifierCV, case, alphas=ALPHAS, **options)
    theirs = fitted(peers.RidgeClassifierCV, case, alphas=ALPHAS, **options)
    assert ours.alpha_ == theirs.alpha_
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-10)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-8, atol=1e-10)
    assert surefit.verify(ours, case.X, case.y, case.weight).holds


def test_two_classes_are_scored_by_their_sign():
    """scikit-learn takes the largest of one column here, which says that every row is right."""
    model = RidgeClassifierCV(alphas=ALPHAS, scoring="accuracy", store_cv_results=True).fit(X, TWO)
    right = [np.mean((model.cv_results_[:, 0, a] > 0) == (TWO == "yes")) for a in range(len(ALPHAS))]
    assert model.best_score_ == max(right) < 1.0
    assert model.alpha_ == ALPHAS[np.argmax(right)]


def test_balanced_classes_keep_no_statistic():
    model = RidgeClassifier(class_weight="balanced").fit(X, THREE)
    with pytest.raises(RefusalError, match="'balanced' depends on all rows"):
        model.forget(X[:5], THREE[:5])
    with pytest.raises(RefusalError, match="give the weights as a dictionary"):
        RidgeClassifier(class_weight="balanced").partial_fit(X, THREE)


def test_a_penalised_fit_has_no_table_of_standard_errors():
    for model in (Ridge(), RidgeCV(), RidgeClassifier(), RidgeClassifierCV()):
        with pytest.raises(RefusalError, match=r"penalty.*LinearRegression.*bootstrap"):
            model.fit(X, TWO if hasattr(model, "class_weight") else y).summary()


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (Ridge(alpha=-1.0), ParameterError, "alpha=-1.0"),
        (Ridge(alpha=[1.0, 2.0]), ParameterError, "do not correspond: 2 != 1"),
        (Ridge(alpha=[np.inf]), ParameterError, "finite number"),
        (Ridge(solver="lbfgs"), ParameterError, "needs positive=True"),
        (Ridge(solver="svd", positive=True), ParameterError, "does not support positive=True"),
        (RidgeCV(alphas=[0.0, 1.0]), ParameterError, r"alphas\[0\] == 0.0, must be > 0.0"),
        (RidgeCV(alphas=[]), ParameterError, "at least one"),
        (RidgeCV(cv=3, store_cv_results=True), ParameterError, "store_cv_results=True are incompatible"),
        (RidgeCV(cv=3, alpha_per_target=True), ParameterError, "alpha_per_target=True are incompatible"),
        (RidgeCV(cv=1), ParameterError, "cv=1"),
        (RidgeCV(scoring="no such"), ValueError, "no such"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_said(model, error, message):
    with pytest.raises(error, match=message):
        model.fit(X, y)


def test_one_row_cannot_be_left_out():
    for data, target in ((X[:1], y[:1]), (X[:, :1][:1], y[:1])):
        with pytest.raises(DataError, match="n_samples=1"):
            RidgeCV().fit(data, target)
