"""Mixtures and EM: the catalogue's numbers, scikit-learn as a reference, and what must never happen."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn import mixture as peers

import surefit
from surefit import BernoulliMixture, CategoricalMixture, ExpectationMaximization, GaussianMixture, Mixture
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import DataError, RefusalError

RNG = np.random.default_rng(0)
THREE = np.vstack(
    [RNG.normal(size=(150, 3)) @ RNG.normal(size=(3, 3)) + 5 * RNG.normal(size=3) for _ in range(3)]
)
ONES = {
    "full": np.array([np.eye(3)] * 3),
    "tied": np.eye(3),
    "diag": np.ones((3, 3)),
    "spherical": np.ones(3),
}


def steps(X, count, means, variances, shares=(0.5, 0.5)):
    """The mixture of one column after so many steps from a start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CertificateWarning)
        return GaussianMixture(
            len(means),
            max_iter=count,
            tol=0,
            reg_covar=0,
            weights_init=shares,
            means_init=np.array(means)[:, None],
            precisions_init=1 / np.array(variances, dtype=float)[:, None, None],
        ).fit(np.array(X, dtype=float)[:, None])


@pytest.mark.covers("intro_to_ml:9.7", by="GaussianMixture")
def test_four_points_reach_their_fixed_point_in_one_step():
    X = [0.0, 1.0, 9.0, 10.0]
    model = steps(X, 2, [0, 10], [1, 1])
    np.testing.assert_allclose(4 * model.lower_bounds_, [-7.4483428551, -5.6757541328], atol=1e-9)
    np.testing.assert_allclose(model.means_.ravel(), [0.5, 9.5], atol=1e-9)
    np.testing.assert_allclose(model.covariances_.ravel(), [0.25, 0.25], atol=1e-9)
    assert model.predict(np.array(X)[:, None]).tolist() == [0, 0, 1, 1]
    rows, component = model.sample(4000, random_state=0)
    np.testing.assert_allclose([rows[component == k].mean() for k in (0, 1)], [0.5, 9.5], atol=0.05)


@pytest.mark.covers("course_summary:11.1", by="GaussianMixture.score_samples")
def test_the_density_is_a_sum_of_normal_densities():
    model = GaussianMixture(3, random_state=0).fit(THREE)
    joint = np.column_stack(
        [
            np.log(model.weights_[k])
            + multivariate_normal(model.means_[k], model.covariances_[k]).logpdf(THREE)
            for k in range(3)
        ]
    )
    np.testing.assert_allclose(model.score_samples(THREE), logsumexp(joint, axis=1), rtol=1e-9)
    assert np.isfinite(model.score_samples([[1e6, 0, 0]])).all()  # far out, where every density is 0
    rows, component = model.sample(20_000, random_state=1)
    np.testing.assert_allclose(np.bincount(component) / 20_000, model.weights_, atol=0.02)
    np.testing.assert_allclose(rows.mean(axis=0), model.weights_ @ model.means_, atol=0.15)


@pytest.mark.covers("course_summary:11.2", by="QuadraticDiscriminantAnalysis")
def test_with_known_components_it_is_class_means_and_covariances_by_n():
    from surefit import QuadraticDiscriminantAnalysis

    y = np.arange(len(THREE)) % 3
    found = QuadraticDiscriminantAnalysis(solver="eigen", store_covariance=True).fit(THREE, y)
    for k in range(3):
        np.testing.assert_allclose(found.means_[k], THREE[y == k].mean(axis=0), rtol=1e-10)
        np.testing.assert_allclose(found.covariance_[k], np.cov(THREE[y == k].T, ddof=0), rtol=1e-10)
    np.testing.assert_allclose(found.priors_, [1 / 3] * 3, rtol=1e-12)


@pytest.mark.covers("course_summary:11.3", by="GaussianMixture")
def test_the_steps_of_the_summary():
    X = [-1.0, 0, 1, 4, 5, 6]
    one = steps(X, 1, [0, 4], [1, 1])
    np.testing.assert_allclose(one.means_.ravel(), [-0.0055691455, 4.9757045872], atol=1e-9)
    np.testing.assert_allclose(one.covariances_.ravel(), [0.6664752346, 0.7601981415], atol=1e-9)
    np.testing.assert_allclose(one.weights_, [0.4970023171, 0.5029976829], atol=1e-9)
    three = steps(X, 3, [0, 4], [1, 1])
    expected = [-13.1536811410, -11.4697676977, -11.4560930312]
    np.testing.assert_allclose(6 * three.lower_bounds_, expected, atol=1e-9)
    limit = steps(X, 100, [0, 4], [1, 1])
    np.testing.assert_allclose(6 * limit.lower_bound_, -11.4560929144, atol=1e-9)
    np.testing.assert_allclose(limit.means_.ravel(), [0.000013, 4.999987], atol=1e-6)
    np.testing.assert_allclose(limit.covariances_.ravel(), [0.6667318] * 2, atol=1e-7)
    shares = limit.predict_proba(np.array(X)[:, None])
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    alone = GaussianMixture(1, reg_covar=0).fit(THREE)
    np.testing.assert_allclose(alone.covariances_[0], np.cov(THREE.T, ddof=0), rtol=1e-10)


