"""What holds for every distance, and for every way of searching by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import surefit.distances
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.registry import members
from surefit.distances import Distance, as_distance, search
from surefit.distances.conversion import named_distances

CASES = [
    pytest.param(distance, id=f"{name}-{number}")
    for name, cls in members("distance").items()
    for number, distance in enumerate(cls.cases(np.random.default_rng(7)))  # type: ignore[attr-defined]
]
each = pytest.mark.parametrize("distance", CASES)
BY_SCIPY = {
    "cosine",
    "correlation",
    "canberra",
    "braycurtis",
    "chebyshev",
    "hamming",
    "seuclidean",
    "sqeuclidean",
}
SETS = {"jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}


def examples(distance: Distance, n: int, seed: int = 3) -> Any:
    return distance.examples(np.random.default_rng(seed), n)


@each
def test_it_is_symmetric_and_never_negative(distance: Distance) -> None:
    D = distance(examples(distance, 25))
    assert D.shape == (25, 25)
    assert np.isfinite(D).all()
    assert (D >= 0).all()
    np.testing.assert_array_equal(D, D.T)
    if distance.name != "russellrao":
        np.testing.assert_allclose(np.diagonal(D), 0.0, atol=1e-7)


@each
def test_a_declared_metric_has_no_short_cuts(distance: Distance) -> None:
    if distance.metric:
        D = distance(examples(distance, 25))
        ways = D[:, :, None] + D[None, :, :]  # from i over j to k
        assert (ways.min(axis=1) * (1 + 1e-9) + 1e-7 >= D).all()


@pytest.mark.parametrize("algorithm", search.ALGORITHMS)
@each
def test_every_search_finds_what_comparing_all_pairs_finds(distance: Distance, algorithm: Any) -> None:
    if distance.takes == "pairs":
        return
    X, Q = examples(distance, 300), examples(distance, 15, 4)
    own = distance.fitted(X)
    D = own.between(own.inputs(Q), own.inputs(X))
    try:
        index = search.build(X, distance, algorithm=algorithm)
    except RefusalError as error:
        assert algorithm == "kd_tree"
        assert "does not go by columns" in str(error)  # noqa: PT017
        return
    found = index.nearest(Q, 6)
    order = np.argsort(D, axis=1, kind="stable")[:, :6]
    np.testing.assert_allclose(found.distance, np.take_along_axis(D, order, axis=1), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(found.index, order)
    radius = float(np.median(D))
    for by_distance in (False, True):
        _, rows = index.within(Q, radius, by_distance=by_distance).split()
        for mine, values in zip(rows, D, strict=True):
            near = np.flatnonzero(values <= radius)
            near = near[np.argsort(values[near], kind="stable")] if by_distance else near
            np.testing.assert_array_equal(mine, near)
    among = index.nearest(None, 4)
    assert (among.index != np.arange(300)[:, None]).all()
    graph = index.radius_graph(radius)
    assert graph.shape == (300, 300)
    assert graph.diagonal().sum() == 0


@pytest.mark.parametrize("name", sorted(BY_SCIPY | SETS))
def test_the_values_are_those_of_scipy(name: str) -> None:
    rng = np.random.default_rng(5)
    X, Y = rng.uniform(0.1, 2.0, (12, 6)), rng.uniform(0.1, 2.0, (9, 6))
    if name in SETS or name == "hamming":
        X, Y = X > 1.0, Y > 1.2
    params = {"V": Y.var(axis=0, ddof=1)} if name == "seuclidean" else {}
    np.testing.assert_allclose(as_distance(name)(X, Y), cdist(X, Y, name, **params), rtol=1e-12, atol=1e-12)


def test_mahalanobis_is_that_of_scipy() -> None:
    rng = np.random.default_rng(6)
    X, Y, root = rng.normal(size=(8, 3)), rng.normal(size=(9, 3)), rng.normal(size=(3, 3))
    VI = root @ root.T
    np.testing.assert_allclose(
        as_distance("mahalanobis", params={"VI": VI})(X, Y), cdist(X, Y, "mahalanobis", VI=VI)
    )


def test_gaps_and_mixed_columns() -> None:
    from sklearn.metrics.pairwise import nan_euclidean_distances

    X = np.random.default_rng(7).normal(size=(20, 4))
    X[np.random.default_rng(8).random(X.shape) < 0.2] = np.nan
    theirs = np.nan_to_num(nan_euclidean_distances(X), nan=np.inf)  # of rows that share no column
    np.testing.assert_allclose(as_distance("nan_euclidean")(X), theirs, atol=1e-12)
    rows = [[1.0, "a", None], [3.0, "b", "x"], [5.0, "a", "y"]]
    D = as_distance("gower")(np.array(rows, dtype=object))
    np.testing.assert_allclose(D, [[0, 0.75, 0.5], [0.75, 0, 2.5 / 3], [0.5, 2.5 / 3, 0]])


def test_sparse_rows_are_searched_as_dense_ones() -> None:
    from scipy import sparse

    X = sparse.random(300, 20, density=0.3, format="csr", random_state=0)
    for name in ("euclidean", "cosine", "manhattan", "jaccard"):
        ours, dense = (search.build(rows, name).nearest(rows[:9], 4) for rows in (X, X.toarray()))
        np.testing.assert_allclose(ours.distance, dense.distance, atol=1e-12)


def test_huge_and_tiny_numbers_keep_their_neighbours() -> None:
    X = np.random.default_rng(9).normal(size=(400, 3))
    plain = search.build(X).nearest(X[:20] + 0.01, 5)
    for scale in (2.0**600, 2.0**-600):
        found = search.build(X * scale).nearest((X[:20] + 0.01) * scale, 5)
        np.testing.assert_array_equal(found.index, plain.index)
        np.testing.assert_allclose(found.distance, plain.distance * scale, rtol=1e-12)


def test_names_lead_to_distances() -> None:
    assert repr(as_distance("minkowski", p=1)) == "Manhattan()"
    assert surefit.distances.Chebyshev is named_distances()["infinity"]
    with pytest.raises(ParameterError, match="did you mean 'euclidean'"):
        as_distance("euclidian")
    with pytest.raises(ParameterError, match="has no parameter 'q'"):
        as_distance("minkowski", params={"q": 1})


def test_the_choice_is_told() -> None:
    rng = np.random.default_rng(0)
    assert "few enough" in search.build(rng.normal(size=(9, 2))).why
    assert search.build(rng.normal(size=(5000, 2))).algorithm == "kd_tree"
    many = search.build(rng.normal(size=(5000, 12)))
    assert many.algorithm == "brute"
    assert "of the leaves" in many.why
    line = np.outer(rng.normal(size=5000), np.ones(12)) + 1e-6 * rng.normal(size=(5000, 12))
    assert search.build(line).algorithm == "kd_tree"


def test_a_slow_metric_is_called_less_often() -> None:
    calls = []

    def metric(x: Any, y: Any) -> float:
        calls.append(1)
        return float(np.abs(x - y).sum())

    X = np.random.default_rng(1).normal(size=(1000, 1))
    index = search.build(X, surefit.distances.FromFunction(metric, metric=True))
    assert index.algorithm == "ball_tree"
    calls.clear()
    index.nearest(X[:10], 3)
    assert len(calls) < 10 * 1000 / 4
