"""DBSCAN: the catalogue's line, scikit-learn's labels, the order-free border rule, metrics, pictures."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN as TheirDBSCAN
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, pairwise_distances

import surefit
from surefit import DBSCAN, dbscan

LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [20.0]])


@pytest.mark.covers("intro_to_ml:9.5", by="DBSCAN")
@pytest.mark.parametrize("metric", ["euclidean", "precomputed", "cosine"])
def test_seven_points_on_a_line(metric):
    X = {"precomputed": np.abs(LINE - LINE.T), "euclidean": LINE, "cosine": None}[metric]
    eps = 1.0
    if X is None:  # the same points as directions
        X, eps = np.column_stack([np.cos(LINE / 30), np.sin(LINE / 30)]), 1 - np.cos(1.0001 / 30)
    model = DBSCAN(eps, min_samples=3, metric=metric).fit(X)
    assert model.core_sample_indices_.tolist() == [1, 4]
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1, -1]
    two = DBSCAN(eps, min_samples=2, metric=metric).fit(X)
    assert two.core_sample_indices_.tolist() == [0, 1, 2, 3, 4, 5]
    assert two.labels_.tolist() == [0, 0, 0, 1, 1, 1, -1]
    for fitted in (model, two):
        assert surefit.verify(fitted, X).holds


@pytest.mark.covers("intro_to_ml:9.5", by="DBSCAN")
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_permuted_rows_give_permuted_labels(columns):
    rng = np.random.default_rng(columns)
    X, order = np.round(rng.normal(size=(400, columns)), 2), rng.permutation(400)
    eps = {1: 0.02, 2: 0.2, 5: 0.9}[columns]
    one = DBSCAN(eps, min_samples=6, border="nearest").fit(X).labels_
    two = DBSCAN(eps, min_samples=6, border="nearest").fit(X[order]).labels_
    assert len(set(one)) > 2 or columns == 5
    assert adjusted_rand_score(one[order], two) == 1
    np.testing.assert_array_equal(one[order] < 0, two < 0)


def test_a_border_row_joins_its_nearest_core_row():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [1.29], [2.2], [2.4], [2.5], [2.6]])
    first = DBSCAN(1.0, min_samples=5).fit(X)
    assert first.labels_.tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    near = DBSCAN(1.0, min_samples=5, border="nearest").fit(X)
    assert 4 not in near.core_sample_indices_
    assert near.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert near.predict(X).tolist() == near.labels_.tolist()
    assert surefit.verify(near, X).holds
    near.labels_ = first.labels_
    assert not surefit.verify(near, X).holds


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_are_scikit_learns(columns, dtype):
    X = make_blobs(1200, columns, centers=6, random_state=columns)[0].astype(dtype)
    eps = {1: 0.02, 2: 0.5, 3: 0.9, 4: 1.2, 20: 5.2}[columns]
    theirs = TheirDBSCAN(eps=eps).fit(X)
    model = DBSCAN(eps).fit(X)
    np.testing.assert_array_equal(model.labels_, theirs.labels_)
    np.testing.assert_array_equal(model.core_sample_indices_, theirs.core_sample_indices_)
    assert surefit.verify(model, X).holds


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine"])
def test_other_metrics(metric):
    X = np.random.default_rng(3).normal(size=(300, 3))
    eps = {"manhattan": 0.5, "chebyshev": 0.3, "cosine": 0.01}[metric]
    theirs = TheirDBSCAN(eps=eps, metric=metric).fit(X)
    model = DBSCAN(eps, metric=metric).fit(X)
    np.testing.assert_array_equal(model.labels_, theirs.labels_)
    square = pairwise_distances(X, metric=metric)
    np.testing.assert_array_equal(DBSCAN(eps, metric="precomputed").fit(square).labels_, theirs.labels_)
    assert surefit.verify(model, X).holds


def test_sparse_rows_and_sparse_distances():
    X = sparse.random(300, 40, density=0.1, format="csr", random_state=0)
    np.testing.assert_array_equal(DBSCAN(1.0).fit(X).labels_, DBSCAN(1.0).fit(X.toarray()).labels_)
    D = pairwise_distances(X.toarray())
    near = sparse.csr_matrix(np.where(D < 1.4, D, 0))
    whole = DBSCAN(1.0, metric="precomputed").fit(D)
    model = DBSCAN(1.0, metric="precomputed").fit(near)
    np.testing.assert_array_equal(model.labels_, whole.labels_)
    assert surefit.verify(model, near).holds


def test_a_weight_counts_as_rows():
    X = np.random.default_rng(0).normal(size=(200, 2))
    weight = np.random.default_rng(1).integers(0, 4, 200)
    many = DBSCAN(0.3).fit(np.repeat(X, weight, axis=0))
    model = DBSCAN(0.3).fit(X, sample_weight=weight)
    assert adjusted_rand_score(np.repeat(model.labels_, weight), many.labels_) == 1
    assert surefit.verify(model, X, sample_weight=weight).holds
    assert not surefit.verify(model, X).holds


def test_moons_and_new_rows():
    X, y = make_moons(1000, noise=0.05, random_state=0)
    model = DBSCAN(0.15).fit(X[:700])
    assert adjusted_rand_score(y[700:], model.predict(X[700:])) > 0.99
    assert model.predict([[9.0, 9.0]]).tolist() == [-1]
    core, labels = dbscan(X[:700], eps=0.15)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(core, model.core_sample_indices_)


def test_what_was_changed_is_noticed():
    X = make_blobs(3000, 2, centers=5, cluster_std=0.4, random_state=1)[0]
    model = DBSCAN(0.3).fit(X)
    assert surefit.verify(model, X).holds
    merged = model.labels_.copy()
    merged[merged == 1] = 0
    for labels in (merged, np.where(np.arange(3000) == 0, -1, model.labels_)):
        model.labels_ = labels
        assert not surefit.verify(model, X).holds or (len(X) > 2000 and labels is merged)


def test_the_curve_of_distances_to_neighbours():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(scale=0.1, size=(60, 2)) + at for at in (0.0, 5.0)] + [[[20.0, -20.0]]])
    chart = surefit.plots.plot_k_distances(X, 4)
    curve = next(rows for rows in chart.to_dict()["datasets"].values() if "distance" in rows[0])
    theirs = np.sort(np.sort(cdist(X, X), axis=1)[:, 3])
    np.testing.assert_allclose([row["distance"] for row in curve], theirs)
    eps = next(rows for rows in chart.to_dict()["datasets"].values() if "eps" in rows[0])[0]["eps"]
    model = DBSCAN(eps, min_samples=4).fit(X)
    assert len(model.core_sample_indices_) == (theirs <= eps).sum()
    assert f"{(theirs <= eps).sum()} of 121 rows" in chart.to_dict()["title"]["subtitle"]
    assert set(model.labels_[:60]) == {0}
    assert set(model.labels_[60:120]) == {1}
    assert model.labels_[120] == -1
    with pytest.raises(surefit.errors.DataError, match="at least 2"):
        surefit.plots.plot_k_distances(X, 1)
    mixed = [[0.0, "a"], [1.0, "a"], [2.0, "b"]]
    words = surefit.plots.plot_k_distances(mixed, 2, "gower", eps=0.25).to_dict()["title"]["text"]
    assert words == "Distance to the 2nd nearest row: eps 0.25"
