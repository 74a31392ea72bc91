"""The worked examples of margins, trees and scores, computed by other ways."""

from functools import partial
from itertools import combinations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    mutual_info_score,
    precision_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from surefit import datasets

close = partial(np.testing.assert_allclose, rtol=1e-8, atol=1e-9)
# libsvm stops at a violation of its conditions, not of ours: 1e-10 of tol leaves some 1e-6 in the duals
near = partial(np.testing.assert_allclose, rtol=1e-6, atol=1e-6)


def entropy(p: np.ndarray) -> float:
    p = p[p > 0]
    return float(-np.sum(p * np.log2(p)))


def after(counts: np.ndarray, impurity) -> float:
    """Mean impurity of the children, whose class counts are the rows."""
    counts = np.asarray(counts, dtype=float)
    share = counts.sum(axis=1) / counts.sum()
    return float(sum(s * impurity(row / row.sum()) for s, row in zip(share, counts, strict=True)))


def gini(p: np.ndarray) -> float:
    return float(1 - np.sum(p**2))


def error(p: np.ndarray) -> float:
    return float(1 - p.max())


def test_hard_margin() -> None:
    one = datasets.fixture("hard_margin")
    X, y, found = one.data["X"], one.data["y"], one.answers
    model = SVC(kernel="linear", C=1e6, tol=1e-10).fit(X, y)
    near(model.coef_[0], found["coefficients"])
    near(model.intercept_[0], found["intercept"])
    assert model.support_.tolist() == np.flatnonzero(found["dual"]).tolist()
    near(model.dual_coef_[0], (found["dual"] * y)[model.support_])
    # optimality to the last digit: feasible, stationary, complementary, no gap
    w, height = found["coefficients"], y * (X @ found["coefficients"] + found["intercept"])
    close((found["dual"] * y) @ X, w)
    close([found["dual"] @ y, found["dual"] @ (height - 1), min(height.min(), 1)], [0, 0, 1])
    close([1 / np.linalg.norm(w), w @ w / 2], [found["margin"], found["objective"]])
    close(found["dual"].sum() - w @ w / 2, found["objective"])


def test_xor_quadratic_kernel() -> None:
    one = datasets.fixture("xor_quadratic_kernel")
    X, y, found = one.data["X"], one.data["y"], one.answers
    model = SVC(kernel="poly", degree=2, gamma=1, coef0=1, C=1e6, tol=1e-10).fit(X, y)
    near(model.decision_function(X), found["decision"])
    K = (1 + X @ X.T) ** 2
    close(K @ (found["dual"] * y) + found["intercept"], found["decision"])
    close(found["decision"], X[:, 0] * X[:, 1])
    v = found["dual"] * y
    close([v.sum(), found["dual"].sum() - v @ K @ v / 2], [0, found["objective"]])


def test_soft_margin_line() -> None:
    one = datasets.fixture("soft_margin_line")
    X, y, found = one.data["X"][:, 0], one.data["y"], one.answers
    for k, C in enumerate(one.data["C"]):
        dual, w = found["duals"][k], found["slopes"][k]
        close([(dual * y) @ X, dual @ y], [w, 0])
        assert ((dual >= 0) & (dual <= C + 1e-12)).all()
        for b in found["free_intercepts"] if k == 2 else [found["intercept"]]:
            primal = w**2 / 2 + C * np.maximum(0, 1 - y * (w * X + b)).sum()
            close([primal, dual.sum() - w**2 / 2], [found["objectives"][k]] * 2)
    beyond = found["free_intercepts"] + np.array([-0.01, 0.01])
    assert all(0.02 + 0.1 * np.maximum(0, 1 - y * (0.2 * X + b)).sum() > 0.38 + 1e-4 for b in beyond)


def test_soft_margin_without_intercept() -> None:
    one = datasets.fixture("soft_margin_without_intercept")
    x, y, found = one.data["X"][:, 0], one.data["y"], one.answers
    for k, alpha in enumerate(one.data["alphas"]):
        w = found["weights"][k]
        value = np.maximum(0, 1 - y * x * w).sum() + alpha / 2 * w**2
        dual = found["dual_sums"][k] - found["dual_sums"][k] ** 2 / (2 * alpha)
        close([value, dual], [found["objectives"][k]] * 2)
        close(found["dual_sums"][k] / alpha, w)


def test_tube_regression() -> None:
    one = datasets.fixture("tube_regression")
    X, epsilon, found = one.data["X"], one.data["epsilon"], one.answers
    for kind in ("line", "bent"):
        y, C = one.data[kind], one.data[f"{kind}_C"]
        model = SVR(kernel="linear", C=C, epsilon=epsilon, tol=1e-10).fit(X, y)
        dual, w = found[f"{kind}_dual"], found[f"{kind}_slope"]
        near(model.coef_[0, 0], w)
        close([dual @ X[:, 0], dual.sum()], [w, 0])
        value = dual @ y - epsilon * np.abs(dual).sum() - w**2 / 2
        close(value, found[f"{kind}_objective"])
    residual = np.abs(one.data["bent"] - found["bent_slope"] * X[:, 0] - found["bent_intercept"])
    primal = found["bent_slope"] ** 2 / 2 + np.maximum(0, residual - epsilon).sum()
    close(primal, found["bent_objective"])


