"""Logistic regression as five courses teach it: their steps, their optima, and what they say of both."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

import surefit
from surefit import LinearModel, LinearRegression, LogisticRegression, datasets
from surefit.losses import Logistic, Softmax
from surefit.penalties import L2

EXACT = {"tol": 1e-11, "max_iter": 1000}


def cost(A, y, w, ridge=0.0):
    """The sum of the loss, and ridge / 2 times the squares of all but the last weight."""
    return float(Logistic().value(y, A @ w).sum()) + ridge / 2 * float(w[:-1] @ w[:-1])


def descent(A, y, step, count, ridge=0.0, share=1.0):
    """Gradient descent on ``share`` times the cost, the last weight free of penalty."""
    shrink = ridge * np.append(np.ones(A.shape[1] - 1), 0.0)
    return surefit.minimize(
        lambda w: share * cost(A, y, w, ridge),
        np.zeros(A.shape[1]),
        gradient=lambda w: share * (A.T @ Logistic().gradient(y, A @ w) + shrink * w),
        solver="gradient_descent",
        step=step,
        max_iter=count,
        tolerance=0.0,
        keep_points=True,
        convex=True,
    )


def points(found):
    return np.array([event.learned for event in found.trace])


def with_ones(X):
    return np.column_stack([X, np.ones(len(X))])


@pytest.mark.covers("intro_to_ml:5.1", "course_summary:3.1", "cs443:10.1", by="LogisticRegression")
def test_the_model_is_the_logistic_function_of_a_score():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + rng.logistic(size=80) > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    z = model.decision_function(X)
    np.testing.assert_allclose(z, X @ model.coef_[0] + model.intercept_[0], rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), np.column_stack([expit(-z), expit(z)]), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), z > 0)
    # Far out nothing overflows, nor is a probability lost from its logarithm.
    far = np.array([[1e4, 0.0], [-1e4, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sure, logs = model.predict_proba(far), model.predict_log_proba(far)
    np.testing.assert_allclose(sure, [[0, 1], [1, 0]], atol=1e-12)
    assert (logs.min(axis=1) < -1000).all()
    # A score of zero is even odds, and without a threshold of one's own the first class, as in scikit-learn.
    model.coef_[:], model.intercept_[:] = 1.0, 0.0
    assert model.predict_proba([[0.0, 0.0]]).tolist() == [[0.5, 0.5]]
    assert model.predict([[0.0, 0.0]]).tolist() == [0]
    # The sigmoid is e^z / (1 + e^z), one half at zero, and its slope is σ(1 - σ).
    u = np.linspace(-6, 6, 49)
    sigma = Logistic.link.inverse(u)
    np.testing.assert_allclose(sigma, np.exp(u) / (1 + np.exp(u)), rtol=1e-14)
    assert sigma[24] == 0.5
    np.testing.assert_allclose(Logistic.link.inverse_derivative(u), sigma * (1 - sigma), rtol=1e-12)
    slope = (Logistic.link.inverse(u + 1e-5) - Logistic.link.inverse(u - 1e-5)) / 2e-5
    np.testing.assert_allclose(Logistic.link.inverse_derivative(u), slope, rtol=1e-8)
    # A line through shares leaves [0, 1] somewhere, in any units.
    line = LinearRegression().fit(X, y)
    assert line.predict(20 * X).max() > 1
    assert line.predict(20 * X).min() < 0


@pytest.mark.covers("cs443:10.1", "intro_to_ml:5.1", by="FixedThresholdClassifier")
def test_who_gets_a_tie_and_where_the_threshold_is():
    """Class 1 unless p < 1/2 (one course), and only if p > t (another): w'x = 0 is 1 here, 0 there."""
    model = LogisticRegression(fit_intercept=False).fit([[-1.0], [1.0]], [0, 1])
    x = np.array([[-2.0], [-1e-9], [0.0], [1e-9], [2.0]])
    at_least = surefit.FixedThresholdClassifier(FrozenEstimator(model), threshold=0.5).fit(x, [0, 0, 1, 1, 1])
    assert at_least.predict_proba(x)[2].tolist() == [0.5, 0.5]
    assert at_least.predict(x).tolist() == [0, 0, 1, 1, 1]
    above = clone(at_least).set_params(tie="negative").fit(x, [0, 0, 1, 1, 1])
    assert above.predict(x).tolist() == [0, 0, 0, 1, 1]
    np.testing.assert_array_equal(above.predict(x), model.decision_function(x) > 0)
    chances = model.predict_proba(x)[:, 1]
    for t in (0.2, 0.5, chances[4], 0.9):
        np.testing.assert_array_equal(above.set_params(threshold=t).predict(x), chances > t)
        np.testing.assert_array_equal(at_least.set_params(threshold=t).predict(x), chances >= t)


