"""Sums within classes against their twin: every layout, precision, weighting; equal for any threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from surefit.core.native.sums.class_sums import class_sums, class_sums_twin

LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "csr": sp.csr_array,
}


def _data(rows: int, columns: int, dtype: Any, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.7, (rows, columns)).astype(dtype) - (seed % 2)
    return X, rng.integers(3, size=rows), rng.integers(0, 3, rows).astype(float)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (2, 700), (4111, 9), (30001, 30)], ids=str)
def test_the_kernel_agrees_with_its_twin(shape: tuple[int, int], layout: str, dtype: Any) -> None:
    for seed, (weighted, threshold) in enumerate([(False, None), (True, None), (True, 0.5), (False, 0.0)]):
        X, codes, weight = _data(*shape, dtype, seed)
        given = (LAYOUTS[layout](X), codes, 4, weight if weighted else None, threshold)
        found, right = class_sums(*given), class_sums_twin(*given)
        np.testing.assert_array_equal(found[0], right[0])  # sums of whole numbers round nothing
        assert found[1] == right[1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_threads_do_not_change_a_bit(layout: str) -> None:
    rng = np.random.default_rng(3)
    X = LAYOUTS[layout](rng.random((40000, 30)) * (rng.random((40000, 30)) < 0.5))
    codes, weight = rng.integers(3, size=40000), rng.random(40000)
    one = class_sums(X, codes, 3, weight, _threads=1)[0]
    for threads in (2, 4):
        assert class_sums(X, codes, 3, weight, _threads=threads)[0].tobytes() == one.tobytes()
    np.testing.assert_allclose(one, class_sums_twin(X, codes, 3, weight)[0], rtol=1e-12)


def test_codes_that_do_not_fit_are_refused() -> None:
    X = np.zeros((4, 2))
    with pytest.raises(ValueError, match="not one of 0 to classes - 1"):
        class_sums(X, np.array([0, 1, 2, 0]), 2)
    with pytest.raises(ValueError, match="one entry for each row"):
        class_sums(X, np.array([0, 1, 1]), 2)
