"""The test for finite numbers against its twin: every place, order and precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefit.core.native.columns.finite import all_finite, all_finite_twin


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 5), (70001, 4)], ids=str)
def test_one_bad_number_is_found(shape: tuple[int, int], order: Any, dtype: Any) -> None:
    X = np.full(shape, np.finfo(dtype).max, dtype=dtype, order=order)
    assert all_finite(X)
    for bad in (np.nan, np.inf, -np.inf) if X.size else ():
        for place in ((0, 0), (-1, -1), (shape[0] // 2, shape[1] // 2)):
            X[place] = bad
            assert not all_finite(X, _threads=1)
            assert not all_finite(X, _threads=3)
            assert not all_finite_twin(X)
            X[place] = -1e-40
    assert all_finite(X)


def test_read_only_arrays_pass_and_the_rest_is_refused() -> None:
    X = np.ones((6, 4))
    X.flags.writeable = False
    assert all_finite(X)
    with pytest.raises(TypeError, match="neither C- nor Fortran-contiguous"):
        all_finite(X[:, ::2])
    with pytest.raises(TypeError):
        all_finite(X.astype(int))