@pytest.mark.covers("course_summary:3.4", by="minimize")
def test_two_steps_of_descent_with_the_mean_loss():
    four = datasets.fixture("logistic_four_points")
    A, y = with_ones(four.data["X"]), four.data["y"]
    path = points(descent(A, y, step=1.0, count=2, share=0.25))
    np.testing.assert_allclose(path, [[0.5, 0.0], [0.6156750207, -0.1677730965]], atol=5e-11)
    costs = [cost(A, y, w) / 4 for w in path]
    np.testing.assert_allclose(costs, [0.5454747826, 0.5055797682], atol=5e-11)
    np.testing.assert_allclose(path, four.answers["plain_steps"])


@pytest.mark.covers("course_summary:3.7", by="LogisticRegression")
def test_steps_and_optima_with_a_penalty_that_spares_the_intercept():
    four = datasets.fixture("logistic_four_points")
    X, y = four.data["X"], four.data["y"]
    A = with_ones(X)
    path = points(descent(A, y, step=1.0, count=2, ridge=1.0, share=0.25))
    np.testing.assert_allclose(path, [[0.5, 0.0], [0.4906750207, -0.1677730965]], atol=5e-11)
    costs = [cost(A, y, w, 1.0) / 4 for w in path]
    np.testing.assert_allclose(costs, [0.5767247826, 0.5519353989], atol=5e-11)
    best = {
        0.1: (2.65109, -3.97663, 0.2149371203),
        1.0: (0.958286, -1.437429, 0.4623521160),
        10.0: (0.177884, -0.266826, 0.6486894512),
    }
    for strength, (slope, intercept, value) in best.items():
        model = LogisticRegression(C=1 / strength, **EXACT).fit(X, y)
        w = np.append(model.coef_[0], model.intercept_)
        np.testing.assert_allclose(w, [slope, intercept], rtol=3e-6)
        assert cost(A, y, w, strength) / 4 == pytest.approx(value, abs=5e-11)
        assert w[1] == pytest.approx(-1.5 * w[0], rel=1e-6)


@pytest.mark.covers("course_summary:3.8", by="LogisticRegression")
def test_between_no_penalty_and_all_penalty():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 6))
    y = (X @ [1.0, -1.0, 0.5, 0.2, -0.2, 0.1] + rng.logistic(size=120) > 0.7).astype(int)
    plain = LogisticRegression(C=np.inf, **EXACT).fit(X, y)
    fits = [LogisticRegression(C=C, **EXACT).fit(X, y) for C in (1e-12, 1e-2, 1.0, 1e2, 1e12)]
    lengths = [np.linalg.norm(model.coef_) for model in fits]
    assert (np.diff(lengths) > 0).all()
    np.testing.assert_allclose(fits[-1].coef_, plain.coef_, rtol=1e-5)
    assert lengths[0] < 1e-9
    assert fits[0].intercept_[0] == pytest.approx(logit(y.mean()), abs=1e-6)
    assert all((model.coef_ != 0).all() for model in fits)  # all columns stay, each with less to say


