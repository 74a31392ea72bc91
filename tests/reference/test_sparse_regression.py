"""Lasso, elastic net and their relatives against scikit-learn, celer's convention, and each other."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import linear_model as peers

import surefit

KINDS = ["Lasso", "ElasticNet"]
TASKS = ["MultiTaskLasso", "MultiTaskElasticNet"]


def planted(rows, columns, targets=0, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) + offset
    coef = np.zeros((columns, max(targets, 1)))
    coef[: min(4, columns)] = rng.normal(size=(min(4, columns), max(targets, 1)))
    Y = (X - offset) @ coef + rng.normal(size=(rows, max(targets, 1))) + 7.0
    return X, Y if targets else Y[:, 0]


def objective(model, X, Y, weight=None):
    """scikit-learn's objective, from its own definition."""
    weight = np.ones(len(X)) if weight is None else weight
    left = Y - model.predict(X)
    coef = model.coef_
    l1_ratio = getattr(model, "l1_ratio", 1.0)
    if left.ndim == 2:
        left = np.linalg.norm(left, axis=1)
        l1 = np.linalg.norm(coef, axis=0).sum()
    else:
        l1 = np.abs(coef).sum()
    penalty = model.alpha * (l1_ratio * l1 + 0.5 * (1 - l1_ratio) * np.sum(coef**2))
    return weight @ left**2 / (2 * weight.sum()) + penalty


@pytest.mark.parametrize("kind", KINDS + TASKS)
@pytest.mark.parametrize("shape", [(80, 10), (30, 90), (500, 40)], ids=str)
@pytest.mark.parametrize("share", [0.5, 0.05])
def test_never_above_scikit_learn_and_the_same_answer(kind, shape, share):
    X, y = planted(*shape, targets=3 if kind in TASKS else 0)
    centred = (X - X.mean(axis=0)).T @ (y - y.mean(axis=0)) / len(X)
    largest = np.linalg.norm(centred.reshape(len(centred), -1), axis=1).max()
    alpha = share * largest
    # Moments of many rows are known to some 1e-12, which the certificate counts.
    ours = getattr(surefit, kind)(alpha=alpha, tol=1e-11 if shape[0] > shape[1] else 1e-13).fit(X, y)
    theirs = getattr(peers, kind)(alpha=alpha, tol=1e-12, max_iter=100_000).fit(X, y)
    assert objective(ours, X, y) <= objective(theirs, X, y) * (1 + 1e-10)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    assert ours.certificate_.holds
    assert ours.certificate_.parts["objective"] == pytest.approx(objective(ours, X, y), rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", [np.asfortranarray, sparse.csc_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("share", [0.3, 0.03])
def test_celer_never_finds_less(kind, form, share):
    import celer

    X, y = planted(60, 150, seed=31)
    X[np.abs(X) < 0.5] = 0.0
    largest = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(X)
    ratio = {} if kind == "Lasso" else {"l1_ratio": 0.7}
    alpha = share * largest / ratio.get("l1_ratio", 1.0)
    ours = getattr(surefit, kind)(alpha=alpha, tol=1e-6, **ratio).fit(form(X), y)
    theirs = getattr(celer, kind)(alpha=alpha, tol=1e-8, **ratio).fit(form(X), y)
    # Ours may be above the least by its own gap, which is a share of the loss of the best constant.
    assert objective(ours, X, y) <= objective(theirs, X, y) + 1e-6 * 0.5 * np.var(y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [{"positive": True}, {"fit_intercept": False}, {"positive": True, "fit_intercept": False}],
    ids=["positive", "through zero", "both"],
)
def test_options_agree_with_scikit_learn(kind, options):
    X, y = planted(60, 15, seed=3)
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    ours = getattr(surefit, kind)(alpha=0.1, tol=1e-10, **options).fit(X, y, weight)
    theirs = getattr(peers, kind)(alpha=0.1, tol=1e-13, max_iter=10_000, **options).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS + TASKS)
