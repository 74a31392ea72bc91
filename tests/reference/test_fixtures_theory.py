"""The worked examples of optimisation, probability, networks and strings, computed by other ways."""

from functools import partial
from itertools import product
from math import ceil, comb, e, log, sqrt

import numpy as np
from scipy.optimize import check_grad, linprog, minimize, minimize_scalar
from scipy.special import expit, rel_entr
from scipy.stats import beta, entropy, gaussian_kde, norm
from sklearn.neighbors import KNeighborsClassifier

from surefit import datasets

close = partial(np.testing.assert_allclose, rtol=1e-8, atol=1e-9)


def test_linear_programme() -> None:
    one = datasets.fixture("linear_programme")
    found = linprog(one.data["c"], A_eq=one.data["A_eq"], b_eq=one.data["b_eq"])
    close(found.x, one.answers["x"])
    close(found.fun, one.answers["value"])


def test_nearest_to_the_origin() -> None:
    one = datasets.fixture("nearest_to_the_origin")
    found = minimize(
        lambda x: x @ x, [3.0, 0.0], constraints={"type": "ineq", "fun": lambda x: 2 * x.sum() - 4}
    )
    np.testing.assert_allclose(found.x, one.answers["x"], atol=1e-6)
    close(one.answers["x"] @ one.answers["x"], one.answers["value"])
    close(2 * one.answers["x"] - one.answers["multiplier"] * np.array([2.0, 2.0]), 0)
    values = []
    for multiplier in one.data["duals_at"]:
        x = np.full(2, multiplier)  # where the slope of the Lagrangian vanishes
        values.append(x @ x + multiplier * (4 - 2 * x.sum()))
    close(values, one.answers["dual_values"])


def test_logarithm_trick() -> None:
    one = datasets.fixture("logarithm_trick")
    y, found = one.data["y"], one.answers
    best = minimize_scalar(
        lambda p: -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)),
        bounds=(0.01, 0.99),
        method="bounded",
        options={"xatol": 1e-12},
    )
    np.testing.assert_allclose(best.x, found["probability"], atol=1e-7)
    close(y.mean(), found["probability"])
    close([best.fun, np.exp(-best.fun)], [found["negative_log_likelihood"], found["likelihood"]])
    a, b = found["posterior"]
    close([a, b], one.data["prior"] + [y.sum(), (1 - y).sum()])
    close([(a - 1) / (a + b - 2), beta(a, b).mean()], [found["posterior_mode"], found["posterior_mean"]])


def test_stalled_coordinates() -> None:
    one = datasets.fixture("stalled_coordinates")

    def value(a, b):
        return np.abs(a + b) + 3 * np.abs(a - b)

    a, b = one.data["point"]
    moves = np.linspace(-3, 3, 601)
    close(value(a, b), one.answers["value"])
    assert min(value(a + moves, b).min(), value(a, b + moves).min()) >= one.answers["value"] - 1e-12
    close(value(*one.data["minimum"]), one.answers["least"])


def test_iterations_needed() -> None:
    one = datasets.fixture("iterations_needed")
    ratio, factor = one.data["gap"] / one.data["target"], 1 - one.data["condition"] ** -2
    found = [ceil(ratio - 1e-9), ceil(sqrt(ratio)), ceil(log(1 / ratio) / log(factor))]
    assert found == [one.answers[key] for key in ("rate_1", "rate_2", "linear")]


def test_huber_values() -> None:
    one = datasets.fixture("huber_values")
    p = np.linspace(-1, 1, 200_001)
    close([(z * p - p**2 / 2).max() for z in one.data["z"]], one.answers["smoothed"])
    size, delta = np.abs(one.data["r"]), one.data["delta"]
    inner = np.minimum(size, delta)
    close(inner**2 / 2 + delta * (size - inner), one.answers["losses"])


def test_armijo_without_curvature() -> None:
    one = datasets.fixture("armijo_without_curvature")
    x, d, c1, c2 = (one.data[key] for key in ("x", "direction", "c1", "c2"))
    step = one.data["shrink"]
    assert (x + step * d) ** 2 / 2 <= x**2 / 2 + c1 * step * d * x
    assert step == one.answers["step"]
    assert one.answers["armijo"]
    assert (-d * (x + step * d) <= -c2 * d * x) == one.answers["curvature"]