@pytest.mark.covers("course_summary:3.9", by="LogisticRegression")
def test_the_likeliest_constant_is_that_of_a_coin():
    y = np.array([1, 1, 1, 0, 0, 1, 1])
    model = LogisticRegression(C=np.inf, **EXACT).fit(np.zeros((7, 1)), y)
    coin = surefit.distributions.Bernoulli.fit(y)
    assert model.predict_proba([[0.0]])[0, 1] == pytest.approx(coin.probability, abs=1e-7)
    # The likelihood is that of a coin for each row, whose probability is the model's.
    X = np.random.default_rng(1).normal(size=(7, 1))
    model = LogisticRegression(C=np.inf, **EXACT).fit(X, y)
    coins = [
        surefit.distributions.Bernoulli(p).log_density(k)
        for p, k in zip(model.predict_proba(X)[:, 1], y, strict=True)
    ]
    assert model.summary(X, y).log_likelihood == pytest.approx(sum(coins), rel=1e-9)
    # Both regressions have residuals that add up to nothing, in all and along every column.
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 2))
    y = (X[:, 0] + rng.logistic(size=50) > 0).astype(float)
    line, curve = LinearRegression().fit(X, y), LogisticRegression(C=np.inf, **EXACT).fit(X, y)
    for missed in (y - line.predict(X), y - curve.predict_proba(X)[:, 1]):
        np.testing.assert_allclose(with_ones(X).T @ missed, 0.0, atol=1e-5)


@pytest.mark.covers("course_summary:3.5", "course_summary:3.6", by="LogisticRegression")
def test_softmax_by_its_numbers():
    start = datasets.fixture("softmax_start")
    z = np.array([[1.0, 2.0, 3.0]])
    p = Softmax.link.inverse(z)[0]
    np.testing.assert_allclose(p, [0.0900305732, 0.2447284711, 0.6652409558], atol=5e-11)
    assert Softmax().value([2], z)[0] == pytest.approx(0.4076059644, abs=5e-11)
    row = Softmax().curvature([2], z)[0, 0]
    np.testing.assert_allclose(row, [0.0819250691, -0.0220330445, -0.0598920245], atol=5e-11)
    X, y = np.array(start.data["X"]), np.array(start.data["y"])
    slopes = X.T @ Softmax().gradient(y, np.zeros((3, 3))) / 3
    np.testing.assert_allclose(slopes, np.array([[-1, 2, -1], [2, -1, -1]]) / 9, atol=1e-15)
    assert Softmax().value(y, np.zeros((3, 3))).mean() == pytest.approx(np.log(3))
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(90, 2)), rng.integers(3, size=90)
    model = LogisticRegression(**EXACT).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-6)  # scores may move together
    # Of two classes it is the logistic regression of their difference, with half the penalty.
    two = (y > 0).astype(int)
    pair = LinearModel("softmax", L2(0.1), tol=1e-12).fit(X, two)
    one = LinearModel("logistic", L2(0.05), tol=1e-12).fit(X, two)
    coef = np.asarray(pair.coef_)
    np.testing.assert_allclose(coef[1] - coef[0], np.ravel(one.coef_), atol=1e-5)


@pytest.mark.covers("intro_to_ml:5.3", "cs443:10.2", "cs443:10.3", "cs443:10.4", by="minimize")
def test_descent_reaches_the_optimum_that_the_estimator_proves():
    rng = np.random.default_rng(4)
    A = with_ones(rng.normal(size=(60, 2)))
    y = (A[:, 0] + rng.logistic(size=60) > 0).astype(float)
    w = rng.normal(size=3)
    np.testing.assert_allclose(A.T @ Logistic().gradient(y, A @ w), A.T @ expit(A @ w) - A.T @ y, rtol=1e-12)
    by_hand = -(y * np.log(expit(A @ w)) + (1 - y) * np.log(1 - expit(A @ w))).sum()
    assert cost(A, y, w) == pytest.approx(by_hand, rel=1e-12)
    assert cost(A, y, w) == pytest.approx((np.logaddexp(0, A @ w) - y * (A @ w)).sum(), rel=1e-12)
    found = descent(A, y, step=4 / np.linalg.norm(A, 2) ** 2, count=500)
    assert (np.diff(found.trace.column("objective")) <= 1e-12).all()
    model = LogisticRegression(C=np.inf, **EXACT).fit(A[:, :2], y)
    np.testing.assert_allclose(found.x, np.append(model.coef_[0], model.intercept_), atol=1e-6)
    # Steps may shrink with time, as long as they add up to no bound.
    w = np.zeros(3)
    for t in range(1, 4001):
        w -= 0.5 / np.sqrt(t) * A.T @ Logistic().gradient(y, A @ w)
    np.testing.assert_allclose(w, found.x, atol=1e-5)


