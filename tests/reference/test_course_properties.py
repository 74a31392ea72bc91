"""What the courses list as properties to test and as pitfalls, each by the name that a user would call."""

from __future__ import annotations

import numpy as np
import pytest

import surefit
from surefit import (
    PCA,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    information,
    linalg,
    losses,
    metrics,
    optimize,
    penalties,
    resample,
    trees,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4)) + 1.0
Y = X @ [1.0, -2.0, 0.0, 0.5] + RNG.normal(size=40)


@pytest.mark.covers("course_summary:B.1", by="information.entropy")
@pytest.mark.covers("course_summary:B.1", by="information.kl_divergence")
@pytest.mark.covers("course_summary:B.1", by="information.cross_entropy")
def test_entropy_is_largest_when_even_and_divergence_never_negative() -> None:
    for k in (2, 3, 8):
        assert information.entropy(np.full(k, 1 / k)) == pytest.approx(np.log(k))
        for p, q in RNG.dirichlet(np.ones(k), size=(50, 2)):
            assert information.entropy(p) <= np.log(k) + 1e-12
            assert information.kl_divergence(p, q) >= 0
            between = information.cross_entropy(p, q) - information.entropy(p)
            assert between == pytest.approx(information.kl_divergence(p, q), abs=1e-12)


def squares(w: np.ndarray) -> float:
    return 0.5 * float(np.sum((X @ w - Y) ** 2))


def squares_slope(w: np.ndarray) -> np.ndarray:
    return X.T @ (X @ w - Y)


@pytest.mark.covers("course_summary:B.2", by="optimize.check_gradient")
@pytest.mark.covers("course_summary:B.2", "ml_lecture_notes:10.9", by="minimize")
def test_descent_on_squares_ends_at_the_closed_form_unless_its_step_is_too_long() -> None:
    assert optimize.check_gradient(squares, squares_slope, RNG.normal(size=4)).holds
    bend = linalg.operator_norm(X) ** 2
    options = {"gradient": squares_slope, "solver": "gradient_descent", "tolerance": 0.0}
    best = LinearRegression(fit_intercept=False).fit(X, Y).coef_
    for share in (1.0, 1.9):
        found = surefit.minimize(squares, np.zeros(4), step=share / bend, max_iter=5000, **options)
        np.testing.assert_allclose(found.x, best, atol=1e-8)
    wild = surefit.minimize(squares, np.zeros(4), step=2.1 / bend, max_iter=300, **options)
    assert wild.trace.column("objective")[-1] > 1e3 * squares(np.zeros(4))
    labels = (Y.mean() < Y).astype(float)
    loss = losses.Logistic()
    calm = surefit.minimize(
        lambda w: float(loss.value(labels, X @ w).sum()),
        np.zeros(4),
        gradient=lambda w: X.T @ loss.gradient(labels, X @ w),
        solver="gradient_descent",
        step=3.9 / bend,
        max_iter=200,
        tolerance=0.0,
    )
    assert (np.diff(calm.trace.column("objective")) <= 1e-9).all()


@pytest.mark.covers("course_summary:B.3", by="Ridge")
def test_the_free_bias_takes_up_a_shift_of_the_targets() -> None:
    one, moved = Ridge(3.0).fit(X, Y), Ridge(3.0).fit(X, Y + 100.0)
    np.testing.assert_allclose(moved.coef_, one.coef_, rtol=1e-9)
    assert moved.intercept_ - one.intercept_ == pytest.approx(100.0)
    ahead = np.column_stack([np.ones(40), X])  # a bias among the coefficients is penalised, and fails
    held = [Ridge(3.0, fit_intercept=False).fit(ahead, y).coef_ for y in (Y, Y + 100.0)]
    assert np.abs(held[1][1:] - held[0][1:]).max() > 0.1


