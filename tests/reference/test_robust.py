"""Quantiles, medians and Huber regression against the peers, the courses' numbers and hostile tables."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model as peers
from sklearn.base import clone, is_classifier

import surefit
from surefit import HuberRegressor, LADRegressor, QuantileRegressor
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import DataError
from surefit.losses import Absolute, Huber
from surefit.losses.huber_scale import FreeScaleHuber
from surefit.penalties import L1, L2, NoPenalty
from surefit.solvers.kinked.interior import Interior
from surefit.solvers.objective.base import Objective

X_LINE, Y_LINE = np.arange(5.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 20.0])


def planted(n=300, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=p) + rng.standard_t(2, size=n)


def pinball(model, X, y, quantile, alpha, s=None):
    r = y - X @ model.coef_ - model.intercept_
    loss = np.maximum(quantile * r, (quantile - 1) * r)
    return np.average(loss, weights=s) + alpha * np.abs(model.coef_).sum()


def huber_objective(model, X, y, alpha, epsilon):
    r = np.abs(y - X @ model.coef_ - model.intercept_) / model.scale_
    H = np.where(r <= epsilon, r**2, 2 * epsilon * r - epsilon**2)
    return (model.scale_ * (1 + H)).sum() + alpha * model.coef_ @ model.coef_


@pytest.mark.parametrize("solver", ["highs", "highs-ds"])
@pytest.mark.parametrize(("quantile", "alpha"), [(0.5, 0.0), (0.9, 0.01), (0.2, 0.3), (0.5, 100.0)])
def test_quantiles_are_never_worse_than_scikit_learns(quantile, alpha, solver):
    X, y = planted()
    s = np.random.default_rng(1).uniform(0, 2, len(y))
    for weight in (None, s):
        ours = QuantileRegressor(quantile=quantile, alpha=alpha, solver=solver).fit(X, y, weight)
        theirs = peers.QuantileRegressor(quantile=quantile, alpha=alpha).fit(X, y, weight)
        mine, its = (pinball(model, X, y, quantile, alpha, weight) for model in (ours, theirs))
        assert mine <= its * (1 + 1e-9)
        assert ours.certificate_.value < 1e-12


def test_medians_are_never_worse_than_statsmodels():
    QuantReg = pytest.importorskip("statsmodels.api").QuantReg
    X, y = planted()
    theirs = QuantReg(y, np.column_stack([X, np.ones(len(y))])).fit(q=0.5)
    ours = LADRegressor().fit(X, y)
    r = y - ours.predict(X)
    assert np.abs(r).sum() <= np.abs(np.asarray(theirs.resid)).sum() * (1 + 1e-9)
    assert np.count_nonzero(np.abs(r) < 1e-12) == X.shape[1] + 1  # a vertex: as many rows as coefficients


def test_many_rows_are_lumped_and_solved_exactly():
    X, y = planted(20_000, 6)
    model = LADRegressor().fit(X, y)
    assert model.certificate_.value < 1e-13
    assert np.count_nonzero(np.abs(y - model.predict(X)) < 1e-10) == 7
    vertex = LADRegressor(solver="highs").fit(X[:2000], y[:2000])
    np.testing.assert_allclose(LADRegressor().fit(X[:2000], y[:2000]).coef_, vertex.coef_, atol=1e-10)


@pytest.mark.covers("course_summary:2.9", by="LADRegressor")
def test_reweighting_falls_as_the_course_says():
    """From least squares: 18.82, 18.44, 18.07, 17.72, 17.40, 17.12, towards the line through four points."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CertificateWarning)
        slow = LADRegressor(solver="irls", max_iter=6).fit(X_LINE, Y_LINE)
        falls = LADRegressor(solver="irls", max_iter=200).fit(X_LINE, Y_LINE)
    wanted = [18.823529, 18.440678, 18.066986, 17.716556, 17.400072, 17.123808]
    np.testing.assert_allclose(5 * slow.trace_.column("objective"), wanted, atol=5e-7)
    assert (np.diff(falls.trace_.column("objective")) <= 1e-12).all()
    np.testing.assert_allclose([falls.coef_[0], falls.intercept_], [1.0, 0.0], atol=1e-4)
    exact = LADRegressor().fit(X_LINE, Y_LINE)
    np.testing.assert_allclose([exact.coef_[0], exact.intercept_], [1.0, 0.0], atol=1e-12)
    least = surefit.LinearRegression().fit(X_LINE, Y_LINE)
    np.testing.assert_allclose([least.coef_[0], least.intercept_], [4.2, -3.2], atol=1e-12)
    assert np.abs(Y_LINE - least.predict(X_LINE)).sum() == pytest.approx(19.2)
    assert np.abs(Y_LINE - exact.predict(X_LINE)).sum() == pytest.approx(16.0)