def test_risk_of_every_rule() -> None:
    one = datasets.fixture("risk_of_every_rule")
    p, found = one.data["class_1"], one.answers
    rules = np.array(list(product((0, 1), repeat=3)))
    risks = (one.data["inputs"] * np.where(rules == 1, 1 - p, p)).sum(axis=1)
    close(risks, found["risks"])
    assert rules[risks.argmin()].tolist() == found["best_rule"].tolist()
    close(one.data["inputs"] @ np.minimum(p, 1 - p), found["bayes_risk"])


def test_normal_classes() -> None:
    one = datasets.fixture("normal_classes")
    x, y, found = one.data["X"][:, 0], one.data["y"], one.answers
    means = np.array([x[y == c].mean() for c in (0, 1)])
    variances = np.array([x[y == c].var(ddof=1) for c in (0, 1)])
    close([means, variances], [found["means"], found["variances"]])
    joint = 0.5 * norm.pdf(one.data["queries"], means, np.sqrt(variances))
    close(joint[:, 1] / joint.sum(axis=1), found["class_1"])


def test_nearest_neighbours() -> None:
    one = datasets.fixture("nearest_neighbours")
    found = [
        KNeighborsClassifier(k).fit(one.data["X"], one.data["y"]).predict_proba([query])[0, 1]
        for k, query in zip(one.data["neighbours"], one.data["queries"], strict=True)
    ]
    close(found, one.answers["class_1"])


def test_divergences() -> None:
    one = datasets.fixture("divergences")
    for prefix, p, q in (("", "p", "q"), ("coin_", "coin", "bent_coin")):
        p, q = one.data[p], one.data[q]
        close(entropy(p), one.answers[f"{prefix}entropy"])
        close(-np.sum(p * np.log(q)), one.answers[f"{prefix}cross_entropy"])
        close(rel_entr(p, q).sum(), one.answers[f"{prefix}divergence"])
        close(rel_entr(q, p).sum(), one.answers[f"{prefix}reverse_divergence"])


def test_bell_sums() -> None:
    one = datasets.fixture("bell_sums")
    x = one.data["X"][:, 0]
    density = gaussian_kde(x, bw_method=one.data["bandwidth"] / x.std(ddof=1))
    close(density(one.data["queries"][:, 0]), one.answers["densities"])


def test_deviation_bounds() -> None:
    found = datasets.fixture("deviation_bounds").answers

    def hoeffding(n, eps, models=1):
        return 2 * models * np.exp(-2 * n * eps**2)

    close(hoeffding(100, 0.1), found["probability_n100_eps01"])
    close(hoeffding(1000, 0.05), found["probability_n1000_eps005"])
    close(hoeffding(500, 0.1, 16), found["probability_of_16_n500_eps01"])
    close(sqrt(log(2 / 0.05) / 2000), found["deviation_n1000_delta005"])
    close(sqrt(log(2 * 100 / 0.05) / 2000), found["deviation_of_100_n1000_delta005"])
    assert sum(comb(10, i) for i in range(4)) == found["sauer_n10_d3"]
    close((10 * e / 3) ** 3, found["sauer_bound_n10_d3"])
    gap = sqrt((8 * 3 * (log(2000 / 3) + 1) + 8 * log(4 / 0.05)) / 1000)
    close(gap, found["vc_gap_n1000_d3_delta005"])


def test_empty_space() -> None:
    one = datasets.fixture("empty_space")
    close(one.data["shares"][:, None] ** (1 / one.data["dimensions"]), one.answers["edges"])
    close((1 - 0.5 ** (1 / 500)) ** (1 / 10), one.answers["missed_edge"])


def test_two_sigmoids() -> None:
    one = datasets.fixture("two_sigmoids")
    d, found = one.data, one.answers

    def loss(w):
        return (d["y"] - expit(w[2] * expit(w[0] * d["x"] + w[1]) + w[3])) ** 2

    at = np.array([d["W1"], d["b1"], d["W2"], d["b2"]])
    hidden = expit(d["W1"] * d["x"] + d["b1"])
    output = expit(d["W2"] * hidden + d["b2"])
    close([hidden, output, loss(at)], [found["hidden"], found["output"], found["loss"]])
    slopes = np.array([found[key] for key in ("dW1", "db1", "dW2", "db2")])
    assert check_grad(loss, lambda w: slopes, at) < 1e-7
    delta = -2 * (d["y"] - output) * output * (1 - output)
    back = delta * d["W2"] * hidden * (1 - hidden)
    close(slopes, [back * d["x"], back, delta * hidden, delta])


