"""Losses against scikit-learn's, against log-densities, and against the courses' worked numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special, stats
from sklearn._loss import loss as peers
from sklearn.linear_model import _huber

from surefit import losses
from surefit.core.errors import DataError
from surefit.losses.links import Logit

RNG = np.random.default_rng(2)
Z = np.concatenate([2.0 * RNG.normal(size=60), [-30.0, 30.0]])
NUMBERS = np.round(3.0 * RNG.normal(size=len(Z)), 1)
COUNTS = RNG.poisson(2.0, size=len(Z)).astype(float)
AMOUNTS = RNG.gamma(2.0, size=len(Z)) + 0.1
LABELS = RNG.integers(2, size=len(Z)).astype(float)


@pytest.mark.parametrize(
    ("ours", "theirs", "y"),
    [
        (losses.Squared(), peers.HalfSquaredError(), NUMBERS),
        (losses.Absolute(), peers.AbsoluteError(), NUMBERS),
        (losses.Quantile(0.8), peers.PinballLoss(quantile=0.8), NUMBERS),
        (losses.Huber(1.2), peers.HuberLoss(delta=1.2), NUMBERS),
        (losses.Poisson(), peers.HalfPoissonLoss(), COUNTS),
        (losses.Gamma(), peers.HalfGammaLoss(), AMOUNTS),
        (losses.Tweedie(1.5), peers.HalfTweedieLoss(power=1.5), COUNTS),
        (losses.Tweedie(2.5), peers.HalfTweedieLoss(power=2.5), AMOUNTS),
        (losses.Tweedie(0.0), peers.HalfTweedieLoss(power=0), NUMBERS),
        (losses.InverseGaussian(), peers.HalfTweedieLoss(power=3), AMOUNTS),
        (losses.Logistic(), peers.HalfBinomialLoss(), LABELS),
        (losses.Logistic(), peers.HalfBinomialLoss(), RNG.random(len(Z))),
        (losses.Exponential(), peers.ExponentialLoss(), LABELS),
    ],
    ids=lambda part: getattr(part, "name", None),
)
def test_scikit_learn_has_the_same_losses_up_to_a_constant(ours: Any, theirs: Any, y: Any) -> None:
    start = np.zeros_like(Z)
    rise = ours.value(y, Z) - ours.value(y, start)
    wanted = theirs.loss(y, Z) - theirs.loss(y, start)
    np.testing.assert_allclose(rise, wanted, rtol=1e-11, atol=1e-11)
    _, hessian = theirs.gradient_hessian(y, Z)
    np.testing.assert_allclose(ours.gradient(y, Z), theirs.gradient(y, Z), rtol=1e-11, atol=1e-13)
    if ours.curvature_kind == "exact" and not theirs.approx_hessian:
        np.testing.assert_allclose(ours.curvature(y, Z), hessian, rtol=1e-11, atol=1e-13)
    weight = RNG.random(len(y))
    fitted = float(theirs.fit_intercept_only(y, weight))
    cost = weight @ ours.value(y, np.full_like(Z, ours.best_constant(y, weight)))
    assert cost <= weight @ ours.value(y, np.full_like(Z, fitted)) + 1e-12 * (1 + abs(cost))


def test_scikit_learn_has_the_same_softmax() -> None:
    z = 3.0 * RNG.normal(size=(50, 4))
    y = RNG.integers(4, size=50).astype(float)
    peer = peers.HalfMultinomialLoss(n_classes=4)
    np.testing.assert_allclose(losses.Softmax().value(y, z), peer.loss(y, z), rtol=1e-12)
    gradient, chances = peer.gradient_proba(y, z)
    np.testing.assert_allclose(losses.Softmax().gradient(y, z), gradient, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(losses.Softmax.link.inverse(z), chances, rtol=1e-12)
    np.testing.assert_allclose(losses.Softmax().best_constant(y), peer.fit_intercept_only(y), atol=1e-12)


@pytest.mark.parametrize("threshold", [1.1, 1.35, 4.0])
def test_hubers_scale_is_that_of_scikit_learn(threshold: float) -> None:
    """Their objective in (w, b, scale) without a penalty is twice the sum of ours."""
    X, scale, weight = RNG.normal(size=(len(Z), 2)), 0.8, RNG.random(len(Z))
    w = np.array([0.5, -2.0])
    value, slopes = _huber._huber_loss_and_gradient(
        np.array([*w, 0.3, scale]), X, NUMBERS, threshold, 0.0, sample_weight=weight
    )
    ours, z = losses.Huber(threshold, scale=scale), X @ w + 0.3
    g = weight * ours.gradient(NUMBERS, z)
    by_scale = weight @ ours.nuisance_gradient(NUMBERS, z)["scale"]
    assert 2 * weight @ ours.value(NUMBERS, z) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(2 * np.array([*(g @ X), g.sum(), by_scale]), slopes, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("loss", "y", "log_density"),
    [
        (losses.Squared(), NUMBERS, lambda y, z: stats.norm.logpdf(y, z)),
        (losses.Absolute(), NUMBERS, lambda y, z: stats.laplace.logpdf(y, z)),
        (losses.Logistic(), LABELS, lambda y, z: stats.bernoulli.logpmf(y, special.expit(z))),
        (losses.Poisson(), COUNTS, lambda y, z: stats.poisson.logpmf(y, np.exp(z))),
        (losses.Gamma(), AMOUNTS, lambda y, z: stats.expon.logpdf(y, scale=np.exp(z))),
        (losses.InverseGaussian(), AMOUNTS, lambda y, z: stats.invgauss.logpdf(y, np.exp(z), scale=1.0)),
        (
            losses.NegativeBinomial(0.4),
            COUNTS,
            lambda y, z: stats.nbinom.logpmf(y, 2.5, 2.5 / (2.5 + np.exp(z))),
        ),
    ],
    ids=lambda part: getattr(part, "name", None),
)
def test_a_likelihood_negated(loss: Any, y: Any, log_density: Any) -> None:
    z = np.clip(Z, -4.0, 4.0)
    start = np.full_like(z, 0.25)
    rise = loss.value(y, z) - loss.value(y, start)
    np.testing.assert_allclose(rise, log_density(y, start) - log_density(y, z), rtol=1e-9, atol=1e-9)


def test_the_dispersion_of_counts_keeps_its_terms() -> None:
    """Only log y! is left out, so dispersions can be compared."""
    z = np.clip(Z, -2.0, 2.0)
    for a in (1e-6, 0.01, 0.4, 3.0):
        density = stats.nbinom.logpmf(COUNTS, 1 / a, 1 / (1 + a * np.exp(z)))
        value = losses.NegativeBinomial(a).value(COUNTS, z)
        np.testing.assert_allclose(value, -density - special.gammaln(COUNTS + 1), atol=1e-8)
    nearly = losses.NegativeBinomial(1e-9).value(COUNTS, z)
    np.testing.assert_allclose(nearly, losses.Poisson().value(COUNTS, z), atol=1e-6)


def test_tweedie_runs_through_poisson_and_gamma() -> None:
    near = np.clip(Z, -3.0, 3.0)
    for power, loss, constant in ((1.0, losses.Poisson(), 1.0), (2.0, losses.Gamma(), AMOUNTS)):
        for p in (power, power + 1e-9):
            value = losses.Tweedie(p).value(AMOUNTS, near) + constant
            np.testing.assert_allclose(value, loss.value(AMOUNTS, near), rtol=1e-7, atol=1e-7)
    cubed = losses.Tweedie(3.0).value(AMOUNTS, Z)
    ours = losses.InverseGaussian().value(AMOUNTS, Z)
    np.testing.assert_allclose(cubed + 0.5 * AMOUNTS - 1.0, ours, rtol=1e-12, atol=1e-12)


def test_two_ordered_classes_are_logistic_and_many_are_differences() -> None:
    two = losses.CumulativeLogit((0.7,))
    np.testing.assert_allclose(two.value(LABELS, Z), losses.Logistic().value(LABELS, Z - 0.7), rtol=1e-13)
    t = np.array([-1.0, 0.2, 1.5])
    y, z = np.arange(40) % 4, Z[:40]
    upper, lower = np.append(t, np.inf)[y] - z, np.append(-np.inf, t)[y] - z
    wanted = -np.log(special.expit(upper) - special.expit(lower))
    np.testing.assert_allclose(losses.CumulativeLogit(tuple(t)).value(y, z), wanted, rtol=1e-9)


@pytest.mark.parametrize(
    ("loss", "y", "z", "slopes", "chosen"),
    [
        (losses.Absolute(), 2.0, 2.0, (-1.0, 1.0), 0.0),
        (losses.Quantile(0.75), 2.0, 2.0, (-0.75, 0.25), 0.0),
        (losses.EpsilonInsensitive(0.5), 1.0, 1.5, (0.0, 1.0), 0.0),
        (losses.EpsilonInsensitive(0.5), 1.0, 0.5, (-1.0, 0.0), 0.0),
        (losses.EpsilonInsensitive(0.0), 1.0, 1.0, (-1.0, 1.0), 0.0),
        (losses.Hinge(), 1, 1.0, (-1.0, 0.0), 0.0),
        (losses.Hinge(), -1, -1.0, (0.0, 1.0), 0.0),
        (losses.Perceptron(), 1, 0.0, (-1.0, 0.0), -1.0),
        (losses.Perceptron(), 0, 0.0, (0.0, 1.0), 1.0),
    ],
)
def test_slopes_at_the_kinks(loss: Any, y: Any, z: float, slopes: Any, chosen: float) -> None:
    low, high = loss.subdifferential([y], [z])
    assert (low[0], high[0]) == slopes
    assert loss.gradient([y], [z])[0] == chosen
    assert np.isinf(loss.curvature([y], [z])[0])
    assert not loss.smooth


def test_both_kinds_of_labels_and_no_mixture() -> None:
    for loss in (losses.Logistic(), losses.Hinge(), losses.SquaredHinge(), losses.Exponential()):
        np.testing.assert_array_equal(loss.value(LABELS, Z), loss.value(2 * LABELS - 1, Z))
        with pytest.raises(DataError, match=r"^y\[1\] is 0.0"):
            loss.check([-1, 0, 1])
    losses.Logistic().check([0.3, 0.9])
    with pytest.raises(DataError, match=r"^y\[0\] is 0.3, but the hinge loss takes 0 and 1, or -1 and 1"):
        losses.Hinge().check([0.3, 1.0])
    with pytest.raises(DataError, match=r"^y\[1\] is 0.5, but the softmax loss takes the codes"):
        losses.Softmax().check([0.0, 0.5])
    with pytest.raises(
        DataError, match=r"^y\[1\] is 1.5, but the cumulative_logit loss takes the codes 0 to 2"
    ):
        losses.CumulativeLogit((0.0, 1.0)).check([2.0, 1.5])


def test_constants_without_a_finite_best() -> None:
    ones = np.ones(3)
    assert losses.Logistic().best_constant(ones) == np.inf
    assert losses.Exponential().best_constant(-ones) == -np.inf
    assert losses.Poisson().best_constant(0 * ones) == -np.inf
    assert losses.CumulativeLogit((0.0, 1.0)).best_constant(2 * ones) == np.inf
    assert losses.Hinge().best_constant([-1, 1]) == 0.0
    assert losses.Softmax().best_constant([0, 2, 2])[1] == -np.inf
    np.testing.assert_array_equal(losses.Squared().best_constant([[1.0, 5.0], [3.0, 5.0]]), [2.0, 5.0])
    with pytest.raises(DataError, match="at least one positive"):
        losses.Squared().best_constant(ones, 0 * ones)


@pytest.mark.covers("cs443:13.2", by="losses.Hinge")
def test_the_hinge_is_zero_beyond_the_margin() -> None:
    np.testing.assert_array_equal(
        losses.Hinge().value([1, 1, 1, -1, -1], [2.0, 1.0, -1.0, -3.0, 0.5]), [0, 0, 2, 0, 1.5]
    )
    assert losses.Logistic().value([1], [30.0])[0] > 0
    assert losses.Squared().value([1.0], [3.0]) == losses.Squared().value([1.0], [-1.0])


@pytest.mark.covers("cs443:2.3", by="losses.Absolute")
def test_the_constant_of_absolute_residuals_is_a_median() -> None:
    y = [1.0, 2.0, 4.0]
    assert losses.Absolute().best_constant(y) == 2.0
    assert losses.Squared().best_constant(y) == pytest.approx(7 / 3)
    moved = [losses.Absolute().best_constant([*y, 1000.0]), losses.Squared().best_constant([*y, 1000.0])]
    assert moved == [3.0, 251.75]
    assert losses.Absolute().value([0.0, 0.0], [-2.0, 2.0]).mean() == 2.0
    assert losses.Absolute().convex


@pytest.mark.covers("course_summary:3.2", by="losses.SquaredSigmoid")
def test_the_squared_loss_of_a_sigmoid_bends_down() -> None:
    bend = losses.SquaredSigmoid().curvature([0, 0, 0], [0.0, 1.0, 2.0])
    np.testing.assert_allclose(bend, [0.0625, -0.0277660836, -0.0594070843], atol=5e-11)
    z = np.linspace(-6, 6, 1001)
    np.testing.assert_array_equal(losses.SquaredSigmoid().curvature(0 * z, z) < 0, special.expit(z) > 2 / 3)


@pytest.mark.covers("course_summary:3.3", "intro_to_ml:5.2", by="losses.Logistic")
def test_cross_entropy() -> None:
    loss, f = losses.Logistic(), special.expit(Z[:40])
    entropy = -(LABELS[:40] * np.log(f) + (1 - LABELS[:40]) * np.log(1 - f))
    np.testing.assert_allclose(loss.value(LABELS[:40], Z[:40]), entropy, rtol=1e-12)
    signs = 2 * LABELS[:40] - 1
    np.testing.assert_allclose(loss.value(signs, Z[:40]), np.log1p(np.exp(-signs * Z[:40])), rtol=1e-12)
    assert loss.value([0, 1], [0.0, 0.0]).mean() == pytest.approx(0.6931471806, abs=5e-11)
    assert loss.value([0, 0, 1, 1], np.zeros(4)).sum() == pytest.approx(2.7725887222, abs=5e-11)
    assert loss.convex
    # The likelihood itself is not convex: for one row with y = 1 it is the sigmoid.
    likelihood = np.exp(-loss.value([1, 1, 1], [0.0, 2.0, 4.0]))
    assert likelihood[1] > (likelihood[0] + likelihood[2]) / 2


@pytest.mark.covers("ml_for_data_science:3.5", "ml_lecture_notes:8.4", by="losses.links.Logit")
def test_the_logistic_function() -> None:
    g = Logit()
    assert g.inverse(1.0) == pytest.approx(0.7310585786, abs=5e-11)
    assert g.inverse_derivative(1.0) == pytest.approx(0.1966119332, abs=5e-11)
    assert (g.inverse(0.0), g.inverse_derivative(0.0)) == (0.5, 0.25)
    np.testing.assert_allclose(g.inverse(-Z), 1 - g.inverse(Z), atol=1e-15)
    np.testing.assert_array_equal(g.inverse([-1000.0, 1000.0]), [0.0, 1.0])
    assert (np.diff(g.inverse(np.linspace(-30, 30, 999))) > 0).all()


def test_hubers_numbers_in_both_parametrisations() -> None:
    huber = losses.Huber(1.0).value(np.zeros(4), [0.5, 1.0, 3.0, -3.0])
    np.testing.assert_array_equal(huber, [0.125, 0.5, 2.5, 2.5])
    assert losses.Huber(2.0).value([0.0], [3.0]) == 4.0
    unit = losses.Huber(1.0, "unit").value(np.zeros(6), [-3.0, -0.5, 0.0, 0.25, 1.0, 2.0])
    np.testing.assert_array_equal(unit, [2.5, 0.125, 0.0, 0.03125, 0.5, 1.5])
    for threshold in (0.3, 1.0, 2.0):
        gap = np.abs(Z) - losses.Huber(threshold, "unit").value(0 * Z, Z)
        assert ((gap >= 0) & (gap <= threshold / 2 + 1e-14)).all()
        assert losses.Huber(threshold, "unit").value([0.0], [threshold])[0] == pytest.approx(threshold / 2)
        unit_slope = losses.Huber(threshold, "unit").gradient(0 * Z, Z)
        np.testing.assert_allclose(unit_slope, np.clip(Z / threshold, -1, 1), rtol=1e-14)


def test_the_courses_numbers_of_counts_and_the_tube() -> None:
    poisson = losses.Poisson()
    best = poisson.best_constant([1, 2, 3])
    assert best == pytest.approx(np.log(2), rel=1e-15)
    likelihood = -(poisson.value([1, 2, 3], np.full(3, best)) + special.gammaln([2, 3, 4])).sum()
    assert likelihood == pytest.approx(-4.3260235664, abs=5e-11)
    assert abs(poisson.gradient([1, 2, 3], np.full(3, best)).sum()) < 1e-15
    assert poisson.best_constant([1, 2, 3, 6]) == pytest.approx(np.log(3), rel=1e-15)
    assert losses.Logistic().best_constant([1, 1, 1, 0]) == pytest.approx(1.0986123, abs=5e-8)
    tube = losses.EpsilonInsensitive(0.5).value([0.0, 0.0, 0.0], [0.4, 0.5, -2.0])
    np.testing.assert_array_equal(tube, [0.0, 0.0, 1.5])
