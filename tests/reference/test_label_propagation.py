"""Labels on graphs against the course's fixtures and scikit-learn's iteration carried to its end."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.semi_supervised import LabelPropagation as TheirPropagation
from sklearn.semi_supervised import LabelSpreading as TheirSpreading

import surefit
from surefit import LabelPropagation, LabelSpreading, WeightedGraph
from surefit.errors import DataError, RefusalError

TOWNS = [
    (1, 2, 15), (1, 3, 53), (2, 3, 40), (2, 5, 46), (4, 5, 3), (3, 4, 31),
    (4, 6, 29), (3, 6, 17), (5, 7, 11), (4, 7, 8), (6, 7, 40),
]  # fmt: skip
FRIENDS = [(1, 5, 5), (4, 5, 5), (2, 6, 9), (1, 4, 8), (3, 6, 6), (2, 3, 6), (3, 5, 7)]


def towns():
    return WeightedGraph([(i - 1, j - 1) for i, j, _ in TOWNS], [w for *_, w in TOWNS])


@pytest.mark.covers("ml_lecture_notes:9.1", by="WeightedGraph")
def test_incidence_and_laplacian():
    rng = np.random.default_rng(0)
    edges = [(i, j) for i in range(6) for j in range(i) if rng.random() < 0.6]
    weights = rng.random(len(edges))
    graph = WeightedGraph(edges, weights, 6)
    M, L, A = graph.incidence().toarray(), graph.laplacian().toarray(), graph.adjacency().toarray()
    assert pytest.approx(M.T @ M) == L
    assert pytest.approx(L) == np.diag(A.sum(axis=1)) - A
    assert pytest.approx(L.sum(axis=1), abs=1e-14) == 0
    assert np.linalg.eigvalsh(L).min() > -1e-12
    v = rng.normal(size=6)
    assert graph.energy(v) == pytest.approx(v @ L @ v) == pytest.approx(np.sum((M @ v) ** 2))
    order = rng.permutation(len(edges))
    turned = WeightedGraph([edges[k][::-1] for k in order], weights[order], 6)
    assert turned.laplacian().toarray() == pytest.approx(L)


@pytest.mark.covers("ml_lecture_notes:9.2", by="WeightedGraph")
def test_the_towns_of_the_example():
    L = WeightedGraph.laplacian(towns()).toarray()
    assert L.tolist() == [
        [68, -15, -53, 0, 0, 0, 0],
        [-15, 101, -40, 0, -46, 0, 0],
        [-53, -40, 141, -31, 0, -17, 0],
        [0, 0, -31, 71, -3, -29, -8],
        [0, -46, 0, -3, 60, 0, -11],
        [0, 0, -17, -29, 0, 86, -40],
        [0, 0, 0, -8, -11, -40, 59],
    ]
    expected = [0, 28.17138, 43.89155, 74.02531, 121.01534, 129.43168, 189.46474]
    assert np.linalg.eigvalsh(L) == pytest.approx(expected, abs=5e-6)


@pytest.mark.covers("ml_lecture_notes:9.3", by="WeightedGraph.similarity")
def test_similarity_graphs():
    X = np.random.default_rng(1).normal(size=(12, 2))
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    A = WeightedGraph.similarity(X, gamma=0.7, threshold=1.5).adjacency().toarray()
    expected = np.where(squares <= 1.5**2, np.exp(-0.7 * squares), 0.0)
    np.fill_diagonal(expected, 0.0)
    assert pytest.approx(expected) == A
    assert 0 < (A == 0).mean() < 1
    assert WeightedGraph.similarity(X, threshold=1e-3).components().max() == 11  # nobody near, no edge
    assert WeightedGraph.similarity(X).components().max() == 0


@pytest.mark.covers("ml_lecture_notes:9.4", by="WeightedGraph.harmonic")
def test_labels_of_least_energy():
    graph = towns()
    found = WeightedGraph.harmonic(graph, {0: 0.0, 6: 1.0, 3: 0.4})
    assert found.values[[0, 6, 3]].tolist() == [0.0, 1.0, 0.4]
    assert found.values.min() >= 0
    assert found.values.max() <= 1
    assert (graph.laplacian() @ found.values)[[1, 2, 4, 5]] == pytest.approx(0, abs=1e-12)
    rng = np.random.default_rng(2)
    for _ in range(20):
        other = found.values.copy()
        other[[1, 2, 4, 5]] += 0.1 * rng.normal(size=4)
        assert graph.energy(other) > graph.energy(found.values)
    apart = WeightedGraph([(0, 1), (2, 3)], n_nodes=5)
    with pytest.raises(DataError, match="connected with node 2"):
        apart.harmonic({0: 1.0})
    with pytest.raises(DataError, match="between 0 and 1"):
        graph.harmonic({0: 2.0})


@pytest.mark.covers("ml_lecture_notes:9.5", by="WeightedGraph.harmonic")
def test_the_six_persons():
    edges = [(i - 1, j - 1) for i, j, _ in FRIENDS]
    graph = WeightedGraph(edges, [m**2 for *_, m in FRIENDS])
    assert sorted(np.abs(graph.incidence().toarray()).max(axis=1)) == [5, 5, 6, 6, 7, 8, 9]
    found = WeightedGraph.harmonic(graph, {3: 1, 5: 0})
    assert found.values == pytest.approx([0.8912312, 0.0840486, 0.2731580, 1, 0.6127831, 0], abs=5e-8)
    assert found.classes.tolist() == [1, 0, 0, 1, 1, 0]
    trap = WeightedGraph(edges, [m for *_, m in FRIENDS]).harmonic({3: 1, 5: 0})
    assert trap.values[[0, 1, 2, 4]] == pytest.approx([0.8716, 0.1124, 0.2809, 0.6661], abs=5e-5)


def flowers(share=0.8):
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    # No two rows are alike, so that neighbours have no ties.
    return X + 1e-6 * rng.normal(size=X.shape), np.where(rng.random(len(y)) < share, -1, y)


@pytest.mark.parametrize("kernel", ["rbf", "knn"])
def test_solved_labels_are_where_iterating_ends(kernel):
    X, y = flowers()
    ours = LabelPropagation(kernel, gamma=1.0).fit(X, y)
    theirs = TheirPropagation(kernel, gamma=1.0, max_iter=100_000, tol=1e-13).fit(X, y)
    assert ours.label_distributions_ == pytest.approx(theirs.label_distributions_, abs=1e-6)
    assert ours.predict_proba(X + 0.1) == pytest.approx(theirs.predict_proba(X + 0.1), abs=1e-6)
    for alpha in (0.2, 0.9):
        ours = LabelSpreading(kernel, gamma=1.0, alpha=alpha).fit(X, y)
        theirs = TheirSpreading(kernel, gamma=1.0, alpha=alpha, max_iter=10_000, tol=1e-13).fit(X, y)
        assert ours.label_distributions_ == pytest.approx(theirs.label_distributions_, abs=1e-9)
        assert (ours.transduction_ == theirs.transduction_).all()
        assert surefit.verify(ours, X, y).holds


def test_rows_without_a_label_and_far_away():
    X, y = flowers()
    with pytest.raises(DataError, match="every label is -1"):
        LabelPropagation().fit(X, np.full(len(y), -1))
    with pytest.raises(RefusalError, match="takes no weights"):
        LabelPropagation("knn").fit(X, y, np.arange(1.0, len(y) + 1))
    model = LabelPropagation(gamma=5.0).fit(X, y)
    far = model.predict_proba(X[:2] + 1e3)  # all similarities round to 0: the ratio goes to the nearest
    assert np.isfinite(far).all()
    assert far.sum(axis=1) == pytest.approx(1)
    alone = np.vstack([X, [[1e3] * 4]])
    lonely = LabelPropagation(gamma=1.0).fit(alone, np.append(y, -1))
    assert (lonely.label_distributions_[-1] == 0).all()
    assert lonely.certificate_.holds