@pytest.mark.covers("intro_to_ml:4.10", by="LADRegressor")
def test_least_absolute_deviations_as_a_linear_programme():
    from surefit.optimize import linear_program

    X, y = planted(40, 3)
    n, p = X.shape
    A = np.hstack([X, np.ones((n, 1)), np.eye(n), -np.eye(n)])
    c = np.concatenate([np.zeros(p + 1), np.ones(2 * n)])
    bounds = [(None, None)] * (p + 1) + [(0, None)] * (2 * n)
    best = linear_program(c, A_eq=A, b_eq=y, bounds=bounds)
    over, under = best.x[p + 1 : p + 1 + n], best.x[p + 1 + n :]
    assert np.max(over * under) < 1e-12
    for solver in ("interior_point", "highs"):
        model = LADRegressor(solver=solver).fit(X, y)
        r = y - model.predict(X)
        assert np.abs(r).sum() == pytest.approx(best.value, rel=1e-10)
        assert np.count_nonzero(np.abs(r) < 1e-10) >= p + 1
    alone = LADRegressor().fit(np.zeros((5, 1)), [5.0, 1.0, 9.0, 2.0, 7.0])
    assert alone.intercept_ == pytest.approx(5.0)


@pytest.mark.covers("intro_to_ml:4.9", by="HuberRegressor")
def test_hubers_loss_and_its_limits():
    value = Huber(1.0).value([0.0] * 4, [0.5, 1.0, 3.0, -3.0])
    np.testing.assert_allclose(value, [0.125, 0.5, 2.5, 2.5])
    assert Huber(2.0).value([0.0], [3.0])[0] == pytest.approx(4.0)
    rng = np.random.default_rng(0)
    X = np.linspace(0, 10, 30)[:, None]
    y = 2 * X[:, 0] + 1 + 0.1 * rng.normal(size=30)
    y[[3, 12, 25]] += 40.0
    least = surefit.LinearRegression().fit(X, y)
    fixed = {"alpha": 0.0, "tol": 1e-9}
    robust = HuberRegressor(scale=0.2, epsilon=1.0, **fixed).fit(X, y)
    assert abs(robust.coef_[0] - 2) < 0.05 < abs(least.intercept_ - 1)
    assert robust.outliers_.sum() >= 3
    huge = HuberRegressor(scale=1e6, **fixed).fit(X, y)
    np.testing.assert_allclose(huge.coef_, least.coef_, rtol=1e-8)
    tiny = HuberRegressor(scale=1e-6, max_iter=1000, **fixed).fit(X, y)
    np.testing.assert_allclose(tiny.coef_, LADRegressor().fit(X, y).coef_, atol=1e-5)


