"""Block coordinate descent: the compiled kernel does what its twin does, and ends at the minimum."""

from __future__ import annotations

import numpy as np
import pytest

from surefit.core.native.linear.task_cd import row_gap, row_gap_twin, task_cd, task_cd_twin


@pytest.mark.parametrize("outputs", [1, 2, 7])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_sweep_for_sweep_like_the_twin(outputs, l2):
    rng = np.random.default_rng(outputs)
    A, C = rng.normal(size=(30, 12)), rng.normal(size=(12, outputs))
    G = np.zeros((15, 15))
    G[:12, :12] = A.T @ A / 30
    G[3, :] = G[:, 3] = 0.0  # a column without spread
    levels = rng.uniform(0.0, 1.0, size=12), np.full(12, l2)
    start = rng.normal(size=(12, outputs))
    found = []
    for descend in (task_cd, task_cd_twin):
        W, gradient = start.copy(), np.empty_like(start)
        sweeps, gap = descend(G, C, *levels, W, gradient, outside=40.0, tolerance=1e-13, most=7)
        found.append((sweeps, gap, W, gradient))
    assert found[0][0] == found[1][0]
    for mine, its in zip(found[0][1:], found[1][1:], strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found[0][3], G[:12, :12] @ found[0][2] - C, atol=1e-12)


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_the_gap_is_that_of_its_twin_and_bounds_the_distance(l2):
    rng = np.random.default_rng(3)
    A, Y = rng.normal(size=(40, 6)), rng.normal(size=(40, 3))
    G, C, energy = A.T @ A / 40, A.T @ Y / 40, float(np.sum(Y * Y)) / 40
    levels = np.full(6, 0.2), np.full(6, l2)

    def objective(W):
        norm = np.linalg.norm(W, axis=1)
        return np.sum((Y - A @ W) ** 2) / 80 + levels[0] @ norm + 0.5 * levels[1] @ norm**2

    best, gradient = np.zeros((6, 3)), np.empty((6, 3))
    task_cd(G, C, *levels, best, gradient, outside=energy, tolerance=0.0, most=999)
    for size in (0.0, 0.01, 1.0):
        W = best + size * rng.normal(size=best.shape)
        slopes, rr = G @ W - C, float(np.sum((Y - A @ W) ** 2)) / 40
        gap = row_gap(W, slopes, *levels, rr)
        assert gap == pytest.approx(row_gap_twin(W, slopes, *levels, rr), rel=1e-12, abs=1e-15)
        assert objective(W) - objective(best) <= gap + 1e-14
        assert (gap < 1e-12) == (size == 0)


def test_ends_when_nothing_moves():
    W, gradient = np.zeros((2, 2)), np.empty((2, 2))
    goal = {"outside": 4.0, "tolerance": -1.0, "most": 99}
    sweeps, gap = task_cd(np.eye(2), np.ones((2, 2)), np.ones(2), np.zeros(2), W, gradient, **goal)
    assert (sweeps, gap) == (2, pytest.approx(0.0, abs=1e-15))
    np.testing.assert_allclose(W, 1 - 1 / np.sqrt(2))
