"""The round trip against its twin: orders, precisions, weights, centres; equal bits for any threads."""

from __future__ import annotations

import numpy as np
import pytest

from surefit.core.native.linear.round_trip import round_trip, round_trip_twin

SHAPES = [(0, 3), (1, 1), (5, 700), (129, 8), (4111, 9), (20001, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_is_what_its_twin_says(shape, order, dtype):
    rng = np.random.default_rng(shape[0])
    X = np.asarray(rng.normal(size=shape) + 3.0, dtype=dtype, order=order)
    weight = np.maximum(rng.normal(size=shape[0]), 0.0)
    centre = rng.normal(size=shape[1]) + 3.0
    for k in (1, 3):
        V, B = rng.normal(size=(shape[1], k)), rng.normal(size=(shape[0], k))
        for options in ({}, {"weight": weight}, {"centre": centre}, {"weight": weight, "centre": centre}):
            for beside in (None, B):
                found = round_trip(X, V, beside, **options)
                right = round_trip_twin(X, V, beside, **options)
                scale = 1e-12 * (1 + np.abs(right.cross).max(initial=0.0))
                np.testing.assert_allclose(found.cross, right.cross, rtol=1e-11, atol=100 * scale)
                np.testing.assert_allclose(found.sums, right.sums, rtol=1e-11, atol=100 * scale)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_same_bits_for_any_number_of_threads(order):
    rng = np.random.default_rng(0)
    X, V = np.asarray(rng.normal(size=(50_000, 7)), order=order), rng.normal(size=(7, 2))
    found = [round_trip(X, V, _threads=count) for count in (1, 2, 3)]
    assert len({one.cross.tobytes() for one in found}) == 1
    assert len({one.sums.tobytes() for one in found}) == 1


def test_what_does_not_fit_is_refused():
    X, V = np.ones((4, 2)), np.ones((2, 1))
    with pytest.raises(ValueError, match="V must have one column for each column of X"):
        round_trip(X, np.ones((3, 1)))
    with pytest.raises(ValueError, match="B must have one row"):
        round_trip(X, V, np.ones((3, 1)))
    with pytest.raises(ValueError, match="weight must have one entry"):
        round_trip(X, V, weight=np.ones(3))
    with pytest.raises(ValueError, match="centre must have one entry"):
        round_trip(X, V, centre=np.ones(3))
    with pytest.raises(TypeError, match="float32 or float64"):
        round_trip(X.astype(int), V)
    with pytest.raises(TypeError, match="contiguous"):
        round_trip(np.ones((8, 8))[::2, ::2], np.ones((4, 1)))
