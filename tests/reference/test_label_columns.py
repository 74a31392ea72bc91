"""Ridge for rows with several labels, and coefficients kept sparse, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn import linear_model
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification

import surefit
from surefit.core.errors import DataError, RefusalError

X, LABELS = make_multilabel_classification(80, 6, n_classes=3, random_state=0)
RIDGES = {
    "plain": ("RidgeClassifier", {}),
    "leave one out": ("RidgeClassifierCV", {}),
    "accuracy": ("RidgeClassifierCV", {"scoring": "accuracy", "store_cv_results": True}),
    "folds": ("RidgeClassifierCV", {"cv": 3}),
}


@pytest.mark.parametrize("name", RIDGES)
def test_several_labels_a_row_are_those_of_scikit_learn(name, tmp_path):
    cls, options = RIDGES[name]
    ours = getattr(surefit, cls)(**options).fit(X, LABELS)
    theirs = getattr(linear_model, cls)(**options).fit(X, LABELS)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.score(X, LABELS) == theirs.score(X, LABELS)
    assert getattr(ours, "alpha_", None) == getattr(theirs, "alpha_", None)
    assert surefit.verify(ours, X, LABELS).holds
    assert not surefit.verify(ours, X, 1 - LABELS).holds
    surefit.save(ours, tmp_path / "model.safetensors")
    np.testing.assert_array_equal(surefit.load(tmp_path / "model.safetensors").predict(X), ours.predict(X))


def columns_of(rows):
    return pd.DataFrame(rows, columns=[f"x{j}" for j in range(6)])


def test_labels_stream_and_may_be_sparse(tmp_path):
    whole = surefit.RidgeClassifier().fit(X, LABELS, np.arange(80.0))
    packed = surefit.RidgeClassifier().fit(sparse.csr_array(X), sparse.csr_array(LABELS), np.arange(80.0))
    np.testing.assert_allclose(packed.coef_, whole.coef_, atol=1e-12)
    columns = {f"x{j}": X[:, j] for j in range(6)} | {f"y{k}": LABELS[:, k] for k in range(3)}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=17)
    source = surefit.read(tmp_path / "rows.parquet", target=["y0", "y1", "y2"])
    streamed = surefit.RidgeClassifier().fit(source)
    np.testing.assert_allclose(streamed.coef_, surefit.RidgeClassifier().fit(X, LABELS).coef_, atol=1e-12)
    np.testing.assert_array_equal(streamed.predict(source), streamed.predict(columns_of(X)))


def test_what_labels_do_not_go_with_is_refused():
    with pytest.raises(RefusalError, match="not supported for multilabel targets"):
        surefit.RidgeClassifier(class_weight="balanced").fit(X, LABELS)
    with pytest.raises(DataError, match="one holds 2"):
        surefit.RidgeClassifier().fit(X, 2 * LABELS)
    model = surefit.RidgeClassifier().fit(X, LABELS)
    with pytest.raises(RefusalError, match="several labels are fitted all at once"):
        model.merge(clone(model).fit(X, LABELS))
    one = model.fit(X, LABELS[:, 0])  # and a later fit to one class a row forgets the columns
    assert one.predict(X).shape == (80,)


SPARSE = {
    "logistic": (surefit.LogisticRegression(C=0.05, l1_ratio=1.0, solver="saga"), LABELS[:, 0]),
    "softmax": (surefit.LogisticRegression(C=0.05, l1_ratio=1.0, solver="saga"), LABELS.sum(axis=1)),
    "support vectors": (surefit.LinearSVC("l1", C=0.01), LABELS[:, 0]),
    "steps": (surefit.SGDClassifier(penalty="l1", alpha=0.1, random_state=0), LABELS.sum(axis=1)),
    "steps, two classes": (surefit.SGDClassifier(penalty="l1", alpha=0.1, random_state=0), LABELS[:, 0]),
    "perceptron": (surefit.Perceptron(random_state=0), LABELS[:, 0]),
    "steps to numbers": (surefit.SGDRegressor(penalty="l1", alpha=0.1, random_state=0), X[:, 0] * 0.1),
}


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_coefficients_predict_the_same(name):
    model, y = SPARSE[name]
    model = clone(model).fit(X, y)
    dense, before = model.coef_.copy(), model.predict(X)
    assert model.sparsify() is model
    assert sparse.issparse(model.coef_)
    same = np.testing.assert_allclose if name == "steps to numbers" else np.testing.assert_array_equal
    same(model.predict(X), before)
    same(model.predict(sparse.csr_array(X)), before)
    if hasattr(model, "predict_proba"):
        assert model.predict_proba(X[:3]).shape[0] == 3
    if model.certificate_.claim != "estimated":
        assert surefit.verify(model, X, y).holds == model.certificate_.holds
    np.testing.assert_array_equal(model.densify().coef_, dense)
    np.testing.assert_array_equal(model.sparsify().fit(X, y).coef_, dense)
    with pytest.raises(ValueError, match="not fitted"):
        clone(model).sparsify()
