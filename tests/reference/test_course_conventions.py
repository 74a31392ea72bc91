"""Scales and settings that the courses tabulate, each as the same minimiser under two names."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from surefit import (
    DecisionTreeClassifier,
    GeneralizedLinearRegressor,
    GridSearch,
    LADRegressor,
    Lasso,
    LinearModel,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    OrdinalClassifier,
    PoissonRegressor,
    Ridge,
    datasets,
    kernels,
    losses,
    metrics,
    penalties,
)

RNG = np.random.default_rng(4)
N = 50
X = RNG.normal((0.0, 0.5, 1.0), size=(N, 3))
Y = X @ [1.5, -1.0, 0.3] + 0.5 * RNG.normal(size=N)
LABELS = (Y + RNG.normal(size=N) > 0).astype(float)


def of_objective(data: float, squares: float) -> np.ndarray:
    """The minimiser of ``data * sum r^2 + squares * ||w||^2``, by its normal equations."""
    return np.linalg.solve(X.T @ X + squares / data * np.eye(3), X.T @ Y)


@pytest.mark.covers("cs443:0.2", by="Ridge")
@pytest.mark.covers("ml_lecture_notes:0.2", by="Ridge")
@pytest.mark.parametrize(
    ("data", "squares", "alpha"),
    [
        (1 / (2 * N), 0.3, 2 * N * 0.3),
        (1 / N, 0.3, N * 0.3),
        (1.0, 0.3 / 2, 0.3 / 2),
        (1 / 2, 0.3 / 2, 0.3),
        (1 / (2 * N), 0.3 / 2, N * 0.3),
    ],
)
def test_every_printed_scale_of_ridge_is_a_strength_of_ours(
    data: float, squares: float, alpha: float
) -> None:
    found = Ridge(alpha=alpha, fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(found.coef_, of_objective(data, squares), rtol=1e-10)


@pytest.mark.covers("cs443:0.2", by="Lasso")
@pytest.mark.covers("ml_lecture_notes:0.2", by="Lasso")
def test_the_lasso_of_means_is_that_of_sums_with_a_strength_of_n_times_as_much() -> None:
    Q = np.linalg.qr(X)[0]  # for orthonormal columns the lasso of sums cuts at its strength
    pulls = Q.T @ Y
    cut = 0.4 * np.abs(pulls).max()
    found = Lasso(alpha=cut / N, fit_intercept=False, tol=1e-12).fit(Q, Y)
    np.testing.assert_allclose(found.coef_, np.sign(pulls) * np.maximum(np.abs(pulls) - cut, 0), atol=1e-7)
    largest = np.abs(X.T @ Y).max() / N
    assert not Lasso(alpha=largest * 1.0001, fit_intercept=False).fit(X, Y).coef_.any()
    assert Lasso(alpha=largest * 0.999, fit_intercept=False, tol=1e-12).fit(X, Y).coef_.any()


@pytest.mark.covers("cs443:0.2", by="LogisticRegression")
@pytest.mark.covers("ml_lecture_notes:0.2", by="LogisticRegression")
@pytest.mark.covers("course_summary:C.1", by="LogisticRegression")
def test_the_sum_of_logistic_losses_has_its_gradient_without_a_mean() -> None:
    strength = 0.7
    found = LogisticRegression(C=1 / strength, fit_intercept=False, tol=1e-12).fit(X, LABELS)
    w = found.coef_.ravel()
    np.testing.assert_allclose(X.T @ (expit(X @ w) - LABELS) + strength * w, 0.0, atol=1e-5)
    # 1/m of the loss and lambda/(2m) of the squares: the same minimiser
    mean = LinearModel(losses.Logistic(), penalties.L2(strength / N), fit_intercept=False, tol=1e-12).fit(
        X, LABELS
    )
    np.testing.assert_allclose(mean.coef_.ravel(), w, rtol=1e-5)
    plain = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-12).fit(X, LABELS)
    np.testing.assert_allclose(X.T @ (expit(X @ plain.coef_.ravel()) - LABELS), 0.0, atol=1e-5)


@pytest.mark.covers("cs443:0.2", by="LinearSVC")
@pytest.mark.covers("ml_lecture_notes:0.2", by="LinearSVC")
@pytest.mark.covers("course_summary:C.1", by="LinearSVC")
def test_the_sum_of_hinges_keeps_its_dual_variables_between_0_and_1() -> None:
    strength = 0.5
    signs = 2 * LABELS - 1
    model = LinearSVC(loss="hinge", C=1 / strength, fit_intercept=False, tol=1e-8).fit(X, LABELS)
    dual = np.abs(np.ravel(model.certificate_.witness["slopes"]))
    assert dual.min() >= 0
    assert dual.max() <= 1
    np.testing.assert_allclose(X.T @ (signs * dual) / strength, model.coef_.ravel(), rtol=1e-4, atol=1e-5)
    w = model.coef_.ravel()
    hinges = np.maximum(0, 1 - signs * (X @ w)).sum()
    best = hinges / strength + 0.5 * w @ w
    for _ in range(50):  # 1/m of hinges and lambda/(2m) of squares is this over m times C
        other = w + 0.1 * RNG.normal(size=3)
        theirs = np.maximum(0, 1 - signs * (X @ other)).sum() / strength + 0.5 * other @ other
        assert theirs >= best - 1e-6


@pytest.mark.covers("course_summary:C.1", by="LinearModel")
def test_the_factor_before_a_sum_of_squares_moves_no_minimiser() -> None:
    best = of_objective(1.0, 0.0)
    found = LinearModel("squared", fit_intercept=False, tol=1e-12).fit(X, Y)
    np.testing.assert_allclose(found.coef_, best, rtol=1e-6)
    np.testing.assert_allclose(LinearRegression(fit_intercept=False).fit(X, Y).coef_, best, rtol=1e-10)


@pytest.mark.covers("course_summary:C.1", by="kernels.Polynomial")
@pytest.mark.covers("course_summary:C.1", by="kernels.Logistic")
@pytest.mark.covers("course_summary:C.1", by="kernels.Tanh")
def test_kernels_have_the_scale_of_the_table() -> None:
    a, b, width = np.array([[1.0, 3.0]]), np.array([[2.0, 3.0]]), 2.0  # a'b = 11
    two = kernels.Polynomial.scaled_by_width(np.sqrt(width), degree=2)
    assert two(a, b)[0, 0] == pytest.approx(42.25)
    assert kernels.Polynomial(degree=2)(a, b)[0, 0] == pytest.approx(144.0)
    assert kernels.Logistic(sigma=np.sqrt(11.0))(a, b)[0, 0] == pytest.approx(0.7310585786)
    assert kernels.Tanh(gamma=1 / 11, coef0=0.0)(a, b)[0, 0] == pytest.approx(np.tanh(1.0))


@pytest.mark.covers("course_summary:B.5", by="LADRegressor")
def test_reweighting_lowers_absolute_errors_at_each_round_and_bears_an_outlier() -> None:
    model = LADRegressor(solver="irls", tol=1e-6).fit(X, Y)
    errors = model.trace_.column("objective")
    assert len(errors) > 3
    assert (np.diff(errors) <= 1e-9 * errors[0]).all()
    spoilt = Y.copy()
    spoilt[7] += 1000.0
    absolute = LADRegressor(solver="irls", tol=1e-6).fit(X, spoilt)
    squared, clean = LinearRegression().fit(X, spoilt), LinearRegression().fit(X, Y)
    assert np.abs(absolute.coef_ - model.coef_).max() < 0.2
    assert np.abs(squared.coef_ - clean.coef_).max() > 5.0


@pytest.mark.covers("ml_for_data_science:4.1", by="GeneralizedLinearRegressor")
def test_the_special_cases_of_generalised_linear_models() -> None:
    normal = GeneralizedLinearRegressor().fit(X, Y)
    squares = LinearRegression().fit(X, Y)
    np.testing.assert_allclose(normal.coef_, squares.coef_, rtol=1e-8)
    assert normal.intercept_ == pytest.approx(squares.intercept_, rel=1e-8)
    counts = RNG.poisson(np.exp(0.3 * X[:, 0] + 1.0)).astype(float)
    log = GeneralizedLinearRegressor("poisson", "log").fit(X, counts)
    poisson = PoissonRegressor(alpha=0.0, tol=1e-10).fit(X, counts)
    np.testing.assert_allclose(log.coef_, poisson.coef_, rtol=1e-5)
    shares = GeneralizedLinearRegressor("binomial", "logit").fit(X, LABELS)
    logistic = LogisticRegression(C=np.inf, tol=1e-12).fit(X, LABELS)
    np.testing.assert_allclose(shares.coef_, logistic.coef_.ravel(), rtol=1e-5)
    np.testing.assert_allclose(shares.predict(X), logistic.predict_proba(X)[:, 1], rtol=1e-5)


@pytest.mark.covers("ml_for_data_science:4.1", by="OrdinalClassifier")
@pytest.mark.covers("ml_for_data_science:4.1", by="LogisticRegression")
def test_cumulative_logits_and_softmax_of_two_classes_are_logistic_regression() -> None:
    logistic = LogisticRegression(C=np.inf, tol=1e-12).fit(X, LABELS)
    ordered = OrdinalClassifier().fit(X, LABELS)
    np.testing.assert_allclose(ordered.predict_proba(X), logistic.predict_proba(X), atol=1e-5)
    softmax = LinearModel(losses.Softmax(), penalties.L2(1 / N), tol=1e-12)
    three = np.digitize(Y, [-0.5, 0.5])
    several = LogisticRegression(C=1.0, tol=1e-12).fit(X, three)
    scores = several.decision_function(X)
    np.testing.assert_allclose(
        several.predict_proba(X), np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True), rtol=1e-10
    )
    assert softmax.loss.name == "softmax"


@pytest.mark.covers("ml_for_data_science:D.1", by="DecisionTreeClassifier")
def test_one_split_on_the_length_of_petals_tells_five_irises_apart() -> None:
    rows = np.array(
        [
            [4.4, 2.9, 1.4, 0.2],
            [4.8, 3.4, 1.6, 0.2],
            [5.4, 3.9, 1.3, 0.4],
            [5.2, 2.7, 3.9, 1.4],
            [6.0, 2.2, 4.0, 1.0],
        ]
    )
    species = np.array(["setosa"] * 3 + ["versicolor"] * 2)
    stump = DecisionTreeClassifier(max_depth=1).fit(rows[:, [2]], species)
    assert stump.score(rows[:, [2]], species) == 1.0
    assert stump.tree_.threshold[0] == pytest.approx(2.75)
    assert DecisionTreeClassifier(max_depth=1).fit(rows, species).score(rows, species) == 1.0


@pytest.mark.covers("ml_for_data_science:D.1", by="datasets.load")
@pytest.mark.covers("ml_for_data_science:D.1", by="datasets.fixture")
@pytest.mark.covers("ml_for_data_science:D.1", by="datasets.draw")
def test_the_tables_that_the_course_names_are_there() -> None:
    iris = datasets.load("iris")
    assert (iris.X.shape, iris.target) == ((150, 4), "species")
    assert len(datasets.fixture("temperatures_regression").data["y"]) == 9
    for name in ("wave", "xor", "rings"):
        made = datasets.draw(name, rows=60, random_state=0)
        assert len(made.y) == 60


@pytest.mark.covers("ml_lecture_notes:8.1", by="LinearRegression")
@pytest.mark.covers("cs443:9.1", by="metrics.zero_one_loss")
def test_least_squares_of_labels_can_err_less_and_mistake_more() -> None:
    x = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])[:, None]
    y = np.array([0.0] * 3 + [1.0] * 3)
    near = LinearRegression().fit(x, y)
    x, y = np.vstack([x, np.full((6, 1), 30.0)]), np.append(y, np.ones(6))
    far = LinearRegression().fit(x, y)
    mistakes = [metrics.zero_one_loss(y, (model.predict(x) > 0.5).astype(float)) for model in (near, far)]
    errors = [metrics.mean_squared_error(y, model.predict(x)) for model in (near, far)]
    assert errors[1] < errors[0] / 10
    assert mistakes == [0.0, pytest.approx(1 / 12)]


@pytest.mark.covers("cs443:9.1", by="metrics.accuracy_score")
@pytest.mark.covers("cs443:9.1", by="LogisticRegression")
def test_the_risk_counts_mistakes_and_classes_have_no_order() -> None:
    classes = np.digitize(Y, [-0.5, 0.5])
    names = np.array(["b", "c", "a"])  # another order than their numbers'
    plain, named = (LogisticRegression(tol=1e-10).fit(X, y) for y in (classes, names[classes]))
    guess = plain.predict(X)
    assert 1 - metrics.accuracy_score(classes, guess) == pytest.approx(np.mean(guess != classes))
    np.testing.assert_array_equal(named.predict(X), names[guess])


@pytest.mark.covers("ml_lecture_notes:10.8", by="GridSearch")
def test_the_strength_is_chosen_by_the_loss_of_rows_set_aside_without_the_penalty() -> None:
    strengths = [1e-3, 1.0, 10.0, 100.0]
    noisy = Y + 3 * RNG.normal(size=N)
    train, aside = np.arange(30), np.arange(30, N)
    found = GridSearch(
        Ridge(), {"alpha": strengths}, scoring="mean_squared_error", split=[(train, aside)], refit=False
    ).fit(X, noisy)
    fits = [Ridge(alpha=alpha).fit(X[train], noisy[train]) for alpha in strengths]
    plain = [metrics.mean_squared_error(noisy[aside], fit.predict(X[aside])) for fit in fits]
    penalised = [
        loss + a * fit.coef_ @ fit.coef_ for loss, a, fit in zip(plain, strengths, fits, strict=True)
    ]
    assert found.best_params_ == {"alpha": strengths[int(np.argmin(plain))]}
    assert np.argmin(plain) != np.argmin(penalised)


@pytest.mark.covers("course_summary:0", by="Lasso")
@pytest.mark.covers("course_summary:0", by="Ridge")
def test_lasso_leaves_columns_out_where_ridge_shrinks_all_of_them() -> None:
    rng = np.random.default_rng(9)
    wide = rng.normal(size=(40, 12))
    y = 3 * wide[:, 0] + 0.5 * rng.normal(size=40)
    sparse, shrunk = Lasso(alpha=0.3).fit(wide, y), Ridge(alpha=40.0).fit(wide, y)
    assert np.count_nonzero(sparse.coef_) <= 3
    assert np.count_nonzero(shrunk.coef_) == 12
    assert np.abs(shrunk.coef_).max() < np.abs(LinearRegression().fit(wide, y).coef_).max()


@pytest.mark.covers("course_summary:0", by="losses.Logistic")
def test_the_printed_gradient_is_right_for_labels_of_plus_and_minus_one_alone() -> None:
    w = np.array([0.3, -0.2, 0.1])
    signs, z = 2 * LABELS - 1, X @ w
    slope = X.T @ losses.Logistic().gradient(LABELS, z) / N
    np.testing.assert_allclose(X.T @ (signs * (expit(signs * z) - 1)) / N, slope, rtol=1e-12)
    assert np.abs(X.T @ (LABELS * (expit(z) - 1)) / N - slope).max() > 0.05


@pytest.mark.covers("course_summary:0", by="metrics.false_negative_rate")
@pytest.mark.covers("course_summary:0", by="metrics.false_positive_rate")
def test_a_higher_threshold_misses_more_and_alarms_less() -> None:
    score = LogisticRegression().fit(X, LABELS).predict_proba(X)[:, 1]
    missed, alarms = [], []
    for threshold in np.linspace(0.05, 0.95, 19):
        guess = (score > threshold).astype(float)
        missed.append(metrics.false_negative_rate(LABELS, guess))
        alarms.append(metrics.false_positive_rate(LABELS, guess))
    assert (np.diff(missed) >= 0).all()
    assert (np.diff(alarms) <= 0).all()
