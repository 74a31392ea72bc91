"""Neighbours: the numbers of the courses, scikit-learn's answers, and what a proof must notice."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import neighbors as peers
from sklearn.datasets import make_classification

import surefit
from surefit import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    LVQClassifier,
    NearestCentroid,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    theory,
)
from surefit.core.errors import DataError
from surefit.distances import EditDistance, Mahalanobis
from surefit.kernels import RBF

LINE = np.array([[0.0], [1.0], [2.0], [10.0]])


def rows(n=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ np.arange(1.0, d + 1) + rng.normal(size=n) > 0).astype(int), X @ np.ones(d)


@pytest.mark.covers("intro_to_ml:3.1", by="NearestNeighbors")
def test_a_neighbourhood_under_any_metric_with_ties_by_row():
    model = NearestNeighbors(n_neighbors=3).fit(np.array([[1.0], [-1.0], [1.0], [5.0]]))
    distance, index = model.kneighbors([[0.0]])
    assert index.tolist() == [[0, 1, 2]]
    assert distance.tolist() == [[1.0, 1.0, 1.0]]
    words = NearestNeighbors(n_neighbors=2, metric=EditDistance()).fit(["kitten", "sitting", "mitten", "dog"])
    assert words.kneighbors(["bitten"])[1].tolist() == [[0, 2]]
    calls = NearestNeighbors(n_neighbors=1, metric=lambda x, y: abs(x[0] - y[0])).fit(LINE)
    assert calls.kneighbors([[1.9]])[1].tolist() == [[2]]


@pytest.mark.covers("intro_to_ml:3.2", by="KNeighborsClassifier")
def test_votes_count_with_multiplicity():
    y = np.array([0, 0, 1, 1])
    model = KNeighborsClassifier(3).fit(LINE, y)
    assert model.kneighbors([[1.2]])[1].tolist() == [[1, 2, 0]]
    np.testing.assert_allclose(model.predict_proba([[1.2]]), [[2 / 3, 1 / 3]])
    assert model.predict([[1.2]]).tolist() == [0]
    assert KNeighborsClassifier(1).fit(LINE, y).predict([[1.9]]).tolist() == [1]
    assert KNeighborsClassifier(1).fit(LINE, y).score(LINE, y) == 1.0
    majority = KNeighborsClassifier(4).fit(LINE, [0, 0, 0, 1])
    assert set(majority.predict([[0.0], [10.0], [99.0]])) == {0}


@pytest.mark.covers("intro_to_ml:3.3", by="KNeighborsRegressor")
def test_means_of_neighbours():
    y = np.array([0.0, 2.0, 4.0, 30.0])
    assert KNeighborsRegressor(2).fit(LINE, y).predict([[1.2]]).tolist() == [3.0]
    np.testing.assert_allclose(KNeighborsRegressor(1).fit(LINE, y).predict(LINE), y)
    np.testing.assert_allclose(KNeighborsRegressor(4).fit(LINE, y).predict([[0.0], [50.0]]), y.mean())
    weighted = KNeighborsRegressor(2, weights="distance").fit(LINE, y)
    np.testing.assert_allclose(weighted.predict([[1.25]]), [(2 / 0.25 + 4 / 0.75) / (1 / 0.25 + 1 / 0.75)])
    twins = KNeighborsRegressor(3, weights="distance").fit([[0.0], [0.0], [1.0]], [1.0, 3.0, 9.0])
    assert twins.predict([[0.0]]).tolist() == [2.0]  # the mean of those at distance 0


@pytest.mark.covers("intro_to_ml:3.4", by="KNeighborsClassifier")
def test_a_model_without_parameters_holds_all_rows():
    for n in (50, 100):
        X, y, _ = rows(n)
        assert KNeighborsClassifier().fit(X, y).n_samples_fit_ == n
        assert NearestCentroid().fit(X, y).centroids_.shape == (2, 4)


@pytest.mark.covers("intro_to_ml:3.6", by="LVQClassifier")
@pytest.mark.parametrize("algorithm", ["lvq1", "glvq", "gmlvq", "rslvq"])
def test_prototypes_tell_classes_apart(algorithm):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal([0, 0, 0], [0.5, 3, 3], (60, 3)), rng.normal([2, 0, 0], [0.5, 3, 3], (60, 3))])
    y = np.repeat(["a", "b"], 60)
    model = LVQClassifier(algorithm).fit(X, y)
    assert model.score(X, y) > (0.9 if algorithm in ("gmlvq", "rslvq") else 0.8)
    assert model.certificate_.holds
    assert surefit.verify(model, X, y).holds
    assert model.prototypes_.shape == (2, 3)
    if algorithm == "gmlvq":
        metric = model.metric_matrix_
        assert np.trace(metric) == pytest.approx(1.0)
        assert metric[0, 0] > 0.9  # the one column that tells
    before = model.prototypes_.copy()
    model.prototypes_ = before.copy()
    model.prototypes_.flat[np.abs(before).argmax()] *= 1.01
    assert not surefit.verify(model, X, y).holds


@pytest.mark.covers("intro_to_ml:3.7", by="StandardScaler")
def test_standardised_columns_have_mean_0_variance_1_and_squares_that_add_to_n():
    X = np.random.default_rng(0).normal(3.0, 7.0, (40, 3))
    Z = surefit.StandardScaler().fit_transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose((Z**2).sum(axis=0), 40.0)


@pytest.mark.covers("ml_for_data_science:1.3", by="KNeighborsClassifier")
def test_k_is_between_rote_and_majority():
    X, y = make_classification(400, 6, n_informative=3, flip_y=0.25, random_state=3)
    test_X, test_y, X, y = X[200:], y[200:], X[:200], y[:200]
    train, test = {}, {}
    for k in (1, 11, 200):
        model = KNeighborsClassifier(k).fit(X, y)
        train[k], test[k] = model.score(X, y), model.score(test_X, test_y)
    assert train[1] == 1.0 > train[11] > train[200]
    assert test[11] > max(test[1], test[200])
    for metric in ("manhattan", "chebyshev", "cosine", Mahalanobis()):
        assert KNeighborsClassifier(11, metric=metric).fit(X, y).score(test_X, test_y) > 0.5
    chosen = KNeighborsClassifier("loo").fit(X, y)
    assert 1 < chosen.n_neighbors_ <= 30


def test_leave_one_out_is_what_leaving_each_row_out_gives():
    X, y, t = rows(60)
    errors = KNeighborsClassifier().fit(X, y).leave_one_out(7)
    squares = KNeighborsRegressor(weights="distance").fit(X, t).leave_one_out(7)
    for k in (1, 4, 7):
        told, means = [], []
        for i in range(60):
            rest = np.arange(60) != i
            told.append(peers.KNeighborsClassifier(k).fit(X[rest], y[rest]).predict(X[i : i + 1])[0])
            means.append(
                peers.KNeighborsRegressor(k, weights="distance")
                .fit(X[rest], t[rest])
                .predict(X[i : i + 1])[0]
            )
        assert errors[k - 1] == np.mean(np.array(told) != y)
        assert squares[k - 1] == pytest.approx(np.mean((np.array(means) - t) ** 2))


@pytest.mark.covers("ml_for_data_science:6.6", by="NearestNeighbors")
def test_a_kernels_distance():
    X, _, _ = rows(80)
    plain = NearestNeighbors(n_neighbors=5).fit(X).kneighbors()
    rbf = NearestNeighbors(n_neighbors=5, metric=RBF(2.0)).fit(X).kneighbors()
    np.testing.assert_array_equal(rbf[1], plain[1])
    np.testing.assert_allclose(rbf[0] ** 2, 2 - 2 * np.exp(-(plain[0] ** 2) / 8))
    linear = NearestNeighbors(n_neighbors=5, metric=surefit.kernels.Linear()).fit(X).kneighbors()
    np.testing.assert_allclose(linear[0], plain[0], rtol=1e-9)


@pytest.mark.covers("ml_lecture_notes:8.2", by="KNeighborsClassifier")
def test_shares_are_multiples_of_one_kth():
    X, y, _ = rows(50)
    shares = KNeighborsClassifier(7).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(shares * 7, np.rint(shares * 7), atol=1e-12)
    assert (KNeighborsClassifier(50).fit(X, y).predict(X) == np.bincount(y).argmax()).all()
    assert (KNeighborsClassifier(1).fit(X, y).predict(X) == y).all()
    tied = KNeighborsClassifier(2).fit([[0.0], [2.0]], [1, 0])
    assert tied.predict([[1.0]]).tolist() == [0]  # of equal votes the first class


@pytest.mark.covers("ml_lecture_notes:8.3", by="theory.empty_cube_edge")
def test_many_dimensions():
    assert theory.cube_edge(0.01, 10) == pytest.approx(0.63096, abs=5e-6)
    assert theory.cube_edge(0.1, 10) == pytest.approx(0.79433, abs=5e-6)
    assert theory.empty_cube_edge(0.5, 500, 10) == pytest.approx(0.517792, abs=5e-7)
    assert theory.empty_cube_probability(theory.empty_cube_edge(0.3, 50, 4), 50, 4) == pytest.approx(0.3)
    empty = [theory.empty_cube_probability(0.5, 100, d) for d in (1, 2, 5, 10, 20)]
    assert empty == sorted(empty)
    assert empty[-1] > 0.999
    contrasts = [theory.distance_contrast(200, d) for d in (2, 10, 100, 1000)]
    assert contrasts == sorted(contrasts, reverse=True)
    assert theory.sphere_volume(2.0, 3) == pytest.approx(32 / 3 * np.pi)
    assert theory.sphere_share(20) < 1e-7
    assert theory.shell_share(0.1, 50) == pytest.approx(1 - 0.9**50)


@pytest.mark.covers("cs443:12.1", by="KNeighborsRegressor")
def test_more_neighbours_are_smoother():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 6, 80))[:, None]
    wiggles, grid = [], np.linspace(0, 6, 200)[:, None]
    for k in (1, 9, 80):
        model = KNeighborsRegressor(k).fit(x, np.sin(x[:, 0]) + 0.3 * rng.normal(size=80))
        wiggles.append(np.abs(np.diff(model.predict(grid))).sum())
    assert wiggles[0] > wiggles[1] > wiggles[2] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.covers("cs443:12.2", by="theory.label_disagreement")
def test_two_coins_disagree_as_often_as_bayes_risk_allows():
    for eta in np.linspace(0, 1, 21):
        assert theory.label_disagreement(eta, eta) == pytest.approx(2 * eta * (1 - eta))
        assert theory.label_disagreement(eta, eta) <= 2 * min(eta, 1 - eta) + 1e-15


@pytest.mark.covers("cs443:12.3", by="theory.nearest_neighbor_bound")
def test_the_bound_of_one_neighbour():
    assert theory.nearest_neighbor_excess(1.0, 1000, 2) == pytest.approx(0.56568542, abs=5e-9)
    assert theory.nearest_neighbor_excess(1.0, 1000, 10) == pytest.approx(6.75044990, abs=5e-9)
    assert theory.nearest_neighbor_bound(0.2, 1.0, 1000, 2) == pytest.approx(0.4 + 0.56568542, abs=5e-9)
    assert theory.nearest_neighbor_rows(0.1, 2.0, 3) == pytest.approx((8 * np.sqrt(3) / 0.1) ** 4)
    for eta in np.linspace(0, 1, 11):
        for other in np.linspace(0, 1, 11):
            identity = 2 * eta * (1 - eta) + (2 * eta - 1) * (eta - other)
            assert theory.label_disagreement(eta, other) == pytest.approx(identity)
    assert theory.distance_contrast(500, 10) == pytest.approx(4.0, abs=8.0)
    assert theory.distance_contrast(500, 1000) == pytest.approx(1.25, abs=0.1)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
def test_answers_are_those_of_scikit_learn(metric, weights):
    X, y, t = rows(400)
    Q = rows(50, seed=1)[0]
    common = {"metric": metric, "weights": weights}
    Y = np.column_stack([t, -t])
    for ours, theirs, target in (
        (KNeighborsClassifier(7, **common), peers.KNeighborsClassifier(7, **common), y),
        (KNeighborsRegressor(7, **common), peers.KNeighborsRegressor(7, **common), Y),
    ):
        ours.fit(X, target), theirs.fit(X, target)
        np.testing.assert_allclose(ours.predict(Q), theirs.predict(Q), rtol=1e-9)
        for a, b in zip(ours.kneighbors(Q), theirs.kneighbors(Q), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)
    radius = 0.2 if metric == "cosine" else 1.5
    ours = RadiusNeighborsRegressor(radius, **common).fit(X, t)
    theirs = peers.RadiusNeighborsRegressor(radius, **common).fit(X, t)
    near = [len(one) > 0 for one in theirs.radius_neighbors(Q)[1]]
    np.testing.assert_allclose(ours.predict(Q[near]), theirs.predict(Q[near]), rtol=1e-9)
    ours = RadiusNeighborsClassifier(radius, outlier_label=0, **common).fit(X, y)
    theirs = peers.RadiusNeighborsClassifier(radius, outlier_label=0, **common).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(Q), theirs.predict_proba(Q), rtol=1e-9)


@pytest.mark.parametrize(
    "options", [{}, {"metric": "manhattan"}, {"shrink_threshold": 0.3}, {"priors": "empirical"}]
)
def test_centres_are_those_of_scikit_learn(options):
    X, y, _ = rows(90)
    ours, theirs = NearestCentroid(**options).fit(X, y), peers.NearestCentroid(**options).fit(X, y)
    for name in ("centroids_", "deviations_", "within_class_std_dev_", "class_prior_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if "metric" not in options:
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-7)


def test_rows_come_and_go_without_a_rebuild():
    X, y, _ = rows(600)
    model = KNeighborsClassifier(5).fit(X[:300], y[:300])
    for start in range(300, 600, 50):
        model.partial_fit(X[start : start + 50], y[start : start + 50])
    model.forget_rows(np.arange(0, 600, 7))
    keep = np.arange(600) % 7 != 0
    again = KNeighborsClassifier(5).fit(X[keep], y[keep])
    Q = rows(40, seed=5)[0]
    for one, two in zip(model.kneighbors(Q), again.kneighbors(Q), strict=True):
        np.testing.assert_array_equal(one, two)
    for one, two in zip(model.kneighbors(), again.kneighbors(), strict=True):
        np.testing.assert_array_equal(one, two)
    assert surefit.verify(model, X[keep], y[keep]).holds
    with pytest.raises(surefit.errors.RefusalError, match="none of those that are held"):
        model.forget([[9.0, 9.0, 9.0, 9.0]], [0])


@pytest.mark.parametrize("k", [1, 6])
def test_a_source_is_searched_where_it_is(k):
    X, y, _ = rows(500)
    table = pa.table({f"x{j}": X[:, j] for j in range(4)} | {"y": y})
    source = surefit.read(table.to_batches(max_chunksize=90) and table, target="y")
    ours = KNeighborsClassifier(k, hold="source").fit(source)
    held = KNeighborsClassifier(k).fit(X, y)
    queries = pa.table({f"x{j}": X[:60, j] + 0.01 for j in range(4)})
    for one, two in zip(ours.kneighbors(queries), held.kneighbors(X[:60] + 0.01), strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(ours.predict(queries), held.predict(X[:60] + 0.01))
    for one, two in zip(ours.kneighbors(), held.kneighbors(), strict=True):
        np.testing.assert_array_equal(one, two)
    assert ours.certificate_.holds
    assert surefit.verify(ours, table, "y").holds


def test_a_corrupted_row_is_found():
    X, y, t = rows(200)
    for model, target in (
        (KNeighborsClassifier(), y),
        (KNeighborsRegressor(), t),
        (NearestNeighbors(), None),
    ):
        model.fit(X.copy(), target)
        assert surefit.verify(model, X, target).holds
        model.rows_ = X.copy()
        model.rows_[123, 2] *= 1.01
        assert not surefit.verify(model, X, target).holds


def test_what_is_wrong_is_told():
    rng = np.random.default_rng(0)
    X, y, _ = rows(300)
    assert "unscaled-distances" in KNeighborsClassifier().fit(X * [1e4, 1, 1, 1], y).diagnosis_.codes()
    assert (
        "clashing-twins" in KNeighborsClassifier().fit(np.vstack([X, X]), np.r_[y, 1 - y]).diagnosis_.codes()
    )
    wide = NearestNeighbors().fit(rng.normal(size=(600, 300)))
    assert {"distances-alike", "hub-rows"} <= set(wide.diagnosis_.codes())
    assert not KNeighborsClassifier().fit(X, y).diagnosis_.codes()


def test_mixed_columns_words_and_graphs():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": [1.0, 2.0, 9.0, 10.0], "colour": ["red", "red", "blue", None]})
    model = KNeighborsClassifier(1, metric="gower").fit(frame, ["small", "small", "large", "large"])
    asked = pandas.DataFrame({"size": [3.0, 8.0], "colour": ["red", "blue"]})
    assert model.predict(asked).tolist() == ["small", "large"]
    X, y, _ = rows(80)
    graph = KNeighborsTransformer(n_neighbors=9).fit(X)
    sparse = KNeighborsClassifier(5, metric="precomputed").fit(graph.transform(X), y)
    np.testing.assert_array_equal(
        sparse.predict(graph.transform(X[:20])), KNeighborsClassifier(5).fit(X, y).predict(X[:20])
    )


@pytest.mark.parametrize(
    "weights", ["triangular", "epanechnikov", "quartic", "tricube", "cosine", "gaussian"]
)
def test_kernel_weights_fall_with_distance(weights):
    y = np.array([0.0, 0.0, 0.0, 1.0])
    near = KNeighborsRegressor(3, weights=weights).fit(LINE, np.array([1.0, 0.0, 0.0, 0.0])).predict([[-0.5]])
    assert near[0] > 1 / 3
    assert KNeighborsRegressor(4, weights=weights).fit(LINE, y).predict([[0.0]])[0] < 0.25


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_dense_rows_ask_models_of_sparse_rows(metric):
    X = np.random.default_rng(0).normal(size=(40, 5)).clip(0)
    y = (X[:, 0] > 0).astype(int)
    thin = surefit.KNeighborsClassifier(3, metric=metric).fit(sparse.csr_array(X), y)
    dense = surefit.KNeighborsClassifier(3, metric=metric, algorithm="brute").fit(X, y)
    np.testing.assert_array_equal(thin.predict_proba(X + 0.01), dense.predict_proba(X + 0.01))


def test_neighbours_that_all_weigh_nothing_are_refused():
    model = surefit.KNeighborsClassifier(3, weights=lambda d: (d < 0.5).astype(float))
    model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert model.predict([[0.2]]) == [0]
    for ask in (model.predict, model.predict_proba):
        with pytest.raises(DataError, match="All neighbors of some sample is getting zero weights"):
            ask([[10.0]])


def test_infinite_weights_of_a_function_count_alone():
    def weights(distance):
        with np.errstate(divide="ignore"):
            return [one**-2.0 for one in distance] if distance.dtype == object else distance**-2.0

    X, y = [[0.0], [1.0], [1.5]], [0, 1, 1]
    for model in (
        surefit.KNeighborsClassifier(3, weights=weights),
        surefit.RadiusNeighborsClassifier(9.0, weights=weights),
    ):
        np.testing.assert_allclose(model.fit(X, y).predict_proba([[0.0], [1.0]]), [[1, 0], [0, 1]])


def test_dense_distances_to_the_rows_of_a_graph_may_be_zero():
    graph = sparse.csr_array([[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.0]])
    model = surefit.NearestNeighbors(n_neighbors=2, metric="precomputed").fit(graph)
    distance, index = model.kneighbors(np.array([[0.0, 4.0, 0.0]]))
    assert distance.tolist() == [[0.0, 0.0]]
    assert index.tolist() == [[0, 2]]


@pytest.mark.covers("ml_lecture_notes:10.13", by="KNeighborsClassifier")
def test_columns_of_noise_drown_the_one_that_tells():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    told = (4.0 * y - 2.0)[:, None] + rng.normal(size=(400, 1))
    shares = []
    for columns in (0, 10, 300):
        X = np.hstack([told, rng.normal(size=(400, columns)) * 3])
        model = surefit.KNeighborsClassifier().fit(X[:200], y[:200])
        shares.append(model.score(X[200:], y[200:]))
    assert shares[0] > 0.95
    assert shares[0] > shares[1] > shares[2]
    assert shares[2] < 0.7
