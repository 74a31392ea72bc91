"""What holds for every exact path: optimal at each knot, whatever ties, dependencies, scales and weights."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import surefit
from surefit import ConstrainedLasso, ConstrainedRidge, Lars, Lasso, LassoLars, Ridge
from surefit.core.certificate import CertificateWarning
from surefit.data.batches.batch import Batch
from surefit.engine.serial import Serial
from surefit.losses.squared import Squared
from surefit.models.linear.sparse import lars_fit
from surefit.penalties.l1 import L1
from surefit.solvers.objective.base import Objective
from surefit.solvers.squares import homotopy as homotopy_slopes
from surefit.solvers.squares.columns import SquaredColumns
from surefit.solvers.squares.homotopy import PackedFactor, lasso_homotopy
from surefit.solvers.squares.sums import SquaredSums
from surefit.stats.moments import Moments

RNG = np.random.default_rng(0)
PLAIN = RNG.normal(size=(30, 6))
TARGET = PLAIN @ np.array([3.0, -2.0, 0.0, 1.0, 0.5, 0.0]) + RNG.normal(size=30)


def hard_tables():
    X, y = PLAIN, TARGET
    yield "plain", X, y
    yield "duplicate", np.hstack([X, X[:, :3], -X[:, :2]]), y
    yield "constant", np.hstack([X, np.ones((30, 2)), np.zeros((30, 1))]), y
    yield "collinear", np.hstack([X, X[:, :2] @ np.ones((2, 1)), X @ np.ones((6, 1))]), y
    yield "one row", X[:1], y[:1]
    yield "two rows", X[:2], y[:2]
    yield "wide", RNG.normal(size=(7, 40)), RNG.normal(size=7)
    yield "mean 1e6", X + 1e6, y + 1e6
    yield "small scale", X * 1e-12, y * 1e-12
    yield "large scale", X * 1e12, y * 1e12
    yield "mixed scales", X * 10.0 ** np.array([-4, 4, 0, -2, 2, 0]), y
    yield "constant target", X, np.full(30, 3.0)
    yield "exact fit", X, X @ np.arange(6.0)
    yield "tied", np.vstack([np.eye(6), -np.eye(6)]), np.r_[np.ones(6), -np.ones(6)]
    yield (
        "hadamard",
        np.kron([[1, 1], [1, -1]], np.kron([[1, 1], [1, -1]], [[1, 1], [1, -1]])) * 1.0,
        np.ones(8),
    )


CASES = [pytest.param(X, y, id=name) for name, X, y in hard_tables()]


def problems(X, y, weight=None, fit_intercept=True):
    yield SquaredColumns(X, y, weight, fit_intercept=fit_intercept)
    yield SquaredColumns(sparse.csc_array(X), y, weight, fit_intercept=fit_intercept)
    yield SquaredSums.of(Moments.of(Batch(np.ascontiguousarray(X), y, weight)), fit_intercept=fit_intercept)


def proved(X, y, problem, path, fit_intercept=True, positive=False):
    """Whether the data prove each knot above zero to be optimal."""
    source = Objective.of_arrays(X, y, Squared(), L1()).source
    coefs = path.coefs.toarray()
    for alpha, coef in zip(path.alphas[path.alphas > 0], coefs.T, strict=False):
        intercept = np.array([problem.mean_y - path.centre @ coef])
        given = {"fit_intercept": fit_intercept, "positive": positive}
        if not lars_fit.proof(source, Serial(), coef[:, None], intercept, alpha, **given).holds:
            return False
    return True


@pytest.mark.parametrize(("X", "y"), CASES)
@pytest.mark.parametrize("positive", [False, True])
def test_every_knot_is_optimal(X, y, positive):
    for problem in problems(X, y):
        path = lasso_homotopy(problem, positive=positive)
        assert path.complete
        assert path.alphas[-1] == 0
        assert (np.diff(path.alphas) < 0).all()
        assert np.isfinite(path.coefs.data).all()
        assert proved(X, y, problem, path, positive=positive)


@pytest.mark.parametrize(("X", "y"), CASES)
def test_the_end_of_the_path_is_least_squares(X, y):
    for model in (LassoLars(alpha=0.0), Lars()):
        model.fit(X, y)
        assert model.certificate_.holds
        assert surefit.verify(model, X, y).holds
    scale = 1 + np.abs(model.coef_).max()
    model.coef_ = model.coef_ + 1e-3 * scale
    assert not surefit.verify(model, X, y).holds


@given(st.integers(0, 10**6))
@settings(derandomize=True, max_examples=150, deadline=None)
def test_ties_of_small_whole_numbers(seed):
    """Columns of few small integers are full of ties, duplicates and dependencies."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(2, 9)), int(rng.integers(1, 9))
    X = rng.integers(-1, 2, size=(rows, columns)).astype(float)
    y = rng.integers(-2, 3, size=rows).astype(float)
    positive, centre = bool(rng.integers(2)), bool(rng.integers(2))
    for problem in problems(X, y, fit_intercept=centre):
        path = lasso_homotopy(problem, positive=positive)
        assert path.complete
        assert proved(X, y, problem, path, centre, positive)


