"""Scores of normal densities against their twin and against scipy: layouts, precisions, offsets, scales."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from surefit.core.native.scores.normal_scores import (
    best_normal,
    best_normal_twin,
    normal_scores,
    normal_scores_twin,
)


def _densities(columns: int, count: int, offset: float = 0.0, scale: float = 1.0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(columns)
    mean = offset + scale * rng.standard_normal((count, columns))
    return mean, rng.uniform(0.5, 2.0, (count, columns)) / scale, rng.standard_normal(count)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (3, 8), (4, 9), (5, 700), (3001, 50)], ids=str)
def test_the_kernel_agrees_with_its_twin(shape: tuple[int, int], order: Any, dtype: Any) -> None:
    X = np.asarray(np.random.default_rng(0).standard_normal(shape), dtype=dtype, order=order)
    densities = _densities(shape[1], 4)
    right = normal_scores_twin(X, *densities)
    np.testing.assert_allclose(normal_scores(X, *densities), right, rtol=1e-12)
    np.testing.assert_array_equal(best_normal(X, *densities), best_normal_twin(X, *densities))


def test_threads_and_neighbours_do_not_change_a_bit() -> None:
    X, densities = np.random.default_rng(1).standard_normal((5003, 13)), _densities(13, 3)
    one = normal_scores(X, *densities, _threads=1)
    assert normal_scores(X, *densities, _threads=4).tobytes() == one.tobytes()
    assert normal_scores(X[17:18], *densities).tobytes() == one[17:18].tobytes()
    np.testing.assert_array_equal(best_normal(X, *densities, _threads=4), one.argmax(axis=1))


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e12])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_neither_offset_nor_scale_costs_digits(offset: float, scale: float) -> None:
    # Whole steps of a power of two, so that shifting and scaling the rows rounds nothing.
    unit = 2.0 ** np.round(np.log2(scale))
    shift = unit * 2.0 ** np.round(np.log2(offset)) if offset else 0.0
    steps = np.random.default_rng(2).integers(-64, 64, (500, 9)) / 8.0
    mean, factor = np.round(8 * _densities(9, 3)[0]) / 8, _densities(9, 3)[1]
    right = normal_scores_twin(steps, mean, factor, np.zeros(3))
    found = normal_scores(steps * unit + shift, mean * unit + shift, factor / unit, np.zeros(3))
    np.testing.assert_allclose(found, right, rtol=1e-12)


def test_scores_are_the_log_densities_that_scipy_gives() -> None:
    X, (mean, factor, _) = np.random.default_rng(3).standard_normal((40, 6)), _densities(6, 2)
    offset = np.log(factor).sum(axis=1) - 3 * np.log(2 * np.pi)
    right = np.stack(
        [norm.logpdf(X, m, 1 / f).sum(axis=1) for m, f in zip(mean, factor, strict=True)], axis=1
    )
    np.testing.assert_allclose(normal_scores(X, mean, factor, offset), right, rtol=1e-13)


@pytest.mark.parametrize("best", [best_normal, best_normal_twin])
def test_the_first_of_equals_wins_and_where_no_density_reaches_the_answer_is_given(best: Any) -> None:
    mean, factor = np.array([[0.0], [2.0], [0.0]]), np.array([[1.0], [1.0], [1.0]])
    X = np.array([[1.0], [0.0], [1e200]])
    assert best(X, mean, factor, np.zeros(3), 2).tolist() == [0, 0, 2]
    assert best(X, mean, factor, np.array([-np.inf, 0.0, 0.0]), 1).tolist() == [1, 2, 1]


def test_shapes_that_do_not_fit_are_refused() -> None:
    X, (mean, factor, offset) = np.zeros((4, 3)), _densities(3, 2)
    with pytest.raises(ValueError, match="one column for each column of X"):
        normal_scores(X[:, :2].copy(), mean, factor, offset)
    with pytest.raises(ValueError, match="equally many"):
        normal_scores(X, mean, factor, offset[:1])
    with pytest.raises(ValueError, match="C order"):
        best_normal(X, np.asfortranarray(mean), factor, offset)
