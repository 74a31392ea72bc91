"""The worked examples of clusters, mixtures, components and graphs, computed by other ways."""

from functools import partial
from itertools import combinations, product

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.linalg import block_diag
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.cluster import DBSCAN, KMeans
from sklearn.metrics import rand_score, silhouette_samples

from surefit import datasets

close = partial(np.testing.assert_allclose, rtol=1e-8, atol=1e-9)


def squared(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    return ((X[:, None] - centers) ** 2).sum(axis=2)


def cost_of(X: np.ndarray, labels: np.ndarray) -> float:
    return sum(((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in set(labels.tolist()))


def lloyd(X: np.ndarray, start: np.ndarray) -> KMeans:
    return KMeans(len(start), init=start, n_init=1, tol=0, algorithm="lloyd").fit(X)


def test_rectangle() -> None:
    one = datasets.fixture("rectangle")
    good, bad = (lloyd(one.data["X"], one.data[f"{kind}_start"]) for kind in ("good", "bad"))
    close([good.inertia_, bad.inertia_], [one.answers["good_cost"], one.answers["bad_cost"]])
    close(good.cluster_centers_, one.answers["good_centers"])


def test_four_on_a_line() -> None:
    one = datasets.fixture("four_on_a_line")
    X, centers, costs = one.data["X"], one.data["start"], []
    for _ in range(2):
        labels = squared(X, centers).argmin(axis=1)
        costs.append(squared(X, centers).min(axis=1).sum())
        centers = np.array([X[labels == k].mean(axis=0) for k in range(2)])
        costs.append(((X - centers[labels]) ** 2).sum())
    close(costs, one.answers["costs"])
    close(centers, one.answers["centers"])
    assert lloyd(X, one.data["start"]).labels_.tolist() == one.answers["labels"].tolist()


def test_fuzzy_four_on_a_line() -> None:
    one = datasets.fixture("fuzzy_four_on_a_line")
    X, centers, m, found = one.data["X"], one.data["start"], one.data["fuzzifier"], one.answers

    def members(d: np.ndarray, m: float) -> np.ndarray:
        weight = d ** (-1 / (m - 1))
        return weight / weight.sum(axis=-1, keepdims=True)

    first = True
    for _ in range(200):
        d = squared(X, centers)
        r = members(d, m)
        centers = (r**m).T @ X / (r**m).sum(axis=0)[:, None]
        if first:
            close(r, found["memberships"])
            close(centers[:, 0], found["next_centers"])
            close((r**m * d).sum(), found["cost"])
            first = False
    close(centers[:, 0], found["limit_centers"])
    d = squared(X, centers)
    close((members(d, m) ** m * d).sum(), found["limit_cost"])
    shares = [members(one.data["squared_distances"], m)[0] for m in one.data["fuzzifiers"]]
    close(shares, found["first_memberships"])


def constrained(X, centers, apart=None, together=None, order=(0, 1, 2, 3)) -> np.ndarray:
    """Take the nearest centre that breaks no constraint with the points already placed; repeat."""
    for _ in range(10):
        labels = np.full(len(X), -1)
        for i in order:
            for k in np.argsort(squared(X[[i]], centers)[0], kind="stable"):
                others = {j: labels[j] for j in range(len(X)) if labels[j] >= 0}
                split = apart and i in apart and any(others.get(j) == k for j in apart if j != i)
                torn = together and i in together and any(others.get(j, k) != k for j in together if j != i)
                if not split and not torn:
                    labels[i] = k
                    break
        centers = np.array([X[labels == k].mean(axis=0) for k in range(len(centers))])
    return labels


def test_constrained_four_on_a_line() -> None:
    one = datasets.fixture("constrained_four_on_a_line")
    X, start, found = one.data["X"], one.data["start"], one.answers
    apart, together = one.data["pair_apart"].tolist(), one.data["pair_together"].tolist()
    for key, labels in (
        ("free", constrained(X, start)),
        ("apart", constrained(X, start, apart=apart)),
        ("apart_second_first", constrained(X, start, apart=apart, order=(1, 0, 2, 3))),
        ("together", constrained(X, start, together=together)),
    ):
        assert labels.tolist() == found[f"{key}_labels"].tolist(), key
        close(cost_of(X, labels), found[f"{key}_cost"])


def test_spread_out_start() -> None:
    one = datasets.fixture("spread_out_start")
    d = ((one.data["X"] - one.data["X"][one.data["first"]]) ** 2).sum(axis=1)
    close(d / d.sum(), one.answers["probabilities"])


def test_four_linkages() -> None:
    one = datasets.fixture("four_linkages")
    for kind in ("single", "complete", "average"):
        close(linkage(one.data["X"], kind)[:, 2], one.answers[kind])
    close(linkage(one.data["X"], "ward")[:, 2] ** 2 / 2, one.answers["ward"])


def test_dense_line() -> None:
    one = datasets.fixture("dense_line")
    for least, cores in zip(one.data["least"], one.answers["cores"], strict=True):
        model = DBSCAN(eps=one.data["radius"], min_samples=least).fit(one.data["X"])
        assert tuple(model.core_sample_indices_.tolist()) == cores
        assert model.labels_.tolist() == one.answers["labels"].tolist()


def laplacian(edges: np.ndarray, size: int) -> np.ndarray:
    """Build it from the incidence matrix, a row an edge."""
    M = np.zeros((len(edges), size))
    rows = np.arange(len(edges))
    weight = np.sqrt(edges[:, 2]) if edges.shape[1] == 3 else 1.0
    M[rows, edges[:, 0]], M[rows, edges[:, 1]] = -weight, weight
    return M.T @ M


def test_two_cliques() -> None:
    one = datasets.fixture("two_cliques")
    L = laplacian(one.data["edges"], 6)
    close(L, block_diag(*[3 * np.eye(3) - 1] * 2))
    values, vectors = np.linalg.eigh(L)
    close(values, one.answers["eigenvalues"])
    rows = vectors[:, :2]
    joined = squared(rows, rows) < 1e-12
    assert (joined == (one.answers["labels"][:, None] == one.answers["labels"])).all()


def test_silhouette_of_four() -> None:
    one = datasets.fixture("silhouette_of_four")
    found = silhouette_samples(one.data["X"], one.data["labels"])
    close(found, one.answers["silhouettes"])
    close(found.mean(), one.answers["mean"])


def test_two_partitions() -> None:
    one = datasets.fixture("two_partitions")
    a, b = one.data["first"], one.data["second"]
    kinds = [(a[i] == a[j], b[i] == b[j]) for i, j in combinations(range(6), 2)]
    order = [(True, True), (False, False), (True, False), (False, True)]
    assert [kinds.count(kind) for kind in order] == one.answers["pairs"].tolist()
    close(rand_score(a, b), one.answers["rand_index"])


def em_step(x: np.ndarray, weights, means, variances):
    """Return log-likelihood and responsibilities at the parameters, and the next parameters."""
    logs = np.log(weights) + norm.logpdf(x[:, None], means, np.sqrt(variances))
    q = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    count = q.sum(axis=0)
    means = q.T @ x / count
    variances = (q * (x[:, None] - means) ** 2).sum(axis=0) / count
    return logsumexp(logs, axis=1).sum(), q, (count / len(x), means, variances)


def test_two_bells_six_points() -> None:
    one = datasets.fixture("two_bells_six_points")
    x, found = one.data["X"][:, 0], one.answers
    at = (one.data["weights"], one.data["means"], one.data["variances"])
    value, q, step = em_step(x, *at)
    close(value, found["start_log_likelihood"])
    close(q[:, 0], found["responsibilities"])
    close(np.array(step), [found["step_weights"], found["step_means"], found["step_variances"]])
    second, _, further = em_step(x, *step)
    close([second, em_step(x, *further)[0]], found["log_likelihoods"])
    for _ in range(50):
        _, _, further = em_step(x, *further)
    close(em_step(x, *further)[0], found["limit_log_likelihood"])
    logs = np.log(at[0]) + norm.logpdf(x[:, None], at[1], np.sqrt(at[2]))
    bound = (0.5 * (logs - np.log(0.5))).sum()
    close([bound, value - bound], [found["even_bound"], found["even_divergence"]])
    close((0.5 * np.log(0.5 / q)).sum(), found["even_divergence"])


def test_two_bells_three_points() -> None:
    one = datasets.fixture("two_bells_three_points")
    x, found = one.data["X"][:, 0], one.answers
    value, q, step = em_step(x, one.data["weights"], one.data["means"], one.data["variances"])
    close(value, found["start_log_likelihood"])
    close(q[:, 0], found["responsibilities"])
    close(np.array(step), [found["step_weights"], found["step_means"], found["step_variances"]])
    second, _, further = em_step(x, *step)
    close([second, em_step(x, *further)[0]], found["log_likelihoods"])


def test_two_bells_four_points() -> None:
    one = datasets.fixture("two_bells_four_points")
    x, found = one.data["X"][:, 0], one.answers
    value, _, step = em_step(x, one.data["weights"], one.data["means"], one.data["variances"])
    close(value, found["start_log_likelihood"])
    close(np.array(step[1:]), [found["step_means"], found["step_variances"]])
    close(em_step(x, *step)[0], found["log_likelihood"])


def test_bernoulli_mixture() -> None:
    one = datasets.fixture("bernoulli_mixture")
    X, P, found = one.data["X"], one.data["probabilities"], one.answers
    joint = one.data["weights"] * np.where(X[:, None], P, 1 - P).prod(axis=2)
    q = joint / joint.sum(axis=1, keepdims=True)
    close(q[:, 0], found["responsibilities"])
    close(np.log(joint.sum(axis=1)).sum(), found["log_likelihood"])
    close(q.T @ X / q.sum(axis=0)[:, None], found["step_probabilities"])


def spectrum(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance (1/n) and its eigenvalues, largest first."""
    covariance = np.cov(X.T, bias=True)
    return covariance, np.linalg.eigvalsh(covariance)[::-1]


def test_components_five_points() -> None:
    one = datasets.fixture("components_five_points")
    X, found = one.data["X"], one.answers
    covariance, variances = spectrum(X)
    close(X.mean(axis=0), found["mean"])
    close(covariance, found["covariance"])
    close(variances, found["variances"])
    axis = np.linalg.svd(X - X.mean(axis=0))[2][0]
    close(np.abs(axis), found["first_axis"])
    residual = X - X.mean(axis=0) - np.outer((X - X.mean(axis=0)) @ axis, axis)
    close((residual**2).sum() / 5, found["error_with_one"])


def test_components_cross() -> None:
    one = datasets.fixture("components_cross")
    _, variances = spectrum(one.data["X"])
    close(variances, one.answers["variances"])
    close(variances[0] / variances.sum(), one.answers["share_of_first"])


def test_components_diagonal() -> None:
    one = datasets.fixture("components_diagonal")
    covariance, variances = spectrum(one.data["X"])
    close(covariance, one.answers["covariance"])
    close(variances, one.answers["variances"])
    close(variances[0] / variances.sum(), one.answers["share_of_first"])
    close(6 * variances[1], one.answers["error_with_one"])


def test_components_two_rows() -> None:
    one = datasets.fixture("components_two_rows")
    X, found = one.data["X"], one.answers
    covariance, variances = spectrum(X)
    close(covariance, found["covariance"])
    close(variances, found["variances"])
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    close(s, found["singular_values"])
    close(s[1] ** 2, found["error_with_one"])


def test_best_rank_one() -> None:
    one = datasets.fixture("best_rank_one")
    U, s, V = np.linalg.svd(one.data["X"], full_matrices=False)
    close(s, one.answers["singular_values"])
    best = s[0] * np.outer(U[:, 0], V[0])
    close(((one.data["X"] - best) ** 2).sum(), one.answers["error_with_one"])


def test_alternating_factors() -> None:
    one = datasets.fixture("alternating_factors")
    X, found = one.data["X"], one.answers
    for k, penalty in enumerate(one.data["penalties"]):
        w = one.data["start"]
        z = X.T @ w / (w @ w + penalty)
        w = X @ z / (z @ z + penalty)
        close(z, found["right"][k])
        close(w, found["left"][k])
        cost = ((X - np.outer(w, z)) ** 2).sum() / 2 + penalty / 2 * (w @ w + z @ z)
        close(cost, found["costs"][k])


def test_one_factor_step() -> None:
    one = datasets.fixture("one_factor_step")
    w, z = one.data["left"], one.data["right"]
    pull = one.data["step"] * (one.data["rating"] - w @ z)
    close(w + pull * z, one.answers["left"])
    close(z + pull * w, one.answers["right"])


def test_count_weights() -> None:
    one = datasets.fixture("count_weights")
    share = one.data["counts"] / one.data["largest"]
    close(np.minimum(1, share ** one.data["power"]), one.answers["weights"])


def test_towns() -> None:
    one = datasets.fixture("towns")
    L = laplacian(one.data["edges"], 7)
    close(L, one.answers["laplacian"])
    close(np.linalg.eigvalsh(L), one.answers["eigenvalues"])


def test_six_people() -> None:
    one = datasets.fixture("six_people")
    L, known = laplacian(one.data["edges"], 6), one.data["known"]
    close(L, one.answers["laplacian"])
    open_ = np.setdiff1d(np.arange(6), known)
    values = np.zeros(6)
    values[known] = one.data["labels"]
    values[open_] = np.linalg.solve(L[np.ix_(open_, open_)], -L[np.ix_(open_, known)] @ one.data["labels"])
    close(values, one.answers["values"])
    assert (values > 0.5).astype(int).tolist() == one.answers["classes"].tolist()


def test_explaining_away() -> None:
    one = datasets.fixture("explaining_away")
    p = one.data["cause"]
    close(p / (1 - (1 - p) ** 2), one.answers["given_effect"])
    close(p * p / p, one.answers["given_effect_and_other"])


def dependence(joint: np.ndarray, left: int, right: int, given: tuple[int, ...]) -> float:
    """Largest deviation of p(l, r, g) p(g) from p(l, g) p(r, g), over all values."""
    rest = tuple(set(range(joint.ndim)) - {left, right, *given})
    p = joint.sum(axis=rest, keepdims=True)
    one, other = p.sum(axis=right, keepdims=True), p.sum(axis=left, keepdims=True)
    return float(np.abs(p * p.sum(axis=(left, right), keepdims=True) - one * other).max())


def test_four_variables() -> None:
    one = datasets.fixture("four_variables")
    parents = {**one.data["parents"], 4: (2,)}
    random = np.random.default_rng(0)
    joint = np.zeros((2,) * 5)
    tables = {v: random.random((2,) * len(parents[v])) for v in parents}
    for values in product((0, 1), repeat=5):
        chances = [tables[v][tuple(values[p] for p in parents[v])] for v in parents]
        joint[values] = np.prod([c if values[v] else 1 - c for v, c in zip(parents, chances, strict=True)])
    for left, right, given, answer in one.answers["independent"]:
        assert (dependence(joint, left, right, given) < 1e-15) == answer
    assert (dependence(joint, 0, 3, (4,)) > 1e-6) == one.answers["tied_by_descendant"]
    blanket = one.answers["blanket_of_1"].tolist()
    own, children = one.data["parents"][1], [v for v, above in one.data["parents"].items() if 1 in above]
    assert blanket == sorted({*own, *children, *(p for v in children for p in parents[v] if p != 1)})
    close(joint.sum(), 1)


def test_factor_forest() -> None:
    one = datasets.fixture("factor_forest")
    joint = np.einsum("a,bc,cd->abcd", one.data["f_a"], one.data["f_b"], one.data["f_c"])
    sums = [joint.sum(axis=tuple(set(range(4)) - {v})) for v in range(4)]
    assert joint.sum() == one.answers["total"]
    assert np.array_equal(sums, one.answers["sums"])
    close(np.array(sums) / joint.sum(), one.answers["marginals"])
