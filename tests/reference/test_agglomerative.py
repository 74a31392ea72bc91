"""Agglomerative clustering: the catalogue's heights, scipy's trees, graphs, cuts, orders and correlations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import surefit
from surefit import AgglomerativeClustering
from surefit.core.native.clusters.linkage import linkage_of_rows

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])
HEIGHTS = {
    "single": [1, 2, 4],
    "complete": [1, 3, 7],
    "average": [1, 2.5, 17 / 3],
}
LINKAGES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")


@pytest.mark.covers("intro_to_ml:9.4", by="AgglomerativeClustering")
@pytest.mark.parametrize("linkage", HEIGHTS)
def test_the_heights_of_four_points(linkage):
    model = AgglomerativeClustering(linkage=linkage).fit(LINE)
    np.testing.assert_allclose(model.heights_, HEIGHTS[linkage], rtol=1e-14)
    assert (np.diff(model.heights_) >= 0).all()
    square = AgglomerativeClustering(linkage=linkage, metric="precomputed").fit(np.abs(LINE - LINE.T))
    np.testing.assert_allclose(square.heights_, HEIGHTS[linkage], rtol=1e-14)


@pytest.mark.covers("intro_to_ml:9.4", by="AgglomerativeClustering")
def test_ward_in_both_conventions():
    model = AgglomerativeClustering().fit(LINE)
    np.testing.assert_allclose(model.merge_heights("increase"), [0.5, 25 / 6, 24.08333], rtol=1e-6)
    np.testing.assert_allclose(model.heights_, hierarchy.ward(LINE)[:, 2], rtol=1e-14)
    two = AgglomerativeClustering().fit([[0.0], [3.0]])
    assert two.heights_ == [3.0]
    assert two.merge_heights("increase") == [4.5]
    with pytest.raises(ValueError, match="only the heights of Ward"):
        AgglomerativeClustering(linkage="single").fit(LINE).merge_heights("increase")


@pytest.mark.covers("intro_to_ml:9.4", by="AgglomerativeClustering")
def test_cut_by_count_and_by_height():
    model = AgglomerativeClustering(linkage="single").fit(LINE)
    for count, height in ((4, 0.5), (3, 1.5), (2, 3.0), (1, 5.0)):
        by_count, by_height = model.cut(count), model.cut(height=height)
        assert len(set(by_count)) == count
        np.testing.assert_array_equal(by_count, by_height)
    threshold = AgglomerativeClustering(None, distance_threshold=3.0, linkage="single").fit(LINE)
    np.testing.assert_array_equal(threshold.labels_, model.cut(2))


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("shape", [(2, 3), (60, 1), (400, 2), (300, 20)])
def test_trees_are_scipys(linkage, shape):
    X = np.random.default_rng(1).normal(size=shape)
    Z = hierarchy.linkage(X, linkage)
    model = AgglomerativeClustering(linkage=linkage).fit(X)
    np.testing.assert_allclose(model.linkage_matrix(), Z, rtol=1e-9, atol=1e-12)
    assert surefit.verify(model, X).holds
    assert surefit.verify(model, X).value < 1e-12 or linkage in ("ward", "centroid", "median")
    np.testing.assert_allclose(model.cophenetic_distances(), hierarchy.cophenet(Z), rtol=1e-9)
    expected = hierarchy.cophenet(Z, pdist(X))[0] if len(X) > 2 else None
    if expected is not None:
        assert model.cophenetic_correlation(X) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev"])
@pytest.mark.parametrize("linkage", ["single", "complete", "average", "weighted"])
def test_other_metrics(linkage, metric):
    X = np.random.default_rng(2).normal(size=(80, 4))
    name = "cityblock" if metric == "manhattan" else metric
    Z = hierarchy.linkage(X, linkage, name)
    model = AgglomerativeClustering(linkage=linkage, metric=metric).fit(X)
    np.testing.assert_allclose(model.heights_, Z[:, 2], rtol=1e-9)
    square = AgglomerativeClustering(linkage=linkage, metric="precomputed").fit(squareform(pdist(X, name)))
    np.testing.assert_allclose(square.heights_, Z[:, 2], rtol=1e-9)
    np.testing.assert_array_equal(square.predict(squareform(pdist(X, name))), square.labels_)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_large_tables_go_other_ways_to_the_same_tree(linkage):
    X = make_blobs(1500, 6, centers=9, random_state=3)[0]
    model = AgglomerativeClustering(9, linkage=linkage).fit(X)
    Z = hierarchy.linkage(X, linkage)
    np.testing.assert_allclose(model.heights_, Z[:, 2], rtol=1e-8)
    assert model.certificate_.holds
    assert surefit.verify(model, X).holds
    model.heights_ = model.heights_.copy()
    model.heights_[-1] *= 1.01
    assert not surefit.verify(model, X).holds


@pytest.mark.parametrize("linkage", ["single", "complete", "average", "ward"])
def test_a_weight_is_so_many_equal_rows(linkage):
    rng = np.random.default_rng(4)
    X, weight = rng.normal(size=(90, 3)), rng.integers(1, 4, 90)
    model = AgglomerativeClustering(5, linkage=linkage).fit(X, sample_weight=weight)
    many = hierarchy.linkage(np.repeat(X, weight, axis=0), linkage)
    np.testing.assert_allclose(model.heights_, many[-89:, 2], rtol=1e-7)


def test_ties_are_merged_at_their_height():
    X = np.random.default_rng(0).integers(0, 4, size=(200, 2)).astype(float)
    for linkage in ("single", "ward", "average", "complete"):
        model = AgglomerativeClustering(linkage=linkage).fit(X)
        assert surefit.verify(model, X).holds
        if linkage == "single":
            np.testing.assert_array_equal(model.heights_, hierarchy.linkage(X, "single")[:, 2])


def test_the_best_order_of_leaves():
    X = np.random.default_rng(5).normal(size=(60, 3))
    model = AgglomerativeClustering(linkage="average").fit(X)
    D = squareform(pdist(X))

    def length(order):
        return D[order[1:], order[:-1]].sum()

    order = model.leaf_order(X)
    assert sorted(order) == list(range(60))
    scipys = hierarchy.leaves_list(hierarchy.optimal_leaf_ordering(model.linkage_matrix(), pdist(X)))
    assert length(order) <= length(scipys) + 1e-12
    assert length(order) < length(model.leaf_order())
    few = AgglomerativeClustering(linkage="average").fit(X[:7])
    children = few.children_.tolist()

    def walks(node):
        if node < 7:
            return [[node]]
        left, right = (walks(child) for child in children[node - 7])
        return [one for a, b in product(left, right) for one in (a + b, b + a)]

    assert length(few.leaf_order(X[:7])) == pytest.approx(min(length(np.array(w)) for w in walks(12)))


def test_moons_need_single_linkage_or_a_graph():
    X, y = make_moons(300, noise=0.04, random_state=1)
    assert adjusted_rand_score(y, AgglomerativeClustering(linkage="single").fit_predict(X)) == 1
    assert adjusted_rand_score(y, AgglomerativeClustering().fit_predict(X)) < 0.9
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(X, 80, include_self=False)
    model = AgglomerativeClustering(connectivity=graph, linkage="average").fit(X)
    assert surefit.verify(model, X).holds


def test_new_rows_join_their_nearest():
    X, y = make_blobs(300, 2, centers=3, cluster_std=0.5, random_state=0)
    model = AgglomerativeClustering(3).fit(X[:200])
    assert adjusted_rand_score(y[200:], model.predict(X[200:])) == 1
    np.testing.assert_array_equal(model.predict(X[:200]), model.labels_)


def test_memory_of_ward_and_single_is_that_of_the_rows():
    import tracemalloc

    X = np.random.default_rng(0).normal(size=(3000, 4))
    tracemalloc.start()
    for linkage in ("ward", "single"):
        linkage_of_rows(X, linkage)
    assert tracemalloc.get_traced_memory()[1] < 20 * X.nbytes
    tracemalloc.stop()


def test_refusals_say_what_to_do():
    with pytest.raises(ValueError, match="Ward can only work with euclidean"):
        AgglomerativeClustering(metric="manhattan").fit(LINE)
    with pytest.raises(ValueError, match="Cannot extract more clusters"):
        AgglomerativeClustering(9).fit(LINE)
    with pytest.raises(ValueError, match="clusters may come closer"):
        AgglomerativeClustering(linkage="median", connectivity=np.ones((4, 4))).fit(LINE)
