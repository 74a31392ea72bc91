"""The affine maps against their twins: every order, precision and shape; bad cells noticed; in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefit.core.native.columns import affine

MAPS = [(affine.standardise, affine.standardise_twin), (affine.stretch, affine.stretch_twin)]
each_map = pytest.mark.parametrize(("face", "twin"), MAPS, ids=["standardise", "stretch"])


def _data(shape: tuple[int, int], dtype: Any, order: Any) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = np.asarray(rng.standard_normal(shape), dtype=dtype, order=order)
    return X, rng.standard_normal(shape[1]), rng.uniform(0.5, 2.0, shape[1])


@each_map
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 5), (300, 900), (70001, 4)], ids=str)
def test_the_kernel_gives_the_bits_of_its_twin(face, twin, shape, order, dtype) -> None:
    X, first, second = _data(shape, dtype, order)
    right = np.empty_like(X)
    assert twin(X, first, second, right)
    for threads in (1, 3):
        out = np.empty_like(X)
        assert face(X, first, second, out, _threads=threads)
        np.testing.assert_array_equal(out, right)
    if X.size == 0:
        return
    for bad in (np.nan, np.inf, -np.inf):
        for place in ((0, 0), (-1, -1), (shape[0] // 2, shape[1] // 2)):
            spoilt = X.copy(order="K")
            spoilt[place] = bad
            assert not face(spoilt, first, second, out)
            assert not twin(spoilt, first, second, right)
            np.testing.assert_array_equal(out, right)
    assert twin(X, first, second, right)
    X.flags.writeable = False
    assert face(X, first, second, out)
    X.flags.writeable = True
    assert face(X, first, second, X)
    np.testing.assert_array_equal(X, right)
    np.testing.assert_array_equal(out, right)


@each_map
def test_float32_is_rounded_once(face, twin) -> None:
    X = np.full((4, 1), 1e8, dtype=np.float32)
    one = np.array([1e8 + 1]) if face is affine.standardise else np.array([1.00000001])
    two = np.array([1.0]) if face is affine.standardise else np.array([-1e8])
    out = np.empty_like(X)
    face(X, one, two, out)
    np.testing.assert_allclose(out, -1.0 if face is affine.standardise else 1.0, rtol=1e-6)


@each_map
def test_other_matrices_are_refused(face, twin) -> None:
    X, numbers = np.ones((6, 4)), np.ones(4)
    with pytest.raises(TypeError, match="neither C- nor Fortran-contiguous"):
        face(X[:, ::2], numbers[:2], numbers[:2], np.ones((6, 2)))
    with pytest.raises(ValueError, match="shape and memory order"):
        face(X, numbers, numbers, np.empty((6, 4), order="F"))
    with pytest.raises(ValueError, match="one entry for each column"):
        face(X, numbers[:3], numbers, np.empty_like(X))
    with pytest.raises(TypeError):
        face(X, numbers, numbers, np.empty((6, 4), dtype=np.float32))
