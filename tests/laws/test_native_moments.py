"""The column moments against their twin: every layout, precision, weighting; equal bits for any threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.laws.layouts import LAYOUTS, cells

from surefit.core.native.sums.moments import ColumnMoments, column_moments, column_moments_twin

SHAPES = [
    (0, 3),
    (1, 1),
    (2, 700),
    (7, 1),
    (15, 4),
    (16, 2),
    (63, 5),
    (64, 3),
    (65, 257),
    (4111, 9),
    (20001, 3),
]


def _assert_close(found: ColumnMoments, right: ColumnMoments) -> None:
    assert found.weight == pytest.approx(right.weight, rel=1e-14)
    np.testing.assert_allclose(found.mean, right.mean, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.scatter, right.scatter, rtol=1e-12, atol=1e-20)
    np.testing.assert_array_equal(found.minimum, right.minimum)
    np.testing.assert_array_equal(found.maximum, right.maximum)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_kernel_agrees_with_its_twin(shape: tuple[int, int], layout: str, dtype: Any) -> None:
    for seed, (density, weighted) in enumerate([(1.0, False), (0.7, True), (0.1, True), (0.02, False)]):
        X = LAYOUTS[layout](cells(shape, dtype, density, seed))
        weight = np.random.default_rng(seed).integers(0, 3, shape[0]).astype(float) if weighted else None
        _assert_close(column_moments(X, weight), column_moments_twin(X, weight))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(40000, 5), (90, 900)], ids=str)
def test_threads_do_not_change_a_bit(shape: tuple[int, int], layout: str) -> None:
    X, weight = LAYOUTS[layout](cells(shape, np.float64, 0.5, 3)), np.random.default_rng(4).random(shape[0])
    one = column_moments(X, weight, _threads=1)
    for threads in (2, 4):
        many = column_moments(X, weight, _threads=threads)
        assert many.weight == one.weight
        for name in ("mean", "scatter", "minimum", "maximum"):
            assert getattr(many, name).tobytes() == getattr(one, name).tobytes(), name


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_an_offset_costs_no_digits(offset: float, layout: str) -> None:
    steps = np.random.default_rng(5).integers(-2048, 2048, (20000, 3)) / 1024.0  # adding the offset is exact
    found, right = column_moments(LAYOUTS[layout](steps + offset)), column_moments_twin(steps)
    np.testing.assert_allclose(found.scatter, right.scatter, rtol=1e-12)
    np.testing.assert_allclose(found.mean, right.mean + offset, rtol=1e-14)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_scale_of_a_column_does_not_matter(scale: float, layout: str) -> None:
    X = cells((900, 6), np.float64, 0.6, 6)
    found, right = column_moments(LAYOUTS[layout](X * scale)), column_moments_twin(X)
    np.testing.assert_allclose(found.scatter / scale**2, right.scatter, rtol=1e-12)
    np.testing.assert_allclose(found.mean / scale, right.mean, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_constant_column_has_exactly_no_scatter(weighted: bool, layout: str) -> None:
    X = np.full((5000, 3), 0.1)
    weight = np.random.default_rng(7).random(5000) if weighted else None
    found = column_moments(LAYOUTS[layout](X), weight)
    assert not found.scatter.any()
    assert found.mean.tolist() == [0.1] * 3


@pytest.mark.parametrize("layout", LAYOUTS)
def test_weight_equals_repetition_and_rows_of_weight_zero_are_not_looked_at(layout: str) -> None:
    X, weight = cells((5000, 4), np.float64, 0.5, 8), np.random.default_rng(8).integers(0, 4, 5000)
    repeated = column_moments_twin(np.repeat(X, weight, axis=0))
    X[weight == 0] = np.nan
    X[np.flatnonzero(weight == 0)[::2]] = -np.inf
    _assert_close(column_moments(LAYOUTS[layout](X), weight), repeated)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_weight_at_all_is_the_identity(layout: str) -> None:
    found = column_moments(LAYOUTS[layout](cells((100, 3), np.float64, 0.5, 9)), np.zeros(100))
    assert found.weight == 0
    assert not found.mean.any()
    assert not found.scatter.any()
    assert np.all(found.minimum == np.inf)
    assert np.all(found.maximum == -np.inf)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nan_stays_in_its_column_and_out_of_the_range(layout: str) -> None:
    X = cells((5000, 4), np.float64, 1.0, 10)
    X[[0, 77], 2] = np.nan
    found = column_moments(LAYOUTS[layout](X))
    assert np.isnan(found.mean).tolist() == np.isnan(found.scatter).tolist() == [False, False, True, False]
    assert found.minimum.tolist() == np.nanmin(X, axis=0).tolist()
    assert found.maximum.tolist() == np.nanmax(X, axis=0).tolist()


def test_read_only_arrays_pass_and_the_rest_is_refused() -> None:
    X, weight = cells((60, 4), np.float64, 0.5, 11), np.ones(60)
    X.flags.writeable = weight.flags.writeable = False
    _assert_close(column_moments(X, weight), column_moments_twin(X, weight))
    with pytest.raises(TypeError, match="neither C- nor Fortran-contiguous"):
        column_moments(X[:, ::2])
    with pytest.raises(TypeError, match="pass float32 or float64"):
        column_moments(X.astype(np.int32))
    with pytest.raises(TypeError, match="pass a numpy array or a scipy CSR matrix"):
        column_moments(X.tolist())
    with pytest.raises(ValueError, match="one entry for each row"):
        column_moments(X, np.ones(59))
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="weights must be 0 or more"):
            column_moments(X, np.where(np.arange(60) == 7, bad, 1.0))
    S = sp.csr_array(X)
    S.indices[3] = 4
    with pytest.raises(ValueError, match="column index outside its width"):
        column_moments(S)


def test_the_twin_is_right() -> None:
    rng = np.random.default_rng(12)
    X, s = rng.standard_normal((40, 2)) + 1e3, rng.random(40)
    found = column_moments_twin(X, s)
    for j in range(2):
        mean = math.fsum(s * X[:, j]) / math.fsum(s)
        assert found.mean[j] == pytest.approx(mean, rel=1e-14)
        assert found.scatter[j] == pytest.approx(math.fsum(s * (X[:, j] - mean) ** 2), rel=1e-12)
    assert found.weight == pytest.approx(math.fsum(s), rel=1e-15)
