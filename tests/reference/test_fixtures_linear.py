"""The worked examples of regression, computed by numpy, scipy and scikit-learn."""

from functools import partial

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import expit, gammaln, log_softmax, softmax
from scipy.stats import norm
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.metrics import mutual_info_score

from surefit import datasets

close = partial(np.testing.assert_allclose, rtol=1e-8, atol=1e-9)


def with_ones(X: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(X)), X])


def line(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(with_ones(X), y, rcond=None)[0]


def newton(X: np.ndarray, y: np.ndarray, penalty: np.ndarray | float = 0.0, steps: int = 100) -> np.ndarray:
    """Minimise the sum of log losses plus half of a quadratic penalty."""
    w = np.zeros(X.shape[1])
    for _ in range(steps):
        p = expit(X @ w)
        H = (X * (p * (1 - p))[:, None]).T @ X + np.diag(np.broadcast_to(penalty, len(w)))
        w = w - np.linalg.solve(H, X.T @ (p - y) + penalty * w)
    return w


def log_loss(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    return float(np.sum(np.logaddexp(0, X @ w) - y * (X @ w)))


def test_four_points_on_a_line() -> None:
    one = datasets.fixture("four_points_on_a_line")
    X, y, found = one.data["X"], one.data["y"], one.answers
    close(line(X, y), [found["intercept"], found["slope"]])
    ridge = Ridge(alpha=one.data["alpha"]).fit(X, y)
    close([ridge.intercept_, ridge.coef_[0]], [found["ridge_intercept"], found["ridge_slope"]])
    largest = np.linalg.norm(with_ones(X), 2) ** 2
    close([largest, 2 / largest], [found["largest_eigenvalue"], found["largest_step"]])


def test_three_points_on_a_line() -> None:
    one = datasets.fixture("three_points_on_a_line")
    X, y, found = one.data["X"], one.data["y"], one.answers
    model = LinearRegression().fit(X, y)
    close([model.intercept_, model.coef_[0]], [found["intercept"], found["slope"]])
    close(0.5 * np.sum((y - model.predict(X)) ** 2), found["half_squares"])
    close(model.score(X, y), found["r2"])
    model.fit(X, y, one.data["weight"])
    close([model.intercept_, model.coef_[0]], [found["weighted_intercept"], found["weighted_slope"]])
    ridge = Ridge(alpha=one.data["alpha"], fit_intercept=False).fit(with_ones(X), y)
    close(ridge.coef_, [found["ridge_intercept"], found["ridge_slope"]])


def test_two_point_line() -> None:
    one = datasets.fixture("two_point_line")
    A, found = one.data["design"], one.answers
    np.testing.assert_allclose(np.linalg.solve(A, one.data["y"]), found["clean"], atol=1e-8)
    noisy = np.linalg.solve(A, one.data["noisy_y"])
    np.testing.assert_allclose(noisy, found["noisy"], rtol=1e-8)
    close(np.linalg.solve(one.data["mild_design"], one.data["noisy_y"]), found["mild_noisy"])
    close(np.linalg.norm(one.data["noisy_y"] - one.data["y"]), found["data_error"])
    close(np.linalg.norm(found["noisy"] - found["clean"]), found["error"])
    close(np.linalg.svd(A, compute_uv=False), found["singular_values"])
    close(np.linalg.cond(A), found["condition"])


def test_ridge_condition() -> None:
    one = datasets.fixture("ridge_condition")
    S = np.diag(one.data["singular_values"])
    close(np.linalg.cond(S), one.answers["condition"])
    stacked = np.vstack([S, np.sqrt(one.data["alpha"]) * np.eye(2)])
    close(np.linalg.cond(stacked), one.answers["ridge_condition"])


def test_line_with_an_outlier() -> None:
    one = datasets.fixture("line_with_an_outlier")
    A, y, found = with_ones(one.data["X"]), one.data["y"], one.answers
    w = line(one.data["X"], y)
    close(w, found["squares_line"])
    close(np.abs(y - A @ w).sum(), found["squares_absolute_cost"])
    programme = linprog(
        [0, 0, *np.ones(10)],
        A_eq=np.hstack([A, np.eye(5), -np.eye(5)]),
        b_eq=y,
        bounds=[(None, None)] * 2 + [(0, None)] * 10,
    )
    close(programme.x[:2], found["absolute_line"])
    close(programme.fun, found["absolute_cost"])
    costs = []
    for _ in found["reweighted_costs"]:
        root = 1 / np.sqrt(np.maximum(np.abs(y - A @ w), 1e-16))  # rounding may leave nothing
        w = np.linalg.lstsq(A * root[:, None], y * root, rcond=None)[0]
        costs.append(np.abs(y - A @ w).sum())
    close(costs, found["reweighted_costs"])


def test_identity_design() -> None:
    one = datasets.fixture("identity_design")
    X, y, alpha = one.data["X"], one.data["y"], one.data["alpha"]
    close(Ridge(alpha=alpha, fit_intercept=False).fit(X, y).coef_, one.answers["ridge"])
    close(Lasso(alpha=alpha / 2, fit_intercept=False).fit(X, y).coef_, one.answers["lasso"])
    close(np.abs(X.T @ y).max(), one.answers["lasso_largest_alpha"])


def test_four_rows_through_the_origin() -> None:
    one = datasets.fixture("four_rows_through_the_origin")
    X, y, alpha = one.data["X"], one.data["y"], one.data["alpha"]
    w = Ridge(alpha=alpha, fit_intercept=False).fit(X, y).coef_
    close(w, one.answers["coefficients"])
    close(w @ w, one.answers["squared_norm"])
    close(np.linalg.solve(X @ X.T + alpha * np.eye(4), y), one.answers["dual"])


def test_two_rows_through_the_origin() -> None:
    one = datasets.fixture("two_rows_through_the_origin")
    X, y, alpha, found = one.data["X"], one.data["y"], one.data["alpha"], one.answers
    close(np.linalg.solve(X.T @ X + alpha * np.eye(1), X.T @ y), found["coefficients"])
    close(np.linalg.solve(X @ X.T + alpha * np.eye(2), y), found["dual"])
    variance = 1 / (alpha + np.sum(X**2))
    query = one.data["query"][0, 0]
    close(variance, found["posterior_variance"])
    close([query * variance * (X[:, 0] @ y), 1 + query**2 * variance], [2.5, 2.5])
    close([found["predictive_mean"], found["predictive_variance"]], [2.5, 2.5])


def test_zigzag_kernel_ridge() -> None:
    one = datasets.fixture("zigzag_kernel_ridge")
    X, gamma = one.data["X"], one.data["gamma"]
    K = np.exp(-gamma * (X - X.T) ** 2)
    dual = np.linalg.solve(K + one.data["alpha"] * np.eye(4), one.data["y"])
    close(dual, one.answers["dual"])
    close(K @ dual, one.answers["fitted"])
    close(np.exp(-gamma * (X[:, 0] - 1.5) ** 2) @ dual, one.answers["prediction"])


def test_xor_corners() -> None:
    one = datasets.fixture("xor_corners")
    X, y, found = one.data["X"], one.data["y"], one.answers
    close(line(X, y), found["linear"])
    close(line(np.column_stack([X, X[:, 0] * X[:, 1]]), y), found["with_product"])
    close(mutual_info_score(X[:, 0], y), found["information_of_one"])
    close(mutual_info_score(2 * X[:, 0] + X[:, 1], y), found["information_of_both"])
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    close(np.linalg.eigvalsh(np.exp(-one.data["gamma"] * distances)), found["gram_eigenvalues"])


def test_leverage_of_a_far_point() -> None:
    one = datasets.fixture("leverage_of_a_far_point")
    Q, _ = np.linalg.qr(with_ones(one.data["X"]))
    leverages = (Q**2).sum(axis=1)
    close([leverages[-1], leverages.sum()], [one.answers["far_leverage"], one.answers["sum_of_leverages"]])


def test_temperatures_regression() -> None:
    one = datasets.fixture("temperatures_regression")
    X, y, found = one.data["X"], one.data["y"], one.answers
    A, w = with_ones(X), line(X, y)
    close(w, [found["intercept"], found["slope"]])
    squares = np.sum((y - A @ w) ** 2)
    close([squares, squares / 9], [found["squares"], found["variance"]])
    close(norm.logpdf(y, A @ w, np.sqrt(squares / 9)).sum(), found["log_likelihood"])
    close(norm.logpdf(y, A @ w, 1).sum(), found["log_likelihood_unit_variance"])
    close(A @ w, found["fitted"])
    close(np.diag(A @ np.linalg.pinv(A)), found["leverages"])
    close((0.5 - w[0]) / w[1], found["boundary"])
    close(np.mean((A @ w > 0.5) == y), found["accuracy"])
    ridges = [Ridge(alpha=alpha).fit(X, y) for alpha in one.data["ridge_alphas"]]
    close([ridge.coef_[0] for ridge in ridges], found["ridge_slopes"])
    close([ridge.intercept_ for ridge in ridges], found["ridge_intercepts"])
    lasso = Lasso(alpha=one.data["lasso_alpha"] / 18, tol=1e-14).fit(X, y)
    close(lasso.coef_[0], found["lasso_slope"])
    close(2 * abs((X[:, 0] - X.mean()) @ y), found["lasso_largest_alpha"])


def test_temperatures_logistic() -> None:
    one = datasets.fixture("temperatures_logistic")
    X, y, found = one.data["X"], one.data["y"], one.answers
    A = with_ones((X - X.mean()) / X.std())
    w = newton(A, y)
    close(w, found["standardised"])
    slope = w[1] / X.std()
    close([w[0] - slope * X.mean(), slope], [found["intercept"], found["slope"]])
    close(-log_loss(A, y, w), found["log_likelihood"])
    close(X.mean() - w[0] / slope, found["boundary"])
    close(expit(A @ w), found["probabilities"])


def test_logistic_constant() -> None:
    one = datasets.fixture("logistic_constant")
    X, y, found = one.data["X"], one.data["y"], one.answers
    path = [newton(X, y, steps=k)[0] for k in range(5)]
    close(path, found["newton_path"])
    close([log_loss(X, y, np.array([w])) for w in path[:4]], found["newton_costs"])
    close([path[-1], log_loss(X, y, np.array([np.log(3)]))], [found["weight"], found["cost"]])
    close(X[:, 0] @ (0.5 - y), found["gradient_at_zero"])


def test_logistic_four_points() -> None:
    one = datasets.fixture("logistic_four_points")
    X, y, found = one.data["X"], one.data["y"], one.answers
    A = np.column_stack([X, np.ones(4)])
    for kind, penalty in (("plain", 0.0), ("ridge", 1.0)):
        w, steps, costs = np.zeros(2), [], []
        shrink = np.array([penalty, 0.0])
        for _ in range(2):
            w = w - (A.T @ (expit(A @ w) - y) + shrink * w) / 4
            steps.append(w)
            costs.append((log_loss(A, y, w) + penalty / 2 * w[0] ** 2) / 4)
        close(steps, found[f"{kind}_steps"])
        close(costs, found[f"{kind}_costs"])
    for k, penalty in enumerate(one.data["penalties"]):
        w = newton(A, y, np.array([penalty, 0.0]))
        close([w[0], w[1]], [found["optimal_slopes"][k], -1.5 * found["optimal_slopes"][k]])
        close((log_loss(A, y, w) + penalty / 2 * w[0] ** 2) / 4, found["optimal_costs"][k])


def test_logistic_newton_start() -> None:
    one = datasets.fixture("logistic_newton_start")
    X, y, found = one.data["X"], one.data["y"], one.answers
    close(log_loss(X, y, np.zeros(2)), found["cost_at_zero"])
    close(X.T @ (0.5 - y), found["gradient"])
    close(X.T @ X / 4, found["hessian"])
    close(newton(X, y, steps=1), found["newton_step"])
    best = minimize(lambda w: log_loss(X, y, w) + one.data["penalty"] * w @ w, np.zeros(2), tol=1e-14)
    np.testing.assert_allclose(best.x, found["ridge"], atol=1e-6)
    close(newton(X, y, 2 * one.data["penalty"]), found["ridge"])


def test_logistic_separable() -> None:
    one = datasets.fixture("logistic_separable")
    x, y = one.data["X"][:, 0], one.data["y"]
    w, weights = 0.0, []
    for k in range(1, max(one.data["steps"]) + 1):
        w -= one.data["step"] * x @ (expit(x * w) - y)
        if k in one.data["steps"]:
            weights.append(w)
    close(weights, one.answers["weights"])


def test_softmax_start() -> None:
    one = datasets.fixture("softmax_start")
    p, found = softmax(one.data["scores"]), one.answers
    close(p, found["softmax"])
    close(-log_softmax(one.data["scores"])[2], found["loss_of_last"])
    close(p[0] * (np.eye(3)[0] - p), found["jacobian_row"])
    close(one.data["X"].T @ (np.full((3, 3), 1 / 3) - np.eye(3)) / 3, found["gradient"])
    close(np.log(3), found["loss_at_zero"])


def test_squares_as_classifier() -> None:
    one = datasets.fixture("squares_as_classifier")
    X, y = one.data["X"], one.data["y"]
    far_X, far_y = np.vstack([X, one.data["far"]]), np.concatenate([y, np.ones(6)])
    for rows, labels, key in ((X, y, "boundary"), (far_X, far_y, "dragged_boundary")):
        w = line(rows, labels)
        close((0.5 - w[0]) / w[1], one.answers[key])
    w = newton(with_ones(far_X), far_y)
    np.testing.assert_allclose(-w[0] / w[1], one.answers["logistic_boundary"], atol=1e-6)


def test_poisson_constant() -> None:
    one = datasets.fixture("poisson_constant")
    y, w = one.data["y"], np.log(one.data["y"].mean())
    close(w, one.answers["weight"])
    close(np.sum(y * w - np.exp(w) - gammaln(y + 1)), one.answers["log_likelihood"])


def test_gaussian_natural_parameters() -> None:
    one = datasets.fixture("gaussian_natural_parameters")
    first, second = one.answers["natural"]
    close([-first / (2 * second), -1 / (2 * second)], [one.data["mean"], one.data["variance"]])
    density = norm.logpdf(0.3, one.data["mean"], np.sqrt(one.data["variance"]))
    close(first * 0.3 + second * 0.3**2 - density, one.answers["log_partition"])
