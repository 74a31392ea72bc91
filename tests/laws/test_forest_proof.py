"""`verify` scores the splits of forests again, from the samples that trees drew or from all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surefit
from surefit.models.tree.forests import base as forest_proof
from surefit.models.tree.streams import setup as stream_setup

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


def test_what_was_scored_again_is_counted_and_nothing_is_said_in_words(monkeypatch: Any) -> None:
    y = target("RandomForestRegressor")
    model = surefit.RandomForestRegressor(5, random_state=0).fit(X, y)
    inner = [int((tree.tree_.feature >= 0).sum()) for tree in (model[0], model[2], model[4])]
    found = surefit.verify(model, X, y)
    assert found.parts["trees scored again"] == 3
    assert found.parts["splits scored again"] == sum(inner)
    assert "scored" not in found.statement
    monkeypatch.setattr(forest_proof, "CELLS", 10.0)
    none = surefit.verify(model, X, y)
    assert none.holds
    assert none.parts["splits scored again"] == 0
    assert "no split being scored again (a tree takes more than 1e+01 cells to prove)" in none.statement


def test_a_forest_of_large_nodes_says_that_no_split_was_scored(tmp_path: Any) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(6000, 3))
    y = rows[:, 0] + rng.normal(size=6000)
    asked = surefit.RandomForestRegressor(1, bootstrap=False, max_depth=1)
    assert "searched by bins" in surefit.verify(asked.fit(rows, y), rows, y).statement


def test_a_forest_of_a_stream_says_so(monkeypatch: Any) -> None:
    monkeypatch.setattr(stream_setup, "MOST_BYTES", 0)
    rows, y = np.nan_to_num(X), target("RandomForestRegressor")
    chunks = [(rows[i : i + 60], y[i : i + 60]) for i in range(0, 150, 60)]
    model = surefit.RandomForestRegressor(2, max_depth=2, random_state=0).fit(iter(chunks))
    found = surefit.verify(model, iter(chunks))
    assert found.holds
    assert "no split being scored again (the rows are a stream)" in found.statement
