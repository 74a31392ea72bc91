"""Quantiles stay within the stated error of their rank, whatever the data and the merges."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import pytest
import scipy.sparse as sp

from surefit.data.batches.batch import Batch
from surefit.stats.sketch import Sketch

RNG = np.random.default_rng(0)
RANKS = np.linspace(0, 1, 101)
ROWS = 20_000
DATA = {
    "normal": RNG.normal(size=ROWS),
    "increasing": np.arange(float(ROWS)),
    "decreasing": -np.arange(float(ROWS)),
    "heavy tails": RNG.standard_cauchy(size=ROWS),
    "ties": np.round(RNG.exponential(size=ROWS), 2),
    "zigzag": np.where(np.arange(ROWS) % 2, 1.0, -1.0) * np.arange(ROWS),
}


def rank_error(values: np.ndarray, weight: np.ndarray, q: np.ndarray, found: np.ndarray) -> float:
    """How far q lies outside the ranks that each value found has, one row taken as certain."""
    order = np.argsort(values)
    ends = np.concatenate([[0.0], np.cumsum(weight[order])]) / weight.sum()
    below = ends[np.searchsorted(values[order], found, side="left")]
    up_to = ends[np.searchsorted(values[order], found, side="right")]
    return float(np.max(np.maximum(below - q, q - up_to))) - weight.max() / weight.sum()


def pieces_of(values: np.ndarray, weight: np.ndarray | None, pieces: int, size: int) -> list[Sketch]:
    return [
        Sketch.of(Batch(values[rows][:, None], None, None if weight is None else weight[rows]), size=size)
        for rows in np.array_split(np.arange(len(values)), pieces)
    ]


def tree(parts: list[Sketch]) -> Sketch:
    while len(parts) > 1:
        parts = [reduce(add, parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0]


def in_turn(parts: list[Sketch]) -> Sketch:
    return reduce(add, parts)


@pytest.mark.parametrize(
    ("pieces", "join"),
    [
        pytest.param(1, in_turn, id="whole"),
        pytest.param(40, in_turn, id="40 one by one"),
        pytest.param(40, tree, id="40 in a tree"),
        pytest.param(300, in_turn, id="300 one by one"),
        pytest.param(300, tree, id="300 in a tree"),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("data", DATA)
def test_the_rank_error_is_within_the_bound(data: str, weighted: bool, pieces: int, join) -> None:
    values, size = DATA[data], 64
    weight = RNG.uniform(0.1, 5.0, size=ROWS) if weighted else np.ones(ROWS)
    sketch = join(pieces_of(values, weight if weighted else None, pieces, size))
    found = sketch.quantile(RANKS)[:, 0]
    assert rank_error(values, weight, RANKS, found) <= sketch.error[0]
    levels = sketch.lengths.shape[1] - 1
    assert 0 < sketch.error[0] <= (1 + 1e-12) * levels / (2 * size)  # weights are rounded sums
    assert levels <= 1 + np.log2(ROWS / (2 * size))
    assert len(sketch.values) <= size * (levels + 2)
    share = np.array([sketch.cdf([x])[0] for x in values[::500]])
    truth = np.array([weight[values <= x].sum() for x in values[::500]]) / weight.sum()
    assert np.abs(share - truth).max() <= sketch.error[0] + 1e-12


def test_without_the_bound_ranks_would_be_off() -> None:
    """The error is real: a small sketch of many rows is not exact."""
    sketch = tree(pieces_of(DATA["normal"], None, 40, 64))
    assert rank_error(DATA["normal"], np.ones(ROWS), RANKS, sketch.quantile(RANKS)[:, 0]) > 1e-4


@pytest.mark.parametrize("pieces", [1, 7])
def test_few_values_are_exact(pieces: int) -> None:
    values, times = RNG.normal(size=300), RNG.integers(1, 4, size=300)
    sketch = reduce(add, pieces_of(values, times.astype(float), pieces, 1024))
    assert sketch.error[0] == 0
    expected = np.quantile(np.repeat(values, times), RANKS)
    np.testing.assert_allclose(sketch.quantile(RANKS)[:, 0], expected, rtol=1e-12, atol=1e-12)
    many = reduce(add, pieces_of(np.round(DATA["normal"], 2), None, pieces, 1024))  # few distinct ones
    assert many.error[0] == 0
    expected = np.quantile(np.round(DATA["normal"], 2), RANKS)
    np.testing.assert_allclose(many.quantile(RANKS)[:, 0], expected, rtol=1e-12, atol=1e-12)


def test_the_ends_are_exact_and_the_order_of_two_does_not_matter() -> None:
    parts = pieces_of(DATA["heavy tails"], None, 2, 16)
    one, two = parts[0] + parts[1], parts[1] + parts[0]
    np.testing.assert_array_equal(one.values, two.values)
    assert one.quantile([0.0, 1.0])[:, 0].tolist() == [DATA["heavy tails"].min(), DATA["heavy tails"].max()]
    assert one.cdf([DATA["heavy tails"].max()])[0] == 1
    assert one.cdf([DATA["heavy tails"].min() - 1])[0] == 0


def test_sparse_zeros_count_and_missing_values_do_not() -> None:
    X = RNG.normal(size=(500, 2)) * (RNG.random((500, 2)) < 0.3)
    dense, sparse = Sketch.of(Batch(X)), Sketch.of(Batch(sp.csr_array(X)))
    np.testing.assert_array_equal(dense.quantile(RANKS), sparse.quantile(RANKS))
    X[:100, 0] = np.nan
    X[:, 1] = np.nan
    found = Sketch.of(Batch(X)).quantile(RANKS)
    np.testing.assert_allclose(found[:, 0], np.quantile(X[100:, 0], RANKS), rtol=1e-12, atol=1e-12)
    assert np.isnan(found[:, 1]).all()
    assert np.isnan(Sketch.of(Batch(X)).cdf([0.0, 0.0])[1])
