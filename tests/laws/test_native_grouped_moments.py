"""Moments within groups against their twin: every layout, precision, weighting; equal for any threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from surefit.core.native.sums.grouped_moments import GroupedMoments, grouped_moments, grouped_moments_twin
from surefit.core.native.sums.moments import column_moments

FIELDS = ("weight", "mean", "scatter")
SHAPES = [
    (0, 3, 2),
    (1, 1, 1),
    (2, 700, 3),
    (15, 4, 40),
    (64, 8, 2),
    (65, 257, 3),
    (4111, 9, 5),
    (20001, 3, 4),
]
LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "csr": sp.csr_array,
}


def _data(rows: int, columns: int, dtype: Any, density: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < density)
    return X.astype(dtype)


def _codes(rows: int, groups: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(groups, size=rows)


def _assert_close(found: GroupedMoments, right: GroupedMoments) -> None:
    np.testing.assert_allclose(found.weight, right.weight, rtol=1e-13)
    np.testing.assert_allclose(found.mean, right.mean, rtol=1e-12, atol=1e-13)  # of deviations near 1
    np.testing.assert_allclose(found.scatter, right.scatter, rtol=1e-12, atol=1e-20)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_kernel_agrees_with_its_twin(shape: tuple[int, int, int], layout: str, dtype: Any) -> None:
    rows, columns, groups = shape
    for seed, (density, weighted) in enumerate([(1.0, False), (0.7, True), (0.1, True), (0.02, False)]):
        X, group = LAYOUTS[layout](_data(rows, columns, dtype, density, seed)), _codes(rows, groups, seed)
        weight = np.random.default_rng(seed).integers(0, 3, rows).astype(float) if weighted else None
        found = grouped_moments(X, group, groups + 1, weight)
        _assert_close(found, grouped_moments_twin(X, group, groups + 1, weight))
        assert found.weight[-1] == 0  # the group that no row belongs to
        assert not found.mean[-1].any()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(40000, 5), (90, 900)], ids=str)
def test_threads_do_not_change_a_bit(shape: tuple[int, int], layout: str) -> None:
    X, weight = LAYOUTS[layout](_data(*shape, np.float64, 0.5, 3)), np.random.default_rng(4).random(shape[0])
    one = grouped_moments(X, _codes(shape[0], 3), 3, weight, _threads=1)
    for threads in (2, 4):
        many = grouped_moments(X, _codes(shape[0], 3), 3, weight, _threads=threads)
        for name in FIELDS:
            assert getattr(many, name).tobytes() == getattr(one, name).tobytes(), name


def test_the_order_of_memory_does_not_change_a_bit() -> None:
    X, group = _data(20000, 7, np.float64, 1.0, 5), _codes(20000, 3)
    one, two = grouped_moments(X, group, 3), grouped_moments(np.asfortranarray(X), group, 3)
    for name in FIELDS:
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes(), name


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_an_offset_costs_no_digits(offset: float, layout: str) -> None:
    steps = np.random.default_rng(5).integers(-2048, 2048, (20000, 3)) / 1024.0  # adding the offset is exact
    group = _codes(20000, 3)
    found = grouped_moments(LAYOUTS[layout](steps + offset), group, 3)
    right = grouped_moments_twin(steps, group, 3)
    np.testing.assert_allclose(found.scatter, right.scatter, rtol=1e-12)
    np.testing.assert_allclose(found.mean, right.mean + offset, rtol=1e-14)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_column_that_is_constant_in_a_group_has_exactly_no_scatter(weighted: bool, layout: str) -> None:
    group = _codes(5000, 2)
    X = np.column_stack([np.full(5000, 0.1), np.where(group == 1, 0.7, np.arange(5000.0))])
    weight = np.random.default_rng(7).random(5000) if weighted else None
    found = grouped_moments(LAYOUTS[layout](X), group, 2, weight)
    assert (found.scatter == 0).tolist() == [[True, False], [True, True]]
    assert found.mean[:, 0].tolist() == [0.1, 0.1]
    assert found.mean[1, 1] == 0.7


@pytest.mark.parametrize("layout", LAYOUTS)
def test_weight_equals_repetition_and_rows_of_weight_zero_are_not_looked_at(layout: str) -> None:
    X, weight = _data(5000, 4, np.float64, 0.5, 8), np.random.default_rng(8).integers(0, 4, 5000)
    group = _codes(5000, 3)
    repeated = grouped_moments_twin(np.repeat(X, weight, axis=0), np.repeat(group, weight), 3)
    X[weight == 0] = np.nan
    X[np.flatnonzero(weight == 0)[::2]] = -np.inf
    _assert_close(grouped_moments(LAYOUTS[layout](X), group, 3, weight), repeated)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nan_stays_in_its_group_and_column(layout: str) -> None:
    X, group = _data(5000, 4, np.float64, 1.0, 10), np.arange(5000) % 2
    X[[0, 76], 2] = np.nan
    found = grouped_moments(LAYOUTS[layout](X), group, 2)
    assert np.argwhere(np.isnan(found.mean)).tolist() == [[0, 2]]
    assert np.argwhere(np.isnan(found.scatter)).tolist() == [[0, 2]]


def test_one_group_of_all_rows_is_the_column_moments() -> None:
    X, weight = _data(3000, 5, np.float64, 1.0, 11), np.random.default_rng(11).random(3000)
    found, right = grouped_moments(X, np.zeros(3000), 1, weight), column_moments(X, weight)
    np.testing.assert_allclose(found.mean[0], right.mean, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.scatter[0], right.scatter, rtol=1e-12)


def test_read_only_arrays_pass_and_the_rest_is_refused() -> None:
    X, group, weight = _data(60, 4, np.float64, 0.5, 12), _codes(60, 2), np.ones(60)
    X.flags.writeable = group.flags.writeable = weight.flags.writeable = False
    _assert_close(grouped_moments(X, group, 2, weight), grouped_moments_twin(X, group, 2, weight))
    with pytest.raises(TypeError, match="neither C- nor Fortran-contiguous"):
        grouped_moments(X[:, ::2], group, 2)
    with pytest.raises(ValueError, match="one entry for each row"):
        grouped_moments(X, group[:59], 2)
    with pytest.raises(ValueError, match="one entry for each row"):
        grouped_moments(X, group, 2, np.ones(59))
    for function in (grouped_moments, grouped_moments_twin):
        with pytest.raises(ValueError, match="not one of 0 to groups - 1"):
            function(X, group, 1)
        with pytest.raises(ValueError, match="not one of 0 to groups - 1"):
            function(X, group - 1, 2)
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="weights must be 0 or more"):
            grouped_moments(X, group, 2, np.where(np.arange(60) == 7, bad, 1.0))