@pytest.mark.covers("intro_to_ml:5.5", "cs443:9.3", by="LogisticRegression.decision_function")
def test_the_boundary_is_a_plane_across_the_coefficients():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 2))
    y = (X @ [2.0, -1.0] + 0.5 + rng.logistic(size=100) > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    (w,), (b,) = model.coef_, model.intercept_
    along = np.linspace(-3, 3, 7)
    line = np.column_stack([along, -(w[0] * along + b) / w[1]])
    np.testing.assert_allclose(model.decision_function(line), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.diff(line, axis=0) @ w, 0.0, atol=1e-12)
    # A step of d across the plane is a score of d |w|.
    across = line[0] + 1.7 * w / np.linalg.norm(w)
    assert model.decision_function([across])[0] / np.linalg.norm(w) == pytest.approx(1.7)
    # Another threshold t is another plane, where the score is the logit of t.
    t = 0.8
    shifted = line + np.array([0.0, logit(t) / w[1]])
    np.testing.assert_allclose(model.predict_proba(shifted)[:, 1], t, rtol=1e-12)
    # Squares of the columns bend the boundary: a circle is one plane among them.
    inside = (np.sum(X**2, axis=1) < 1.2).astype(int)
    plain, bent = LogisticRegression(C=1e3).fit(X, inside), LogisticRegression(C=1e3).fit(X**2, inside)
    assert bent.score(X**2, inside) > 0.95 > plain.score(X, inside)


@pytest.mark.covers("intro_to_ml:5.6", by="LogisticRegression")
def test_penalties_of_the_summed_loss():
    rows = datasets.fixture("logistic_newton_start")
    X, y = np.array(rows.data["X"]), np.array(rows.data["y"])
    # A strength of 1 on squares that are not halved is C = 1 / 2.
    model = LogisticRegression(C=0.5, fit_intercept=False, **EXACT).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], [-0.0931904918, 0.6019350624], atol=1e-7)
    gradient = X.T @ (expit(X @ model.coef_[0]) - y) + 2 * model.coef_[0]
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6)
    rng = np.random.default_rng(6)
    X = rng.normal(size=(100, 8))
    y = (X[:, 0] - X[:, 1] + rng.logistic(size=100) > 0).astype(int)
    strength = 6.0
    sparse = LogisticRegression(C=1 / strength, l1_ratio=1.0, fit_intercept=False, **EXACT).fit(X, y)
    w = sparse.coef_[0]
    slopes = X.T @ (expit(X @ w) - y)
    assert 0 < np.count_nonzero(w) < 8
    assert (np.abs(slopes[w == 0]) <= strength).all()
    np.testing.assert_allclose(slopes[w != 0], -strength * np.sign(w[w != 0]), rtol=1e-5)


@pytest.mark.covers("cs443:10.6", by="LogisticRegression")
def test_classes_that_can_be_told_apart_need_a_penalty():
    four = datasets.fixture("logistic_separable")
    x, y = np.array(four.data["X"])[:, 0], np.array(four.data["y"], dtype=float)
    w, seen = 0.0, {}
    for k in range(1, 10_001):
        w -= 0.1 * x @ Logistic().gradient(y, x * w)
        seen[k] = w
    found = [seen[k] for k in (10, 100, 1000, 10_000)]
    np.testing.assert_allclose(found, [1.3943, 3.1751, 5.3293, 7.6053], atol=5e-5)
    options = {"fit_intercept": False, **EXACT}
    held = LogisticRegression(C=2.0, **options).fit(x[:, None], y)
    assert held.certificate_.holds
    assert x @ Logistic().gradient(y, x * held.coef_[0, 0]) + held.coef_[0, 0] / 2 == pytest.approx(
        0, abs=1e-6
    )
    with pytest.warns(surefit.core.errors.SeparationWarning):
        LogisticRegression(C=np.inf, fit_intercept=False).fit(x[:, None], y)


