"""Bins: the kernel equals its twin, edges are scikit-learn's, weights repeat, and a stream finds the same."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

from surefit.core.errors import DataError
from surefit.core.native.trees.bin_columns import MISSING, bin_columns, bin_columns_twin
from surefit.data.batches.batch import Batch
from surefit.models.tree.rows.bins import LARGEST, MOST_ROWS, edges_from_sketch, find_bins
from surefit.stats.sketch import Sketch

RNG = np.random.default_rng(0)
ROWS = np.column_stack(
    [
        RNG.standard_normal(2998),
        RNG.integers(0, 9, 2998),
        np.full(2998, 7.0),
        RNG.standard_normal(2998) * 1e-12 + 1e6,
        RNG.standard_normal(2998) * 1e12,
        np.where(np.arange(2998) % 5 == 0, np.nan, RNG.random(2998)),
    ]
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_kernel_gives_the_codes_of_the_twin(dtype: type, order: str, threads: int) -> None:
    X = np.array(ROWS, dtype=dtype, order=order)
    X[5, 0], X[6, 0] = np.inf, -np.inf
    X.flags.writeable = False
    levels = np.array([0, 7, 0, 0, 0, 0])
    edges = find_bins(X, levels=levels).edges
    found = bin_columns(X, edges, levels, _threads=threads)
    np.testing.assert_array_equal(found, bin_columns_twin(X, edges, levels))
    assert found.flags.f_contiguous
    assert np.any(found[:, 1] == MISSING), "levels beyond those known are missing"


@pytest.mark.parametrize("max_bins", [2, 16, 255])
def test_codes_are_those_of_scikit_learn(max_bins: int) -> None:
    # Numbers of rows that no count of bins divides: scikit-learn rounds ranks that fall on a row either way.
    weight = 1.0 + (np.arange(len(ROWS)) % 4)
    weight[:3] = [0.0, 0.0, 2.0]
    for own in (None, weight):
        theirs = _BinMapper(n_bins=max_bins + 1).fit(ROWS, sample_weight=own)
        bins = find_bins(ROWS, own, max_bins)
        for edges, expected in zip(bins.edges, theirs.bin_thresholds_, strict=True):
            np.testing.assert_array_equal(edges, expected)
        np.testing.assert_array_equal(bins.counts, theirs.n_bins_non_missing_)
        expected = theirs.transform(ROWS)
        expected[expected == max_bins] = MISSING
        np.testing.assert_array_equal(bins.codes(ROWS), expected)


def test_a_weight_is_a_repetition() -> None:
    weight = RNG.integers(0, 4, len(ROWS))
    once, repeated = (
        find_bins(ROWS, weight.astype(float), 20),
        find_bins(np.repeat(ROWS, weight, 0), None, 20),
    )
    for edges, expected in zip(once.edges, repeated.edges, strict=True):
        np.testing.assert_array_equal(edges, expected)


def test_a_stream_finds_the_same_bins() -> None:
    parts = [Sketch.of(Batch(part)) for part in np.array_split(ROWS, 7)]
    bins = edges_from_sketch(sum(parts[1:], parts[0]), 50)
    for edges, expected in zip(bins.edges, find_bins(ROWS, max_bins=50).edges, strict=True):
        np.testing.assert_array_equal(edges, expected)


def test_sparse_rows_have_the_codes_of_dense_ones() -> None:
    X = scipy.sparse.random(500, 4, density=0.3, format="csr", random_state=0)
    bins = find_bins(X, max_bins=30)
    np.testing.assert_array_equal(bins.codes(X), find_bins(X.toarray(), max_bins=30).codes(X.toarray()))


def test_neighbours_and_infinities_stay_apart() -> None:
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)], [-np.inf], [np.inf]])
    bins = find_bins(X)
    assert bins.codes(X).ravel().tolist() == [1, 2, 0, 3]
    assert bins.edges[0].max() == LARGEST


def test_rows_are_drawn_by_their_weight_where_there_are_many() -> None:
    X = np.arange(MOST_ROWS + 1.0)[:, None]
    weight = (X[:, 0] < 1000).astype(float)
    (edges,) = find_bins(X, weight, 255).edges
    assert edges.max() < 1000
    assert np.abs(np.diff(edges) - 1000 / 255).max() < 3.0


def test_too_many_levels_are_refused() -> None:
    with pytest.raises(
        DataError, match=r"feature at index 0 is expected to have a cardinality <= 255 but .* of 300"
    ):
        find_bins(ROWS[:, :1], levels=np.array([300]))