def test_perceptron_gates() -> None:
    one = datasets.fixture("perceptron_gates")
    for gate, function in (("and", np.logical_and), ("or", np.logical_or)):
        fires = one.data["X"] @ one.data["weights"] + one.data[f"{gate}_bias"] >= 0
        assert fires.astype(int).tolist() == one.answers[gate].tolist()
        assert (fires == function(*one.data["X"].T)).all()


def test_logistic_kernel() -> None:
    one = datasets.fixture("logistic_kernel")
    gram = expit((one.data["X"] @ one.data["X"].T + one.data["bias"]) / one.data["sigma2"])
    close(np.linalg.eigvalsh(gram), one.answers["eigenvalues"])


def test_kernel_values() -> None:
    one = datasets.fixture("kernel_values")
    x, z, x3, z3 = (one.data[key] for key in ("x", "z", "x3", "z3"))
    a, b, c = np.sqrt(2) * x[0] * x[1], x[0] ** 2, x[1] ** 2
    A, B, C = np.sqrt(2) * z[0] * z[1], z[0] ** 2, z[1] ** 2
    close(a * A + b * B + c * C, one.answers["homogeneous_quadratic"])
    close(one.answers["homogeneous_quadratic"] + 2 * (x @ z) + 1, one.answers["quadratic"])
    close(x @ z, one.answers["linear"])
    close(np.exp(-np.sum((x - z) ** 2) / 2), one.answers["gaussian_unit"])
    close(x @ z / np.linalg.norm(x) / np.linalg.norm(z), one.answers["cosine"])
    close((1 + x @ z / 2) ** 2, one.answers["quadratic_scaled_by_2"])
    pairs = sum(2 * x3[i] * x3[j] * z3[i] * z3[j] for i, j in combinations(range(3), 2))
    close(pairs + (x3**2) @ (z3**2), one.answers["homogeneous_quadratic_in_space"])


def test_three_way_split() -> None:
    one = datasets.fixture("three_way_split")
    counts = one.data["counts"]
    whole = entropy(counts.sum(axis=0) / counts.sum())
    close([whole, whole - after(counts, entropy)], [one.answers["entropy"], one.answers["gain"]])


def test_error_is_blind() -> None:
    one = datasets.fixture("error_is_blind")
    splits = [one.data["first"], one.data["second"]]
    close([after(split, error) for split in splits], one.answers["errors"])
    close([after(split, gini) for split in splits], one.answers["ginis"])


def test_impurities_at_a_quarter() -> None:
    one = datasets.fixture("impurities_at_a_quarter")
    p, found = one.data["probabilities"], one.answers
    close([error(p), gini(p)], [found["error"], found["gini"]])
    close([entropy(p), entropy(p) * np.log(2)], [found["entropy_bits"], found["entropy"]])


def test_one_split_is_enough() -> None:
    one = datasets.fixture("one_split_is_enough")
    X, found = one.data["X"], one.answers
    tree = DecisionTreeClassifier(max_depth=1).fit(X, one.data["classes"]).tree_
    close([tree.threshold[0], tree.impurity[1], tree.impurity[2]], [found["threshold"], 0, found["impurity"]])
    tree = DecisionTreeRegressor(max_depth=1).fit(X, one.data["numbers"]).tree_
    close(tree.value[1:, 0, 0], found["leaves"])


def test_five_irises() -> None:
    one = datasets.fixture("five_irises")
    X, y, found = one.data["X"], one.data["y"], one.answers
    lengths = X[:, found["column"]]
    setosa = y == "setosa"
    close((lengths[setosa].max() + lengths[~setosa].min()) / 2, found["threshold"])
    close(np.mean((lengths < found["threshold"]) == setosa), found["accuracy"])
    whole = datasets.load("iris", as_="pandas").frame
    for row, species in zip(X, y, strict=True):
        assert ((whole.iloc[:, :4] == row).all(axis=1) & (whole["species"] == species)).any()


def test_relief_four_rows() -> None:
    one = datasets.fixture("relief_four_rows")
    X, y, found = one.data["X"], one.data["y"], one.answers
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    hits = np.where(y[:, None] == y, distances, np.inf).argmin(axis=1)
    misses = np.where(y[:, None] != y, distances, np.inf).argmin(axis=1)
    assert hits.tolist() == found["near_hits"].tolist()
    assert misses.tolist() == found["near_misses"].tolist()
    close(np.cumsum((X - X[misses]) ** 2 - (X - X[hits]) ** 2, axis=0), found["weights"])