@pytest.mark.covers("cs443:9.2", by="RidgeClassifier")
def test_squares_move_a_boundary_that_the_likelihood_leaves_alone():
    rows = datasets.fixture("squares_as_classifier")
    X, y = np.array(rows.data["X"]), np.array(rows.data["y"])
    far_X, far_y = np.vstack([X, rows.data["far"]]), np.append(y, np.ones(6))
    for data, labels, wanted in ((X, y, 0.0), (far_X, far_y, 1.17712)):
        squares = surefit.RidgeClassifier(alpha=0.0).fit(data, labels)
        # Targets of -1 and 1 are twice those of 0 and 1 less one: the same boundary.
        boundary = -np.ravel(squares.intercept_)[0] / np.ravel(squares.coef_)[0]
        assert boundary == pytest.approx(wanted, abs=5e-6)
        curve = LogisticRegression(C=np.inf, **EXACT).fit(data, labels)
        assert -curve.intercept_[0] / curve.coef_[0, 0] == pytest.approx(0.0, abs=1e-6)
    assert squares.predict([[1.0]])[0] == 0


@pytest.mark.covers("ml_for_data_science:3.2", by="minimize")
def test_descent_on_a_line_through_nine_temperatures():
    nine = datasets.fixture("temperatures_regression")
    x, y = np.array(nine.data["X"])[:, 0], np.array(nine.data["y"], dtype=float)
    A = np.column_stack([np.ones(9), (x - x.mean()) / x.std()])
    best = np.linalg.lstsq(A, y, rcond=None)[0]
    bound = 2 * 9 / np.linalg.eigvalsh(A.T @ A).max()

    def stepped(step, count):
        return surefit.minimize(
            lambda w: float((A @ w - y) @ (A @ w - y)) / 18,
            np.zeros(2),
            gradient=lambda w: A.T @ (A @ w - y) / 9,
            solver="gradient_descent",
            step=step,
            max_iter=count,
            tolerance=0.0,
        )

    below, above = stepped(0.95 * bound, 2000), stepped(1.05 * bound, 200)
    np.testing.assert_allclose(below.x, best, atol=1e-10)
    assert above.trace.column("objective")[-1] > 1e3  # the answer is the best point that was seen
    slope = below.x[1] / x.std()
    assert slope == pytest.approx(nine.answers["slope"], rel=1e-9)
    assert below.x[0] - slope * x.mean() == pytest.approx(nine.answers["intercept"], rel=1e-9)
    # Single rows in turn, with a step that shrinks, come near it too.
    w = np.zeros(2)
    for t in range(9 * 3000):
        i = t % 9
        w -= 0.5 / (1 + t / 90) * (A[i] @ w - y[i]) * A[i]
    np.testing.assert_allclose(w, best, atol=0.02)


@pytest.mark.parametrize("kind", ["plain", "scaled", "correlated", "rare"])
def test_the_likelihood_is_never_below_statsmodels(kind):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 4))
    z = X @ [1.0, -0.5, 0.25, 0.0]
    if kind == "correlated":
        X[:, 3] = X[:, 0] + 1e-3 * X[:, 3]
    y = (z + rng.logistic(size=400) > (3.5 if kind == "rare" else 0.0)).astype(float)
    data = X * [1e-4, 1.0, 1e4, 10.0] + [0.0, 50.0, 0.0, 0.0] if kind == "scaled" else X
    theirs = sm.Logit(y, with_ones(X)).fit(disp=0, maxiter=200, tol=1e-12)
    model = LogisticRegression(C=np.inf).fit(data, y)
    ours = float(Logistic().value(y, model.decision_function(data)).sum())
    assert ours <= -theirs.llf * (1 + 1e-6)
    exact = LogisticRegression(C=np.inf, **EXACT).fit(data, y)
    np.testing.assert_allclose(exact.predict_proba(data)[:, 1], theirs.predict(), atol=1e-6)
