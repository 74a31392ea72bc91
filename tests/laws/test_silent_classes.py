"""Classes of weight 0: their rows take no part, in memory and in streams, as rows of weight 0 do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import surefit
from surefit import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from surefit.core.errors import DataError

ROWS = 900
RNG = np.random.default_rng(0)
X = np.clip(np.round(RNG.normal(size=(ROWS, 3)), 1), -3, 3)
X[RNG.random(X.shape) < 0.03] = np.nan
Y = np.digitize(np.nan_to_num(X[:, 0] * X[:, 1] + X[:, 2]) + RNG.normal(size=ROWS), [-1, 1])
X[Y == 0, 2] += 0.05  # between the values of the others, and far beyond them
X[np.flatnonzero(Y == 0)[:40], 0] = 50.0
HEARD = (Y != 0).astype(float)
WEIGHTS = {0: 0.0, 1: 1.0, 2: 1.0}
FRAME = pd.DataFrame(X, columns=list("abc"))

MODELS: dict[str, Any] = {
    "tree": DecisionTreeClassifier(max_depth=5, split_search="histogram"),
    "shares of rows": DecisionTreeClassifier(split_search="histogram", min_samples_leaf=0.03),
    "forest": RandomForestClassifier(3, random_state=0, max_depth=5, bootstrap="poisson"),
    "all rows": RandomForestClassifier(3, random_state=0, bootstrap=False, min_samples_split=0.05),
    "drawn thresholds": ExtraTreesClassifier(3, random_state=0, max_depth=5),
    "boosting": HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=8),
    "stopping": HistGradientBoostingClassifier(max_iter=4, early_stopping=True, random_state=0),
}


def written(folder: Path, table: pd.DataFrame) -> str:
    """Three files of a table."""
    folder.mkdir()
    for number, part in enumerate(np.split(np.arange(len(table)), [200, 201])):
        table.iloc[part].to_parquet(folder / f"{number}.parquet")
    return f"{folder}/*.parquet"


def same(one: Any, two: Any) -> None:
    """Compare what both have learnt, bit for bit but for what sums of losses round."""
    for name, value in vars(one).items():
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
            np.testing.assert_allclose(value, getattr(two, name), rtol=1e-12, err_msg=name)
    np.testing.assert_array_equal(one.predict_proba(FRAME), two.predict_proba(FRAME))


@pytest.mark.parametrize("name", MODELS)
def test_they_are_rows_of_weight_zero(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, silent = MODELS[name], clone(MODELS[name]).set_params(class_weight=WEIGHTS)
    by_rows = clone(plain).fit(FRAME, Y, sample_weight=HEARD)
    in_memory = clone(silent).fit(FRAME, Y)
    same(in_memory, by_rows)
    bare = written(tmp_path / "bare", FRAME.assign(y=Y))
    heavy = written(tmp_path / "heavy", FRAME.assign(y=Y, w=HEARD))
    for place in ("boosting.rows", "streams.setup"):
        monkeypatch.setattr(f"surefit.models.tree.{place}.MOST_BYTES", 0)
    streamed = clone(silent).fit(bare, "y")
    same(streamed, clone(plain).fit(heavy, "y", sample_weight="w"))
    np.testing.assert_allclose(streamed.predict_proba(FRAME), in_memory.predict_proba(FRAME), rtol=1e-12)
    assert (streamed.predict_proba(FRAME)[:, 0] < 1e-6).all()
    assert surefit.verify(streamed, bare, "y").holds
    assert surefit.verify(in_memory, FRAME, Y).holds
    wrong = np.where(np.arange(ROWS) < 300, 3 - np.maximum(Y, 1), Y)
    assert not surefit.verify(in_memory, FRAME, wrong).holds


@pytest.mark.parametrize("name", MODELS)
def test_what_their_cells_hold_changes_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = clone(MODELS[name]).set_params(class_weight=WEIGHTS)
    other = FRAME.where(pd.Series(Y != 0), -7.25)
    assert not other.equals(FRAME)
    same(clone(silent).fit(FRAME, Y), clone(silent).fit(other, Y))
    for place in ("boosting.rows", "streams.setup"):
        monkeypatch.setattr(f"surefit.models.tree.{place}.MOST_BYTES", 0)
    one = clone(silent).fit(written(tmp_path / "one", FRAME.assign(y=Y)), "y")
    same(one, clone(silent).fit(written(tmp_path / "two", other.assign(y=Y)), "y"))


@pytest.mark.parametrize("name", ["tree", "forest", "boosting"])
def test_one_class_must_be_heard(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = clone(MODELS[name]).set_params(class_weight=dict.fromkeys(range(3), 0.0))
    with pytest.raises(DataError, match="class_weight is 0 for every class"):
        silent.fit(FRAME, Y)
    for place in ("boosting.rows", "streams.setup"):
        monkeypatch.setattr(f"surefit.models.tree.{place}.MOST_BYTES", 0)
    with pytest.raises(DataError, match="class_weight is 0 for every class"):
        silent.fit(written(tmp_path / "all", FRAME.assign(y=Y)), "y")
