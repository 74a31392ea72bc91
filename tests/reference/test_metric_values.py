"""Metrics against scikit-learn's, worked numbers, and the rules where a formula gives 0/0."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import sklearn.metrics

from surefit import metrics

RNG = np.random.default_rng(11)
FLAT = RNG.normal(size=80), RNG.normal(size=80)
WIDE = RNG.normal(size=(80, 3)), RNG.normal(size=(80, 3))
FAR = FLAT[0] + 1e8, FLAT[0] + 1e8 + 0.1 * FLAT[1]
WEIGHTS = {
    "unweighted": None,
    "weighted": RNG.uniform(0, 3, size=80),
    "some zero": RNG.integers(0, 3, size=80),
}
LABELS = {
    "binary": np.array([0, 1]),
    "boolean": np.array([False, True]),
    "signed": np.array([-1.0, 1.0]),
    "text": np.array(["no", "perhaps", "yes"]),
    "far apart": np.array([-7, 0, 10**12]),
    "objects": np.array(["no", "perhaps", "yes"], dtype=object),
}
each_weight = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS.keys())
each_labels = pytest.mark.parametrize("names", LABELS.values(), ids=LABELS.keys())


def theirs(name: str, *data: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(sklearn.metrics, name)(*data, **options)


def assert_agrees(name: str, *data: Any, **options: Any) -> None:
    ours = getattr(metrics, name)(*data, **options)
    wanted = theirs(name, *data, **options)
    np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-12)
    assert type(ours) is type(wanted)


@each_weight
@pytest.mark.parametrize("data", [FLAT, WIDE, FAR], ids=["flat", "wide", "far"])
@pytest.mark.parametrize("name", ["mean_squared_error", "root_mean_squared_error", "r2_score"])
def test_squared_errors(name: str, data: Any, weight: Any) -> None:
    ways: list[Any] = ["uniform_average", "raw_values"]
    ways += [[1.0, 2.0, 0.5]] if data[0].ndim == 2 else []
    ways += ["variance_weighted"] if name == "r2_score" else []
    for way in ways:
        assert_agrees(name, *data, sample_weight=weight, multioutput=way)


@pytest.mark.parametrize("force_finite", [True, False])
@pytest.mark.parametrize("way", ["uniform_average", "raw_values", "variance_weighted"])
def test_r2_of_constant_targets(way: str, force_finite: bool) -> None:
    truth = np.column_stack([np.full(6, 2.0), np.full(6, 2.0), np.arange(6.0)])
    right_once = np.column_stack([truth[:, 0], truth[:, 1] + 1, truth[:, 2]])
    for data in [(truth, right_once), (truth[:, :2], right_once[:, :2]), (truth[:, 0], truth[:, 0])]:
        if force_finite or way != "variance_weighted":  # theirs divides 0 by 0 there as well
            assert_agrees("r2_score", *data, multioutput=way, force_finite=force_finite)


def test_r2_of_a_constant_that_rounding_blurs() -> None:
    """The mean of ten times 0.1 is not 0.1, yet the target is constant."""
    assert metrics.r2_score([0.1] * 10, [0.2] * 10) == 0.0
    assert metrics.r2_score([0.1] * 10, [0.1] * 10) == 1.0
    assert metrics.r2_score([0.1] * 9 + [5.0], [0.2] * 10, sample_weight=[1] * 9 + [0]) == 0.0
    for constant in RNG.normal(size=50) * 1e4:
        truth, weight = np.full(30, constant), RNG.uniform(size=30)
        assert metrics.r2_score(truth, truth + 1, sample_weight=weight) == 0.0


def test_r2_of_one_row_is_not_a_number() -> None:
    assert np.isnan(metrics.r2_score([1.0], [1.0]))
    assert np.isnan(theirs("r2_score", [1.0], [1.0]))


@each_weight
@each_labels
def test_right_and_wrong(names: Any, weight: Any) -> None:
    truth, guess = names[RNG.integers(len(names), size=80)], names[RNG.integers(len(names), size=80)]
    for normalize in (True, False):
        assert_agrees("accuracy_score", truth, guess, sample_weight=weight, normalize=normalize)
    for adjusted in (True, False):
        assert_agrees("balanced_accuracy_score", truth, guess, sample_weight=weight, adjusted=adjusted)


@each_weight
@each_labels
def test_confusion(names: Any, weight: Any) -> None:
    truth, guess = names[RNG.integers(len(names), size=80)], names[RNG.integers(len(names), size=80)]
    for labels, normalize in itertools.product([None, names[::-1], names[:1]], [None, "true", "pred", "all"]):
        options = {"labels": labels, "normalize": normalize}
        assert_agrees("confusion_matrix", truth, guess, sample_weight=weight, **options)


def test_confusion_of_counts_is_whole() -> None:
    assert metrics.confusion_matrix([0, 1], [1, 1]).dtype == theirs("confusion_matrix", [0, 1], [1, 1]).dtype


def test_labels_seen_only_once_are_in_the_confusion() -> None:
    assert_agrees("confusion_matrix", [0, 1, 2], [0, 0, 5])
    assert_agrees("confusion_matrix", [0, 1, 2], [0, 0, 5], normalize="true")
    assert_agrees("confusion_matrix", [0, 1, 2], [0, 0, 5], labels=[5, 9, 0])
    assert_agrees("balanced_accuracy_score", [0, 1, 1], [0, 1, 5])


@each_weight
@each_labels
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_log_loss(names: Any, weight: Any, dtype: Any) -> None:
    truth = names[np.r_[np.arange(len(names)), RNG.integers(len(names), size=80 - len(names))]]
    chances = RNG.dirichlet(np.ones(len(names)), size=80)
    certain = np.eye(len(names))[RNG.integers(len(names), size=80)]  # wrong for many rows
    # Sums of float32 are theirs in float32, ours in float64.
    rtol = 1e-12 if dtype is np.float64 else 1e-5
    for given in (chances.astype(dtype), certain.astype(dtype)):
        shapes = [given] if len(names) > 2 else [given, given[:, 1], given[:, 1:]]
        for shape, normalize, labels in itertools.product(shapes, (True, False), (None, names)):
            options = {"sample_weight": weight, "normalize": normalize, "labels": labels}
            wanted = theirs("log_loss", truth, shape, **options)
            np.testing.assert_allclose(metrics.log_loss(truth, shape, **options), wanted, rtol=rtol)


def test_log_loss_knows_the_second_argument_by_scikit_learns_name() -> None:
    assert metrics.log_loss(y_true=[0, 1], y_proba=[0.5, 0.5]) == pytest.approx(np.log(2), rel=1e-15)


def test_frames_and_lists_are_taken() -> None:
    import pandas as pd
    import polars as pl

    truth, guess = ["a", "b", "b", "a"], ["a", "b", "a", "a"]
    for make in (list, pd.Series, pl.Series, pd.Categorical, np.array):
        assert metrics.accuracy_score(make(truth), make(guess)) == 0.75
        assert metrics.confusion_matrix(make(truth), make(guess)).tolist() == [[2, 0], [1, 1]]


def test_scikit_learn_scores_with_our_metrics() -> None:
    from sklearn.datasets import load_diabetes
    from sklearn.dummy import DummyRegressor
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import cross_val_score

    X, y = load_diabetes(return_X_y=True)
    scorer = make_scorer(metrics.mean_squared_error, greater_is_better=False)
    assert "mean_squared_error" in repr(scorer)
    ours = cross_val_score(DummyRegressor(), X, y, scoring=scorer)
    wanted = cross_val_score(DummyRegressor(), X, y, scoring="neg_mean_squared_error")
    np.testing.assert_allclose(ours, wanted, rtol=1e-12)


@pytest.mark.covers("intro_to_ml:7.3", by="metrics.r2_score")
@pytest.mark.covers("intro_to_ml:7.3", by="metrics.r2_explained")
def test_both_forms_of_r2() -> None:
    x = np.arange(3.0)
    assert metrics.r2_score([1.0, 2.0, 2.0], 7 / 6 + x / 2) == pytest.approx(0.75, abs=1e-14)
    X = np.column_stack([np.ones(40), RNG.normal(size=(40, 3))])
    y = X @ [1.0, 2.0, -1.0, 0.5] + RNG.normal(size=40)
    fitted = X @ np.linalg.lstsq(X, y, rcond=None)[0]
    residual, explained = metrics.r2_score(y, fitted), metrics.r2_explained(y, fitted)
    assert residual == pytest.approx(explained, abs=1e-12)  # least squares with an intercept, on its own data
    assert 0 < residual < 1
    assert metrics.r2_score(y, y) == 1.0
    assert metrics.r2_score(y, np.full(40, y.mean())) == pytest.approx(0.0, abs=1e-14)
    assert metrics.r2_score(y, 5 + y) < 0 < 1 < metrics.r2_explained(y, 5 + y)
    weight = RNG.uniform(size=40)
    centre = np.average(y, weights=weight)
    wanted = (weight @ (fitted - centre) ** 2) / (weight @ (y - centre) ** 2)
    assert metrics.r2_explained(y, fitted, sample_weight=weight) == pytest.approx(wanted, rel=1e-12)


def test_the_explained_form_of_a_constant_target() -> None:
    assert np.isnan(metrics.r2_explained([0.1] * 10, [0.1] * 10))
    assert np.isnan(metrics.r2_explained([0.1] * 10, [0.2] * 10))


@pytest.mark.covers("intro_to_ml:7.1", by="metrics.sum_squared_error")
@pytest.mark.covers("intro_to_ml:7.1", by="metrics.mean_squared_error")
@pytest.mark.covers("intro_to_ml:7.1", by="metrics.root_mean_squared_error")
def test_sum_mean_and_root_of_squares() -> None:
    truth, guess = [1.0, 2.0, 4.0, 3.0], [1.0, 4.0, 0.0, 3.0]
    assert metrics.sum_squared_error(truth, guess) == 20.0
    assert metrics.mean_squared_error(truth, guess) == 5.0
    assert metrics.root_mean_squared_error(truth, guess) == np.sqrt(5.0)


@pytest.mark.covers("cs443:2.2", by="metrics.mean_squared_error")
def test_mean_squared_error_is_symmetric_convex_and_not_robust() -> None:
    y, X = FLAT[0], WIDE[0]
    mse = metrics.mean_squared_error
    assert mse(y, y + 0.5) == pytest.approx(mse(y, y - 0.5), rel=1e-13)
    u, v = RNG.normal(size=3), RNG.normal(size=3)
    for share in np.linspace(0.1, 0.9, 9):
        mixed = mse(y, X @ (share * u + (1 - share) * v))
        assert mixed < share * mse(y, X @ u) + (1 - share) * mse(y, X @ v)
    candidates = np.linspace(-3, 3, 601)
    best = candidates[np.argmin([mse(y, np.full(80, c)) for c in candidates])]
    assert best == pytest.approx(y.mean(), abs=0.005)  # the grid has steps of 0.01
    outlier = np.r_[y[1:], 100.0]
    moved = candidates[np.argmin([mse(outlier, np.full(80, c)) for c in candidates])]
    assert moved - best > 1.0


@pytest.mark.covers("intro_to_ml:7.4", by="metrics.confusion_matrix")
def test_the_four_counts() -> None:
    """Eight hits, two misses, twenty false alarms, seventy correct rejections."""
    truth = np.repeat([1, 1, 0, 0], [8, 2, 20, 70])
    guess = np.repeat([1, 0, 1, 0], [8, 2, 20, 70])
    matrix = metrics.confusion_matrix(truth, guess)
    assert matrix.tolist() == [[70, 20], [2, 8]]
    assert matrix[::-1, ::-1].T.tolist() == [[8, 20], [2, 70]]  # rows are predictions, 1 before 0
    negatives, positives = matrix.sum(axis=1)
    assert (positives, negatives) == (10, 90)
    assert metrics.accuracy_score(truth, guess) == pytest.approx(0.78, rel=1e-15)
    assert metrics.balanced_accuracy_score(truth, guess) == pytest.approx(0.7888888889, abs=1e-10)


@pytest.mark.covers("intro_to_ml:7.5", by="metrics.accuracy_score")
def test_accuracy_flatters_on_unequal_classes() -> None:
    truth = np.repeat([1, 0], [90, 10])
    always = np.ones(100, dtype=int)
    assert metrics.accuracy_score(truth, always) == 0.9
    assert metrics.balanced_accuracy_score(truth, always) == 0.5
    assert metrics.confusion_matrix(truth, always).tolist() == [[0, 10], [0, 90]]
    equal, guess = np.repeat([1, 0], [50, 50]), RNG.integers(2, size=100)
    assert metrics.accuracy_score(equal, guess) == pytest.approx(
        metrics.balanced_accuracy_score(equal, guess), rel=1e-14
    )


def test_log_loss_of_ignorance_is_the_logarithm_of_the_number_of_classes() -> None:
    assert metrics.log_loss([0, 1, 1], [0.5, 0.5, 0.5]) == pytest.approx(0.6931471806, abs=1e-10)
    assert metrics.log_loss([0, 1, 2], np.full((3, 3), 1 / 3)) == pytest.approx(np.log(3), rel=1e-14)


def test_a_class_alone() -> None:
    assert metrics.balanced_accuracy_score([1, 1], [1, 0]) == 0.5
    assert np.isnan(metrics.balanced_accuracy_score([1, 1], [1, 0], adjusted=True))
    assert metrics.confusion_matrix([1, 1], [1, 1]).tolist() == [[2]]