def test_every_kind_of_table_gives_one_answer(kind, tmp_path):
    X, y = planted(90, 6, targets=2 if kind in TASKS else 0, seed=5)
    X[np.abs(X) < 0.4] = 0.0
    cls = getattr(surefit, kind)
    whole = cls(alpha=0.05, tol=1e-10).fit(X, y)
    for form in (sparse.csc_array(X), sparse.csr_matrix(X), np.asfortranarray(X), X[::1, :]):
        again = cls(alpha=0.05, tol=1e-10).fit(form, y)
        np.testing.assert_allclose(again.coef_, whole.coef_, atol=1e-6)
        assert surefit.verify(again, form, y).holds
    narrow = cls(alpha=0.05, tol=1e-8).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(narrow.coef_, whole.coef_, atol=1e-4)
    if kind in KINDS:
        table = pa.table({**{f"x{j}": X[:, j] for j in range(6)}, "y": y})
        streamed = cls(alpha=0.05, tol=1e-10).fit(surefit.read(table, target="y"))
        np.testing.assert_allclose(streamed.coef_, whole.coef_, atol=1e-5)
        assert surefit.verify(streamed, surefit.read(table, target="y")).holds


@pytest.mark.parametrize("kind", KINDS)
def test_hard_columns(kind):
    X, y = planted(50, 8, seed=7)
    X = np.column_stack([X + 1e6, X[:, 0] + 1e6, np.ones(50), 1e-12 * X[:, 1], 1e12 * X[:, 2]])
    model = getattr(surefit, kind)(alpha=1e-3, tol=1e-6).fit(X, y)
    assert model.certificate_.holds
    assert surefit.verify(model, X, y).holds
    assert model.coef_[9] == 0.0  # the constant column
    one = getattr(surefit, kind)().fit(X[:1], y[:1])
    assert not one.coef_.any()
    assert one.intercept_ == y[0]


@pytest.mark.parametrize("scale", [1e14, 1e40])
@pytest.mark.parametrize("shape", [(60, 4), (20, 40)], ids=["tall", "wide"])
def test_a_strength_below_the_rounding_of_slopes_is_proved(scale, shape):
    X, y = planted(*shape, seed=3)
    for rows, target in ((scale * X, y), (X, scale * y)):
        model = surefit.Lasso().fit(rows, target)
        assert model.certificate_.holds
        assert surefit.verify(model, rows, target).holds
        assert not surefit.verify(model, rows, target + scale * X[:, 0]).holds


@pytest.mark.parametrize("alpha", [1e-30, 1e-12])
def test_a_strength_of_all_tasks_below_rounding_is_proved(alpha):
    X, y = planted(60, 4, targets=2, seed=3)
    for rows in (X, 1e6 * X, 1e12 * X):
        model = surefit.MultiTaskLasso(alpha=alpha).fit(rows, y)
        assert model.certificate_.holds
        assert surefit.verify(model, rows, y).holds
        assert model.dual_gap_ <= model.tol * model.certificate_.parts["scale"]


def test_a_slope_slightly_beyond_a_weak_square_is_scaled_back():
    """Where the squares are weak, the conjugate of a slope that passes l1 by little is large."""
    X, y = planted(30, 4, targets=2, seed=5)
    model = surefit.MultiTaskElasticNet(alpha=4e7, tol=1e-4).fit(1e10 * X, y)
    assert model.certificate_.holds
    assert surefit.verify(model, 1e10 * X, y).holds


@pytest.mark.parametrize("kind", [f"{name}CV" for name in KINDS + TASKS])
@pytest.mark.parametrize("shape", [(90, 8), (25, 40)], ids=["tall", "wide"])
def test_choosing_agrees_with_scikit_learn(kind, shape):
    several = kind.startswith("MultiTask")
    X, y = planted(*shape, targets=2 if several else 0, seed=11)
    options = {"cv": 3, "alphas": 12, "tol": 1e-11}
    if "Elastic" in kind:
        options["l1_ratio"] = [0.3, 0.9]
    ours = getattr(surefit, kind)(**options).fit(X, y)
    theirs = getattr(peers, kind)(**options, max_iter=100_000).fit(X, y)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-10)
    assert ours.alphas_.shape == theirs.alphas_.shape
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    careful = getattr(surefit, kind)(**options, choice="one_standard_error").fit(X, y)
    assert careful.alpha_ >= ours.alpha_
    mean, error = ours.mse_path_.mean(axis=-1), ours.mse_error_
    best = np.unravel_index(np.argmin(mean), mean.shape)
    row = mean[best[0]] if mean.ndim == 2 else mean
    alphas = ours.alphas_[best[0]] if ours.alphas_.ndim == 2 else ours.alphas_
    assert careful.alpha_ == alphas[row <= mean[best] + error[best]].max()


