"""HDBSCAN: scikit-learn's clusters where nothing ties, weights, other metrics, what was changed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import HDBSCAN as TheirHDBSCAN
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, pairwise_distances

import surefit
from surefit import HDBSCAN
from surefit.core.errors import DataError

# With as few as three samples a core distance, few distances tie; where they do, merges have no one order.
OPTIONS = {"min_cluster_size": 10, "min_samples": 3}


@pytest.mark.parametrize("columns", [2, 3, 5])
@pytest.mark.parametrize("more", [{}, {"allow_single_cluster": True}])
def test_clusters_are_scikit_learns(columns, more):
    spread = [0.4, 0.8, 1.0, 1.2, 0.3]
    X = make_blobs(700, columns, centers=5, random_state=columns, cluster_std=spread)[0]
    ours, theirs = HDBSCAN(**OPTIONS, **more).fit(X), TheirHDBSCAN(copy=True, **OPTIONS, **more).fit(X)
    assert adjusted_rand_score(theirs.labels_, ours.labels_) > 0.99
    assert np.abs(ours.probabilities_ - theirs.probabilities_).mean() < 0.01
    assert surefit.verify(ours, X).holds


def test_a_distance_below_which_nothing_splits():
    X = make_blobs(600, 2, centers=6, cluster_std=0.3, random_state=0)[0]
    free = HDBSCAN(min_cluster_size=5).fit(X)
    bound = HDBSCAN(min_cluster_size=5, cluster_selection_epsilon=1.0).fit(X)
    assert bound.labels_.max() <= free.labels_.max()
    assert bound.labels_.max() == 5
    assert surefit.verify(bound, X).holds


def test_other_metrics_are_squares_of_distances():
    X = make_moons(300, noise=0.05, random_state=0)[0]
    for metric in ("manhattan", "chebyshev"):
        model = HDBSCAN(**OPTIONS, metric=metric).fit(X)
        square = pairwise_distances(X, metric=metric)
        given = HDBSCAN(**OPTIONS, metric="precomputed").fit(square)
        np.testing.assert_allclose(given.heights_, model.heights_)
        assert surefit.verify(model, X).holds
        assert surefit.verify(given, square).holds


def test_moons_new_rows_and_what_was_changed():
    X, y = make_moons(1500, noise=0.05, random_state=0)
    model = HDBSCAN(min_cluster_size=20).fit(X[:1200])
    assert adjusted_rand_score(y[:1200], model.labels_) > 0.98
    assert (model.predict(X[:1200]) == model.labels_).all()
    assert adjusted_rand_score(y[1200:], model.predict(X[1200:])) > 0.95
    assert surefit.verify(model, X[:1200]).holds
    cut = model.dbscan_clustering(0.2, 20)
    assert adjusted_rand_score(y[:1200], cut) > 0.9
    model.core_distances_ = model.core_distances_.copy()
    model.core_distances_[model.core_distances_.argmax()] *= 1.01
    assert not surefit.verify(model, X[:1200]).holds


@pytest.mark.parametrize("asked", ["centroid", "medoid", "both"])
def test_centres_are_those_of_scikit_learn(asked):
    X, _ = make_blobs(200, centers=3, random_state=1)
    ours = HDBSCAN(store_centers=asked, copy=True).fit(X)
    theirs = TheirHDBSCAN(store_centers=asked, copy=True).fit(X)
    assert set(np.unique(ours.labels_)) == set(np.unique(theirs.labels_))
    for name in ("centroids_", "medoids_"):
        assert hasattr(ours, name) == hasattr(theirs, name)
        if hasattr(theirs, name):
            order = [np.lexsort(getattr(model, name).T) for model in (ours, theirs)]
            found, expected = getattr(ours, name)[order[0]], getattr(theirs, name)[order[1]]
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_centres_of_distances_are_refused():
    with pytest.raises(DataError, match="Cannot store centers"):
        HDBSCAN(metric="precomputed", store_centers="both").fit(np.eye(9))
