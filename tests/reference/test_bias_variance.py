"""Bias and variance against closed forms, and over- and underfits in words."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import surefit
from surefit.core.errors import DataError, ParameterError
from surefit.evaluate.curves.bias_variance import decompose_labels, predictions_of


@pytest.mark.covers("course_summary:8", "course_summary:B.13", by="bias_variance")
@pytest.mark.covers("cs443:8.7", by="bias_variance")
@pytest.mark.covers("ml_lecture_notes:5.3", by="bias_variance")
def test_the_parts_of_the_mean_are_those_of_theory() -> None:
    """n = 10, sigma = 2: variance 0.4, noise 4; a mean shrunk by 0.8, n = 4: bias 0.16, variance 0.16."""
    found = surefit.bias_variance(
        surefit.MeanRegressor(),
        lambda rng: (np.zeros((10, 1)), 2 * rng.normal(size=10)),
        [[0.0]],
        [0.0],
        noise=4.0,
        draws=300,
    )
    assert abs(found.variance - 0.4) < 4 * found.errors["variance"]
    assert abs(found.total - 4.4) < 4 * found.errors["total"]
    assert found.bias < 0.02

    def shrunk(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((4, 1)), 0.8 * (2 + rng.normal(size=4))

    found = surefit.bias_variance(surefit.MeanRegressor(), shrunk, [[0.0]], [2.0], noise=1.0, draws=300)
    for name, exact in (("bias", 0.16), ("variance", 0.16), ("total", 1.32)):
        assert abs(getattr(found, name) - exact) < 4 * found.errors[name]
    assert found.total == pytest.approx(found.bias + found.variance + found.noise, abs=1e-12)


def test_the_identity_is_exact_and_ridge_trades_bias_for_variance() -> None:
    x = np.linspace(-1, 1, 15)[:, None]

    def sample(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return x, np.sin(3 * x[:, 0]) + 0.3 * rng.normal(size=15)

    models = {alpha: surefit.Ridge(alpha) for alpha in (0.01, 10.0)}
    found = surefit.bias_variance_curve(models, sample, x, np.sin(3 * x[:, 0]), draws=60)
    answers = predictions_of(models[0.01], sample, x, 60)
    direct = ((answers - np.sin(3 * x[:, 0])) ** 2).mean()
    assert direct == pytest.approx(found[0.01].bias + found[0.01].variance, abs=1e-12)
    assert found[0.01].bias < found[10.0].bias
    assert found[0.01].variance > found[10.0].variance
    again = predictions_of(models[0.01], sample, x, 60, n_jobs=1)
    assert (again == answers).all()


def test_rows_drawn_again_show_the_variance_of_a_mean() -> None:
    y = np.random.default_rng(0).normal(size=40)
    data = (np.zeros((40, 1)), y)
    found = surefit.bias_variance(surefit.MeanRegressor(), data, [[0.0]], [y.mean()], draws=300)
    assert abs(found.variance - y.var() / 40) < 4 * found.errors["variance"]


@pytest.mark.parametrize("form", ["domingos", "kohavi_wolpert"])
def test_splits_of_the_0_1_loss_add_up_to_the_loss(form: str) -> None:
    """The total is the chance that an answer differs from a label drawn anew, for two classes and three."""
    rng = np.random.default_rng(0)
    for classes in (2, 3):
        answers = rng.integers(classes, size=(50, 7))
        answers[0] = np.arange(7) % classes
        truth = rng.dirichlet(np.ones(classes), size=7)
        found = decompose_labels(answers, truth, form)
        loss = np.mean([1 - truth[i, answers[r, i]] for r, i in product(range(50), range(7))])
        assert found.means[3] == pytest.approx(loss, abs=1e-12)
        assert sum(found.means[:3]) == pytest.approx(loss, abs=1e-12)


def test_the_terms_of_domingos_for_two_classes() -> None:
    """loss = (2 P(right) - 1) noise + bias + c variance, with c = 1 where unbiased and -1 where biased."""
    answers = np.array([[0, 1], [0, 1], [1, 1], [0, 0]])
    truth = np.array([[0.9, 0.1], [0.8, 0.2]])
    found = decompose_labels(answers, truth, "domingos")
    np.testing.assert_array_equal(found.points["bias"], [0, 1])
    np.testing.assert_allclose(found.points["variance"], [0.25, -0.25])
    np.testing.assert_allclose(found.points["noise"], [(2 * 0.75 - 1) * 0.1, (2 * 0.25 - 1) * 0.2])


def test_the_error_of_a_simulation_is_its_spread() -> None:
    """Repeated simulations differ from each other by about the standard error that each one states."""

    def sample(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((9, 1)), (rng.random(9) < 0.6).astype(int)

    found = [
        surefit.bias_variance(
            surefit.MajorityClassifier(),
            sample,
            [[0.0]],
            [[0.4, 0.6]],
            loss="kohavi_wolpert",
            draws=40,
            random_state=seed,
        )
        for seed in range(15)
    ]
    spread = np.std([entry.total for entry in found], ddof=1)
    stated = np.mean([entry.errors["total"] for entry in found])
    assert 0.6 < stated / spread < 1.6
    with pytest.raises(ParameterError, match="loss="):
        surefit.bias_variance(surefit.MajorityClassifier(), sample, [[0.0]], [0], loss="hinge")
    with pytest.raises(DataError, match="truth"):
        surefit.bias_variance(surefit.MeanRegressor(), sample, [[0.0]], [0.0, 1.0], draws=2)


@pytest.mark.covers("intro_to_ml:7.12", by="diagnose_fit")
@pytest.mark.covers("course_summary:9.6", by="complexity_curve")
@pytest.mark.covers("ml_for_data_science:1.7", by="complexity_curve")
def test_fits_of_polynomials_are_called_by_their_name() -> None:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1, 1, 60))[:, None]
    y = np.sin(4 * x[:, 0]) + 0.1 * rng.normal(size=60)
    model = surefit.make_pipeline(surefit.PolynomialFeatures(), surefit.Ridge(1e-9))
    curve = surefit.complexity_curve(
        model,
        x,
        y,
        "polynomialfeatures__degree",
        [1, 5, 30],
        metric="root_mean_squared_error",
        random_state=1,
    )
    verdicts = [
        surefit.diagnose_fit(curve.train[k], curve.test[k], good=0.15, better="lower", tolerance=0.05).verdict
        for k in range(3)
    ]
    assert verdicts[:2] == ["underfit", "good fit"]
    noise = np.random.default_rng(1).normal(size=(40, 30))
    tall = surefit.learning_curve(surefit.LinearRegression(), noise, rng.normal(size=40), sizes=[1.0])
    assert surefit.diagnose_fit(tall.train[0], tall.test[0], good=0.5).verdict == "overfit"
    assert curve.values[curve.careful] == 5
    assert (np.diff(curve.train.mean(axis=1)) < 0).all()


def test_a_cross_validation_is_diagnosed_as_it_is():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    found = surefit.cross_validate(surefit.DecisionTreeRegressor(), X, y, train_scores=True)
    said = surefit.diagnose_fit(found, good=0.5)
    by_hand = surefit.diagnose_fit(
        found.train_scores["r2_score"], found.scores["r2_score"], good=0.5, test_share=0.25
    )
    assert said.verdict == "overfit"
    assert str(said) == str(by_hand)
    with pytest.raises(ValueError, match="train_scores=True"):
        surefit.diagnose_fit(surefit.cross_validate(surefit.Ridge(), X, y), good=0.5)


def test_learning_curves_use_the_rows_they_name() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = np.where(X[:, 0] > 0, "a", "b")
    curve = surefit.learning_curve(surefit.GaussianNB(), X, y, sizes=[10, 0.5, 1.0])
    assert curve.values == [10, 40, 80]
    whole = surefit.cross_validate(surefit.GaussianNB(), X, y, metrics="accuracy_score", random_state=0)
    np.testing.assert_allclose(curve.test[-1], whole.scores["accuracy_score"])
    assert curve.to_frame().shape == (3, 8)
    with pytest.raises(ParameterError, match="sizes"):
        surefit.learning_curve(surefit.GaussianNB(), X, y, sizes=[1000])
