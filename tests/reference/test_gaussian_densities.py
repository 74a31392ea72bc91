"""Densities of one and of several normal numbers, against their formulas."""

from __future__ import annotations

import numpy as np
import pytest

from surefit.core.errors import ParameterError
from surefit.distributions import MultivariateNormal, Normal


@pytest.mark.covers("cs443:5.1", by="distributions.MultivariateNormal")
def test_normal_densities_of_one_and_of_many_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=20)
    one = np.exp(-((x - 1.5) ** 2) / (2 * 0.7**2)) / np.sqrt(2 * np.pi * 0.7**2)
    np.testing.assert_allclose(Normal(1.5, 0.7).density(x), one, rtol=1e-13)
    root = rng.normal(size=(3, 3))
    covariance, mean, rows = root @ root.T + np.eye(3), rng.normal(size=3), rng.normal(size=(20, 3))
    squares = np.einsum("ij,jk,ik->i", rows - mean, np.linalg.inv(covariance), rows - mean)
    many = np.exp(-squares / 2) / np.sqrt((2 * np.pi) ** 3 * np.linalg.det(covariance))
    np.testing.assert_allclose(MultivariateNormal(mean, covariance).density(rows), many, rtol=1e-12)
    apart = MultivariateNormal([0.0, 0.0], [[4.0, 0.0], [0.0, 9.0]]).log_density(rows[:, :2])
    alone = Normal(0.0, 2.0).log_density(rows[:, 0]) + Normal(0.0, 3.0).log_density(rows[:, 1])
    np.testing.assert_allclose(apart, alone, rtol=1e-13)
    with pytest.raises(ParameterError, match="definite"):
        MultivariateNormal([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])
