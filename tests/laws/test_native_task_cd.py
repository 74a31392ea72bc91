"""Block coordinate descent: the compiled kernel does what its twin does, and ends at the minimum."""

from __future__ import annotations

import numpy as np
import pytest

from surefit.core.native.task_cd import task_cd, task_cd_twin


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
        sweeps = descend(G, C, *levels, W, gradient, least=1e-13, most=7)
        found.append((sweeps, W, gradient))
    assert found[0][0] == found[1][0]
    for mine, its in zip(found[0][1:], found[1][1:], strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found[0][2], G[:12, :12] @ found[0][1] - C, atol=1e-12)


def test_ends_when_nothing_moves():
    W, gradient = np.zeros((2, 2)), np.empty((2, 2))
    assert task_cd(np.eye(2), np.ones((2, 2)), np.ones(2), np.zeros(2), W, gradient, least=0.0, most=99) == 2
    np.testing.assert_allclose(W, 1 - 1 / np.sqrt(2))