@pytest.mark.covers("course_summary:B.4", by="Ridge")
@pytest.mark.covers("course_summary:B.4", by="Lasso")
def test_paths_shrink_and_the_lasso_ends_at_nothing() -> None:
    lengths = [np.linalg.norm(Ridge(alpha).fit(X, Y).coef_) for alpha in np.logspace(-3, 4, 15)]
    assert (np.diff(lengths) < 0).all()
    most = np.abs((X - X.mean(axis=0)).T @ (Y - Y.mean())).max() / 40
    zeros = [int((Lasso(share * most).fit(X, Y).coef_ == 0).sum()) for share in (1e-4, 0.3, 0.99, 1.0 + 1e-9)]
    assert zeros[0] == 0
    assert zeros[2] < 4
    assert zeros[3] == 4


@pytest.mark.covers("course_summary:B.6", by="losses.Logistic")
@pytest.mark.covers("course_summary:B.6", by="losses.SquaredSigmoid")
def test_cross_entropy_bends_up_everywhere_and_squares_of_a_sigmoid_do_not() -> None:
    labels = (Y > 0).astype(float)
    least = []
    for w in RNG.normal(size=(50, 4)) * 3:
        up = losses.Logistic().curvature(labels, X @ w)
        assert np.linalg.eigvalsh((X * up[:, None]).T @ X).min() >= -1e-10
        either = losses.SquaredSigmoid().curvature(labels, X @ w)
        least.append(np.linalg.eigvalsh((X * either[:, None]).T @ X).min())
    assert min(least) < -1e-3


@pytest.mark.covers("course_summary:B.7", by="losses.Softmax")
def test_softmax_slopes_add_up_to_nothing_and_two_classes_are_logistic() -> None:
    z, labels = RNG.normal(size=(40, 3)) * 4, RNG.integers(3, size=40)
    slopes = losses.Softmax().gradient(labels, z)
    np.testing.assert_allclose(slopes.sum(axis=1), 0.0, atol=1e-14)
    two, pair = RNG.integers(2, size=40), z[:, :2]
    apart = pair[:, 1] - pair[:, 0]
    np.testing.assert_allclose(
        losses.Softmax().value(two, pair), losses.Logistic().value(two, apart), rtol=1e-10
    )
    np.testing.assert_allclose(
        losses.Softmax().gradient(two, pair)[:, 1], losses.Logistic().gradient(two, apart), atol=1e-14
    )


@pytest.mark.covers("course_summary:B.10", by="trees.impurity_decrease")
@pytest.mark.covers("course_summary:B.10", by="DecisionTreeClassifier.prune")
def test_no_split_raises_impurity_and_no_pruning_hurts_the_rows_it_goes_by() -> None:
    for parts in RNG.integers(0, 9, size=(200, 3, 4)) + np.eye(3, 4, dtype=int):
        for criterion in ("gini", "entropy", "misclassification"):
            assert trees.impurity_decrease(parts, criterion) >= -1e-12
    rows, kinds = RNG.normal(size=(120, 3)), RNG.integers(2, size=120)
    grown = DecisionTreeClassifier(random_state=0).fit(rows[:60], kinds[:60])
    assert set(grown.predict_proba(rows[:60]).ravel()) == {0.0, 1.0}  # every leaf is pure
    pruned = grown.prune(rows[60:], kinds[60:])
    assert pruned.score(rows[60:], kinds[60:]) >= grown.score(rows[60:], kinds[60:])


@pytest.mark.covers("course_summary:B.14", by="resample.KFold")
def test_folds_are_disjoint_exhaustive_and_even() -> None:
    for n, k in ((10, 3), (11, 5), (7, 7)):
        tests = [test for _, test in resample.KFold(k).split(np.arange(n))]
        assert sorted(np.concatenate(tests).tolist()) == list(range(n))
        sizes = [len(test) for test in tests]
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.covers("course_summary:B.15", by="metrics.roc_auc_score")
@pytest.mark.covers("course_summary:B.15", by="metrics.false_negative_rate")
@pytest.mark.covers("course_summary:B.16", by="metrics.false_positive_rate")
def test_rates_and_areas_over_all_thresholds() -> None:
    truth, scores = RNG.integers(2, size=60), RNG.normal(size=60)
    missed, alarms = [], []
    for t in np.r_[-np.inf, np.sort(scores), np.inf]:
        guess = (scores >= t).astype(int)
        missed.append(metrics.false_negative_rate(truth, guess))
        alarms.append(metrics.false_positive_rate(truth, guess))
        assert missed[-1] + metrics.recall_score(truth, guess) == pytest.approx(1.0)
        assert alarms[-1] + metrics.specificity_score(truth, guess) == pytest.approx(1.0)
    assert (np.diff(missed) >= 0).all()
    assert (np.diff(alarms) <= 0).all()
    area = metrics.roc_auc_score(truth, scores)
    assert metrics.roc_auc_score(truth, np.exp(3 * scores) - 7) == pytest.approx(area, rel=1e-14)
    assert metrics.roc_auc_score(truth, -scores) == pytest.approx(1 - area, rel=1e-14)
    assert metrics.roc_auc_score(truth, np.zeros(60)) == 0.5


