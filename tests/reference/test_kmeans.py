"""k-means and its relatives against scikit-learn, brute force, and the worked numbers of the courses."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.cluster
from scipy.cluster import hierarchy

import surefit
from surefit import (
    BisectingKMeans,
    ConstrainedKMeans,
    FuzzyCMeans,
    KernelKMeans,
    KMeans,
    KMeans1D,
    KMedoids,
    MiniBatchKMeans,
)
from surefit.core.errors import RefusalError
from surefit.distances import Gower

LINE = np.array([[0.0], [1.0], [9.0], [10.0]])
UNPROVED = pytest.mark.filterwarnings("ignore::surefit.core.certificate.CertificateWarning")


def blobs(rows: int = 400, columns: int = 3, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    centres = 6 * rng.normal(size=(4, columns))
    code = rng.integers(4, size=rows)
    return centres[code] + rng.normal(size=(rows, columns)), code


@pytest.mark.covers("intro_to_ml:9.1", by="KMeans")
@pytest.mark.covers("course_summary:10.1", by="KMeans")
def test_lloyd_by_hand() -> None:
    model = KMeans(2, init=[[0.0], [1.0]], tol=0.0, algorithm="plain").fit(LINE)
    # J before any mean, then after means and after labels: 145, 146/3; then 1.
    start = KMeans(2, init=[[0.0], [1.0]], max_iter=1)
    assert start.set_params(tol=1e9).fit(LINE).inertia_ == pytest.approx(17.5555555556)
    assert model.trace_.column("after_means")[0] == pytest.approx(146 / 3)
    assert model.trace_.column("objective")[0] == pytest.approx(17.5555555556)
    assert model.trace_.column("after_means")[1] == pytest.approx(1.0)
    assert (model.cluster_centers_.ravel().tolist(), model.labels_.tolist()) == ([0.5, 9.5], [0, 0, 1, 1])
    assert -KMeans(2, init=[[0.0], [1.0]]).fit(LINE).score([[0.5], [9.5]]) == 0.0
    assert KMeans(4, random_state=1).fit(LINE).inertia_ == 0.0
    tie = KMeans(2, init=[[0.0], [2.0]], n_init=1).fit([[0.0], [2.0]])
    assert tie.predict([[1.0]]).tolist() == [0]


@pytest.mark.covers("course_summary:10.2", by="KMeans")
@pytest.mark.covers("course_summary:B.17", by="KMeans")
@pytest.mark.covers("cs443:16.2", by="KMeans")
@pytest.mark.parametrize(
    ("rows", "start", "cost"),
    [
        ([[0, 0], [0, 1], [10, 0], [10, 1]], [[0, 0], [10, 0]], 1.0),
        ([[0, 0], [0, 1], [10, 0], [10, 1]], [[5, 0], [5, 1]], 100.0),
        ([[0, 0], [0, 1], [4, 0], [4, 1]], [[2, 0], [2, 1]], 16.0),
        ([[0, 0], [0, 1], [4, 0], [4, 1]], [[0, 0], [4, 0]], 1.0),
    ],
)
def test_the_start_decides_which_minimum(rows: Any, start: Any, cost: float) -> None:
    model = KMeans(2, init=np.array(start, dtype=float)).fit(np.array(rows, dtype=float))
    assert model.inertia_ == pytest.approx(cost)
    assert (np.diff(model.trace_.column("objective")) <= 0).all()
    assert KMeans(2, n_init=10, random_state=0).fit(np.array(rows, dtype=float)).inertia_ == 1.0


@pytest.mark.covers("intro_to_ml:9.2", by="seeding_probabilities")
def test_chances_of_the_next_centre() -> None:
    found = surefit.seeding_probabilities([[0.0], [1.0], [3.0]], [[0.0]])
    np.testing.assert_allclose(found, [0.0, 0.1, 0.9])
    np.testing.assert_allclose(
        surefit.seeding_probabilities([[2.0], [2.0]], [[2.0]], [1.0, 3.0]), [0.25, 0.75]
    )
    second = [
        surefit.kmeans_plusplus([[0.0], [1.0], [3.0]], 2, random_state=s, n_local_trials=1)
        for s in range(1500)
    ]
    from_zero = np.array([rows[1] for _, rows in second if rows[0] == 0])
    assert not (from_zero == 0).any()
    assert abs((from_zero == 2).mean() - 0.9) < 0.03


@pytest.mark.covers("intro_to_ml:9.11", by="KMeans")
def test_the_mean_is_best_for_one_cluster() -> None:
    X, _ = blobs()
    model = KMeans(1).fit(X)
    np.testing.assert_allclose(model.cluster_centers_[0], X.mean(axis=0), rtol=1e-13)
    for shift in np.random.default_rng(0).normal(size=(20, 3)):
        assert np.square(X - X.mean(axis=0) - shift).sum() > model.inertia_


@pytest.mark.covers("course_summary:10.5", by="KMeans")
@pytest.mark.covers("course_summary:B.19", by="KMeans")
def test_bounds_save_distances() -> None:
    rng = np.random.default_rng(0)
    means = np.array([[0, 0], [8, 0], [0, 8], [8, 8], [4, 14]])
    X = np.concatenate([mean + rng.normal(size=(200, 2)) for mean in means])
    start = X[rng.choice(1000, 5, replace=False)]
    plain = KMeans(5, init=start, algorithm="plain").fit(X)
    for algorithm in ("elkan", "hamerly"):
        quick = KMeans(5, init=start, algorithm=algorithm).fit(X)
        np.testing.assert_array_equal(quick.labels_, plain.labels_)
        assert quick.trace_.column("distances")[-1] < plain.trace_.column("distances")[-1]
    # The two lemmas that bounds rest on.
    d = np.linalg.norm(X[:200, None] - X[None, :200], axis=2)
    x, b, c = rng.integers(200, size=(3, 5000))
    far = d[b, c] >= 2 * d[x, b]
    assert (d[x, c] >= d[x, b])[far].all()
    assert (d[x, c] >= np.maximum(0, d[x, b] - d[b, c]) - 1e-12).all()


@pytest.mark.covers("cs443:16.1", by="KMeans")
@pytest.mark.covers("cs443:16.3", by="KMeans")
def test_three_readings_of_the_cost() -> None:
    X, _ = blobs()
    model = KMeans(4, random_state=0).fit(X)
    M, Z = model.cluster_centers_.T, np.eye(4)[model.labels_]
    squares = (Z * np.square(X[:, None] - model.cluster_centers_).sum(axis=2)).sum()
    assert model.inertia_ == pytest.approx(squares)
    assert model.inertia_ == pytest.approx(np.linalg.norm(X.T - M @ Z.T) ** 2)
    from scipy.stats import multivariate_normal

    log_p = sum(
        multivariate_normal(c).logpdf(X[model.labels_ == k]).sum()
        for k, c in enumerate(model.cluster_centers_)
    )
    assert -log_p == pytest.approx(model.inertia_ / 2 + X.size / 2 * np.log(2 * np.pi))


def test_scikit_learn_from_the_same_start() -> None:
    X, _ = blobs(3000, 5)
    start = X[:7].copy()
    for weight in (None, np.random.default_rng(1).uniform(0, 3, len(X))):
        ours = KMeans(7, init=start, tol=0.0).fit(X, sample_weight=weight)
        theirs = sklearn.cluster.KMeans(7, init=start, n_init=1, tol=0.0).fit(X, sample_weight=weight)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10)
        assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-10)
        np.testing.assert_allclose(ours.transform(X[:50]), theirs.transform(X[:50]), rtol=1e-10)
        assert ours.score(X[:50]) == pytest.approx(theirs.score(X[:50]))


def test_starts_are_as_good_as_scikit_learns() -> None:
    X, _ = blobs(2000, 4, seed=3)
    ours = [KMeans(12, random_state=s).fit(X).inertia_ for s in range(8)]
    wide = [KMeans(12, init="k-means||", random_state=s).fit(X).inertia_ for s in range(8)]
    theirs = [sklearn.cluster.KMeans(12, n_init=1, random_state=s).fit(X).inertia_ for s in range(8)]
    assert np.mean(ours) < 1.02 * np.mean(theirs)
    assert np.mean(wide) < 1.03 * np.mean(theirs)


def test_the_relatives_recover_planted_clusters() -> None:
    X, code = blobs(600, 3, seed=5)
    for model in (
        KMeans(4, random_state=0, n_init=5),
        MiniBatchKMeans(4, random_state=0, batch_size=100, n_init=5),
        BisectingKMeans(4, random_state=0, n_init=5),
        FuzzyCMeans(4, random_state=0),
        KernelKMeans(4, kernel="linear", n_init=5, random_state=0),
        KMedoids(4, random_state=0),
        ConstrainedKMeans(4, random_state=0, n_init=3, size_min=50),
    ):
        labels = model.fit_predict(X)
        assert surefit.metrics.rand_score(code, labels) > 0.95, type(model).__name__
        np.testing.assert_array_equal(model.predict(X), labels)
        assert surefit.verify(model, X).holds


@pytest.mark.covers("course_summary:10.3", by="FuzzyCMeans")
@pytest.mark.covers("course_summary:B.18", by="FuzzyCMeans")
@UNPROVED
def test_fuzzy_memberships_by_hand() -> None:
    for m, share in ((1.5, 0.9411764706), (2, 0.8), (3, 2 / 3), (100, 0.5035006861)):
        model = FuzzyCMeans(2, m=m, init=[[0.0], [3.0]], max_iter=1, tol=1e9).fit([[0.0], [3.0]])
        model.cluster_centers_ = np.array([[0.0], [3.0]])
        np.testing.assert_allclose(model.memberships([[1.0]]), [[share, 1 - share]], rtol=1e-9)
        assert model.memberships([[3.0]]).tolist() == [[0.0, 1.0]]
    model = FuzzyCMeans(2, init=[[2.0], [8.0]], max_iter=1, tol=1e9).fit(LINE)
    np.testing.assert_allclose(model.cluster_centers_.ravel(), [0.5397635033, 9.4602364967], rtol=1e-9)
    model.cluster_centers_ = np.array([[2.0], [8.0]])
    np.testing.assert_allclose(
        model.memberships(LINE)[:2], [[0.9411764706, 0.0588235294], [0.98, 0.02]], rtol=1e-9
    )
    assert -model.score(LINE) == pytest.approx(9.4894117647)
    model = FuzzyCMeans(2, init=[[2.0], [8.0]], tol=1e-24).fit(LINE)
    np.testing.assert_allclose(model.cluster_centers_.ravel(), [0.4997401579, 9.5002598421], rtol=1e-9)
    assert model.inertia_ == pytest.approx(0.9968943815)
    assert (np.diff(model.trace_.column("objective")) <= 1e-12).all()


@pytest.mark.covers("course_summary:10.4", by="ConstrainedKMeans")
def test_constraints_by_hand() -> None:
    def fitted(**settings: Any) -> ConstrainedKMeans:
        return ConstrainedKMeans(2, init=[[0.0], [10.0]], **settings).fit(LINE)

    cases: list[Any] = [
        ({}, [0, 0, 1, 1], [0.5, 9.5], 1.0),
        ({"cannot_link": [(0, 1)]}, [0, 1, 1, 1], [0.0, 20 / 3], 146 / 3),
        ({"cannot_link": [(0, 1)], "order": [1, 0, 2, 3]}, [1, 0, 1, 1], [1.0, 19 / 3], 182 / 3),
        ({"must_link": [(1, 2)]}, [0, 0, 0, 1], [10 / 3, 10.0], 146 / 3),
    ]
    for settings, labels, centres, cost in cases:
        model = fitted(**settings)
        assert model.labels_.tolist() == labels
        np.testing.assert_allclose(model.cluster_centers_.ravel(), centres)
        assert model.inertia_ == pytest.approx(cost)
        assert surefit.verify(model, LINE).holds
    assert fitted(cannot_link=[(0, 1)], assignment="optimal").inertia_ == pytest.approx(146 / 3)
    with pytest.raises(RefusalError, match="row 1, which must not be linked to rows \\[0\\]"):
        ConstrainedKMeans(1, cannot_link=[(0, 1)]).fit(LINE)
    with pytest.raises(RefusalError, match="row 2, which must not be linked to rows \\[0, 1\\]"):
        fitted(cannot_link=[(0, 1), (1, 2), (0, 2)])
    with pytest.raises(
        RefusalError, match="rows 0 and 2 must not be linked, but are, through the rows \\[0, 1, 2\\]"
    ):
        fitted(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    with pytest.raises(RefusalError, match="rows \\[0, 1, 2\\] must be linked, but a cluster may have 2"):
        fitted(must_link=[(0, 1), (1, 2)], size_max=2)
    with pytest.raises(RefusalError, match="4 rows do not make 2 clusters of 3"):
        fitted(size_min=3)


def test_sizes_are_kept_at_the_least_cost() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(7, 2))
    model = ConstrainedKMeans(3, size_min=2, size_max=3, random_state=0).fit(X)
    sizes = np.bincount(model.labels_, minlength=3)
    assert sizes.min() >= 2
    assert sizes.max() <= 3
    squares = np.square(X[:, None] - model.cluster_centers_).sum(axis=2)
    costs = [
        squares[np.arange(7), list(labels)].sum()
        for labels in product(range(3), repeat=7)
        if (np.bincount(labels, minlength=3) >= 2).all() and (np.bincount(labels, minlength=3) <= 3).all()
    ]
    assert squares[np.arange(7), model.labels_].sum() == pytest.approx(min(costs))


def test_the_line_is_solved_exactly() -> None:
    rng = np.random.default_rng(0)
    for k in (1, 2, 3):
        x, s = np.round(rng.normal(size=7), 1)[:, None], rng.integers(1, 4, 7).astype(float)
        best = np.inf
        for labels in product(range(k), repeat=7):
            cost = 0.0
            for c in range(k):
                part = np.array(labels) == c
                if part.any():
                    cost += s[part] @ np.square(x[part, 0] - np.average(x[part, 0], weights=s[part]))
            best = min(best, cost)
        model = KMeans1D(k).fit(x, sample_weight=s)
        assert model.inertia_ == pytest.approx(best)
        assert surefit.verify(model, x, sample_weight=s).holds
    assert (
        KMeans1D(3, column=1).fit(np.c_[np.zeros(7), x]).inertia_ <= KMeans(3, random_state=0).fit(x).inertia_
    )


def test_medoids_are_the_best_by_brute_force() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(12, 2))
    apart = np.abs(X[:, None] - X).sum(axis=2)
    best = min(apart[:, [i, j]].min(axis=1).sum() for i, j in product(range(12), repeat=2))
    assert KMedoids(2, metric="manhattan", n_init=5, random_state=0).fit(X).inertia_ == pytest.approx(best)
    given = KMedoids(2, metric="precomputed", n_init=5, random_state=0).fit(apart)
    assert given.inertia_ == pytest.approx(best)
    assert surefit.verify(given, apart).holds
    own = KMedoids(2, metric=lambda x, y: float(np.abs(x - y).sum()), init="build").fit(X)
    assert own.inertia_ <= 1.2 * best


def test_kernel_k_means_separates_rings_and_with_a_linear_kernel_is_k_means() -> None:
    rng = np.random.default_rng(1)
    angle, radius = rng.uniform(0, 2 * np.pi, 200), np.repeat([1.0, 5.0], 100)
    X = np.c_[radius * np.cos(angle), radius * np.sin(angle)] + 0.1 * rng.normal(size=(200, 2))
    rings = KernelKMeans(2, kernel=lambda x, y: float((x @ x) * (y @ y)), random_state=0).fit(X)
    assert surefit.metrics.rand_score(np.repeat([0, 1], 100), rings.labels_) == 1.0
    linear = KernelKMeans(3, kernel="linear", random_state=0).fit(X)
    centres = np.array([X[linear.labels_ == k].mean(axis=0) for k in range(3)])
    same = KMeans(3, init=centres).fit(X)
    assert same.inertia_ == pytest.approx(linear.inertia_)
    np.testing.assert_array_equal(same.labels_, linear.labels_)


def test_bisecting_follows_its_tree() -> None:
    X, _ = blobs(500, 2, seed=9)
    strategies: list[Any] = ["biggest_inertia", "largest_cluster"]
    for strategy in strategies:
        model = BisectingKMeans(6, bisecting_strategy=strategy, random_state=0).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        assert len(np.unique(model.labels_)) == 6
        theirs = sklearn.cluster.BisectingKMeans(6, bisecting_strategy=strategy, random_state=0).fit(X)
        assert model.inertia_ < 1.3 * theirs.inertia_


def test_splits_are_a_tree_of_merges() -> None:
    X, _ = blobs(300, 2, seed=10)
    model = BisectingKMeans(9, random_state=0).fit(X)
    assert model.children_.shape == (8, 2)
    assert (np.diff(model.heights_) >= 0).all()
    assert model.heights_[-1] == pytest.approx(np.square(X - X.mean(axis=0)).sum())
    for k in (1, 2, 5, 9):  # the tree cut at k is the fit with k
        np.testing.assert_array_equal(
            pairs(model.cut(k)), pairs(BisectingKMeans(k, random_state=0).fit(X).labels_)
        )
    for t, height in enumerate(model.heights_[:-1]):  # below a height just above it, each cluster costs less
        labels = model.cut(height=height * (1 + 1e-9))
        costs = [np.square(X[labels == c] - X[labels == c].mean(axis=0)).sum() for c in np.unique(labels)]
        assert len(costs) == 9 - t - 1
        assert max(costs) == pytest.approx(height)
    tree = hierarchy.to_tree(model.linkage_matrix())
    assert tree.pre_order() == model.leaf_order().tolist()
    title = surefit.plots.plot_dendrogram(model, height=model.heights_[-3] * 1.01).to_dict()["title"]["text"]
    assert title.startswith("9 clusters merge into 3 clusters below height")


def test_splits_down_to_single_rows() -> None:
    model = BisectingKMeans(5, random_state=0).fit([[0.0], [1.0], [9.0], [10.0], [50.0]])
    assert sorted(model.labels_.tolist()) == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(model.heights_, [0.5, 0.5, 82.0, 1702.0])
    model.tree_costs_[0] *= 1.01
    assert not surefit.verify(model, [[0.0], [1.0], [9.0], [10.0], [50.0]]).holds


def pairs(labels: Any) -> Any:
    """Which rows are together."""
    return labels[:, None] == labels


def test_medoids_of_mixed_columns(tmp_path: Any) -> None:
    rng = np.random.default_rng(12)
    code = rng.integers(3, size=90)
    numbers = code[:, None] * 4.0 + rng.normal(size=(90, 2))
    numbers[5, 0] = np.nan
    words = np.array(["red", "green", "blue"], dtype=object)[code]
    words[rng.integers(90, size=5)] = "red"
    frame = pd.DataFrame({"a": numbers[:, 0], "word": words, "b": numbers[:, 1]})
    model = KMedoids(3, metric="gower", random_state=0).fit(frame)
    apart = Gower()(frame)
    assert model.inertia_ == pytest.approx(apart[:, model.medoid_indices_].min(axis=1).sum())
    given = KMedoids(3, metric="precomputed", random_state=0, n_init=3).fit(apart)
    assert model.inertia_ == pytest.approx(given.inertia_)
    assert surefit.metrics.rand_score(code, model.labels_) > 0.95
    assert surefit.verify(model, frame).holds
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    new = frame.iloc[[0, 1]].assign(word="violet")
    assert len(model.predict(new)) == 2
    surefit.save(model, tmp_path / "m")
    np.testing.assert_array_equal(surefit.load(tmp_path / "m").predict(frame), model.labels_)
    weighted = KMedoids(2, metric=Gower(), random_state=0).fit(frame, sample_weight=np.arange(90) % 2)
    assert (weighted.medoid_indices_ % 2 == 1).all()
    assert surefit.verify(weighted, frame, sample_weight=np.arange(90) % 2).holds
    model.cluster_centers_[0, 2] *= 1.01
    assert not surefit.verify(model, frame).holds


def test_mini_batches_take_more_rows_later() -> None:
    X, code = blobs(900, 3, seed=11)
    model = MiniBatchKMeans(4, random_state=0)
    for start in range(0, 900, 100):
        model.partial_fit(X[start : start + 100])
    assert model.n_steps_ == 9
    assert surefit.metrics.rand_score(code, model.predict(X)) > 0.9
    assert model.counts_.sum() == 900


@pytest.mark.covers("intro_to_ml:9.0", by="good_clustering")
def test_the_good_clustering_principle() -> None:
    found = surefit.good_clustering(LINE, [0, 0, 1, 1])
    assert (found.holds, found.inside, found.between) == (True, 1.0, 8.0)
    assert sorted(found.between_rows) == [1, 2]
    bad = surefit.good_clustering(LINE, [0, 1, 1, 1])
    assert (bad.holds, bad.inside, bad.between) == (False, 9.0, 1.0)
    X, _ = blobs(80, 2)
    labels = KMeans(4, random_state=0).fit_predict(X)
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    same = labels[:, None] == labels
    dunn = apart[~same].min() / apart[same].max()
    assert surefit.metrics.dunn_score(X, labels) == pytest.approx(dunn)
    given = surefit.good_clustering(apart, labels, metric="precomputed")
    assert given.between / given.inside == pytest.approx(dunn)


@pytest.mark.covers("intro_to_ml:9.3", by="voronoi_cells")
def test_voronoi_cells_are_convex_and_nearest() -> None:
    rng = np.random.default_rng(0)
    centres, points = rng.uniform(0, 1, size=(6, 2)), rng.uniform(0, 1, size=(500, 2))
    cells = surefit.voronoi_cells(centres, (0, 0, 1, 1))
    nearest = np.square(points[:, None] - centres).sum(axis=2).argmin(axis=1)

    def area(cell: Any) -> float:
        x, y = cell.T
        return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2

    assert sum(map(area, cells)) == pytest.approx(1.0)
    for k, cell in enumerate(cells):
        sides = np.roll(cell, -1, axis=0) - cell
        left = sides[:, 0] * (points[:, None, 1] - cell[:, 1]) - sides[:, 1] * (
            points[:, None, 0] - cell[:, 0]
        )
        np.testing.assert_array_equal((left >= 0).all(axis=1), nearest == k)
        own = points[nearest == k]
        middles = (own[:, None] + own) / 2
        assert (np.square(middles[..., None, :] - centres).sum(axis=-1).argmin(axis=-1) == k).all()
    assert KMeans(6, init=centres, max_iter=1, tol=1e9).fit(points).predict(centres[:1]).shape == (1,)


@pytest.mark.covers("cs443:16.4", by="choose_clusters")
def test_the_number_of_clusters_and_what_k_means_cannot_do() -> None:
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(c, 0.4, size=(40, 2)) for c in (0.0, 4.0, 8.0)])
    choice = surefit.choose_clusters(X, range(1, 6), draws=3)
    assert dict(choice.best) == {"silhouette": 3, "gap": 3, "stability": 3, "bic": 3}
    assert choice.chosen == 3
    noise = surefit.choose_clusters(rng.uniform(size=(150, 2)), range(1, 5), by="gap", draws=8)
    assert noise.chosen == 1
    # Two long parallel clusters: cells of centres cut them across, and the principle does not hold.
    long = np.concatenate([np.c_[rng.uniform(0, 20, 80), rng.normal(y, 0.1, 80)] for y in (0.0, 1.0)])
    labels = KMeans(2, random_state=0, n_init=5).fit_predict(long)
    assert surefit.metrics.rand_score(np.repeat([0, 1], 80), labels) < 0.6
    assert not surefit.good_clustering(long, labels).holds


def test_silhouettes_of_rows_are_scikit_learns() -> None:
    from sklearn.metrics import silhouette_samples

    X, code = blobs(200, 3)
    np.testing.assert_allclose(surefit.silhouette_samples(X, code), silhouette_samples(X, code), atol=1e-12)
    np.testing.assert_allclose(
        surefit.silhouette_samples([[0.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1]),
        [0.8, 0.75, 0.4285714286, 0.6363636364],
    )


def test_clusters_are_described_by_what_sets_them_apart() -> None:
    table = {"size": [1.0, 2.0, 9.0, 10.0], "colour": ["red", "red", "blue", "blue"], "noise": [1, 2, 1, 2]}
    first, second = surefit.describe_clusters(table, ["a", "a", "b", "b"])
    assert str(first).startswith("cluster a (2 rows, 50%): ")
    assert {trait.column for trait in second.traits} == {"size", "colour"}
    assert "size is higher (mean 9.5 against 1.5)" in str(second)
    assert "colour is more often 'blue' (100% against 0%)" in str(second)
