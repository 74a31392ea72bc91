"""Classifiers made of classifiers of two classes: scikit-learn's checks, proofs, weights, files, sources."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsOneClassifier as TheirOneVsOne
from sklearn.multiclass import OneVsRestClassifier as TheirOneVsRest
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.tree import DecisionTreeRegressor as TheirTree
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.laws.estimators import assert_close, assert_same_bits, outputs, table

import surefit
from surefit import LogisticRegression, OneVsOneClassifier, OneVsRestClassifier, RidgeClassifier
from surefit.core.errors import DataError, FormatError

X, Y = table(LogisticRegression)
TWO = np.where(Y == "low", "low", "other")
KINDS = {"rest": (OneVsRestClassifier, TheirOneVsRest), "one": (OneVsOneClassifier, TheirOneVsOne)}
each_kind = pytest.mark.parametrize(("ours", "theirs"), KINDS.values(), ids=KINDS.keys())


def exact() -> LogisticRegression:
    return LogisticRegression(tol=1e-10)


@parametrize_with_checks([OneVsRestClassifier(exact()), OneVsOneClassifier(RidgeClassifier())])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@each_kind
@pytest.mark.parametrize("member", [TheirGaussianNB(), Perceptron(random_state=0)], ids=["chances", "scores"])
@pytest.mark.parametrize("y", [Y, TWO], ids=["three", "two"])
def test_members_of_scikit_learn_as_in_scikit_learn(ours, theirs, member, y):
    one, two = ours(member).fit(X, y), theirs(member).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    if hasattr(two, "decision_function"):
        np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), rtol=1e-12)
    if hasattr(two, "predict_proba"):
        np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-12)
    assert surefit.verify(one, X, y).holds
    assert not surefit.verify(one, X, np.roll(y, 1)).holds
    with pytest.raises(FormatError, match="a model file cannot hold"):
        surefit.save(one, "never.safetensors")


@each_kind
def test_the_proof_is_the_worst_of_the_members(ours, theirs):
    model = ours(LogisticRegression()).fit(X, Y)
    values = [member.certificate_.value for member in model.estimators_]
    assert model.certificate_.value == max(values)
    assert model.certificate_.holds
    assert surefit.verify(model, X, Y).holds
    changed = Y.copy()
    changed[0] = next(label for label in Y if label != Y[0])
    assert not surefit.verify(model, X, changed).holds
    model.estimators_[1].coef_[0, 0] += 0.1
    assert not surefit.verify(model, X, Y).holds


@each_kind
def test_weight_equals_repetition(ours, theirs):
    times = np.random.default_rng(1).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), times)
    weighted = ours(exact()).fit(X, Y, sample_weight=times.astype(float))
    assert_close(outputs(weighted, X), outputs(ours(exact()).fit(X[rows], Y[rows]), X))


@each_kind
def test_files_and_sources(ours, theirs, tmp_path):
    model = ours(exact()).fit(X, Y)
    surefit.save(model, tmp_path / "model")
    again = surefit.load(tmp_path / "model")
    assert_same_bits(outputs(model, X), outputs(again, X))
    assert surefit.verify(tmp_path / "model", X, Y).holds
    columns = pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": Y})
    source = surefit.read(columns.to_reader(max_chunksize=17), target="y")
    streamed = ours(exact()).fit(source)
    assert_close(outputs(model, X), outputs(streamed, X), rtol=1e-7)
    with pytest.raises(DataError, match="cannot read a table piece by piece"):
        ours(TheirGaussianNB()).fit(source)


@each_kind
@pytest.mark.parametrize(
    "member", [surefit.DecisionTreeRegressor(max_depth=4), TheirTree(max_depth=4, random_state=0)]
)
def test_members_may_be_regressions_and_cells_missing(ours, theirs, member):
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    one, two = ours(member).fit(holes, Y), theirs(TheirTree(max_depth=4)).fit(holes, Y)
    assert np.mean(one.predict(holes) == two.predict(holes)) > 0.9
    assert surefit.verify(one, holes, Y).holds
    assert not surefit.verify(one, holes, np.roll(Y, 1)).holds


def test_one_class_is_refused_by_name():
    with pytest.raises(DataError, match="only one class is present: y holds 'a'"):
        OneVsRestClassifier(LogisticRegression()).fit([[0.0], [1.0]], ["a", "a"])