@pytest.mark.covers("course_summary:B.20", by="metrics.rand_score")
@pytest.mark.covers("course_summary:B.20", by="metrics.silhouette_score")
def test_partitions_are_compared_whatever_their_names() -> None:
    a, b = RNG.integers(3, size=(2, 40))
    assert metrics.rand_score(a, b) == pytest.approx(metrics.rand_score(b, a))
    assert metrics.rand_score(a, np.array([2, 0, 1])[a]) == 1.0
    for labels in (a, b, (X[:, 0] > 1).astype(int)):
        assert -1 <= metrics.silhouette_score(X, labels) <= 1


@pytest.mark.covers("course_summary:B.22", by="PCA")
def test_components_leave_a_residual_at_right_angles() -> None:
    model = PCA(2).fit(X)
    codes = model.transform(X)
    residual = X - model.inverse_transform(codes)
    np.testing.assert_allclose(residual @ model.components_.T, 0.0, atol=1e-12)
    centred = X - X.mean(axis=0)
    by_rows = centred.T @ centred / 40  # with 1 / N
    kept, lost = (codes**2).sum() / 40, (residual**2).sum() / 40
    assert kept + lost == pytest.approx(np.trace(by_rows))
    np.testing.assert_allclose((codes**2).mean(axis=0), np.linalg.eigvalsh(by_rows)[::-1][:2], rtol=1e-10)


@pytest.mark.covers("ml_lecture_notes:10.1", by="DecisionTreeRegressor")
@pytest.mark.covers("ml_lecture_notes:10.2", by="LinearRegression")
def test_neither_every_wiggle_nor_too_few() -> None:
    rng = np.random.default_rng(1)
    x, new = rng.uniform(-2, 2, size=(2, 400, 1))
    y, truth = x[:, 0] ** 2 + rng.normal(size=400), new[:, 0] ** 2
    through_all, short = DecisionTreeRegressor().fit(x, y), DecisionTreeRegressor(max_depth=3).fit(x, y)
    assert metrics.mean_squared_error(y, through_all.predict(x)) == 0.0
    errors = [metrics.mean_squared_error(truth, model.predict(new)) for model in (through_all, short)]
    assert errors[0] > 2 * errors[1]
    # A line through a parabola stays wrong in the same places, however many rows there are.
    for n in (400, 40_000):
        many = rng.uniform(-2, 2, size=(n, 1))
        line = LinearRegression().fit(many, many[:, 0] ** 2)
        assert line.predict([[0.0]])[0] == pytest.approx(4 / 3, abs=0.2)  # where the parabola is 0


@pytest.mark.covers("ml_lecture_notes:10.3", by="optimize.bregman_divergence")
def test_distances_of_bregman_are_negative_for_what_is_not_convex() -> None:
    pairs = RNG.normal(size=(200, 2, 3)) * 2
    assert min(optimize.bregman_divergence(lambda x: np.sum(np.exp(x)), u, v) for u, v in pairs) >= -1e-6
    assert min(optimize.bregman_divergence(lambda x: np.sum(np.sin(x)), u, v) for u, v in pairs) < -0.1


