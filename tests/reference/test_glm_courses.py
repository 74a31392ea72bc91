"""What the courses say of generalised linear models and of logistic regression, in their numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import special

import surefit
from surefit import datasets
from surefit.losses.families import FAMILIES
from surefit.losses.logistic import Logistic
from surefit.losses.poisson import Poisson

GLM = surefit.GeneralizedLinearRegressor
NOTHING = np.zeros((3, 1))


@pytest.mark.covers("intro_to_ml:5.9", by="PoissonRegressor")
def test_poisson_regression_of_a_constant():
    y = np.array([1.0, 2.0, 3.0])
    model = surefit.PoissonRegressor(alpha=0.0, tol=1e-12).fit(NOTHING, y)
    assert model.intercept_ == pytest.approx(np.log(2.0), abs=1e-9)
    z = np.full(3, model.intercept_)
    assert np.sum(y * z - np.exp(z) - special.gammaln(y + 1)) == pytest.approx(-4.3260235664, abs=1e-9)
    assert np.sum(Poisson().gradient(y, z)) == pytest.approx(0.0, abs=1e-9)
    found = GLM("poisson", tol=1e-12).fit(NOTHING, y).summary(NOTHING, y)
    assert found.log_likelihood == pytest.approx(-4.3260235664, abs=1e-9)


@pytest.mark.covers("intro_to_ml:5.9", "cs443:11.8", by="GeneralizedLinearRegressor")
def test_the_gradient_of_a_canonical_model_is_columns_times_what_means_miss():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    for family, y in (
        ("poisson", rng.poisson(2.0, 40)),
        ("binomial", rng.integers(2, size=40)),
        ("gaussian", X[:, 0]),
    ):
        model = GLM(family, fit_intercept=False, tol=1e-12).fit(X, y.astype(float))
        missed = model.predict(X) - y
        np.testing.assert_allclose(X.T @ missed, 0.0, atol=1e-5)
    loss, w = Poisson(), np.array([0.3, -0.2])
    y = rng.poisson(2.0, 40).astype(float)
    h = 1e-6 * np.eye(2)
    slopes = [(loss.value(y, X @ (w + d)) - loss.value(y, X @ (w - d))).sum() / 2e-6 for d in h]
    np.testing.assert_allclose(X.T @ (np.exp(X @ w) - y), slopes, rtol=1e-6)
    bend = (X * np.exp(X @ w)[:, None]).T @ X
    differences = [X.T @ (np.exp(X @ (w + d)) - np.exp(X @ (w - d))) / 2e-6 for d in h]
    np.testing.assert_allclose(bend, differences, rtol=1e-6)


@pytest.mark.covers("intro_to_ml:5.10", "cs443:11.8", by="GeneralizedLinearRegressor")
def test_special_cases_are_the_models_that_have_a_name():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    numbers = X @ [1.0, 2.0, -1.0] + rng.normal(size=80)
    normal, least = GLM().fit(X, numbers), surefit.LinearRegression().fit(X, numbers)
    np.testing.assert_allclose(normal.coef_, least.coef_, atol=1e-10)
    classes = (numbers > 0).astype(int)
    noisy = np.where(rng.random(80) < 0.2, 1 - classes, classes)
    coins = GLM("binomial").fit(X, noisy)
    logistic = surefit.LogisticRegression(C=np.inf, tol=1e-8).fit(X, noisy)
    np.testing.assert_allclose(coins.coef_, logistic.coef_[0], atol=1e-5)
    counts = rng.poisson(3.0, 80).astype(float)
    assert GLM("poisson", tol=1e-12).fit(0.0 * X, counts).intercept_ == pytest.approx(np.log(counts.mean()))


@pytest.mark.covers("cs443:11.7", by="GeneralizedLinearRegressor")
@pytest.mark.parametrize(
    ("family", "y", "wanted"),
    [
        ("poisson", [1, 2, 3, 6], np.log(3.0)),
        ("binomial", [1, 1, 1, 0], np.log(3.0)),
        ("gaussian", [1, 2, 6, 7], 4.0),
    ],
)
def test_the_likeliest_natural_parameter_matches_the_mean(family, y, wanted):
    model = GLM(family, tol=1e-12).fit(np.zeros((4, 1)), np.array(y, dtype=float))
    assert model.intercept_ == pytest.approx(wanted, abs=1e-8)


@pytest.mark.covers("cs443:11.7", "intro_to_ml:B.28", by="distributions.Normal.fit")
@pytest.mark.covers("intro_to_ml:B.28", by="distributions.Poisson.fit")
@pytest.mark.covers("intro_to_ml:B.28", by="distributions.Exponential.fit")
def test_the_likeliest_variance_divides_by_the_number_of_rows():
    normal = surefit.distributions.Normal.fit([1.0, 2.0, 6.0, 7.0])
    assert (normal.mean, normal.scale**2) == (4.0, pytest.approx(6.5))
    assert surefit.distributions.Poisson.fit([1.0, 2.0, 3.0, 6.0]).rate == pytest.approx(3.0)
    assert surefit.distributions.Exponential.fit([1.0, 2.0, 6.0]).rate == pytest.approx(1 / 3)


@pytest.mark.covers("cs443:11.3", by="GeneralizedLinearRegressor")
@pytest.mark.parametrize("name", FAMILIES)
def test_the_link_takes_means_to_scores_and_back(name):
    family = FAMILIES[name]()
    mean = np.array([0.2, 0.5, 0.8])
    link = family.link()
    np.testing.assert_allclose(link.inverse(link.forward(mean)), mean, rtol=1e-12)
    if name in ("gaussian", "binomial", "poisson"):  # canonical: the slope of the mean is the variance
        np.testing.assert_allclose(
            link.inverse_derivative(link.forward(mean)), family.variance(mean), rtol=1e-12
        )
        model = surefit.GeneralizedLinearRegressor(name, link.name).fit([[0.0], [1.0], [2.0]], mean)
        scores = model.intercept_ + model.coef_[0] * np.arange(3.0)
        np.testing.assert_allclose(
            link.forward(model.predict([[0.0], [1.0], [2.0]])), scores, rtol=1e-12, atol=1e-15
        )  # 0, up to rounding


@pytest.mark.covers("ml_for_data_science:3.4", by="LinearRegression")
def test_least_squares_as_a_classifier_of_nine_temperatures():
    nine = datasets.fixture("temperatures_regression")
    X, y = np.array(nine.data["X"]), np.array(nine.data["y"], dtype=float)

    def boundary(X, y):
        model = surefit.LinearRegression().fit(X, y)
        right = np.mean((model.predict(X) > 0.5) == y)
        return (0.5 - model.intercept_) / model.coef_[0], model.coef_[0], right

    edge, _, right = boundary(X, y)
    assert edge == pytest.approx(37.1261083744, abs=1e-7)
    assert right == pytest.approx(8 / 9)
    moved = {
        40.0: (0.25257, 37.16407),
        42.0: (0.15573, 37.11787),
        45.0: (0.08882, 36.93408),
        60.0: (0.02409, 35.40811),
    }
    for more, (slope, edge) in moved.items():
        found = boundary(np.vstack([X, [[more]]]), np.append(y, 1.0))
        assert found[:2] == (pytest.approx(edge, abs=6e-6), pytest.approx(slope, abs=6e-6))
    logistic = surefit.LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    plain = logistic.fit(X, y).coef_.copy()
    np.testing.assert_allclose(
        logistic.fit(np.vstack([X, [[42.0]]]), np.append(y, 1.0)).coef_, plain, rtol=1e-4
    )


@pytest.mark.covers("ml_for_data_science:3.6", "ml_for_data_science:3.7", by="LogisticRegression")
def test_logistic_regression_of_nine_temperatures():
    nine = datasets.fixture("temperatures_logistic")
    X, y = np.array(nine.data["X"]), np.array(nine.data["y"])
    model = surefit.LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(X, y)
    assert model.intercept_[0] == pytest.approx(-370.3301271347, rel=1e-5)
    assert model.coef_[0, 0] == pytest.approx(10.0172105442, rel=1e-5)
    assert -model.intercept_[0] / model.coef_[0, 0] == pytest.approx(36.9693863877, abs=1e-6)
    wanted = [0.0089959667, 0.0241218134, 0.1548864003, 0.33290883, 0.576070529, 0.909710489, 0.9951080887]
    np.testing.assert_allclose(model.predict_proba(X)[:7, 1], wanted, rtol=1e-5)
    assert model.summary(X, y).log_likelihood == pytest.approx(-2.2611497298, abs=1e-9)


@pytest.mark.covers("ml_for_data_science:3.7", by="losses.Logistic")
@pytest.mark.covers("ml_for_data_science:3.7", by="minimize")
def test_gradient_ascent_on_the_likelihood_of_nine_temperatures():
    nine = datasets.fixture("temperatures_logistic")
    x, y = np.array(nine.data["X"])[:, 0], np.array(nine.data["y"], dtype=float)
    loss = Logistic()

    def ascend(x, step, count=20_000):
        A = np.column_stack([np.ones(9), x])
        found = surefit.minimize(
            lambda w: float(loss.value(y, A @ w).sum()),
            np.zeros(2),
            gradient=lambda w: A.T @ loss.gradient(y, A @ w),
            solver="gradient_descent",
            step=step,
            max_iter=count,
            tolerance=0.0,
        )
        return found.x, -found.trace.column("objective")[-1]  # the last point, which need not be the best

    standardised = (x - x.mean()) / x.std()
    assert ascend(x, 0.001)[1] == pytest.approx(-9.97, abs=5e-3)  # it swings to and fro
    assert ascend(standardised, 0.001)[1] == pytest.approx(-2.3847, abs=5e-5)
    w, likelihood = ascend(standardised, 0.1)
    assert likelihood == pytest.approx(-2.2611497298, abs=1e-9)
    np.testing.assert_allclose(w, [3.2005238246, 8.5840012552], rtol=1e-6)


@pytest.mark.covers("ml_lecture_notes:8.5", by="LogisticRegression")
def test_four_rows_with_three_of_a_class():
    X, y = np.ones((4, 1)), np.array([1, 1, 1, 0])
    model = surefit.LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-12).fit(X, y)
    assert model.coef_[0, 0] == pytest.approx(np.log(3.0), abs=1e-6)
    assert -model.summary(X, y).log_likelihood == pytest.approx(2.2493406, abs=1e-7)
    assert X[:, 0] @ Logistic().gradient(y, np.zeros(4)) == pytest.approx(-1.0)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 3))
    y = (X[:, 0] + rng.normal(size=30) > 0).astype(float)
    step, w, values = 4.0 / np.linalg.norm(X, 2) ** 2, np.zeros(3), []
    for _ in range(50):
        values.append(float(Logistic().value(y, X @ w).sum()))
        w -= step * (X.T @ Logistic().gradient(y, X @ w))
    assert (np.diff(values) <= 1e-12).all()


@pytest.mark.covers("ml_lecture_notes:8.6", by="LogisticRegression")
def test_softmax_regression():
    from surefit.losses.softmax import Softmax

    rng = np.random.default_rng(3)
    X, y = np.zeros((4, 1)), np.array([0, 0, 1, 2])
    model = surefit.LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.5, 0.25, 0.25]], atol=1e-6)
    X, y = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    fitted = surefit.LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    z = X @ fitted.coef_.T + fitted.intercept_
    same = Softmax().value(y, z) - Softmax().value(y, z + 5.0)
    np.testing.assert_allclose(same, 0.0, atol=1e-12)
    onehot = np.eye(3)[y]
    np.testing.assert_allclose(X.T @ (fitted.predict_proba(X) - onehot), 0.0, atol=1e-4)
    two = (y > 0).astype(int)
    W = np.zeros((60, 2))
    W[:, 1] = X @ [0.3, -0.7]
    np.testing.assert_allclose(Softmax().value(two, W), Logistic().value(two, W[:, 1]), rtol=1e-12)


@pytest.mark.covers("ml_for_data_science:3.7", by="LogisticRegression")
def test_separable_rows_have_no_finite_maximum():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = surefit.LogisticRegression(C=np.inf).fit(X, y)
    assert "separating-columns" in model.diagnosis_.codes()
