"""Ridge that takes rows, joins and gives rows back: exactly where its sums tell all, else it says why."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import r2_score

import surefit
from surefit import LinearRegression, Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.models.linear.squares.content_folds import fold_numbers

ALPHAS = np.logspace(-3, 3, 13)


def table(n=90, p=5, targets=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    Y = X @ rng.normal(size=(p, targets)) + 2.0 * rng.normal(size=(n, targets)) + 3.0
    return X, Y[:, 0] if targets == 1 else Y


def chooser(**options):
    return RidgeCV(**{"alphas": ALPHAS, "cv": 4, "folds": "content", **options})


def assert_same_choice(one, two):
    assert one.alpha_ == two.alpha_
    np.testing.assert_allclose(one.best_score_, two.best_score_, rtol=1e-10)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-9)
    np.testing.assert_allclose(one.intercept_, two.intercept_, rtol=1e-9)


FORMS = {
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "negative zeros": lambda X: np.where(X == 0, -0.0, X),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_fold_of_a_row_is_told_from_its_content_in_any_form(form):
    X = np.where(np.abs(table(200)[0]) < 0.5, 0.0, np.round(table(200)[0], 1))
    X.flags.writeable = False
    number = fold_numbers(X, 7)
    order = np.random.default_rng(1).permutation(200)
    np.testing.assert_array_equal(fold_numbers(FORMS[form](X), 7), number)
    np.testing.assert_array_equal(fold_numbers(X[order], 7), number[order])
    single = X.astype(np.float32)
    np.testing.assert_array_equal(fold_numbers(single, 7), fold_numbers(single.astype(np.float64), 7))


def test_folds_by_content_are_of_like_size_and_columns_do_not_swap():
    X = np.random.default_rng(2).integers(0, 3, size=(20_000, 12)).astype(float)
    counts = np.bincount(fold_numbers(np.unique(X, axis=0), 5))
    expected = counts.sum() / 5
    # Each count is binomial; five deviations.
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)
    pairs = np.random.default_rng(3).normal(size=(2000, 2))
    same = fold_numbers(pairs, 5) == fold_numbers(pairs[:, ::-1], 5)
    assert abs(same.mean() - 0.2) < 5 * np.sqrt(0.16 / 2000)


@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_squared_error", "neg_root_mean_squared_error"])
@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_scores_from_sums_are_those_of_the_same_folds_row_by_row(scoring, targets, intercept):
    X, y = table(targets=targets)
    weight = np.random.default_rng(4).integers(0, 3, len(X)).astype(float)
    number = fold_numbers(X, 4)
    splits = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(4)]
    options = {"fit_intercept": intercept, "scoring": scoring}
    ours = chooser(**options).fit(X, y, weight)
    by_row = RidgeCV(ALPHAS, cv=splits, **options).fit(X, y, weight)
    assert_same_choice(ours, by_row)
    assert surefit.verify(ours, X, y, weight).holds


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_pieces_give_the_choice_of_the_whole(offset, scale):
    X, y = table()
    X = (X + offset) * np.array([scale, 1.0, 1.0, 1.0, 1.0])
    whole = chooser().fit(X, y)
    pieces = chooser()
    for start in range(0, 90, 20):
        pieces.partial_fit(X[start : start + 20], y[start : start + 20])
    assert pieces.alpha_ == whole.alpha_
    np.testing.assert_allclose(pieces.predict(X), whole.predict(X), rtol=1e-8)
    merged = chooser().fit(X[:31], y[:31]).merge(chooser().fit(X[31:], y[31:]))
    assert merged.alpha_ == whole.alpha_
    np.testing.assert_allclose(merged.predict(X), whole.predict(X), rtol=1e-8)


def test_rows_that_come_and_go_leave_the_choice_of_the_rest():
    X, y = table()
    weight = np.random.default_rng(5).integers(0, 4, len(X)).astype(float)
    keep, gone = slice(0, 60), slice(60, None)
    model = chooser().fit(X, y, weight).forget(X[gone], y[gone], weight[gone])
    assert_same_choice(model, chooser().fit(X[keep], y[keep], weight[keep]))
    assert surefit.verify(model, X[keep], y[keep], weight[keep]).holds
    repeated = np.repeat(np.arange(len(X)), weight.astype(int))
    assert_same_choice(chooser().fit(X, y, weight), chooser().fit(X[repeated], y[repeated]))


def test_a_source_gives_the_choice_of_the_array(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = table()
    columns = {f"x{j}": X[:, j] for j in range(5)} | {"y": y}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=17)
    assert_same_choice(chooser().fit(tmp_path, "y"), chooser().fit(X, y))


def test_a_saved_choice_goes_on(tmp_path):
    X, y = table()
    surefit.save(chooser().fit(X[:50], y[:50]), tmp_path / "model")
    later = surefit.load(tmp_path / "model").partial_fit(X[50:], y[50:])
    assert_same_choice(later, chooser().fit(X, y))


@pytest.mark.parametrize("method", ["partial_fit", "merge", "forget"])
@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (RidgeCV(), r"cv=None leaves out one row at a time.*folds='content'.*Ridge at alpha_"),
        (RidgeCV(cv=3), r"cv=3 assigns folds by row number.*folds='content'"),
        (RidgeClassifierCV(cv=3), r"row by row.*RidgeClassifier at alpha_"),
    ],
    ids=["left out", "by number", "classes"],
)
def test_what_sums_do_not_tell_is_refused_with_the_reason(model, reason, method):
    X, y = table()
    y = y > 3 if isinstance(model, RidgeClassifierCV) else y
    model.fit(X, y)
    assert not hasattr(model, method)
    with pytest.raises(RefusalError, match=reason):
        getattr(model, method)(X[:5], y[:5])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": None}, "needs a number of folds"),
        ({"cv": [(np.arange(5), np.arange(5, 9))]}, "needs a number of folds"),
        ({"scoring": "neg_median_absolute_error"}, "from which scoring='neg_median_absolute_error'"),
        ({"scoring": lambda model, X, y: 0.0}, "from which scoring="),
        ({"alpha_per_target": True}, "incompatible"),
    ],
    ids=["one left out", "splits", "a name", "a function", "a target each"],
)
def test_folds_by_content_say_what_they_need(options, message):
    with pytest.raises(ParameterError, match=message):
        chooser(**options).fit(*table())


def test_equal_rows_cannot_test_each_other():
    with pytest.raises(DataError, match="fall into a single fold"):
        chooser().fit(np.ones((10, 2)), np.arange(10.0))
    constant = chooser().fit(table()[0], np.full(90, 7.0))
    np.testing.assert_allclose(constant.predict(table()[0]), 7.0)
    wide = chooser().fit(*table(30, 40))  # fewer rows than columns
    assert wide.certificate_.holds
    assert r2_score(table(30, 40)[1], wide.predict(table(30, 40)[0])) > 0.5


def test_too_many_columns_keep_no_sums(monkeypatch):
    from surefit.models.linear.squares import linear_regression, ridge, ridge_fit

    for module in (linear_regression, ridge, ridge_fit):
        monkeypatch.setattr(module, "LARGEST_GRAM", 4)
    X, y = table()
    with pytest.raises(RefusalError, match=r"the Gram matrix of 5 columns for each fold.*up to 4"):
        chooser().fit(X, y)
    for model in (Ridge(), LinearRegression()):
        with pytest.raises(RefusalError, match=r"the Gram matrix is kept up to 4 columns, and there are 5"):
            model.fit(X, y).forget(X[:5], y[:5])


@pytest.mark.parametrize("change", ["partial_fit", "forget", "merge"])
def test_rows_weighted_otherwise_by_class_do_not_add_up(change):
    X, y = table()
    labels = y > 3
    heavy = {False: 1.0, True: 5.0}
    one = RidgeClassifier().fit(X[:50], labels[:50])
    before = one.coef_.copy()
    if change == "merge":
        with pytest.raises(
            RefusalError, match=r"other model were accumulated with class_weight=.*5\.0.*None"
        ):
            one.merge(RidgeClassifier(class_weight=heavy).fit(X[50:], labels[50:]))
    else:
        one.set_params(class_weight=heavy)
        with pytest.raises(RefusalError, match=r"so far were accumulated with class_weight=None.*5\.0"):
            getattr(one, change)(X[:9], labels[:9])
    np.testing.assert_array_equal(one.coef_, before)


def test_rows_weighted_alike_by_class_add_up_whatever_the_penalty():
    X, y = table()
    labels, weights = y > 3, {False: 1.0, True: 5.0}
    one = RidgeClassifier(alpha=9.0, class_weight=weights).fit(X[:50], labels[:50])
    two = RidgeClassifier(alpha=0.1, class_weight=dict(weights)).fit(X[50:], labels[50:])
    whole = RidgeClassifier(alpha=9.0, class_weight=weights).fit(X, labels)
    np.testing.assert_allclose(one.merge(two).coef_, whole.coef_, rtol=1e-9)


def test_another_number_of_folds_does_not_add_up():
    X, y = table()
    with pytest.raises(RefusalError, match=r"other model were accumulated with cv=3.*cv=4"):
        chooser().fit(X, y).merge(chooser(cv=3).fit(X, y))


def test_a_chosen_solver_that_keeps_nothing_names_the_one_that_does(monkeypatch):
    from surefit.models.linear.squares import ridge_fit

    monkeypatch.setattr(ridge_fit, "LARGE", 1)
    monkeypatch.setattr(ridge_fit, "COLUMNS_A_PASS", 0.1)
    X, y = table(500)
    chosen = Ridge().fit(X, y)
    assert chosen.solver_ == "conjugate gradients"
    with pytest.raises(RefusalError, match=r"'auto' chose conjugate gradients.*solver='cholesky' does"):
        chosen.partial_fit(X, y)
    with pytest.raises(RefusalError, match=r"solver='lsqr' runs conjugate gradients.*solver='cholesky' does"):
        Ridge(solver="lsqr").fit(X, y).forget(X[:5], y[:5])
    named = Ridge(solver="cholesky").fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    np.testing.assert_allclose(named.coef_, chosen.coef_, rtol=1e-8)


def test_ill_conditioned_columns_are_told_what_this_estimator_can_do():
    X, y = table()
    twins = np.column_stack([X, X[:, 0] + 1e-7 * np.sin(y)])
    plain = LinearRegression().fit(twins, y).diagnosis_
    penalised = Ridge(alpha=1e-14).fit(twins, y).diagnosis_
    remedies = [f.remedy for found in (plain, penalised) for f in found if f.code == "ill-conditioned"]
    assert len(remedies) == 2
    assert "use Ridge" in remedies[0]
    assert "raise alpha, which is 1e-14" in remedies[1]
    assert "Ridge" not in remedies[1]
    assert "ill-conditioned" not in Ridge(alpha=1.0).fit(twins, y).diagnosis_.codes()