@pytest.mark.parametrize(("epsilon", "alpha"), [(1.35, 1e-4), (1.0, 0.0), (2.5, 10.0)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_hubers_joint_scale_is_never_worse_than_scikit_learns(epsilon, alpha, form):
    X, y = planted()
    ours = HuberRegressor(epsilon=epsilon, alpha=alpha).fit(form(X), y)
    theirs = peers.HuberRegressor(epsilon=epsilon, alpha=alpha, max_iter=1000, tol=1e-8).fit(X, y)
    mine, its = (huber_objective(model, X, y, alpha, epsilon) for model in (ours, theirs))
    assert mine <= its * (1 + 1e-7)
    assert ours.certificate_.claim == "optimal"
    if epsilon > 1:  # at 1 the best scale is 0, and all rows but those on the plane are beyond it
        assert ours.scale_ == pytest.approx(theirs.scale_, rel=1e-3)
        assert (ours.outliers_ == theirs.outliers_).mean() > 0.99


def test_the_joint_gap_bounds_what_can_be_gained():
    X, y = planted(80, 3)
    best = HuberRegressor(tol=1e-10).fit(X, y)
    least = huber_objective(best, X, y, best.alpha, best.epsilon) / (2 * len(y))
    rng = np.random.default_rng(5)
    for _ in range(20):
        w = np.append(best.coef_, best.intercept_) + 0.3 * rng.normal(size=4)
        sigma = best.scale_ * np.exp(0.5 * rng.normal())
        loss = FreeScaleHuber(best.epsilon, scale=sigma)
        objective = Objective.of_arrays(X, y, loss, L2(best.alpha / len(y)))
        proof = objective.certificate(w, 1e-6)
        assert proof.parts["gap"] >= proof.parts["objective"] - least - 1e-12


HARD = {
    "fewer rows than columns": lambda X, y: (X[:4], y[:4]),
    "one row": lambda X, y: (X[:1], y[:1]),
    "a column twice, one constant": lambda X, y: (np.column_stack([X, X[:, 0], np.ones(len(X))]), y),
    "far from zero": lambda X, y: (X + 1e6, y + 1e6),
    "small and large units": lambda X, y: (X * 10.0 ** np.array([-12, 12, 0, 3, -3]), y * 1e-9),
    "ties": lambda X, y: (np.round(X), np.round(y)),
    "a perfect fit": lambda X, y: (X, X @ np.ones(5) + 2),
    "single precision": lambda X, y: (X.astype(np.float32), y),
    "Fortran order, read only": lambda X, y: (_frozen(np.asfortranarray(X)), _frozen(y.copy())),
    "sparse": lambda X, y: (sp.csr_array(X * (np.abs(X) > 0.5)), y),
}


def _frozen(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("cls", [LADRegressor, QuantileRegressor, HuberRegressor])
def test_hard_tables_are_fitted_and_proved(cls, case):
    X, y = HARD[case](*planted(120, 5))
    # One penalty for columns whose units differ by 24 orders of magnitude has no meaning.
    plain = cls is QuantileRegressor or (cls is HuberRegressor and case == "small and large units")
    options = {"alpha": 0.0} if plain else {}
    s = np.arange(len(y)) % 3 + (len(y) == 1) * 1.0
    if not s.any():
        s = s + 1.0
    for weight in (None, s):
        model = cls(**options).fit(X, y, weight)
        assert model.certificate_.holds, model.certificate_.statement
        assert surefit.verify(model, X, y, weight).holds
        assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rows", [50, 300])
def test_hubers_scale_is_proved_in_units_of_any_size(rows, seed):
    """Columns of 1e-12 beside 1e12, and targets of mean 1e9, whose scores have seven digits left."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5))
    y = X @ [1.0, -1.0, 0.5, 0.0, 2.0] + rng.standard_t(2, size=rows)
    units = np.array([1e-12, 1e12, 1.0, 1e6, 1e-6])
    cases = {"mixed": (X * units, y), "sorted": (X * np.logspace(-12, 12, 5), y), "target": (X, y + 1e9)}
    for case, (table, target) in cases.items():
        for alpha in (0.0, 1e-4):
            model = HuberRegressor(alpha=alpha).fit(table, target)
            assert model.certificate_.holds, (case, alpha, model.certificate_.statement)
            assert surefit.verify(model, table, target).holds
    # What is proved is close: the target's own rounding is all that tells the last two apart.
    near = HuberRegressor(alpha=1e-4).fit(X, y)
    np.testing.assert_allclose(model.coef_, near.coef_, atol=1e-3)


def test_an_interior_point_needs_few_iterations():
    from surefit.solvers.kinked.scaling import Units

    X, y = planted(2000, 10)
    for loss, penalty in ((Absolute(), NoPenalty()), (Absolute(), L1(0.05))):
        rows = Units.of(Objective.of_arrays(X, y, loss, penalty)).rows
        inside = Interior(rows, np.zeros(11))
        first, count = inside.slack, 0
        while inside.slack > 1e-9 * first:
            assert inside.step()
            count += 1
        assert count <= 25


def test_a_changed_row_far_from_its_kink_is_noticed():
    X, y = planted(60, 3)
    model = LADRegressor().fit(X, y)
    far = np.argmax(np.abs(y - model.predict(X)))
    other = y.copy()
    other[far] += np.sign(y[far] - model.predict(X)[far])
    assert not surefit.verify(model, X, other).holds


def test_a_warm_start_at_the_answer_is_proved_at_once():
    X, y = planted(500, 5)
    for model in (LADRegressor(warm_start=True), HuberRegressor(warm_start=True, tol=1e-7)):
        model.fit(X, y)
        coef, first = model.coef_.copy(), model.n_iter_
        model.fit(X, y)
        np.testing.assert_allclose(model.coef_, coef, rtol=1e-4)
        assert model.n_iter_ < first


def test_huber_streams(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = planted(400, 3)
    table = pa.table({f"x{j}": X[:, j] for j in range(3)} | {"y": y})
    for k in range(4):
        pq.write_table(table.slice(100 * k, 100), tmp_path / f"{k}.parquet")
    streamed, whole = HuberRegressor().fit(tmp_path, "y"), HuberRegressor().fit(X, y)
    np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-8)
    np.testing.assert_array_equal(streamed.outliers_, whole.outliers_)
    assert surefit.verify(streamed, tmp_path, "y").holds


@pytest.mark.parametrize("unit", [1e-160, 1e160])
def test_columns_out_of_the_range_of_squares_are_refused_or_fitted(unit):
    """No warning of numpy's, nor a word of LAPACK's, comes before the sentence that names the column."""
    X, y = planted(100, 3)
    hard = X * [1.0, unit, 1.0]
    models = [QuantileRegressor(alpha=0.0), LADRegressor(), HuberRegressor(), surefit.LinearSVR()]
    models += [surefit.LinearSVC(loss="hinge"), surefit.LogisticRegression(C=np.inf)]
    refused = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in models:
            target = (y > 0).astype(int) if is_classifier(model) else y
            try:
                model.fit(hard, target)
            except DataError as error:
                refused.append(str(error))
                continue
            # A penalty leaves nothing of a column of 1e-160: the answer is that of the others.
            others = clone(model).fit(hard[:, [0, 2]], target)
            np.testing.assert_allclose(np.ravel(model.coef_)[[0, 2]], np.ravel(others.coef_), atol=1e-6)
            assert model.certificate_.holds
    assert len(refused) >= 4
    said = re.compile(r"column 1 of X are (below|beyond) .* power of ten\.$")
    assert all(said.search(words) for words in refused)
