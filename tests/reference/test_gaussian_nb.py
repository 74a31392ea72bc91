"""Gaussian naive Bayes against scikit-learn, scipy and the worked numbers, on easy and on hard data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn import naive_bayes
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import NotFittedError

import surefit
from surefit import GaussianNB
from surefit.core.errors import DataError, RefusalError
from surefit.data.datasets.fixtures.base import fixture


def blobs(rows: int = 400, columns: int = 6, classes: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    spread = rng.uniform(0.2, 3.0, (classes, columns))
    return rng.normal(size=(classes, columns))[y] + spread[y] * rng.normal(size=(rows, columns)), y


def hard_cases() -> dict[str, tuple[Any, Any]]:
    X, y = blobs()
    rng = np.random.default_rng(1)
    few = np.array([0] * 5 + [1] * 395)[rng.permutation(400)]
    return {
        "plain": (X, y),
        "offset 1e6": (X + 1e6, y),
        "far and small": (X * 1e-12, y),
        "far and large": (X * 1e12, y),
        "mixed scales": (X * np.logspace(-6, 6, 6), y),
        "constant column": (np.column_stack([X, np.full(400, 3.7)]), y),
        "constant in one class": (np.column_stack([X, np.where(y == 1, 2.0, rng.normal(size=400))]), y),
        "one column": (X[:, :1], y),
        "one class": (X, np.zeros(400, dtype=int)),
        "one row in a class": (X, np.where(np.arange(400) == 7, 9, y)),
        "rare class": (X, few),
        "more columns than rows": blobs(30, 200, 2),
        "iris": load_iris(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "digits, whose borders are constant": load_digits(return_X_y=True),
    }


@pytest.mark.parametrize("case", hard_cases())
def test_scikit_learn_agrees(case: str) -> None:
    X, y = hard_cases()[case]
    ours, theirs = GaussianNB().fit(X, y), naive_bayes.GaussianNB().fit(X, y)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_array_equal(ours.class_count_, theirs.class_count_)
    np.testing.assert_allclose(ours.class_prior_, theirs.class_prior_, rtol=1e-15)
    np.testing.assert_allclose(ours.epsilon_, theirs.epsilon_, rtol=1e-10)
    np.testing.assert_allclose(ours.theta_, theirs.theta_, rtol=1e-12, atol=1e-13 * np.abs(X).max())
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-10)
    # The same parameters for both, since a density far from zero is as sensitive as its mean is rounded.
    theirs.theta_, theirs.var_ = ours.theta_, ours.var_
    joint = theirs.predict_joint_log_proba(X)
    size = 1e-13 * np.abs(joint).max()  # what is left where terms of this size cancel
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), joint, rtol=1e-10, atol=size)
    np.testing.assert_allclose(
        ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-10, atol=1e-12 + size
    )
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.certificate_.holds
    assert surefit.verify(ours, X, y).holds


def test_priors_and_smoothing_as_in_scikit_learn() -> None:
    X, y = blobs()
    for options in ({"priors": [0.2, 0.5, 0.3]}, {"var_smoothing": 0.1}, {"var_smoothing": 0.0}):
        ours, theirs = GaussianNB(**options).fit(X, y), naive_bayes.GaussianNB(**options).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-12)
    for priors, message in (
        ([0.5, 0.5], "Number of priors must match number of classes"),
        ([0.5, 0.5, 0.5], "The sum of the priors should be 1"),
        ([1.5, -0.3, -0.2], "Priors must be non-negative"),
    ):
        with pytest.raises(ValueError, match=message):
            GaussianNB(priors=priors).fit(X, y)


def test_weights_as_in_scikit_learn_but_for_the_smoothing() -> None:
    X, y = blobs()
    weight = np.random.default_rng(2).uniform(0, 3, len(X))
    ours = GaussianNB(var_smoothing=0).fit(X, y, sample_weight=weight)
    theirs = naive_bayes.GaussianNB(var_smoothing=0).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.theta_, theirs.theta_, rtol=1e-12)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-11)
    np.testing.assert_allclose(ours.class_count_, theirs.class_count_, rtol=1e-12)
    # scikit-learn smooths by the variance of the rows as they stand, we by that of the rows as they count.
    smoothed = GaussianNB().fit(X, y, sample_weight=weight)
    spread = np.cov(X.T, aweights=weight, ddof=0).diagonal()
    np.testing.assert_allclose(smoothed.epsilon_, 1e-9 * spread.max(), rtol=1e-10)


def test_the_probabilities_are_those_of_normal_densities() -> None:
    X, y = blobs(columns=3)
    model = GaussianNB().fit(X, y)
    columns = [
        norm.logpdf(X, m, np.sqrt(v)).sum(axis=1) for m, v in zip(model.theta_, model.var_, strict=True)
    ]
    joint = np.stack(columns, axis=1) + np.log(model.class_prior_)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-12)
    posterior = joint - logsumexp(joint, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(X), posterior, rtol=1e-11, atol=1e-13)


@pytest.mark.covers("intro_to_ml:2.5", by="GaussianNB")
def test_the_worked_example_with_unbiased_variances() -> None:
    worked = fixture("normal_classes")
    X, y, queries = (worked.data[name] for name in ("X", "y", "queries"))
    model = GaussianNB(unbiased=True, var_smoothing=0).fit(X, y)
    assert model.class_prior_.tolist() == [0.5, 0.5]
    assert model.theta_.ravel().tolist() == worked.answers["means"].tolist()
    assert model.var_.ravel().tolist() == worked.answers["variances"].tolist()
    np.testing.assert_allclose(model.predict_proba(queries)[:, 1], worked.answers["class_1"], atol=5e-11)
    assert model.predict(queries).tolist() == [0, 1, 1]
    assert surefit.verify(model, X, y).holds


@pytest.mark.covers("intro_to_ml:2.5", by="GaussianNB")
def test_the_border_of_two_classes_is_a_quadratic() -> None:
    model = GaussianNB(unbiased=True, var_smoothing=0).fit(
        [[1], [2], [3], [6], [8], [10]], [0, 0, 0, 1, 1, 1]
    )
    # Equal densities: (x - 2)^2 - (x - 8)^2 / 4 = 2 log 2.
    roots = np.roots([0.75, 0.0, 4 - 16 - 2 * np.log(2)])
    np.testing.assert_allclose(model.predict_proba(roots[:, None])[:, 1], 0.5, rtol=1e-12)
    middle, outside = [[0.0]], [[-20.0], [20.0]]
    assert model.predict(middle).tolist() == [0]
    assert model.predict(outside).tolist() == [1, 1]


def test_unbiased_variances_of_a_lone_row_are_zero_before_smoothing() -> None:
    X, y = np.array([[0.0, 1.0], [2.0, 1.5], [7.0, 2.0]]), ["a", "a", "b"]
    model = GaussianNB(unbiased=True).fit(X, y)
    np.testing.assert_allclose(model.var_[0] - model.epsilon_, [2.0, 0.125], rtol=1e-12)
    np.testing.assert_array_equal(model.var_[1], [model.epsilon_] * 2)
    assert model.diagnosis_.codes() == ("zero-variance-class",)
    assert model.predict([[7.0, 2.0], [1.0, 1.2]]).tolist() == ["b", "a"]


@pytest.mark.filterwarnings("error")
def test_without_smoothing_a_class_that_never_varies_is_certain_at_its_value_and_impossible_elsewhere() -> (
    None
):
    X, y = np.array([[3.0], [3.0], [0.0], [10.0]]), np.array([0, 0, 1, 1])
    model = GaussianNB(var_smoothing=0).fit(X, y)
    assert model.predict_proba([[3.0], [3.0 + 1e-9], [-50.0]])[:, 0].tolist() == [1.0, 0.0, 0.0]
    assert model.predict([[3.0], [4.0]]).tolist() == [0, 1]


@pytest.mark.filterwarnings("error")
def test_a_row_that_no_class_can_have_produced_gets_the_priors() -> None:
    model = GaussianNB(var_smoothing=0).fit([[1.0], [2.0], [2.0]], ["a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba([[1e200]]), [[1 / 3, 2 / 3]], rtol=1e-15)
    np.testing.assert_allclose(model.predict_log_proba([[1e200]]), np.log([[1 / 3, 2 / 3]]), rtol=1e-15)
    assert model.predict([[1e200]]).tolist() == ["b"]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_neither_offset_nor_scale_changes_the_answers(offset: float, scale: float) -> None:
    unit = 2.0 ** np.round(np.log2(scale))
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=600)
    steps = rng.integers(-512, 512, (600, 8)) / 256.0 + 2 * y[:, None] / 3 // (1 / 256) / 256
    # Steps and offset are exact in binary, so only a loss of digits could tell the two apart.
    plain, moved = GaussianNB().fit(steps, y), GaussianNB().fit((steps + offset) * unit, y)
    np.testing.assert_allclose(moved.var_ / unit**2, plain.var_, rtol=1e-9)
    np.testing.assert_allclose(
        moved.predict_proba((steps + offset) * unit), plain.predict_proba(steps), rtol=1e-8, atol=1e-12
    )


def test_sparse_rows_and_single_precision_give_the_same() -> None:
    X, y = blobs(500, 7)
    X[np.random.default_rng(4).random(X.shape) < 0.6] = 0
    dense, sparse = GaussianNB().fit(X, y), GaussianNB().fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.var_, dense.var_, rtol=1e-12)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X), rtol=1e-10)
    np.testing.assert_array_equal(sparse.predict(sp.csc_matrix(X)), dense.predict(X))
    assert surefit.verify(sparse, sp.csr_matrix(X), y).holds
    single = X.astype(np.float32)
    found, right = GaussianNB().fit(single, y), GaussianNB().fit(single.astype(np.float64), y)
    np.testing.assert_allclose(found.var_, right.var_, rtol=1e-13)
    assert found.predict_proba(single).tobytes() == right.predict_proba(single.astype(np.float64)).tobytes()


def test_a_row_alone_gets_the_bits_that_it_gets_among_others() -> None:
    X, y = blobs(columns=11)
    model = GaussianNB().fit(X, y)
    assert model.predict_proba(X[5:6]).tobytes() == model.predict_proba(X)[5:6].tobytes()


def test_partial_fit_of_a_class_that_has_not_come_yet() -> None:
    X, y = blobs()
    early = GaussianNB().partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    assert early.class_prior_[2] == 0
    assert not early.predict_proba(X)[:, 2].any()
    assert set(early.predict(X)) <= {0, 1}
    late = early.partial_fit(X[y == 2], y[y == 2])
    np.testing.assert_allclose(late.var_, GaussianNB().fit(X, y).var_, rtol=1e-12)
    with pytest.raises(DataError, match="not among the classes"):
        late.partial_fit(X, y + 5)
    with pytest.raises(RefusalError, match="later calls must give the same"):
        late.partial_fit(X, y, classes=[0, 1])


def test_a_class_forgotten_to_its_last_row_is_as_if_it_had_not_come() -> None:
    X, y = blobs()
    model = GaussianNB().fit(X, y).forget(X[y == 1], y[y == 1])
    assert model.class_count_[1] == 0
    assert not model.theta_[1].any()
    np.testing.assert_allclose(
        model.predict_proba(X),
        GaussianNB().partial_fit(X[y != 1], y[y != 1], classes=[0, 1, 2]).predict_proba(X),
    )


def test_the_last_row_cannot_be_forgotten() -> None:
    X, y = blobs()
    model = GaussianNB().fit(X, y)
    with pytest.raises(RefusalError, match="no row would be left"):
        model.forget(X, y)
    assert surefit.verify(model, X, y).holds


def test_forgetting_what_carries_all_the_scatter_is_refused() -> None:
    X, y = np.append(np.full(99, 1.0) + 1e-9 * np.arange(99), 1e9)[:, None], np.zeros(100, dtype=int)
    with pytest.raises(RefusalError, match="because of cancellation"):
        GaussianNB().fit(X, y).forget(X[-1:], y[-1:])


@pytest.mark.covers("intro_to_ml:2.7", by="GaussianNB")
def test_rows_drawn_from_the_model_give_the_model_back() -> None:
    X, y = blobs(2000, 5)
    model = GaussianNB().fit(X, np.array(["a", "b", "c"])[y])
    drawn, labels = model.sample(200_000, random_state=0)
    again = GaussianNB().fit(drawn, labels)
    rows = again.class_count_[:, None]
    # Five standard errors: of a share, a mean, and a variance.
    share = np.sqrt(model.class_prior_ * (1 - model.class_prior_) / 200_000)
    assert (np.abs(again.class_prior_ - model.class_prior_) < 5 * share).all()
    assert (np.abs(again.theta_ - model.theta_) < 5 * np.sqrt(model.var_ / rows)).all()
    assert (np.abs(again.var_ - model.var_) < 5 * model.var_ * np.sqrt(2 / rows)).all()
    same, _ = model.sample(10, random_state=7)
    assert same.tobytes() == model.sample(10, random_state=7)[0].tobytes()
    assert same.tobytes() != model.sample(10, random_state=8)[0].tobytes()
    with pytest.raises(ValueError, match="n_samples=0 must be"):
        model.sample(0)
    with pytest.raises(NotFittedError):
        GaussianNB().sample()


def test_verify_sees_each_number_changed() -> None:
    X, y = blobs()
    for name in ("class_count_", "class_prior_", "theta_", "var_"):
        model = GaussianNB().fit(X, y)
        getattr(model, name).flat[1] *= 1 + 1e-6
        assert not surefit.verify(model, X, y).holds, name
    assert surefit.verify(GaussianNB().fit(X + 1e8, y), X + 1e8, y).holds


def test_the_diagnosis_names_class_and_columns() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = blobs(columns=2)
    frame = pandas.DataFrame({"size": np.where(y == 1, 2.0, X[:, 0]), "price": X[:, 1], "same": 1.0})
    found = {finding.code: finding for finding in GaussianNB().fit(frame, y).diagnosis_}
    assert found.keys() == {"zero-variance-class", "constant-columns"}
    assert found["zero-variance-class"].columns == ("size",)
    assert "1 (size)" in found["zero-variance-class"].message
    assert len(GaussianNB().fit(X, y).diagnosis_) == 0


def test_a_file_of_rows_gives_the_fit_of_the_array(tmp_path: Any) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = blobs(columns=3)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.array(["x", "y", "z"])[y])
    frame.to_parquet(tmp_path / "rows.parquet")
    model = GaussianNB().fit(tmp_path / "rows.parquet", "kind")
    right = GaussianNB().fit(frame[["a", "b", "c"]], frame["kind"])
    np.testing.assert_allclose(model.var_, right.var_, rtol=1e-12)
    model.predict(tmp_path / "rows.parquet", to=tmp_path / "out.parquet")
    written = pandas.read_parquet(tmp_path / "out.parquet")["prediction"].to_numpy()
    np.testing.assert_array_equal(written, right.predict(frame[["a", "b", "c"]]))
    assert surefit.verify(model, tmp_path / "rows.parquet", "kind").holds


@pytest.mark.parametrize(
    "column",
    [[1e200, -1e200, 1e200, 2e200], [1e200, 1e200, -1e200, -1e200]],
    ids=["within a class", "between classes"],
)
def test_squares_that_overflow_are_refused(column):
    X = np.column_stack([np.arange(4.0), column])
    model = GaussianNB()
    with pytest.raises(ValueError, match=r"column 1 of X are beyond 1e\+148"):
        model.fit(X, [0, 0, 1, 1])
    assert not hasattr(model, "theta_")


def with_coins(rows: int = 300, seed: int = 3) -> tuple[Any, Any, Any]:
    """Two normal columns, and three of zeros and ones, one of which is never one in the first class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=rows)
    coins = (rng.random((rows, 3)) < np.array([[0.2, 0.5, 0.0], [0.6, 0.1, 0.3], [0.9, 0.5, 0.7]])[y]) * 1.0
    return rng.normal(size=(rows, 2)) + y[:, None], coins, y


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("unbiased", [False, True], ids=["n", "n-1"])
def test_columns_of_zeros_and_ones_are_coins_if_asked(weighted: bool, unbiased: bool) -> None:
    numbers, coins, y = with_coins()
    weight = np.random.default_rng(0).integers(0, 3, len(y)) * 1.0 if weighted else None
    X = np.column_stack([coins[:, :1], numbers, coins[:, 1:]])
    ours = GaussianNB(binary="bernoulli", unbiased=unbiased).fit(X, y, sample_weight=weight)
    plain = GaussianNB(unbiased=unbiased, var_smoothing=0).fit(numbers, y, weight)
    plain.var_ = ours.var_[:, 1:3]
    theirs = naive_bayes.BernoulliNB(alpha=1.0).fit(coins, y, sample_weight=weight)
    expected = plain.predict_joint_log_proba(numbers) + theirs.predict_joint_log_proba(coins)
    expected -= theirs.class_log_prior_
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), expected, rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), expected.argmax(axis=1))
    np.testing.assert_allclose(ours.predict_proba(sp.csr_array(X)), ours.predict_proba(X), rtol=1e-12)
    assert surefit.verify(ours, X, y, sample_weight=weight).holds
    assert "zero-variance-class" not in [finding.code for finding in ours.diagnosis_]
    drawn, labels = ours.sample(4000, random_state=0)
    assert set(np.unique(drawn[:, [0, 3, 4]])) == {0.0, 1.0}
    assert abs(drawn[labels == 2, 0].mean() - 0.9) < 0.1


def test_coins_alone_are_scikit_learns_and_other_whole_numbers_are_none() -> None:
    _, coins, y = with_coins()
    ours, theirs = GaussianNB(binary="bernoulli").fit(coins, y), naive_bayes.BernoulliNB().fit(coins, y)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(coins), theirs.predict_joint_log_proba(coins), rtol=1e-12
    )
    for other in (2 * coins, coins - 1, 1e-12 * coins, 1e6 + coins):
        asked, plain = GaussianNB(binary="bernoulli").fit(other, y), GaussianNB().fit(other, y)
        np.testing.assert_array_equal(asked.predict_proba(other), plain.predict_proba(other))