def test_columns_drop_and_come_back():
    """Strong correlation makes coefficients pass through zero; a column may join a second time."""
    returns = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(12, 10)) @ rng.normal(size=(10, 10))
        y = rng.normal(size=12)
        path = lasso_homotopy(SquaredColumns(X, y))
        sets = [set(path.active_at(k).tolist()) for k in range(len(path.alphas))]
        joined = [j for before, after in pairwise(sets) for j in after - before]
        returns += len(joined) != len(set(joined))
        A, b = X - X.mean(axis=0), y - y.mean()
        for alpha, w in zip(path.alphas, path.coefs.toarray().T, strict=True):
            slopes = A.T @ (b - A @ w) / 12
            assert np.abs(slopes).max() <= alpha + 1e-11
            np.testing.assert_allclose(slopes[w != 0], alpha * np.sign(w[w != 0]), atol=1e-11)
    assert returns > 0


def test_columns_left_alone_change_nothing(monkeypatch):
    """The bound that lets most columns be is safe: the path is the same when all are followed."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 800)), rng.normal(size=60)
    looked = []
    whole = homotopy_slopes.SlopesOfColumns.refresh
    monkeypatch.setattr(
        homotopy_slopes.SlopesOfColumns, "refresh", lambda self, *at: (looked.append(1), whole(self, *at))
    )
    for positive in (False, True):
        some = lasso_homotopy(SquaredColumns(X, y), positive=positive)
        assert 0 < len(looked) < some.steps
        with monkeypatch.context() as every:
            every.setattr(homotopy_slopes, "_FEW", 10**6)
            all_followed = lasso_homotopy(SquaredColumns(X, y), positive=positive)
        np.testing.assert_allclose(some.alphas, all_followed.alphas, atol=1e-12)
        np.testing.assert_allclose(some.coefs.toarray(), all_followed.coefs.toarray(), atol=1e-10)
        looked.clear()


def test_weights_are_repetitions_and_zero_weights_are_no_rows():
    weight = np.random.default_rng(1).integers(0, 4, 30).astype(float)
    rows = np.repeat(np.arange(30), weight.astype(int))
    bad = PLAIN.copy()
    bad[weight == 0] = 1e3
    for one, two in zip(problems(bad, TARGET, weight), problems(PLAIN[rows], TARGET[rows]), strict=True):
        path, other = lasso_homotopy(one), lasso_homotopy(two)
        np.testing.assert_allclose(path.alphas, other.alphas, atol=1e-12)
        np.testing.assert_allclose(path.coefs.toarray(), other.coefs.toarray(), atol=1e-12)


def test_a_factor_that_columns_enter_and_leave():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    factor, held = PackedFactor(), []
    for step in range(200):
        if held and (len(held) == 12 or rng.random() < 0.4):
            place = int(rng.integers(len(held)))
            factor.remove(place)
            held.pop(place)
        else:
            column = int(rng.choice([j for j in range(12) if j not in held]))
            assert factor.append(X[:, held].T @ X[:, column], float(X[:, column] @ X[:, column])), step
            held.append(column)
        if held:
            right = rng.normal(size=len(held))
            expected = np.linalg.solve(X[:, held].T @ X[:, held], right)
            np.testing.assert_allclose(factor.solve(right), expected, atol=1e-12)
    assert not factor.append(X[:, held].T @ X[:, held[0]], float(X[:, held[0]] @ X[:, held[0]]))


@pytest.mark.parametrize(("X", "y"), CASES)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 2.0])
def test_constrained_and_penalised_lasso_are_one(X, y, share):
    """From radius to strength and back; a radius that does not bind gives least squares."""
    end = LassoLars(alpha=0.0).fit(X, y)
    largest = float(np.abs(end.coef_).sum())
    if largest == 0:
        return
    model = ConstrainedLasso(radius=share * largest).fit(X, y)
    assert model.certificate_.holds
    assert surefit.verify(model, X, y).holds
    assert model.multiplier_ == model.alpha_
    if share > 1:
        assert model.alpha_ == 0
        return
    assert np.abs(model.coef_).sum() == pytest.approx(share * largest, rel=1e-12)
    scale = np.abs(end.coef_).max()
    back = LassoLars(alpha=model.alpha_).fit(X, y)
    np.testing.assert_allclose(back.coef_, model.coef_, atol=1e-6 * scale)
    again = ConstrainedLasso(radius=float(np.abs(back.coef_).sum())).fit(X, y)
    assert again.alpha_ == pytest.approx(model.alpha_, rel=1e-6)


@pytest.mark.parametrize(("X", "y"), CASES)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 2.0])
def test_constrained_and_penalised_ridge_are_one(X, y, share):
    end = ConstrainedRidge(radius=1e300).fit(X, y)
    largest = float(np.linalg.norm(end.coef_))
    if largest < 1e-13:
        return
    model = ConstrainedRidge(radius=share * largest).fit(X, y)
    assert model.certificate_.holds
    assert surefit.verify(model, X, y).holds
    if share > 1:
        assert (model.alpha_, model.multiplier_) == (0, 0)
        np.testing.assert_array_equal(model.coef_, end.coef_)
        return
    assert np.linalg.norm(model.coef_) == pytest.approx(share * largest, rel=1e-12)
    assert model.multiplier_ == pytest.approx(model.alpha_ * share * largest / len(y), rel=1e-12)
    back = Ridge(alpha=model.alpha_).fit(X, y)
    np.testing.assert_allclose(back.coef_, model.coef_, atol=1e-8 * largest)
    again = ConstrainedRidge(radius=float(np.linalg.norm(back.coef_))).fit(X, y)
    assert again.alpha_ == pytest.approx(model.alpha_, rel=1e-5)


@pytest.mark.parametrize("cls", [ConstrainedLasso, ConstrainedRidge])
def test_the_multiplier_is_the_price_of_the_radius(cls):
    def loss(radius):
        return 0.5 * np.mean((TARGET - cls(radius=radius).fit(PLAIN, TARGET).predict(PLAIN)) ** 2)

    step = 1e-5
    slope = (loss(2.0 + step) - loss(2.0 - step)) / (2 * step)
    assert cls(radius=2.0).fit(PLAIN, TARGET).multiplier_ == pytest.approx(-slope, rel=1e-6)


@pytest.mark.parametrize("cls", [ConstrainedLasso, ConstrainedRidge])
@pytest.mark.parametrize("radius", [0.0, -1.0, np.inf, np.nan, "1"])
def test_a_radius_is_a_positive_number(cls, radius):
    with pytest.raises(ValueError, match="radius"):
        cls(radius=radius).fit(PLAIN, TARGET)


def test_a_path_agrees_with_coordinate_descent():
    path = lasso_homotopy(SquaredColumns(PLAIN, TARGET))
    with warnings.catch_warnings():
        warnings.simplefilter("error", CertificateWarning)
        for alpha in (0.5, 0.05, 0.005):
            model = Lasso(alpha=alpha, tol=1e-10).fit(PLAIN, TARGET)
            np.testing.assert_allclose(path.at(alpha), model.coef_, atol=1e-7)
