"""What is left to gain along columns that nearly cancel: cosines by hand, and proofs that must be true."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from surefit import (
    GammaRegressor,
    HuberRegressor,
    LADRegressor,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
)
from surefit.core.certificate import CertificateWarning
from surefit.losses import Absolute
from surefit.penalties import NoPenalty
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.gap import greatest_cosine
from surefit.stats.duality import Slopes

RNG = np.random.default_rng(5)
ROWS = 300
AT = RNG.uniform(0.0, 10.0, ROWS)
WAVE = np.sin(AT) + 0.2 * RNG.normal(size=ROWS)
COUNTS = np.round(3 * np.exp(WAVE))
SIDE = (WAVE > 0.1).astype(int)


def pull_of(u, X, fit_intercept):
    pull = X.T @ u
    return np.append(pull, u.sum()) if fit_intercept else pull


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("mean", [0.0, 30.0])
@pytest.mark.parametrize("apart", [1.0, 1e-3, 1e-6])
def test_the_cosine_is_that_with_the_span_of_the_columns(apart, mean, fit_intercept):
    """The reference projects on an orthonormal basis, found without the difference's smallness."""
    first, second, third = RNG.normal(size=(3, ROWS))
    X = np.column_stack([first + mean, first + mean + apart * second, third])
    plain = np.column_stack(
        [first + mean, X[:, 1] - X[:, 0], third]
    )  # the same span; the difference is exact
    plain = np.column_stack([plain / np.linalg.norm(plain, axis=0), np.ones(ROWS)])[:, : 3 + fit_intercept]
    u = RNG.normal(size=ROWS)
    objective = Objective.of_arrays(X, u, Absolute(), NoPenalty(), fit_intercept=fit_intercept)
    free = np.eye(3)
    at = objective.accumulate(
        lambda batch, **about: Slopes.of(
            batch,
            loss=objective.loss,
            w=np.zeros(3),
            intercept=0.0 if fit_intercept else None,
            free=free,
            slopes=u,
        )
    )
    expected = np.linalg.norm(np.linalg.qr(plain)[0].T @ u) / np.linalg.norm(u)
    found = greatest_cosine(objective, free, pull_of(u, X, fit_intercept), at)
    # The square of a difference is known to the rounding of 1 over its own square.
    assert found == pytest.approx(expected, rel=1e-10 + 64 * np.finfo(float).eps * (1 + mean**2) / apart**2)


def test_columns_that_cancel_altogether_leave_nothing():
    """A copy, a sum and a full set of levels carry no more than rounding, which is not told as a pull."""
    levels = np.eye(4)[RNG.integers(0, 4, ROWS)]
    a, b = RNG.normal(size=(2, ROWS))
    X = np.column_stack([a, 3.7 * a + 0.1, b, a + b, levels])
    basis = np.linalg.qr(np.column_stack([a, b, levels]))[0]
    u = RNG.normal(size=ROWS)
    for _ in range(3):
        u = u - basis @ (basis.T @ u)
    objective = Objective.of_arrays(X, u, Absolute(), NoPenalty())
    at = objective.accumulate(
        lambda batch, **about: Slopes.of(
            batch, loss=objective.loss, w=np.zeros(8), intercept=0.0, free=np.eye(8), slopes=u
        )
    )
    assert greatest_cosine(objective, np.eye(8), pull_of(u, X, True), at) < 1e-13


def loss_of_counts(mean):
    return np.mean(mean - COUNTS * np.log(mean))


def huber(model, X):
    r = np.abs(WAVE - model.predict(X)) / model.scale_
    return model.scale_ * (1 + np.mean(np.where(r < 1.35, r**2, 2.7 * r - 1.35**2)))


MODELS = {
    "lad": (LADRegressor(), WAVE, lambda m, X: np.mean(np.abs(WAVE - m.predict(X)))),
    "quantile": (
        QuantileRegressor(quantile=0.3, alpha=0),
        WAVE,
        lambda m, X: np.mean(np.maximum(0.3 * (WAVE - m.predict(X)), 0.7 * (m.predict(X) - WAVE))),
    ),
    "huber": (HuberRegressor(alpha=0), WAVE, huber),
    "gamma": (
        GammaRegressor(alpha=0),
        np.exp(WAVE),
        lambda m, X: np.mean(np.exp(WAVE) / m.predict(X) + np.log(m.predict(X))),
    ),
    "poisson": (PoissonRegressor(alpha=0), COUNTS, lambda m, X: loss_of_counts(m.predict(X))),
    "logistic": (
        LogisticRegression(C=np.inf),
        SIDE,
        lambda m, X: -np.mean(m.predict_log_proba(X)[np.arange(ROWS), SIDE]),
    ),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("degree", "origin"), [(6, 0), (12, 0), (6, 20), (9, 20), (12, 20)])
def test_a_proof_of_nearly_dependent_columns_is_true(name, degree, origin):
    """Powers of a number far from 0 are nearly dependent; orthogonal ones span the same, safely."""
    model, y, objective = MODELS[name]
    powers = np.vander(AT + origin, degree + 1, increasing=True)[:, 1:]
    plain = np.linalg.qr(np.vander((AT - 5) / 5, degree + 1, increasing=True))[0][:, 1:] * np.sqrt(ROWS)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", CertificateWarning)
        best = objective(model.fit(plain, y), plain)
        assert model.certificate_.holds or name == "logistic"  # whose classes twelve powers nearly separate
        scale = model.certificate_.parts["scale"]
        found = objective(model.fit(powers, y), powers)
    if model.certificate_.holds:
        assert found - best <= 2 * model.certificate_.tolerance * max(scale, abs(best))
    else:
        assert any(issubclass(each.category, CertificateWarning) for each in told)
        assert model.certificate_.value > model.certificate_.tolerance


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e6, 1e12])
def test_the_unit_of_a_target_does_not_touch_the_proof_of_a_quantile(unit):
    """Loss and absolute penalty grow alike with the target's unit, and slopes not at all."""
    X = RNG.normal(size=(80, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * RNG.normal(size=80)
    alike = QuantileRegressor(alpha=0.1).fit(X, y)
    model = QuantileRegressor(alpha=0.1).fit(X, unit * y)
    assert model.certificate_.value < 1e-12
    np.testing.assert_allclose(model.coef_ / unit, alike.coef_, atol=1e-12)
