"""Generalised linear models on hard tables: exact losses, walls, both roots of a mean, and ends of fits.

Objectives are compared in extended precision; ours are fitted with their defaults.
"""

from __future__ import annotations

import warnings

import glum
import numpy as np
import polars as pl
import pytest
import sklearn.linear_model as sk
import statsmodels.api as sm
from scipy import sparse, special
from sklearn.datasets import load_diabetes
from tests.reference.test_objectives_of_peers import ends, net, of_params, scores, shares, table, with_ones

import surefit
from surefit.losses.families import Binomial, Gamma, Poisson
from surefit.losses.family_loss import FamilyLoss
from surefit.losses.links import ComplementaryLogLog, Identity, Log, Probit, SquareRoot
from surefit.penalties import NoPenalty
from surefit.solvers.objective.base import Objective

LONG = np.longdouble
CLOSE = 1e-6  # what ours may be above a peer's, relative to it
FAR = np.array([-1e3, -300.0, -50.0, -8.0, -2.3, -0.1, 0.0, 0.5, 2.0, 3.7, 6.0, 30.0, 300.0])
LINKS = sm.families.links


def half_deviance(family, y, mean):
    positive = np.where(y > 0, y, 1.0)
    return {
        "poisson": lambda: np.where(y > 0, y * np.log(positive / mean), 0) - y + mean,
        "gamma": lambda: (y - mean) / mean - np.log(positive / mean),
        "inverse_gaussian": lambda: ((y - mean) / mean) ** 2 / positive / 2,
    }[family]()


def objective_of(family, link, X, y, weight, alpha):
    """Return the objective as a function of coefficients and intercept, and which scores have a mean."""
    s = shares(weight, len(y))

    def objective(coef, intercept):
        z = scores(X, coef, intercept)
        if link == "identity" and (z[s > 0] <= 0).any():
            return np.inf
        with np.errstate(all="ignore"):
            mean = {"identity": lambda: z, "sqrt": lambda: z**2, "log": lambda: np.exp(z)}[link]()
            each = half_deviance(family, y, mean)
        return np.where(s > 0, s * each, 0).sum() + net(coef, alpha, 0.0)

    return objective


def least_of(objective, peers):
    """Return the least objective of the peers that find an answer."""
    found = [np.inf]
    for peer in peers:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                found.append(objective(*peer()))
            except (ValueError, ArithmeticError, np.linalg.LinAlgError):
                continue  # a table that the peer has no answer to
    return min(value for value in found if not np.isnan(value))


def by_glum(family, link, alpha, X, y, weight):
    model = glum.GeneralizedLinearRegressor(
        family=family.replace("_", "."), link=link, alpha=alpha, l1_ratio=0, gradient_tol=1e-10, max_iter=50
    )
    return lambda: ends(model.fit(with_ones(X)[:, :-1], y, weight))


def by_statsmodels(family, X, y, weight):
    return lambda: of_params(sm.GLM(y, with_ones(X), family, freq_weights=weight).fit(tol=1e-14))