@pytest.mark.covers("cs443:17.1", by="GaussianMixture.bic")
def test_free_parameters_are_counted_exactly():
    X = THREE
    for form, covariances in (("full", 3 * 6), ("tied", 6), ("diag", 9), ("spherical", 3)):
        model = GaussianMixture(3, covariance_type=form, random_state=0).fit(X)
        free = 3 - 1 + 3 * 3 + covariances  # K - 1 + K D + K D (D + 1) / 2
        twice = -2 * model.score_samples(X).sum()
        assert model.bic(X) == pytest.approx(twice + free * np.log(len(X)), rel=1e-12)
        assert model.aic(X) == pytest.approx(twice + 2 * free, rel=1e-12)
        assert model.icl(X) >= model.bic(X)


@pytest.mark.covers("cs443:17.2", by="GaussianMixture")
def test_a_component_collapses_onto_a_point_unless_a_floor_holds_it():
    X = [0.0, 1, 3]
    model = steps(X, 3, [0, 3], [1, 1])
    np.testing.assert_allclose(3 * model.lower_bounds_, [-5.11274837, -4.07626335, -3.61250276], atol=1e-8)
    one = steps(X, 1, [0, 3], [1, 1])
    np.testing.assert_allclose(one.means_.ravel(), [0.46795073, 2.66356285], atol=1e-8)
    np.testing.assert_allclose(one.covariances_.ravel(), [0.28524187, 0.58755995], atol=1e-8)
    np.testing.assert_allclose(one.weights_, [0.60585816, 0.39414184], atol=1e-8)
    second = [steps(X, n, [0, 3], [1, 1]).covariances_.ravel()[1] for n in (2, 3)]
    np.testing.assert_allclose(second, [0.2442, 0.0029], atol=5e-5)
    with pytest.raises(DataError, match="collapsed"):
        steps(X, 50, [0, 3], [1, 1])
    table = np.array([[0.0], [1], [3]])
    start = {"weights_init": [0.5, 0.5], "means_init": [[0.0], [3]], "precisions_init": [[[1.0]], [[1.0]]]}
    held = GaussianMixture(2, reg_covar=1e-9, max_iter=1000, **start).fit(table)
    (found,) = [each for each in held.diagnosis_ if each.code == "collapsed-components"]
    assert found.rows == (2,)
    assert "Component 1" in found.message
    # Variances that shrink to nothing: the shares become the labels of k-means.
    far = GaussianMixture(
        2, max_iter=0, weights_init=[0.5, 0.5], means_init=[[0.0], [3.0]], precisions_init=[[[1e8]], [[1e8]]]
    ).fit(table)
    assert far.predict_proba(table).tolist() == [[1, 0], [1, 0], [0, 1]]


