"""What holds for k-means: the cost falls, shortcuts and chunks do not show, weights are repetitions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import surefit
from surefit.core.certificate import CertificateWarning
from surefit.core.native.centres.nearest_centre import Bounds, nearest_centre
from surefit.data.batches.batch import Batch
from surefit.models.cluster.kmeans.starts import RowSample

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(150, 3)) + 3 * c for c in RNG.normal(size=(6, 3))])
START = X[::180][:5].copy()


def fitted(rows: Any = X, weight: Any = None, **settings: Any) -> surefit.KMeans:
    return surefit.KMeans(**{"n_clusters": 5, "random_state": 0, "tol": 0.0, **settings}).fit(
        rows, sample_weight=weight
    )


def assert_alike(one: Any, two: Any, rtol: float = 1e-12) -> None:
    np.testing.assert_allclose(one.cluster_centers_, two.cluster_centers_, rtol=rtol, atol=rtol)
    assert one.inertia_ == pytest.approx(two.inertia_, rel=1e-12)


@pytest.mark.parametrize("init", ["k-means++", "k-means||", "random", START], ids=str)
def test_the_cost_falls_in_each_half_step(init: Any) -> None:
    model = fitted(init=init, n_init=1)
    costs = model.trace_.column("objective")
    means = model.trace_.column("after_means")
    both = np.ravel(np.column_stack([means, costs]))
    assert (np.diff(both) <= 1e-12 * both[0]).all()
    assert costs[-1] == pytest.approx(model.inertia_, rel=1e-12)


@pytest.mark.parametrize("algorithm", ["lloyd", "hamerly", "elkan"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_accelerated_equals_plain_with_fewer_distances(algorithm: Any, dtype: Any) -> None:
    rows = X.astype(dtype)
    plain, quick = fitted(rows, algorithm="plain"), fitted(rows, algorithm=algorithm)
    np.testing.assert_array_equal(plain.labels_, quick.labels_)
    np.testing.assert_array_equal(plain.cluster_centers_, quick.cluster_centers_)
    assert plain.n_iter_ == quick.n_iter_
    assert quick.trace_.column("distances")[-1] < plain.trace_.column("distances")[-1]


def test_chunked_equals_whole_and_sparse_equals_dense(tmp_path: Any) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table({f"x{j}": X[:, j] for j in range(3)})
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
    whole = fitted()
    for init in ("k-means++", "random", "k-means||"):
        streamed = fitted(tmp_path / "rows.parquet", init=init, n_init=2)
        assert_alike(fitted(init=init, n_init=2), streamed)
        np.testing.assert_array_equal(fitted(init=init, n_init=2).labels_, streamed.labels_)
    assert surefit.verify(streamed, tmp_path / "rows.parquet").holds
    np.testing.assert_array_equal(streamed.predict(X), streamed.fit_predict(tmp_path / "rows.parquet"))
    assert_alike(whole, fitted(csr_array(X)))


def test_a_weight_is_a_repetition_and_order_is_nothing() -> None:
    times = RNG.integers(0, 3, len(X))
    repeated = np.repeat(X, times, axis=0)
    shuffled = RNG.permutation(len(repeated))
    for init in ("k-means++", "random"):
        weighted = fitted(weight=times.astype(float), init=init)
        assert_alike(weighted, fitted(repeated, init=init))
        other = fitted(repeated[shuffled], init=init)
        assert_alike(weighted, other)
        np.testing.assert_array_equal(other.labels_, weighted.predict(repeated[shuffled]))


@pytest.mark.filterwarnings("ignore::surefit.core.certificate.CertificateWarning")
def test_an_empty_cluster_takes_the_farthest_row() -> None:
    far = np.array([[50.0, 0.0, 0.0], [50.0, 0.0, 0.0]])
    rows = np.concatenate([X, far])
    model = surefit.KMeans(3, init=np.array([[0.0, 0, 0], [1.0, 1, 1], [900.0, 0, 0]]), max_iter=1).fit(rows)
    assert model.cluster_centers_[2].tolist() == [50.0, 0.0, 0.0]
    assert model.cluster_weights_[2] == 2
    streamed = surefit.KMeans(3, init=np.array([[0.0, 0, 0], [1.0, 1, 1], [900.0, 0, 0]]), max_iter=1)
    assert_alike(streamed.fit(csr_array(rows)), streamed.fit(rows))


def test_fewer_different_rows_than_clusters_are_said() -> None:
    with pytest.warns(CertificateWarning, match="distinct clusters \\(2\\) found smaller"):
        model = surefit.KMeans(4).fit([[0.0, 0], [1, 1], [0, 0], [1, 1], [1, 1]])
    assert model.inertia_ == 0.0
    assert model.certificate_.holds


def test_a_changed_centre_does_not_verify() -> None:
    for settings in ({}, {"tol": 1e-4}):
        model = fitted(**settings)
        assert surefit.verify(model, X).holds
        place = np.abs(model.cluster_centers_).argmax()
        model.cluster_centers_.flat[place] *= 1.01
        assert not surefit.verify(model, X).holds
    model = fitted()
    model.labels_[0] = (model.labels_[0] + 1) % 5
    assert not surefit.verify(model, X).holds
    assert not surefit.verify(fitted(), X[:-1]).holds


def test_a_limit_that_is_too_low_is_said() -> None:
    with pytest.warns(CertificateWarning, match="NOT within"):
        fitted(max_iter=1)


@pytest.mark.parametrize("scale", [1e-150, 1e-12, 1.0, 1e12, 1e140])
def test_scale_does_not_show(scale: float) -> None:
    unit = 2.0 ** np.round(np.log2(scale))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(X * unit)
    np.testing.assert_array_equal(model.labels_, fitted().labels_)


def test_bounds_survive_many_small_movements() -> None:
    rng = np.random.default_rng(1)
    centres, bounds, each = START.copy(), Bounds.of(len(X), 1), Bounds.of(len(X), 5)
    plain, quick, single = (np.zeros(len(X), np.int32) for _ in range(3))
    moved = np.zeros(5)
    for _ in range(60):
        nearest_centre(X, centres, plain)
        nearest_centre(X, centres, quick, bounds, moved)
        nearest_centre(X, centres, single, each, moved)
        np.testing.assert_array_equal(plain, quick)
        np.testing.assert_array_equal(plain, single)
        step = rng.normal(scale=0.02, size=centres.shape)
        centres, moved = centres + step, np.linalg.norm(step, axis=1) * (1 + 1e-12)


def test_a_sample_of_rows_is_the_same_in_any_pieces() -> None:
    whole = RowSample.of(Batch(X), count=20, seed=4, centres=START)
    pieces = [
        RowSample.of(Batch(X[i : i + 70], start=i), count=20, seed=4, centres=START)
        for i in range(0, len(X), 70)
    ]
    joined = pieces[-1]
    for piece in pieces[-2::-1]:
        joined = joined + piece
    np.testing.assert_array_equal(joined.numbers, whole.numbers)
    np.testing.assert_array_equal(joined.X, whole.X)
    # Chances follow weights: a row of weight 9 among nine of weight 1 is drawn first in half of all samples.
    rows, weight = np.arange(10.0)[:, None], np.r_[9.0, np.ones(9)]
    first = [RowSample.of(Batch(rows, weight=weight), count=1, seed=s).numbers[0] for s in range(400)]
    assert 150 < first.count(0) < 250


@pytest.mark.usefixtures("client")
def test_dask_gives_the_same() -> None:
    import dask.array as da

    assert_alike(fitted(), fitted(da.from_array(X, chunks=(200, 3))))
