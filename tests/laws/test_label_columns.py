"""One class against the rest where rows have several labels, and members that learn from more rows."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.linear_model import SGDClassifier as TheirSteps
from sklearn.multiclass import OneVsRestClassifier as TheirOneVsRest
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from tests.laws.estimators import assert_close, assert_same_bits, outputs, table

import surefit
from surefit import GaussianNB, LogisticRegression, OneVsOneClassifier, OneVsRestClassifier, RidgeClassifier
from surefit.core.errors import DataError, RefusalError, SurefitWarning

X, Y = table(LogisticRegression)
RNG = np.random.default_rng(3)
LABELS = ((X @ RNG.normal(size=(X.shape[1], 3)) + RNG.normal(size=(len(X), 3))) > 0).astype(int)
NAMES = ["red", "green", "blue"]


def exact(**settings) -> OneVsRestClassifier:
    return OneVsRestClassifier(LogisticRegression(tol=1e-10, **settings))


def columns(labels=LABELS, **more) -> pa.Table:
    cells = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    return pa.table(cells | {name: labels[:, k] for k, name in enumerate(NAMES)} | more)


@pytest.mark.parametrize("member", [TheirLogistic(), TheirGaussianNB()], ids=["scores", "chances"])
def test_labels_as_in_scikit_learn(member):
    ours, theirs = OneVsRestClassifier(member).fit(X, LABELS), TheirOneVsRest(member).fit(X, LABELS)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)
    assert ours.multilabel_
    assert ours.score(X, LABELS) == theirs.score(X, LABELS)
    assert surefit.verify(ours, X, LABELS).holds
    assert not surefit.verify(ours, X, np.roll(LABELS, 1, axis=0)).holds


def test_every_label_is_a_problem_of_its_own_and_is_proved():
    model = exact().fit(X, LABELS)
    for k in range(3):
        alone = LogisticRegression(tol=1e-10).fit(X, LABELS[:, k])
        np.testing.assert_allclose(model.predict_proba(X)[:, k], alone.predict_proba(X)[:, 1], rtol=1e-7)
    assert surefit.verify(model, X, LABELS).holds
    other = LABELS.copy()
    other[0, 1] = 1 - other[0, 1]
    assert not surefit.verify(model, X, other).holds


def test_weight_equals_repetition_of_labels():
    times = RNG.integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), times)
    weighted = exact().fit(X, LABELS, sample_weight=times.astype(float))
    assert_close(outputs(weighted, X), outputs(exact().fit(X[rows], LABELS[rows]), X))


def test_labels_in_files_in_streams_and_sparse(tmp_path):
    model = exact().fit(X, LABELS)
    surefit.save(model, tmp_path / "model")
    assert_same_bits(outputs(model, X), outputs(surefit.load(tmp_path / "model"), X))
    pq.write_table(columns(), tmp_path / "rows.parquet", row_group_size=17)
    source = surefit.read(tmp_path / "rows.parquet", target=NAMES)
    streamed = exact().fit(source)
    assert streamed.multilabel_
    np.testing.assert_allclose(streamed.predict_proba(source), model.predict_proba(X), rtol=1e-7)
    assert surefit.verify(streamed, source).holds
    sparse = exact().fit(X, sp.csc_array(LABELS))
    assert sp.issparse(sparse.predict(X))
    np.testing.assert_array_equal(sparse.predict(X).toarray(), model.predict(X))


@pytest.mark.parametrize("member", [LogisticRegression(), TheirLogistic()], ids=["ours", "theirs"])
def test_a_label_of_all_rows_or_of_none_is_warned_of_and_predicted(member, tmp_path):
    labels = LABELS.copy()
    labels[:, 0], labels[:, 2] = 1, 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = OneVsRestClassifier(member).fit(X, labels)
    said = [str(one.message).partition(" in all")[0] for one in caught if one.category is SurefitWarning]
    assert said == ["Label 0 is present", "Label not 2 is present"]
    np.testing.assert_array_equal(model.predict(X)[:, [0, 2]], labels[:, [0, 2]])
    np.testing.assert_array_equal(model.predict_proba(X)[:, [0, 2]], labels[:, [0, 2]])
    assert len(np.unique(model.predict(X)[:, 1])) == 2  # its threshold is its own, not the first member's
    assert surefit.verify(model, X, labels).holds
    assert not surefit.verify(model, X, LABELS).holds


def test_columns_that_are_no_labels_are_refused():
    with pytest.raises(DataError, match=r"OneVsRestClassifier reads as multilabel .* one holds 2"):
        exact().fit(X, LABELS + 1)
    with pytest.raises(DataError, match=r"one holds 0\.5"):
        exact().fit(surefit.read(columns(LABELS / 2), target=NAMES))


EXACT_UPDATES = [GaussianNB(), RidgeClassifier(), surefit.LinearRegression(), TheirGaussianNB()]


@pytest.mark.parametrize("kind", [OneVsRestClassifier, OneVsOneClassifier], ids=["rest", "one"])
@pytest.mark.parametrize("member", EXACT_UPDATES, ids=["counts", "ridge", "numbers", "theirs"])
def test_rows_in_two_parts_are_all_rows(kind, member):
    whole = kind(member).fit(X, Y)
    parts = kind(member).partial_fit(X[:25], Y[:25], np.unique(Y)).partial_fit(X[25:], Y[25:])
    assert_close(outputs(whole, X), outputs(parts, X), rtol=1e-6)
    also = kind(member).fit(X[:25], Y[:25]).partial_fit(X[25:], Y[25:])
    assert_close(outputs(whole, X), outputs(also, X), rtol=1e-6)


def test_labels_weights_and_batches_in_parts():
    weight = RNG.integers(0, 3, len(X)).astype(float)
    whole = OneVsRestClassifier(RidgeClassifier()).fit(X, LABELS, sample_weight=weight)
    parts = OneVsRestClassifier(RidgeClassifier())
    parts.partial_fit(X[:25], LABELS[:25], sample_weight=weight[:25])
    rest = columns(w=weight).slice(25)
    parts.partial_fit(
        surefit.read(
            rest.to_reader(max_chunksize=9), target=NAMES, weight="w", columns=["x0", "x1", "x2", "x3"]
        )
    )
    assert_close(outputs(whole, X), outputs(parts, X), rtol=1e-6)
    assert surefit.verify(parts, X, LABELS, weight).holds


def test_an_update_that_fails_changes_nothing():
    model = OneVsRestClassifier(GaussianNB()).partial_fit(X[:25], Y[:25], np.unique(Y))
    before = model.predict_proba(X)
    broken = np.where(np.arange(X[25:].size).reshape(X[25:].shape) == 7, np.nan, X[25:])
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(broken, Y[25:])
    with pytest.raises(DataError, match=r"contains \['other'\] while classes must be subset of .*: name all"):
        model.partial_fit(X[25:26], ["other"])
    with pytest.raises(DataError, match="y is multilabel in one call"):
        model.partial_fit(X, LABELS)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_what_learnt_in_steps_says_so():
    steps = OneVsRestClassifier(TheirSteps(random_state=0)).partial_fit(X, Y, np.unique(Y))
    steps.partial_fit(X, Y)
    assert steps.certificate_.claim == "estimated"
    assert 0 <= steps.certificate_.value < 1
    with pytest.raises(RefusalError, match="fitted by partial_fit, which keeps no rows"):
        surefit.verify(steps, X, Y)


def test_a_pair_without_rows_is_named():
    model = OneVsOneClassifier(GaussianNB()).partial_fit(X[Y == "low"], Y[Y == "low"], np.unique(Y))
    with pytest.raises(DataError, match="some pairs of classes have had no rows yet"):
        model.predict(X)


def test_kernels_of_rows_with_rows():
    from sklearn.svm import SVC

    kernel = X @ X.T
    for kind in (OneVsRestClassifier, OneVsOneClassifier):
        by_kernel = kind(SVC(kernel="precomputed")).fit(kernel, Y)
        plain = kind(SVC(kernel="linear")).fit(X, Y)
        np.testing.assert_array_equal(by_kernel.predict(kernel), plain.predict(X))
        assert surefit.verify(by_kernel, kernel, Y).holds


def test_nothing_warns_where_labels_differ():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact().fit(X, LABELS)