@pytest.mark.covers("intro_to_ml:9.9", by="GaussianMixture")
def test_what_the_derivation_needs():
    model = GaussianMixture(3, tol=1e-12, max_iter=2000, reg_covar=0, random_state=0).fit(THREE)
    shares = model.predict_proba(THREE)
    # The multiplier of sum pi = 1: at the optimum n_k / pi_k is n for every component.
    np.testing.assert_allclose(shares.sum(axis=0) / model.weights_, len(THREE), rtol=1e-5)
    # grad log det A = A^-1 and grad a'Xb = ab', by differences.
    A, a, b = model.covariances_[0], np.arange(3.0), np.ones(3)
    h, gradient, product = 1e-6, np.empty((3, 3)), np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            step = np.zeros((3, 3))
            step[i, j] = h
            up, down = np.linalg.slogdet(A + step)[1], np.linalg.slogdet(A - step)[1]
            gradient[i, j] = (up - down) / (2 * h)
            product[i, j] = (a @ (A + step) @ b - a @ (A - step) @ b) / (2 * h)
    np.testing.assert_allclose(gradient, model.precisions_[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(product, np.outer(a, b), atol=1e-6)


@pytest.mark.parametrize("form", ONES)
def test_every_step_is_scikit_learns(form):
    start = {
        "weights_init": [0.2, 0.3, 0.5],
        "means_init": THREE[[0, 200, 400]],
        "precisions_init": ONES[form],
    }
    given = {"covariance_type": form, "tol": 1e-8, "max_iter": 500, **start}
    ours, theirs = GaussianMixture(3, **given).fit(THREE), peers.GaussianMixture(3, **given).fit(THREE)
    assert ours.n_iter_ == theirs.n_iter_
    for name in ("weights_", "means_", "covariances_", "precisions_", "lower_bound_"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-9, err_msg=name
        )
    assert ours.bic(THREE) == pytest.approx(theirs.bic(THREE), rel=1e-10)
    assert (np.diff(ours.lower_bounds_) > -1e-6).all()


@pytest.mark.parametrize("form", ONES)
def test_verify_sees_every_changed_array(form):
    model = GaussianMixture(3, covariance_type=form, random_state=0).fit(THREE)
    assert surefit.verify(model, THREE).holds
    for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
        kept = getattr(model, name)
        changed = kept.copy()
        changed.flat[np.abs(changed).argmax()] *= 1.01
        setattr(model, name, changed)
        assert not surefit.verify(model, THREE).holds, name
        setattr(model, name, kept)


def test_weights_are_repetitions_and_order_is_nothing():
    times = RNG.integers(0, 3, len(THREE))
    one = GaussianMixture(3, tol=1e-10, max_iter=1000).fit(THREE, sample_weight=times)
    two = GaussianMixture(3, tol=1e-10, max_iter=1000).fit(np.repeat(THREE, times, axis=0)[::-1])
    np.testing.assert_allclose(one.means_, two.means_, atol=1e-8)


def test_missing_cells_are_integrated_out():
    X = THREE.copy()
    X[RNG.random(X.shape) < 0.2] = np.nan
    model = GaussianMixture(3, random_state=0, tol=1e-6, max_iter=500).fit(X)
    assert model.certificate_.holds
    assert surefit.verify(model, X).holds
    whole = GaussianMixture(3, random_state=0, tol=1e-6, max_iter=500).fit(THREE)
    found = sorted(map(tuple, model.means_))
    np.testing.assert_allclose(found, sorted(map(tuple, whole.means_)), atol=0.5)
    row = np.array([[1.0, np.nan, 2.0]])
    density = sum(
        weight * multivariate_normal(mean[[0, 2]], covariance[np.ix_([0, 2], [0, 2])]).pdf([1.0, 2.0])
        for weight, mean, covariance in zip(model.weights_, model.means_, model.covariances_, strict=True)
    )
    assert model.score_samples(row)[0] == pytest.approx(np.log(density), rel=1e-9)
    # One normal distribution with missing cells: an independent climb by the textbook.
    alone = GaussianMixture(1, tol=1e-12, max_iter=2000, reg_covar=0).fit(X)
    mean, S = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    for _ in range(400):
        filled, extra = X.copy(), np.zeros((3, 3))
        for i, row in enumerate(X):
            u, o = np.isnan(row), ~np.isnan(row)
            K = S[np.ix_(u, o)] @ np.linalg.inv(S[np.ix_(o, o)])
            filled[i, u] = mean[u] + K @ (row[o] - mean[o])
            extra[np.ix_(u, u)] += S[np.ix_(u, u)] - K @ S[np.ix_(o, u)]
        mean = filled.mean(axis=0)
        S = ((filled - mean).T @ (filled - mean) + extra) / len(X)
        if np.abs(S - alone.covariances_[0]).max() < 1e-6:
            break
    np.testing.assert_allclose(alone.covariances_[0], S, atol=1e-5)


def test_rows_in_files_give_the_same_steps(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({f"x{j}": THREE[:, j] for j in range(3)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
    kept = GaussianMixture(3, random_state=0).fit(THREE)
    streamed = GaussianMixture(3, random_state=0).fit(str(tmp_path / "rows.parquet"))
    np.testing.assert_allclose(streamed.means_, kept.means_, rtol=1e-8)
    assert streamed.n_iter_ == kept.n_iter_


@pytest.mark.parametrize("how", ["kmeans", "k-means++", "random", "random_from_data"])
def test_every_start_finds_planted_components(how):
    model = GaussianMixture(3, init_params=how, n_init=4, random_state=0, max_iter=500).fit(THREE)
    label = model.predict(THREE).reshape(3, 150)
    assert np.mean([np.bincount(block).max() for block in label]) > 130


def test_the_picture_has_rows_and_ellipses():
    model = GaussianMixture(3, random_state=0).fit(THREE)
    chart = surefit.plots.plot_mixture(model, THREE).to_dict()
    assert chart["title"]["text"] == "3 components"
    assert len(chart["layer"]) == 2


def normal_model(X):
    """The three functions of EM, and the joint density, for normal components of one column."""

    def log_joint(x, theta):
        pi, mean, variance = theta
        return np.log(pi) - 0.5 * (np.log(2 * np.pi * variance) + (x[:, None] - mean) ** 2 / variance)

    def log_likelihood(x, theta):
        return logsumexp(log_joint(x, theta), axis=1).sum()

    def e_step(x, theta):
        joint = log_joint(x, theta)
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def m_step(x, q):
        total = q.sum(axis=0)
        mean = q.T @ x / total
        return total / len(x), mean, (q * (x[:, None] - mean) ** 2).sum(axis=0) / total

    return e_step, m_step, log_likelihood, log_joint


START = (np.array([0.5, 0.5]), np.array([0.0, 4.0]), np.array([1.0, 1.0]))


@pytest.mark.covers("course_summary:11.4", by="ExpectationMaximization.identity")
@pytest.mark.covers("course_summary:B.21", by="ExpectationMaximization.identity")
def test_log_likelihood_is_bound_plus_divergence():
    x = np.array([-1.0, 0, 1, 4, 5, 6])
    em = ExpectationMaximization(*normal_model(x), check=True, tol=1e-12)
    found = em.identity(x, START, np.full((6, 2), 0.5))
    np.testing.assert_allclose(found, [-13.1536811410, -39.0136311992, 25.8599500582], atol=1e-9)
    posterior = em.identity(x, START)
    np.testing.assert_allclose(posterior, [-13.1536811410, -13.1536811410, 0], atol=1e-9)
    theta = em.run(x, START)
    np.testing.assert_allclose(
        em.log_likelihoods_[:3], [-13.1536811410, -11.4697676977, -11.4560930312], atol=1e-9
    )
    np.testing.assert_allclose(theta[1], [0.000013, 4.999987], atol=1e-6)
    p = np.array([[0.6, 0.6, 0.4], [0.4, 0.4, 0.6]])
    X = np.array([[1.0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]])
    given = {"weights_init": [0.5, 0.5], "probabilities_init": p}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CertificateWarning)
        begun = BernoulliMixture(2, max_iter=0, **given).fit(X)
        after = BernoulliMixture(2, max_iter=1, **given).fit(X)
    np.testing.assert_allclose(
        begun.predict_proba(X)[:, 0], [0.7714285714, 0.6, 0.2285714286, 0.4], atol=1e-9
    )
    assert 4 * after.lower_bound_ == pytest.approx(-8.1727527851, abs=1e-9)
    expected = [[0.6857142857, 0.5857142857, 0.3142857143], [0.3142857143, 0.4142857143, 0.6857142857]]
    np.testing.assert_allclose(after.probabilities_, expected, atol=1e-9)


@pytest.mark.covers("intro_to_ml:9.8", by="ExpectationMaximization")
def test_the_identity_holds_for_any_q_and_the_likelihood_never_falls():
    x = np.concatenate([RNG.normal(size=40), RNG.normal(5, 2, size=30)])
    em = ExpectationMaximization(*normal_model(x), check=True, tol=1e-10)
    for _ in range(20):
        q = RNG.dirichlet([1, 1], size=len(x))
        found = em.identity(x, START, q)
        assert found.error < 1e-12
        assert found.bound <= found.log_likelihood
    em.run(x, START)
    assert em.converged_
    assert (np.diff(em.log_likelihoods_) >= -1e-10).all()


def test_wrong_functions_are_told_apart():
    x = np.array([-1.0, 0, 1, 4, 5, 6])
    e, m, likelihood, joint = normal_model(x)
    with pytest.raises(RefusalError, match="bound"):
        ExpectationMaximization(e, m, lambda x, t: likelihood(x, t) + 1, joint, check=True).run(x, START)
    with pytest.raises(RefusalError, match="not the posterior"):
        ExpectationMaximization(lambda x, t: np.full((6, 2), 0.5), m, likelihood, joint, check=True).run(
            x, START
        )
    worse = ExpectationMaximization(
        e, lambda x, q: (START[0], START[1] + 9, START[2]), likelihood, joint, check=True
    )
    with pytest.raises(RefusalError, match="fell"):
        worse.run(x, START)


def test_a_mixture_of_normals_by_name_is_the_diagonal_one():
    start = {"mean": THREE[[0, 200, 400]], "scale": np.ones((3, 3))}
    some = Mixture(3, of="Normal", parameters_init=start, tol=1e-9, max_iter=500).fit(THREE)
    other = GaussianMixture(
        3, covariance_type="diag", reg_covar=0, tol=1e-9, max_iter=500, weights_init=[1 / 3] * 3,
        means_init=start["mean"], precisions_init=np.ones((3, 3)),
    ).fit(THREE)  # fmt: skip
    np.testing.assert_allclose(some.parameters_["mean"], other.means_, rtol=1e-6)
    np.testing.assert_allclose(some.parameters_["scale"] ** 2, other.covariances_, rtol=1e-6)
    assert some.score(THREE) == pytest.approx(other.score(THREE), rel=1e-10)
    assert some.bic(THREE) == pytest.approx(other.bic(THREE), rel=1e-10)


@pytest.mark.parametrize(
    ("of", "known", "draw"),
    [
        (
            "Poisson",
            None,
            lambda rng: np.where(np.arange(400) % 2, rng.poisson(2, 400), rng.poisson(20, 400)),
        ),
        (
            "Exponential",
            None,
            lambda rng: np.where(np.arange(400) % 2, rng.exponential(1, 400), rng.exponential(50, 400)),
        ),
        (
            "Gamma",
            None,
            lambda rng: np.where(np.arange(400) % 2, rng.gamma(9, 1, 400), rng.gamma(50, 1, 400)),
        ),
        ("Binomial", {"trials": 20}, lambda rng: rng.binomial(20, np.where(np.arange(400) % 2, 0.1, 0.8))),
        ("Laplace", None, lambda rng: rng.laplace(np.where(np.arange(400) % 2, 0, 30), 1)),
    ],
)
def test_components_of_any_family(of, known, draw):
    X = draw(np.random.default_rng(3)).astype(float)[:, None]
    model = Mixture(2, of=of, known=known, random_state=0).fit(X)
    assert model.certificate_.holds
    assert surefit.verify(model, X).holds
    assert (np.diff(model.lower_bounds_) >= -1e-9).all()
    label = model.predict(X)
    assert max(np.mean(label == np.arange(400) % 2), np.mean(label != np.arange(400) % 2)) > 0.85
    rows, _ = model.sample(50, random_state=0)
    assert rows.shape == (50, 1)
    name = max(
        model.parameters_, key=lambda each: np.abs(model.parameters_[each]).max() if each != "trials" else -1
    )
    values = model.parameters_[name]
    values.flat[np.abs(values).argmax()] *= 1.01
    assert not surefit.verify(model, X).holds


def test_components_of_vectors():
    model = Mixture(3, of="MultivariateNormal", random_state=0).fit(THREE)
    assert model.certificate_.holds
    assert surefit.verify(model, THREE).holds
    assert model.score(THREE) == pytest.approx(
        GaussianMixture(3, random_state=0, tol=1e-6).fit(THREE).score(THREE), abs=1e-3
    )


def test_levels_that_go_together_are_found():
    rng = np.random.default_rng(0)
    which = np.arange(300) % 2
    X = np.column_stack(
        [np.where(rng.random(300) < 0.9, which, 1 - which) + 10 * j for j in range(5)]
    ).astype(float)
    model = CategoricalMixture(2, random_state=0, n_init=3).fit(X)
    assert surefit.verify(model, X).holds
    label = model.predict(X)
    assert max(np.mean(label == which), np.mean(label != which)) > 0.95
    coins = BernoulliMixture(2, random_state=0).fit(X % 10)
    assert coins.score(X % 10) == pytest.approx(model.score(X), abs=1e-4)
    assert surefit.verify(coins, X % 10).holds
    assert np.isneginf(model.score_samples([[7.0, 10, 20, 30, 40]]))[0]
    rows, _ = model.sample(2000, random_state=1)
    np.testing.assert_allclose(rows.mean(axis=0), X.mean(axis=0), atol=0.05)
    model.probabilities_.flat[model.probabilities_.argmax()] *= 0.99
    assert not surefit.verify(model, X).holds