def test_f_score() -> None:
    one = datasets.fixture("f_score")
    plus, minus = one.data["positive"], one.data["negative"]
    middle = np.concatenate([plus, minus]).mean()
    apart = (plus.mean() - middle) ** 2 + (minus.mean() - middle) ** 2
    close(apart / (plus.var(ddof=1) + minus.var(ddof=1)), one.answers["score"])


def test_mutual_information() -> None:
    one = datasets.fixture("mutual_information")
    found = [mutual_info_score(None, None, contingency=table) for table in one.data["counts"]]
    close(found, one.answers["information"])


def test_temperatures_splits() -> None:
    one = datasets.fixture("temperatures_splits")
    x, y, found = one.data["X"][:, 0], one.data["y"], one.answers
    close((x[1:] + x[:-1]) / 2, found["thresholds"])
    whole = np.bincount(y) / 9
    close([gini(whole), entropy(whole), error(whole)], [40 / 81, found["root_entropy_bits"], 4 / 9])
    close([found["root_gini"], found["root_error"]], [40 / 81, 4 / 9])
    splits = [
        np.array([np.bincount(y[x < t], minlength=2), np.bincount(y[x >= t], minlength=2)])
        for t in found["thresholds"]
    ]
    close([after(split, gini) for split in splits], found["gini"])
    close([gini(whole) - after(split, gini) for split in splits], found["gini_gain"])
    gains = np.array([entropy(whole) - after(split, entropy) for split in splits])
    close(gains, found["information_gain"])
    close(gains / [entropy(split.sum(axis=1) / 9) for split in splits], found["gain_ratio"])
    close([after(split, error) for split in splits], found["error"])


def test_six_scores() -> None:
    one = datasets.fixture("six_scores")
    false, true, _ = roc_curve(one.data["y"], one.data["scores"], drop_intermediate=False)
    close(false, one.answers["false_positive_rates"])
    close(true, one.answers["true_positive_rates"])
    close(roc_auc_score(one.data["y"], one.data["scores"]), one.answers["area"])
    assert one.answers["equal_error_rate"] in false[np.isclose(false, 1 - true)]


def test_four_scores() -> None:
    one = datasets.fixture("four_scores")
    false, true, _ = roc_curve(one.data["y"], one.data["scores"], drop_intermediate=False)
    close(false, one.answers["false_positive_rates"])
    close(true, one.answers["true_positive_rates"])
    close(roc_auc_score(one.data["y"], one.data["scores"]), one.answers["area"])


def test_confusions() -> None:
    one = datasets.fixture("confusions")
    truth, said = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    y, p = np.repeat(truth, one.data["counts"]), np.repeat(said, one.data["counts"])
    for key, score in (
        ("accuracy", accuracy_score),
        ("balanced_accuracy", balanced_accuracy_score),
        ("precision", precision_score),
        ("recall", recall_score),
    ):
        close(score(y, p), one.answers[key])
    y, p = np.repeat(truth, one.data["always_one"]), np.repeat(said, one.data["always_one"])
    found = [accuracy_score(y, p), recall_score(y, p), f1_score(y, p)]
    close(found, [one.answers[f"always_{key}"] for key in ("accuracy", "recall", "f1")])


def test_log_errors() -> None:
    one = datasets.fixture("log_errors")
    costs = np.log([one.data["low"] / one.data["truth"], one.data["high"] / one.data["truth"]]) ** 2
    close(costs, [one.answers["low_cost"], one.answers["high_cost"]])


def test_shrunken_mean() -> None:
    one = datasets.fixture("shrunken_mean")
    d, found = one.data, one.answers
    bias, variance = (d["factor"] - 1) * d["mean"], d["factor"] ** 2 * d["variance"] / d["rows"]
    close([bias**2, variance], [found["squared_bias"], found["variance"]])
    close([d["variance"], d["variance"] + bias**2 + variance], [found["noise"], found["total"]])
    noise = d["plain_deviation"] ** 2
    close([noise, 0, noise / d["plain_rows"], noise * (1 + 1 / d["plain_rows"])], found["plain"])


def test_quadratic_programme() -> None:
    one = datasets.fixture("quadratic_programme")
    Q, c, found = one.data["Q"], one.data["c"], one.answers
    close(np.linalg.eigvalsh(Q), found["eigenvalues"])
    assert (one.data["A"] @ found["x"] <= one.data["b"]).all()
    share = np.linspace(0, 1, 101)
    segment = np.column_stack([share, 1 - share])
    values = np.einsum("ni,ij,nj->n", segment, Q, segment) / 2 + segment @ c
    close(values, 3 * share)
    close(found["x"] @ Q @ found["x"] / 2 + c @ found["x"], found["value"])
    start = minimize(
        lambda x: x @ Q @ x / 2 + c @ x,
        [0.5, 0.5],
        bounds=[(0, None)] * 2,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
    )
    np.testing.assert_allclose(start.x, found["x"], atol=1e-6)