@pytest.mark.covers("ml_lecture_notes:10.4", by="LinearRegression")
@pytest.mark.covers("ml_lecture_notes:10.5", by="linalg.SingularValues.amplification")
@pytest.mark.covers("ml_lecture_notes:10.6", by="linalg.SingularValues.ridge_condition")
def test_normal_equations_errors_and_what_ridge_does_to_both() -> None:
    twins = np.column_stack([X, X[:, 0]])
    model = LinearRegression(fit_intercept=False).fit(twins, Y)
    np.testing.assert_allclose(twins.T @ (Y - twins @ model.coef_), 0.0, atol=1e-9)  # solvable
    other = model.coef_ + np.array([1.0, 0, 0, 0, -1.0])
    np.testing.assert_allclose(twins @ other, twins @ model.coef_, atol=1e-10)  # and not uniquely
    thin = np.array([[1.0, 0.999], [1.0, 1.001]])
    values = linalg.SingularValues.of(thin)
    error = 0.01 * values.left[:, -1]
    moved = np.linalg.solve(thin, np.ones(2) + error) - np.linalg.solve(thin, np.ones(2))
    assert np.linalg.norm(moved) == pytest.approx(0.01 * values.amplification, rel=1e-9)
    assert values.ridge_condition(0.1) < 10 < values.condition
    changed = Ridge(0.1, fit_intercept=False).fit(thin, [1.0, 1.002]).coef_
    assert np.abs(changed - np.linalg.solve(thin, [1.0, 1.002])).max() > 0.1


@pytest.mark.covers("ml_lecture_notes:10.7", by="cross_validate")
def test_rows_to_validate_with_must_not_be_learnt_from() -> None:
    pairs = [(np.arange(30), np.arange(25, 40))]
    with pytest.raises(surefit.errors.SurefitError, match=r"row|share"):
        surefit.cross_validate(Ridge(), X, Y, split=pairs)


@pytest.mark.covers("ml_lecture_notes:10.11", by="penalties.Box")
@pytest.mark.covers("ml_lecture_notes:10.11", by="penalties.L2Ball")
def test_the_proximal_step_of_a_set_is_its_nearest_point() -> None:
    for v in RNG.normal(size=(20, 3)) * 3:
        for step in (0.1, 5.0):  # of any length
            np.testing.assert_array_equal(penalties.Box(-1, 1).prox(v, step), np.clip(v, -1, 1))
            inside = v / max(1.0, np.linalg.norm(v))
            np.testing.assert_allclose(penalties.L2Ball(1.0).prox(v, step), inside, rtol=1e-12)


@pytest.mark.covers("ml_lecture_notes:10.14", by="LogisticRegression")
def test_far_rows_on_the_right_side_move_the_line_of_squares_only() -> None:
    x = np.array([-3.0, -2, -1, 0.3, -0.3, 1, 2, 3])[:, None]
    y = np.repeat([0, 1], 4)
    far, more = np.r_[x, np.full((6, 1), 30.0)], np.r_[y, np.ones(6, dtype=int)]

    def boundary(rows: np.ndarray, kinds: np.ndarray) -> tuple[float, float]:
        line = LinearRegression().fit(rows, kinds)
        curve = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(rows, kinds)
        return (0.5 - line.intercept_) / line.coef_[0], -curve.intercept_[0] / curve.coef_[0, 0]

    assert boundary(x, y) == (pytest.approx(0.0, abs=1e-9), pytest.approx(0.0, abs=1e-6))
    assert boundary(far, more) == (pytest.approx(1.17712, abs=5e-6), pytest.approx(0.0, abs=1e-5))


@pytest.mark.covers("ml_for_data_science:1.11", by="DecisionTreeClassifier")
def test_five_irises_are_told_apart_by_their_petals() -> None:
    rows = [
        [4.4, 2.9, 1.4, 0.2],
        [4.8, 3.4, 1.6, 0.2],
        [5.4, 3.9, 1.3, 0.4],
        [5.2, 2.7, 3.9, 1.4],
        [6.0, 2.2, 4.0, 1.0],
    ]
    kinds = ["setosa"] * 3 + ["versicolor"] * 2
    petals = np.array(rows)[:, [2]]
    model = DecisionTreeClassifier(max_depth=1).fit(petals, kinds)
    assert model.tree_.threshold[0] == pytest.approx(2.75)
    assert model.score(petals, kinds) == 1.0