def quietly(model, *rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at a wall slopes do not vanish, and the certificate says so
        return model.fit(*rows)


def test_losses_of_shares_are_exact_wherever_the_mean_rounds_to_an_end():
    """With t = exp(z): -log(1 - p) = t and -log p = -log(1 - exp(-t)) under cloglog."""
    loss, z = FamilyLoss(Binomial(), ComplementaryLogLog()), FAR
    t = np.exp(z.astype(LONG))
    np.testing.assert_allclose(loss.value(0.0, z), t.astype(float), rtol=1e-14)
    np.testing.assert_allclose(loss.gradient(0.0, z), t.astype(float), rtol=1e-14)
    np.testing.assert_allclose(loss.observed_curvature(0.0, z), t.astype(float), rtol=1e-14)
    np.testing.assert_allclose(loss.value(1.0, z[:3]), -z[:3], rtol=1e-14)
    some = t[3:10]
    of_one = -np.where(
        some < 1, np.log(-np.expm1(-some)), np.log1p(-np.exp(-some))
    )  # each where it has digits
    np.testing.assert_allclose(loss.value(1.0, z[3:10]), of_one.astype(float), rtol=1e-13)
    slope = some / np.expm1(some)
    np.testing.assert_allclose(loss.gradient(1.0, z[3:10]), -slope.astype(float), rtol=1e-13)
    bend = slope * (some + slope - 1)  # in extended precision, which leaves 1e-19 / t of it
    np.testing.assert_allclose(loss.observed_curvature(1.0, z[3:10]), bend.astype(float), rtol=1e-13)
    loss = FamilyLoss(Binomial(), Probit())
    np.testing.assert_allclose(loss.value(0.0, z), -special.log_ndtr(-z), rtol=1e-14)
    np.testing.assert_allclose(loss.value(1.0, z), -special.log_ndtr(z), rtol=1e-14)
    np.testing.assert_allclose(loss.observed_curvature(0.0, z[-1:]), 1 - 300.0**-2, rtol=1e-8)
    for link in (ComplementaryLogLog(), Probit()):
        loss = FamilyLoss(Binomial(), link)
        for y in (0.0, 0.3, 1.0):
            for each in (loss.value, loss.gradient, loss.curvature, loss.observed_curvature):
                assert np.isfinite(each(y, FAR)).all()
            assert (loss.observed_curvature(y, FAR) >= 0).all()


@pytest.mark.parametrize("alpha", [0.0, 1e-3])
@pytest.mark.parametrize("kind", ["one heavy row", "uneven weights", "plain"])
def test_cloglog_means_what_it_claims(kind, alpha):
    X, z, weight = table(kind)
    y = (np.random.default_rng(3).random(len(z)) < -np.expm1(-np.exp(z))).astype(float)
    s = shares(weight, len(y))

    def objective(coef, intercept):
        t = np.exp(scores(X, coef, intercept))
        with np.errstate(all="ignore"):
            each = np.where(y > 0, -np.log(-np.expm1(-t)), t)
        return np.where(s > 0, s * each, 0).sum() + net(coef, alpha, 0.0)

    ours = quietly(surefit.GeneralizedLinearRegressor("binomial", "cloglog", alpha=alpha), X, y, weight)
    mine = objective(*ends(ours))
    assert mine == pytest.approx(ours.certificate_.parts["objective"], rel=1e-9, abs=1e-12)
    assert mine <= (1 + CLOSE) * least_of(objective, [by_glum("binomial", "cloglog", alpha, X, y, weight)])


@pytest.mark.parametrize("kind", ["one heavy row", "uneven weights"])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("seed", [3, 6])
@pytest.mark.parametrize("family", ["poisson", "gamma"])
def test_means_along_the_wall_of_the_identity(family, kind, alpha, seed):
    X, z, weight = table(kind)
    rng, mean = np.random.default_rng(seed), np.exp(0.5 * z + 0.3)
    y = rng.poisson(mean).astype(float) if family == "poisson" else mean * rng.gamma(2.0, 0.5, len(z))
    objective = objective_of(family, "identity", X, y, weight, alpha)
    peers = [by_glum(family, "identity", alpha, X, y, weight)]
    if alpha == 0:
        of_peer = {"poisson": sm.families.Poisson, "gamma": sm.families.Gamma}[family]
        peers.append(by_statsmodels(of_peer(LINKS.Identity()), X, y, weight))
    ours = quietly(surefit.GeneralizedLinearRegressor(family, "identity", alpha=alpha), X, y, weight)
    assert np.isfinite(objective(*ends(ours)))
    assert objective(*ends(ours)) <= (1 + CLOSE) * least_of(objective, peers)


def test_rows_of_no_weight_have_no_wall():
    """A row that does not count may have a score without a mean."""
    X, y = np.array([[0.0], [1.0], [-10.0]]), np.array([1.0, 3.0, 1.0])
    ours = surefit.GeneralizedLinearRegressor("gamma", "identity").fit(X, y, [1.0, 1.0, 0.0])
    np.testing.assert_allclose([ours.coef_[0], ours.intercept_], [2.0, 1.0], rtol=1e-8)
    assert ours.certificate_.holds


def test_counts_of_zero_weigh_on_the_wall_and_the_answer_is_that_of_a_program():
    """Poisson's loss of means is convex, and counts of 0 ask for means of at least 0 alone."""
    cp = pytest.importorskip("cvxpy")
    X, z, _ = table("plain")
    y = np.random.default_rng(3).poisson(np.exp(0.5 * z + 0.3)).astype(float)
    w, b = cp.Variable(6), cp.Variable()
    mean, hit = X @ w + b, y > 0
    cost = cp.sum(mean) - y[hit] @ cp.log(mean[hit])
    best = cp.Problem(cp.Minimize(cost), [mean >= 0]).solve(solver=cp.CLARABEL)
    best = (best + np.sum(y[hit] * np.log(y[hit]) - y[hit])) / len(y)
    ours = quietly(surefit.GeneralizedLinearRegressor("poisson", "identity"), X, y)
    mine = objective_of("poisson", "identity", X, y, None, 0.0)(*ends(ours))
    assert mine <= (1 + CLOSE) * best


@pytest.mark.parametrize("kind", ["plain", "collinear", "tied"])
@pytest.mark.parametrize("seed", [3, 5])
def test_roots_of_either_sign(kind, seed):
    X, z, _ = table(kind)
    tail = np.random.default_rng(seed).standard_t(2, len(z)).clip(-4, 4)
    y = np.floor(np.exp(0.5 * z + 0.3 + 2 * tail))
    objective = objective_of("poisson", "sqrt", X, y, None, 0.0)
    ours = quietly(surefit.GeneralizedLinearRegressor("poisson", "sqrt"), X, y)
    peer = by_statsmodels(sm.families.Poisson(LINKS.Sqrt()), X, y, None)
    assert objective(*ends(ours)) <= (1 + CLOSE) * least_of(objective, [peer])
    assert ours.certificate_.holds
    assert surefit.verify(ours, X, y).holds


def heavy_tailed(kind, seed):
    """Amounts that no model of their means explains: inverse Gaussian deviances of them have many valleys."""
    X, z, weight = table(kind)
    rng = np.random.default_rng(seed)
    y = np.exp(0.5 * z + 0.3) * rng.gamma(2.0, 0.5, len(z))
    return X, y * np.exp(1.5 * rng.standard_t(2, len(z)).clip(-4, 4)), weight


@pytest.mark.parametrize("alpha", [0.0, 1e-3])
@pytest.mark.parametrize("seed", [1, 4, 5, 6, 10])
@pytest.mark.parametrize("kind", ["plain", "collinear", "tied", "uneven weights"])
def test_the_lowest_of_many_valleys(kind, seed, alpha):
    """Unless a peer's means are far beyond all targets, and ours are not."""
    X, y, weight = heavy_tailed(kind, seed)
    objective = objective_of("inverse_gaussian", "log", X, y, weight, alpha)
    ours = quietly(surefit.TweedieRegressor(power=3, alpha=alpha), X, y, weight)
    peers = [by_glum("inverse_gaussian", "log", alpha, X, y, weight)]
    for solver in ("lbfgs", "newton-cholesky"):
        model = sk.TweedieRegressor(power=3, alpha=alpha, solver=solver, tol=1e-10, max_iter=1000)
        peers.append(lambda model=model: ends(model.fit(X, y, weight)))
    if alpha == 0:
        peers.append(by_statsmodels(sm.families.InverseGaussian(LINKS.Log()), X, y, weight))
    counts = np.ones(len(y), dtype=bool) if weight is None else weight > 0
    highest = np.log(1e3 * y[counts].max())

    def in_reach(coef, intercept):
        return scores(X, coef, intercept)[counts].max() <= highest

    anywhere = not in_reach(*ends(ours))

    def compared(coef, intercept):
        return objective(coef, intercept) if anywhere or in_reach(coef, intercept) else np.inf

    assert objective(*ends(ours)) <= (1 + CLOSE) * least_of(compared, peers)
    assert np.isfinite(ours.predict(X)).all()


def test_no_rows_are_given_up_for_a_lower_deviance():
    """Rows whose mean is beyond all numbers cost next to nothing, which fits the others and explains none."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(50, 10, 300), rng.integers(1990, 2020, 300)])
    y = np.exp(0.02 * X[:, 0] + 1.5 * rng.standard_t(2, 300).clip(-4, 4))
    ours = surefit.GeneralizedLinearRegressor("inverse_gaussian", "log").fit(X, y)
    assert ours.predict(X).max() <= 1e3 * y.max()
    assert np.isfinite(ours.dispersion_)


def test_valleys_are_the_same_whatever_rows_come_from(tmp_path):
    """Many rows are searched by a sample of them: the same from arrays, sparse rows and files."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3)).round(2)
    X[rng.random(X.shape) < 0.5] = 0.0
    y = np.exp(0.3 * X[:, 0] + 2.0 * rng.standard_t(2, 5000).clip(-6, 6))
    file = tmp_path / "rows.parquet"
    pl.DataFrame({**{f"x{j}": X[:, j] for j in range(3)}, "y": y}).write_parquet(file, row_group_size=700)
    model = surefit.TweedieRegressor(power=3, alpha=0)
    found = quietly(model, X, y)
    rows = quietly(surefit.TweedieRegressor(power=3, alpha=0), sparse.csr_array(X), y)
    read = quietly(surefit.TweedieRegressor(power=3, alpha=0), surefit.read(file, target="y"))
    for other in (rows, read):
        np.testing.assert_allclose(other.coef_, found.coef_, rtol=1e-6)
        assert other.certificate_.parts["objective"] == pytest.approx(found.certificate_.parts["objective"])


def test_a_start_beyond_all_numbers_ends():
    """Slopes that are not finite tell nothing of a step, and are no reason to look for one for ever."""
    X, y, _ = heavy_tailed("plain", 5)
    model = surefit.TweedieRegressor(power=3, alpha=0, warm_start=True).fit(X, y)
    best = model.certificate_.parts["objective"]
    model.coef_ = np.full(6, 1e3)
    quietly(model, X, y)
    assert model.certificate_.parts["objective"] == pytest.approx(best)


def test_no_point_of_infinite_loss_is_stationary():
    loss = FamilyLoss(Gamma(), Identity())
    objective = Objective.of_arrays([[1.0], [2.0]], [1.0, 2.0], loss, NoPenalty(), fit_intercept=False)
    assert not objective.certificate(np.array([-1.0]), 1e-4).holds
    assert objective.certificate(np.array([1.0]), 1e-4).holds


def test_a_deviance_where_the_mean_rounds_to_one():
    """Under cloglog a failure at score 6 costs exp(6), though the mean is 1 to all digits."""
    X = np.array([[0.0]] * 10 + [[1.0]] * 10)
    y = np.array([0.0] * 5 + [1.0] * 15)
    model = surefit.GeneralizedLinearRegressor("binomial", "cloglog", alpha=1e-3).fit(X, y)
    high = (6.0 - model.intercept_) / model.coef_
    assert model.predict([high])[0] == 1.0
    told = model.score(np.array([high, [0.0]]), [0.0, 1.0])
    at_zero = np.exp(float(model.intercept_))
    own = np.exp(6.0) - np.log(-np.expm1(-at_zero))
    assert told == pytest.approx(1.0 - own / (2 * np.log(2)), rel=1e-9)


def test_a_count_of_zero_has_no_wall_between_its_roots():
    loss, z = FamilyLoss(Poisson(), SquareRoot()), np.array([-2.0, -1e-200, 0.0, 1e-200, 2.0])
    np.testing.assert_array_equal(loss.value(0.0, z), z**2)
    np.testing.assert_array_equal(loss.gradient(0.0, z), 2 * z)
    np.testing.assert_array_equal(loss.curvature(0.0, z), 4.0)
    np.testing.assert_array_equal(loss.observed_curvature(0.0, z), 2.0)
    np.testing.assert_allclose(loss.value(3.0, -z), loss.value(3.0, z))
    assert np.isinf(loss.value(3.0, 0.0)).all()


@pytest.mark.parametrize("kind", ["plain", "collinear", "around 1e6", "uneven weights", "tied"])
@pytest.mark.parametrize("alpha", [0.0, 1e-3])
def test_cubes_end_where_nothing_is_left_to_fall(kind, alpha):
    X, z, weight = table(kind)
    y = np.exp(0.5 * z + 0.3) * np.random.default_rng(3).gamma(2.0, 0.5, len(z))
    objective = objective_of("inverse_gaussian", "log", X, y, weight, alpha)
    ours = surefit.TweedieRegressor(power=3, alpha=alpha).fit(X, y, weight)
    parts = ours.certificate_.parts
    assert parts["decrement"] <= 0.01 * CLOSE * parts["scale"]
    best = least_of(objective, [by_glum("inverse_gaussian", "log", alpha, X, y, weight)])
    assert objective(*ends(ours)) <= (1 + 0.1 * CLOSE) * best


def test_cubes_of_diabetes_without_an_intercept():
    X, y = load_diabetes(return_X_y=True)
    options = {"power": 3, "alpha": 0.0, "fit_intercept": False}
    objective = objective_of("inverse_gaussian", "log", X, y, None, 0.0)
    theirs = sk.TweedieRegressor(**options, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    best = least_of(objective, [lambda: (theirs.fit(X, y).coef_, 0.0)])
    ours = surefit.TweedieRegressor(**options).fit(X, y)
    assert objective(ours.coef_, 0.0) <= (1 + CLOSE) * best


def test_slight_slopes_along_a_valley_are_not_called_stationary():
    """Columns that differ by 1e-6: the slope is 1e-6 of what their difference is off."""
    rng = np.random.default_rng(0)
    x, more = rng.normal(size=(2, 200))
    X, y = np.column_stack([x, x + 1e-6 * more]), np.exp(0.3 * x) * rng.gamma(2.0, 0.5, 200)
    objective = Objective.of_arrays(X, y, FamilyLoss(Gamma(), Log()), NoPenalty())
    ours = surefit.GeneralizedLinearRegressor("gamma", "log").fit(X, y)
    at = np.append(ours.coef_, ours.intercept_)
    off = at + 1e5 * np.array([-1.0, 1.0, 0.0])  # scores move by 0.1
    proof = objective.certificate(off, 1e-6)
    fell = objective.value(off) - objective.value(at)
    assert proof.parts["decrement"] == pytest.approx(fell, rel=0.2)  # the loss is nearly a parabola so near
    assert not proof.holds
    assert proof.value >= proof.parts["decrement"] / proof.parts["scale"]


def test_identity_and_shares_keep_off_both_ends():
    """Shares whose scores are means have a wall at 0 and one at 1."""
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 1, size=(80, 2))
    y = (rng.random(80) < np.clip(1.6 * X[:, 0] - 0.3, 0, 1)).astype(float)
    cp = pytest.importorskip("cvxpy")
    w, b = cp.Variable(2), cp.Variable()
    mean = X @ w + b
    cost = -cp.sum(cp.log(mean[y > 0])) - cp.sum(cp.log(1 - mean[y == 0]))
    best = cp.Problem(cp.Minimize(cost), [mean >= 0, mean <= 1]).solve(solver=cp.CLARABEL) / 80
    ours = quietly(surefit.GeneralizedLinearRegressor("binomial", "identity"), X, y)
    packed = np.append(ours.coef_, ours.intercept_)
    loss = FamilyLoss(Binomial(), Identity())
    assert Objective.of_arrays(X, y, loss, NoPenalty()).value(packed) <= (1 + CLOSE) * best