def test_weights_and_streams_choose_alike(tmp_path):
    X, y = planted(120, 5, seed=13)
    weight = np.random.default_rng(2).integers(1, 4, len(X)).astype(float)
    ours = surefit.LassoCV(cv=3, tol=1e-11).fit(X, y, weight)
    theirs = peers.LassoCV(cv=3, tol=1e-12).fit(X, y, sample_weight=weight)
    assert ours.alpha_ == pytest.approx(theirs.alpha_)
    columns = {f"x{j}": X[:, j] for j in range(5)} | {"y": y, "w": weight}
    source = surefit.read(pa.table(columns), target="y", weight="w")
    content = surefit.LassoCV(cv=3, tol=1e-11, folds="content")
    np.testing.assert_allclose(
        content.fit(source).mse_path_, surefit.LassoCV(**content.get_params()).fit(X, y, weight).mse_path_
    )


@pytest.mark.parametrize("several", [False, True])
def test_paths_agree_with_scikit_learn(several):
    X, y = planted(40, 60, targets=2 if several else 0, seed=17)
    X, y = X - X.mean(axis=0), y - y.mean(axis=0)
    for ours, theirs in [(surefit.lasso_path, peers.lasso_path), (surefit.enet_path, peers.enet_path)]:
        mine = ours(X, y, tol=1e-11, alphas=20, eps=1e-2, return_n_iter=True)
        its = theirs(X, y, tol=1e-11, alphas=20, eps=1e-2, max_iter=100_000)
        np.testing.assert_allclose(mine[0], its[0])
        assert mine[1].shape == its[1].shape
        np.testing.assert_allclose(mine[1], its[1], atol=1e-5)
        assert (mine[2] >= 0).all()
        assert len(mine[3]) == 20


def test_from_the_largest_strength_on_all_is_zero():
    X, y = planted(40, 12, seed=19)
    largest = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(X)
    assert not surefit.Lasso(alpha=largest * (1 + 1e-12)).fit(X, y).coef_.any()
    assert surefit.Lasso(alpha=largest * 0.999, tol=1e-10).fit(X, y).coef_.any()


def test_warm_start_begins_where_the_fit_before_ended():
    X, y = planted(60, 200, seed=23)
    model = surefit.Lasso(alpha=0.05, tol=1e-10, warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_ == 0


def test_an_iteration_limit_is_told_with_its_reason():
    X, y = planted(60, 200, seed=29)
    with pytest.warns(surefit.core.certificate.CertificateWarning, match="limit of iterations"):
        model = surefit.Lasso(alpha=1e-3, tol=1e-12, max_iter=1).fit(X, y)
    assert not model.certificate_.holds


def test_bad_parameters_are_named():
    X, y = planted(20, 3)
    with pytest.raises(ValueError, match="alpha"):
        surefit.Lasso(alpha=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="alphas"):
        surefit.LassoCV(alphas=[1.0, np.nan]).fit(X, y)
    with pytest.raises(ValueError, match="l1_ratio=0"):
        surefit.ElasticNetCV(l1_ratio=0.0).fit(X, y)
    with pytest.raises(ValueError, match="mono-task outputs, use Lasso"):
        surefit.MultiTaskLasso().fit(X, y)
    with pytest.raises(ValueError, match="number of folds"):
        surefit.LassoCV(cv=[(np.arange(10), np.arange(10, 20))], folds="content").fit(X, y)


@pytest.mark.parametrize("kind", ["LinearRegression", "Ridge", "Lasso"])
def test_squares_beyond_the_range_of_floats_are_refused(kind):
    X, y = planted(50, 3)
    X[:, 1] *= 1e200
    with pytest.raises(ValueError, match=r"column 1 of X are beyond 1e\+148"):
        getattr(surefit, kind)().fit(X, y)


@pytest.mark.parametrize("wide", [False, True])
def test_sick_columns_are_named(wide):
    X, y = planted(50, 60 if wide else 4)
    X[:, 2] = 7.0
    found = surefit.Lasso(alpha=0.1).fit(X, y).diagnosis_
    assert [finding.columns for finding in found if finding.code == "constant-columns"] == [("x2",)]