def test_reverse_mode() -> None:
    one = datasets.fixture("reverse_mode")
    x, found = one.data["x"], one.answers
    u = np.sin(x**2) + 3 * x**2
    close(np.cos(u), found["values"])
    close(-np.sin(u) * (np.cos(x**2) + 3) * 2 * x, found["slopes"])


def test_convolutions() -> None:
    one = datasets.fixture("convolutions")
    signal, kernel, image = (one.data[key] for key in ("signal", "filter", "image"))
    close(np.convolve(signal, kernel, "valid"), one.answers["valid"])
    close(np.convolve(signal, kernel, "same"), one.answers["same"])
    assert np.array_equal(image.reshape(2, 2, 2, 2).max(axis=(1, 3)), one.answers["pooled"])


def test_layer_sizes() -> None:
    one = datasets.fixture("layer_sizes")
    sizes = [len(range(0, size + 2 * pad - width + 1, step)) for size, width, pad, step in one.data["layers"]]
    assert sizes == one.answers["sizes"].tolist()
    assert one.answers["filter_parameters"] == 10 * (5 * 5 * 3 + 1)
    assert one.answers["dense_parameters"] == 32 * 32 * 10 * 10 + 10


def test_bent_line() -> None:
    one = datasets.fixture("bent_line")
    knots, values, found = one.data["knots"], one.data["values"], one.answers
    close(np.diff(values) / np.diff(knots), found["slopes"])
    x = np.linspace(0, 1, 101)
    close(np.maximum(0, x[:, None] - knots[:-1]) @ found["changes"], np.interp(x, knots, values))


def test_sigmoid_bump() -> None:
    one = datasets.fixture("sigmoid_bump")
    w, step = one.data["steepness"], 1e-6
    close(expit(w * 0.5) - expit(-w * 0.5), one.answers["middle"])
    slopes = (expit(w * step) - expit(-w * step)) / (2 * step)
    np.testing.assert_allclose(slopes, one.answers["edge_slopes"], rtol=1e-6)


def runs(text: str, length: int | None = None) -> dict[str, int]:
    """Count every run of letters, or those of one length."""
    counts: dict[str, int] = {}
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            if length is None or end - start == length:
                counts[text[start:end]] = counts.get(text[start:end], 0) + 1
    return counts


def table(a: str, b: str, edits: bool) -> int:
    """Edit distance, or length of the longest common subsequence, by the usual table."""
    row = list(range(len(b) + 1)) if edits else [0] * (len(b) + 1)
    for i, left in enumerate(a, start=1):
        before, row[0] = row[0], i if edits else 0
        for j, right in enumerate(b, start=1):
            best = min(row[j], row[j - 1]) + 1 if edits else max(row[j], row[j - 1])
            corner = before + ((left != right) if edits else (left == right))
            before, row[j] = row[j], min(best, corner) if edits else max(best, corner)
    return row[-1]


def test_three_sequences() -> None:
    one = datasets.fixture("three_sequences")
    texts, found = one.data["sequences"], one.answers
    pairs = [(0, 1), (0, 2), (1, 2)]
    every, threes = [runs(text) for text in texts], [runs(text, 3) for text in texts]

    def kernel(a, b):
        return sum(count * b.get(run, 0) for run, count in a.items())

    common = [set(every[i]) & set(every[j]) for i, j in pairs]
    assert [len(shared) for shared in common] == found["common_substrings"].tolist()
    assert [max(map(len, shared)) for shared in common] == found["longest_substrings"].tolist()
    assert [kernel(every[i], every[j]) for i, j in pairs] == found["substring_kernel"].tolist()
    assert [kernel(one, one) for one in every] == found["substring_self"].tolist()
    assert [kernel(threes[i], threes[j]) for i, j in pairs] == found["spectrum_kernel"].tolist()
    assert [kernel(one, one) for one in threes] == found["spectrum_self"].tolist()
    assert [table(texts[i], texts[j], True) for i, j in pairs] == found["edit_distances"].tolist()
    assert [table(texts[i], texts[j], False) for i, j in pairs] == found["longest_subsequences"].tolist()
