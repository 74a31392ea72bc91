"""The kernels behind the metrics equal their twins: grouped scores, pairs of codes, items, log scores."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.core.errors import DataError
from surefit.core.native.scores.distinct_items import distinct_items, distinct_items_twin
from surefit.core.native.scores.log_score import log_score, log_score_twin
from surefit.core.native.scores.pair_counts import pair_counts, pair_counts_twin
from surefit.core.native.scores.score_groups import (
    score_areas,
    score_areas_twin,
    score_groups,
    score_groups_twin,
)


def check_groups(ours, twin):
    for one, two in zip(ours, twin, strict=True):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ties", ["none", "many", "one value", "mostly one"])
@pytest.mark.parametrize("rows", [0, 1, 127, 5000, 70_000])
def test_groups_equal_the_twin(rows, ties, dtype):
    rng = np.random.default_rng(rows)
    score = rng.standard_normal(rows) * 10.0 ** rng.integers(-30, 30, size=rows)
    score = {
        "none": score,
        "many": rng.integers(-5, 5, size=rows) * 0.5,
        "one value": np.full(rows, -0.0),
        "mostly one": np.where(rng.random(rows) < 0.9, 0.25, score),
    }[ties].astype(dtype)
    positive, weight = rng.random(rows) < 0.3, rng.integers(1, 4, size=rows).astype(float)
    score.setflags(write=False)
    for given_weight, count in product((None, weight), (1, 3)):
        ours = score_groups(score, positive, given_weight, _threads=count)
        check_groups(ours, score_groups_twin(score, positive, given_weight))
        areas = score_areas(ours.positive, ours.negative, _threads=count)
        # Sums of whole numbers are exact in any order; the shares are not.
        assert areas.pairs == score_areas_twin(ours.positive, ours.negative).pairs
        np.testing.assert_allclose(areas, score_areas_twin(ours.positive, ours.negative), rtol=1e-12)


@settings(derandomize=True)
@given(st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.booleans()), max_size=300))
def test_any_scores(rows):
    score = np.array([value for value, _ in rows])
    positive = np.array([flag for _, flag in rows], dtype=bool)
    check_groups(score_groups(score, positive, None), score_groups_twin(score, positive, None))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("size", [1, 2, 33, 200])
def test_pairs_equal_the_twin(size, dtype):
    rng = np.random.default_rng(size)
    a, b = (rng.integers(20, 20 + size, size=100_000).astype(dtype) for _ in range(2))
    for weight in (None, rng.integers(0, 4, size=100_000).astype(float)):
        for count in (1, 3):
            table = pair_counts(a, b, weight, 20, size, _threads=count)
            np.testing.assert_array_equal(table, pair_counts_twin(a, b, weight, 20, size))


def test_a_code_outside_is_named():
    for count in (pair_counts, pair_counts_twin):
        with pytest.raises(DataError, match="row 2 has a code outside of 0 to 1"):
            count(np.array([0, 1, 0]), np.array([0, 1, 2]), None, 0, 2)


@pytest.mark.parametrize("items", [["spam", "ham", "eggs, fried"], ["", "a"], [b"x", b"yz"], [5, -7, 10**12]])
def test_items_equal_the_twin(items):
    column = np.array(items)[np.random.default_rng(0).integers(len(items), size=150_000)]
    for count in (1, 3):
        ours = distinct_items(column, _threads=count)
        assert ours is not None
        for one, two in zip(ours, distinct_items_twin(column), strict=True):
            np.testing.assert_array_equal(one, two)


def test_thousands_of_items_are_left_to_sorting():
    assert distinct_items(np.arange(50_000)) is None
    assert distinct_items(np.array([], dtype="U3"))[0].shape == (0,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 2, 7])
def test_log_scores_equal_the_twin(columns, dtype):
    rng = np.random.default_rng(columns)
    chance = rng.dirichlet(np.ones(columns + 1), size=40_000)[:, :columns].astype(dtype)
    code = rng.integers(max(columns, 2), size=40_000)
    for weight, count in product((None, rng.integers(0, 3, size=40_000).astype(float)), (1, 3)):
        ours = log_score(chance, code, weight, 1e-3, _threads=count)
        twin = log_score_twin(chance, code, weight, 1e-3)
        np.testing.assert_allclose(ours.loss, twin.loss, rtol=1e-12 if dtype is np.float64 else 1e-6)
        assert (ours.bad, ours.worst) == (twin.bad, twin.worst)
        np.testing.assert_allclose(ours.sum, twin.sum, rtol=1e-12)
    for bad in (-0.1, 1.1, np.nan, np.inf):
        broken = chance.copy()
        broken[[20_000, 30_000], -1] = bad
        assert (
            log_score(broken, code, None, 1e-3).bad == log_score_twin(broken, code, None, 1e-3).bad == 20_000
        )
