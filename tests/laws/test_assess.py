"""Scores of models over arrays, frames and files: the same numbers, in one pass, by group or altogether."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import surefit
from surefit.core.errors import DataError, ParameterError, RefusalError

RNG = np.random.default_rng(0)
ROWS = 400
FRAME = pd.DataFrame(RNG.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
FRAME["b"] = np.round(FRAME["b"])
PRICE = FRAME["a"] - 2 * FRAME["b"] + RNG.normal(size=ROWS)
KIND = pd.Series(np.where(PRICE > 1, "high", np.where(PRICE > -1, "middle", "low")))
SIDE = pd.Series(np.where(PRICE > 0, "right", "left"))
COUNT = pd.Series(RNG.integers(0, 3, size=ROWS) * 1.0)

NUMBERS = ["r2_score", "mean_absolute_error", "median_absolute_error", "explained_variance_score"]
LABELS = ["accuracy_score", "confusion_matrix", "log_loss", "balanced_accuracy_score", "brier_score_loss"]
SIDES = [*LABELS, "roc_auc_score", "average_precision_score", "f1_score", "equal_error_rate"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows in several files."""
    path = tmp_path_factory.mktemp("rows")
    table = FRAME.assign(price=PRICE, kind=KIND, side=SIDE, count=COUNT)
    for number, part in enumerate(np.array_split(np.arange(ROWS), 5)):
        table.iloc[part].to_parquet(path / f"{number}.parquet")
    return path


def check(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_allclose(one[name], two[name], rtol=1e-11, err_msg=name)


def files(folder: Path, target: str, tmp: Path, weight: bool = False) -> str:
    """A copy of the files with the columns of the model, the target and perhaps the weights."""
    for file in sorted(folder.glob("*.parquet")):
        columns = ["a", "b", "c", target, *(["count"] if weight else [])]
        pd.read_parquet(file, columns=columns).to_parquet(tmp / file.name)
    return str(tmp)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("model", "target", "names"),
    [
        (surefit.LinearRegression(), ("price", PRICE), NUMBERS),
        (surefit.make_pipeline(surefit.StandardScaler(), surefit.Ridge()), ("price", PRICE), NUMBERS),
        (surefit.GaussianNB(), ("kind", KIND), LABELS),
        (surefit.GaussianNB(), ("side", SIDE), SIDES),
        (LogisticRegression(), ("side", SIDE), SIDES),
    ],
    ids=["regression", "pipeline", "classes", "two classes", "scikit-learn"],
)
def test_files_score_as_memory_does(
    model: Any, target: Any, names: list[str], weighted: bool, folder: Path, tmp_path: Path
) -> None:
    name, y = target
    model.fit(FRAME, y)
    weight = COUNT.to_numpy() if weighted else None
    memory = surefit.assess(model, FRAME, y, metrics=names, sample_weight=weight)
    path = files(folder, name, tmp_path, weighted)
    streamed = surefit.assess(model, path, name, metrics=names, sample_weight="count" if weighted else None)
    check(streamed, memory)


def test_groups_of_files_and_of_memory(folder: Path, tmp_path: Path) -> None:
    model = surefit.LinearRegression().fit(FRAME, PRICE)
    path = files(folder, "price", tmp_path)
    by_file = surefit.assess(model, path, "price", metrics=NUMBERS, by="b")
    by_array = surefit.assess(model, FRAME, PRICE, metrics=NUMBERS, by=FRAME["b"])
    for name in NUMBERS:
        assert by_file[name].keys() == by_array[name].keys() == set(np.unique(FRAME["b"]))
        for group, score in by_array[name].items():
            rows = FRAME["b"] == group
            alone = surefit.assess(model, FRAME[rows], PRICE[rows], metrics=name)[name]
            np.testing.assert_allclose([score, by_file[name][group]], [alone, alone], rtol=1e-11)


def test_a_table_is_read_once(monkeypatch: pytest.MonkeyPatch, folder: Path, tmp_path: Path) -> None:
    from surefit.data.source import TableSource

    model = surefit.LinearRegression().fit(FRAME, PRICE)
    path = files(folder, "price", tmp_path)
    rows = []
    converted = TableSource.converted

    def counted(self: Any, batch: Any, start: int) -> Any:
        rows.append(batch.num_rows)
        return converted(self, batch, start)

    monkeypatch.setattr(TableSource, "converted", counted)
    surefit.assess(model, path, "price", metrics=NUMBERS)
    assert sum(rows) == ROWS


def test_what_cannot_be_scored_is_said() -> None:
    model = surefit.LinearRegression().fit(FRAME, PRICE)
    with pytest.raises(
        RefusalError, match="log_loss needs predict_proba, which LinearRegression does not have"
    ):
        surefit.assess(model, FRAME, KIND, metrics="log_loss")
    with pytest.raises(RefusalError, match="silhouette_score is not a score of predictions"):
        surefit.assess(model, FRAME, PRICE, metrics="silhouette_score")
    with pytest.raises(ParameterError, match="r2_score is named twice"):
        surefit.assess(model, FRAME, PRICE, metrics=["r2_score", "r2_score"])
    with pytest.raises(DataError, match="y is missing"):
        surefit.assess(model, FRAME, metrics="r2_score")
