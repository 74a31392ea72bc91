"""Costs and regularisers as the courses list them: their shapes, scales, and ways to the same minimum."""

from __future__ import annotations

import numpy as np
import pytest

import surefit
from surefit import (
    ConstrainedLasso,
    ConstrainedRidge,
    ElasticNet,
    HuberRegressor,
    LADRegressor,
    Lasso,
    LinearModel,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    PolynomialFeatures,
    Ridge,
    losses,
    penalties,
)


def table(rows=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, X @ [1.0, -2.0, 0.5] + 3.0 + rng.normal(size=rows) / 2


@pytest.mark.covers("cs443:2.1", by="losses.Absolute")
@pytest.mark.covers("cs443:2.1", by="losses.Huber")
def test_costs_are_symmetric_and_robust_ones_price_large_errors_alike():
    errors, zero = np.array([-30.0, -3.0, -0.2, 0.2, 3.0, 30.0]), np.zeros(6)
    for loss in (losses.Squared(), losses.Absolute(), losses.Huber(1.0)):
        np.testing.assert_allclose(loss.value(zero, errors), loss.value(zero, -errors))
    # A robust cost has a bounded slope: one more unit of error costs the same wherever it is.
    far = np.array([10.0, 1000.0])
    assert np.ptp(losses.Absolute().gradient(np.zeros(2), far)) == 0
    assert np.ptp(losses.Huber(1.0).gradient(np.zeros(2), far)) == 0
    assert np.ptp(losses.Squared().gradient(np.zeros(2), far)) > 900


@pytest.mark.covers("cs443:2.4", by="HuberRegressor")
@pytest.mark.covers("cs443:2.4", by="LADRegressor")
def test_robust_costs_hardly_notice_an_outlier():
    X, y = table()
    spoilt = y.copy()
    spoilt[0] += 500.0
    moved = {}
    for model in (LinearRegression(), LADRegressor(), HuberRegressor(alpha=0.0)):
        before, after = model.fit(X, y).coef_.copy(), model.fit(X, spoilt).coef_
        moved[type(model).__name__] = np.abs(after - before).max()
    assert moved["LADRegressor"] < 0.2 < moved["LinearRegression"]
    assert moved["HuberRegressor"] < 0.2


@pytest.mark.covers("intro_to_ml:4.3", by="minimize")
def test_descent_converges_for_steps_below_two_over_the_largest_eigenvalue():
    X, y = table()
    X = np.column_stack([np.ones(len(X)), X])

    def cost(w):
        return 0.5 * ((y - X @ w) ** 2).sum()

    def slope(w):  # row by row, so that X need not be built
        return -sum((y_i - x_i @ w) * x_i for x_i, y_i in zip(X, y, strict=True))

    limit = 2 / np.linalg.eigvalsh(X.T @ X)[-1]
    best = LinearRegression(fit_intercept=False).fit(X, y).coef_
    found = surefit.minimize(
        cost, np.zeros(4), gradient=slope, solver="gradient_descent", step=0.9 * limit, tolerance=1e-10
    )
    np.testing.assert_allclose(found.x, best, rtol=1e-6)
    away = surefit.minimize(
        cost, np.zeros(4), gradient=slope, solver="gradient_descent", step=1.3 * limit, max_iter=60
    )
    assert not away.holds
    assert away.trace.column("objective")[-1] > cost(np.zeros(4))


@pytest.mark.covers("cs443:1.4", by="minimize")
@pytest.mark.covers("cs443:1.4", by="LinearRegression")
def test_grid_descent_and_closed_form_stand_behind_one_interface():
    X, y = table()
    x, y = X[:, :1], X[:, 0] * 2.0 + 1.0
    closed = LinearRegression().fit(x, y)

    def cost(w):
        return 0.5 * np.mean((y - w[0] - w[1] * x[:, 0]) ** 2)

    grid = [np.linspace(-3, 3, 13), np.linspace(-3, 3, 13)]
    by_grid = surefit.minimize(cost, np.zeros(2), solver="grid_search", axes=grid)
    by_descent = surefit.minimize(cost, np.zeros(2), solver="gradient_descent", tolerance=1e-10)
    np.testing.assert_allclose(by_grid.x, [closed.intercept_, closed.coef_[0]], atol=1e-12)
    np.testing.assert_allclose(by_descent.x, [closed.intercept_, closed.coef_[0]], atol=1e-6)


@pytest.mark.covers("intro_to_ml:I.4", by="Ridge")
@pytest.mark.covers("intro_to_ml:I.4", by="ElasticNet")
@pytest.mark.covers("intro_to_ml:I.4", by="LogisticRegression")
@pytest.mark.covers("intro_to_ml:I.4", by="ConstrainedRidge")
def test_each_regulariser_in_the_scale_of_its_table():
    X, y = table()
    X, y = X - X.mean(axis=0), y - y.mean()
    n, strength = len(X), 3.0
    # The sum of squares plus strength |w|^2; with half the sum, the same for half the strength.
    ridge = Ridge(strength, fit_intercept=False).fit(X, y).coef_
    np.testing.assert_allclose(ridge, np.linalg.solve(X.T @ X + strength * np.eye(3), X.T @ y), rtol=1e-10)
    # Coordinate steps: soft thresholds of what a column has in common with what the others leave.
    lasso = Lasso(strength / n, fit_intercept=False, tol=1e-12).fit(X, y).coef_
    l1, l2 = 2.0, 1.5
    net = ElasticNet((l1 + l2) / n, l1_ratio=l1 / (l1 + l2), fit_intercept=False, tol=1e-12).fit(X, y).coef_
    for w, first, second in ((lasso, strength, 0.0), (net, l1, l2)):
        for k in range(3):
            rest = X[:, k] @ (y - X @ w + X[:, k] * w[k])
            step = np.sign(rest) * max(abs(rest) - first, 0.0) / (X[:, k] @ X[:, k] + second)
            assert w[k] == pytest.approx(step, abs=1e-7)
    # Logistic, with strength |w|^2 beside the sum: C is 1 / (2 strength).
    label = (y > 0).astype(int)
    logit = LogisticRegression(C=1 / (2 * strength), fit_intercept=False, tol=1e-10).fit(X, label).coef_[0]
    chance = 1 / (1 + np.exp(-X @ logit))
    np.testing.assert_allclose(X.T @ (chance - label) + 2 * strength * logit, 0, atol=1e-5)
    # A bound on the norm has an equivalent strength.
    bound = ConstrainedRidge(np.linalg.norm(ridge), fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(bound.coef_, ridge, rtol=1e-6)
    diamond = ConstrainedLasso(np.abs(lasso).sum(), fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(diamond.coef_, lasso, atol=1e-6)


@pytest.mark.covers("ml_for_data_science:5.3", by="LinearRegression")
def test_full_rank_has_one_answer_and_more_columns_than_rows_the_shortest():
    X, y = table()
    design = np.column_stack([np.ones(len(X)), X])
    found = LinearRegression().fit(X, y)
    expected = np.linalg.solve(design.T @ design, design.T @ y)
    np.testing.assert_allclose([found.intercept_, *found.coef_], expected, rtol=1e-10)
    wide = np.random.default_rng(1).normal(size=(5, 9))
    short = LinearRegression(fit_intercept=False).fit(wide, y[:5])
    np.testing.assert_allclose(short.coef_, np.linalg.pinv(wide) @ y[:5], rtol=1e-8)
    assert short.rank_ == 5


@pytest.mark.covers("ml_for_data_science:5.3.4", by="penalties.L0")
@pytest.mark.covers("ml_for_data_science:5.3.4", by="ElasticNet")
def test_the_l0_penalty_chooses_the_best_subset_and_the_elastic_net_lies_between():
    from itertools import combinations

    X, y = table(rows=30)
    y = y - 0.5 * X[:, 2] * (1 - 1e-3)  # leaves next to nothing for the third column
    strength = 0.05

    def cost(columns):
        fit = LinearRegression().fit(X[:, columns], y) if columns else None
        errors = y - (fit.predict(X[:, columns]) if columns else y.mean())
        return 0.5 * np.mean(errors**2) + strength * len(columns)

    best = min((list(c) for k in range(4) for c in combinations(range(3), k)), key=cost)
    found = LinearModel("squared", penalties.L0(strength)).fit(X, y)
    assert np.flatnonzero(found.coef_).tolist() == best == [0, 1]
    lasso, pure = Lasso(0.1).fit(X, y).coef_, ElasticNet(0.1, l1_ratio=1.0).fit(X, y).coef_
    np.testing.assert_allclose(pure, lasso, atol=1e-8)


@pytest.mark.covers("ml_for_data_science:5.3.6", by="LogisticRegression")
@pytest.mark.covers("ml_for_data_science:5.3.6", by="PoissonRegressor")
def test_penalties_fit_every_linear_model_and_leave_the_constant_alone():
    X, y = table()
    label, counts = (y > 3).astype(int), np.random.default_rng(2).poisson(4.0, size=len(y))
    logit = LogisticRegression(C=1e-8, tol=1e-10).fit(X, label)
    share = label.mean()
    assert logit.intercept_[0] == pytest.approx(np.log(share / (1 - share)), abs=1e-4)
    assert np.abs(logit.coef_).max() < 1e-5
    rate = PoissonRegressor(alpha=1e8, tol=1e-10).fit(X, counts)
    assert rate.intercept_ == pytest.approx(np.log(counts.mean()), abs=1e-4)
    assert np.abs(rate.coef_).max() < 1e-5
    assert Ridge(1e9).fit(X, y).intercept_ == pytest.approx(y.mean(), abs=1e-4)


@pytest.mark.covers("cs443:7.1", by="LinearModel")
def test_any_loss_with_any_penalty_is_a_sum_of_two():
    X, y = table()
    for loss in (losses.Squared(), losses.Huber(1.0)):
        for penalty in (penalties.L1(0.2), penalties.L2(0.2)):
            model = LinearModel(loss, penalty, tol=1e-10).fit(X, y)
            scores = X @ model.coef_ + model.intercept_
            total = loss.value(y, scores).mean() + penalty.value(model.coef_)
            assert model.certificate_.parts["objective"] == pytest.approx(total, rel=1e-9)
            other = loss.value(y, scores + 0.1).mean() + penalty.value(model.coef_)
            assert other > total


@pytest.mark.covers("cs443:6.2", by="PolynomialFeatures")
@pytest.mark.covers("cs443:6.2", by="Ridge")
def test_a_lower_degree_more_rows_and_a_penalty_help_against_overfitting():
    rng = np.random.default_rng(3)

    def sample(rows):
        x = rng.uniform(-1, 1, rows)
        return x[:, None], np.sin(3 * x) + rng.normal(size=rows) / 4

    def errors(rows, degree, alpha=0.0, tries=30):
        found = []
        for _ in range(tries):
            (x, y), (new, truth) = sample(rows), sample(300)
            model = surefit.make_pipeline(PolynomialFeatures(degree, include_bias=False), Ridge(alpha)).fit(
                x, y
            )
            found.append([np.mean((y - model.predict(x)) ** 2), np.mean((truth - model.predict(new)) ** 2)])
        return np.median(found, axis=0)

    (x, y), training = sample(15), []
    for degree in range(1, 10):
        model = surefit.make_pipeline(PolynomialFeatures(degree, include_bias=False), LinearRegression())
        training.append(np.mean((y - model.fit(x, y).predict(x)) ** 2))
    assert (np.diff(training) <= 1e-12).all()
    high = errors(15, 12)[1]
    assert errors(15, 3)[1] < high
    assert errors(200, 12)[1] < high
    assert errors(15, 12, alpha=0.1)[1] < high


@pytest.mark.covers("ml_for_data_science:1.1", by="LinearRegression.predict")
@pytest.mark.covers("ml_for_data_science:1.1", by="LinearRegression.summary")
def test_simple_regression_is_a_function_and_a_distribution():
    x = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([1.0, 2.9, 5.1, 7.0])
    model = LinearRegression().fit(x, y)
    line = model.predict([[1.5]])[0]
    assert line == pytest.approx(model.intercept_ + 1.5 * model.coef_[0])
    summary = model.summary(x, y)
    noise = np.mean((y - model.predict(x)) ** 2)
    density = -0.5 * np.log(2 * np.pi * noise) - (y - model.predict(x)) ** 2 / (2 * noise)
    assert summary.log_likelihood == pytest.approx(density.sum(), rel=1e-9)
