"""Spectral clustering and embedding: the catalogue's cliques, moons, Laplacians, scikit-learn's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering as TheirClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.manifold import SpectralEmbedding as TheirEmbedding
from sklearn.metrics import adjusted_rand_score

import surefit
from surefit import SpectralClustering, SpectralEmbedding

CLIQUES = np.kron(np.eye(2), np.ones((3, 3)))
TRUE = [0, 0, 0, 1, 1, 1]


@pytest.mark.covers("intro_to_ml:9.6", by="SpectralClustering")
@pytest.mark.parametrize("assign", ["kmeans", "discretize", "cluster_qr"])
@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_two_cliques(assign):
    model = SpectralClustering(
        2, affinity="precomputed", laplacian="unnormalized", n_components=6, assign_labels="kmeans"
    ).fit(CLIQUES)
    np.testing.assert_allclose(model.eigenvalues_, [0, 0, 3, 3, 3, 3], atol=1e-12)
    assert model.eigengap() == 2
    two = SpectralClustering(2, affinity="precomputed", laplacian="unnormalized", assign_labels=assign)
    two.fit(CLIQUES)
    rows = two.embedding_
    np.testing.assert_allclose(rows[:3], rows[[0, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(rows[3:], rows[[3, 3, 3]], atol=1e-12)
    assert adjusted_rand_score(TRUE, two.labels_) == 1
    assert surefit.verify(two, CLIQUES).holds
    other = SpectralClustering(2, affinity="precomputed", laplacian="unnormalized", assign_labels=assign)
    np.testing.assert_allclose(other.fit(CLIQUES - np.eye(6)).eigenvalues_, two.eigenvalues_, atol=1e-12)


@pytest.mark.covers("intro_to_ml:9.6", by="SpectralClustering")
@pytest.mark.parametrize("laplacian", ["unnormalized", "random_walk", "symmetric"])
def test_moons_by_an_epsilon_graph(laplacian):
    X, y = make_moons(300, noise=0.03, random_state=0)
    with pytest.warns(UserWarning, match="not fully connected"):
        model = SpectralClustering(2, affinity="epsilon", eps=0.3, laplacian=laplacian).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.eigenvalues_.max() < 1e-10
    assert surefit.verify(model, X).holds
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", "laplacian", "poly"])
@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_groups_are_scikit_learns(affinity):
    X = make_blobs(250, 2, centers=3, cluster_std=0.6, random_state=2)[0]
    options = {"affinity": affinity, "random_state": 0, "gamma": 0.05, "n_neighbors": 20}
    ours = SpectralClustering(3, **options).fit(X)
    theirs = TheirClustering(3, **options).fit(X)
    np.testing.assert_allclose(
        ours.affinity_matrix_.toarray() if affinity == "nearest_neighbors" else ours.affinity_matrix_,
        theirs.affinity_matrix_.toarray() if affinity == "nearest_neighbors" else theirs.affinity_matrix_,
        rtol=1e-9,
        atol=1e-12,
    )
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1


@pytest.mark.parametrize("rows", [300, 900])
def test_coordinates_are_scikit_learns(rows):
    X = np.random.default_rng(0).normal(size=(rows, 3))
    ours = SpectralEmbedding(2, affinity="rbf", random_state=0).fit_transform(X)
    theirs = TheirEmbedding(2, affinity="rbf", random_state=0).fit_transform(X)
    scale = np.linalg.norm(theirs, axis=0) / np.linalg.norm(ours, axis=0)
    sign = np.sign((ours * theirs).sum(axis=0))
    np.testing.assert_allclose(ours * sign * scale, theirs, atol=1e-6 * np.abs(theirs).max())


@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors"])
@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_large_graphs_have_the_same_small_eigenvalues(affinity):
    X = make_blobs(900, 4, centers=4, random_state=1)[0]
    model = SpectralClustering(4, affinity=affinity, gamma=0.1, laplacian="symmetric", n_neighbors=40)
    model.fit(X)
    A = model.affinity_matrix_
    A = A.toarray() if hasattr(A, "toarray") else A.copy()
    np.fill_diagonal(A, 0)
    root = np.sqrt(A.sum(axis=1))
    whole = np.linalg.eigvalsh(np.eye(900) - A / root / root[:, None])[:4]
    np.testing.assert_allclose(model.eigenvalues_, whole, atol=1e-9)
    assert surefit.verify(model, X).holds
    model.embedding_ = model.embedding_.copy()
    model.embedding_.flat[np.abs(model.embedding_).argmax()] *= 1.01
    assert not surefit.verify(model, X).holds
