"""`verify` scores the splits of forests again, from the samples that trees drew or from all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surefit

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 6))
X[:, 3] = np.round(X[:, 3])
X[RNG.random(150) < 0.1, 4] = np.nan
SCORE = X[:, 0] * X[:, 1] + X[:, 2] + RNG.normal(size=150)
KINDS = ["RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor"]


def target(name: str) -> Any:
    return (SCORE > 0).astype(int) if name.endswith("Classifier") else 1e3 + SCORE


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("name", KINDS)
def test_a_split_that_is_not_the_best_of_its_node_is_found(name: str, bootstrap: bool) -> None:
    y = target(name)
    model = getattr(surefit, name)(2, bootstrap=bootstrap, max_features=2, random_state=0).fit(X, y)
    assert surefit.verify(model, X, y).holds
    model.max_features = 6  # as if more columns had been looked at: nodes have better splits then
    assert not surefit.verify(model, X, y).holds


def test_nodes_beyond_the_bins_are_scored_as_well() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1500, 3))
    y = (rows[:, 0] * rows[:, 1] + rng.normal(size=1500) > 0).astype(int)
    model = surefit.RandomForestClassifier(2, bootstrap=False, max_features=3, max_depth=4).fit(rows, y)
    assert model.searched_by_bins_
    assert surefit.verify(model, rows, y).holds
