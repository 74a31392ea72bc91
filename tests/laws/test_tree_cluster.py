"""Boosting and forests of rows that lie on a cluster: the trees of the rows in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surefit
from surefit.core.native.trees.forest_grow import NODE

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 4))
X[RNG.random(X.shape) < 0.05] = np.nan
Y = np.nan_to_num(X[:, 0] * X[:, 1]) + 0.3 * RNG.normal(size=900)


@pytest.fixture
def laid_out(client: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    arrays = pytest.importorskip("dask.array")
    for module in ("boosting.rows", "streams.setup"):
        monkeypatch.setattr(f"surefit.models.tree.{module}.MOST_BYTES", 0)  # nothing is gathered
    assert client.scheduler_info()["workers"]
    return arrays.from_array(X, chunks=(350, 4)), arrays.from_array(Y, chunks=350)


def test_boosting_on_a_cluster(laid_out: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rows, y = laid_out
    found = surefit.HistGradientBoostingRegressor(max_iter=2, max_leaf_nodes=6).fit(rows, y)
    assert surefit.verify(found, rows, y).holds
    monkeypatch.undo()
    whole = surefit.HistGradientBoostingRegressor(max_iter=2, max_leaf_nodes=6).fit(X, Y)
    np.testing.assert_array_equal(found.node_column_, whole.node_column_)
    np.testing.assert_array_equal(found.predict(X), whole.predict(X))


def test_a_forest_on_a_cluster(laid_out: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rows, y = laid_out
    found = surefit.RandomForestRegressor(2, max_depth=3, random_state=0).fit(rows, y)
    assert surefit.verify(found, rows, y).holds
    monkeypatch.undo()
    whole = surefit.RandomForestRegressor(2, max_depth=3, random_state=0, bootstrap="poisson").fit(X, Y)
    one, two = (model.nodes_.view(NODE).reshape(-1) for model in (found, whole))
    np.testing.assert_array_equal(np.maximum(one["feature"], -1), np.maximum(two["feature"], -1))
    np.testing.assert_allclose(one["threshold"], two["threshold"], rtol=1e-12)
