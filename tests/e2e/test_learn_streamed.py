"""``surefit.learn`` on tables that are not held in memory: all rows for families that stream."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.e2e.cli import call, refused
from tests.e2e.studies import quick

import surefit


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files, whose last one differs, so that a sample of the first rows would be wrong."""
    place = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    for number in range(3):
        x = rng.normal(size=(400, 2))
        colour = rng.choice(["red", "blue"], 400)
        y = 2 * x[:, 0] + (colour == "red") + number + rng.normal(size=400) * 0.5
        table = pa.table({"a": x[:, 0], "b": x[:, 1], "colour": colour, "y": y, "side": y > 1.5})
        pq.write_table(table, place / f"part-{number}.parquet")
    return place


def test_families_that_stream_learn_from_all_rows_and_others_from_a_sample(folder: Path) -> None:
    study = quick(
        folder,
        "y",
        drop=["side"],
        models=["LinearRegression", "DecisionTreeRegressor"],
        folds=3,
        most_cells=900,
    )
    record = study.record
    rows = {entry.name: entry.rows for entry in record.leaderboard}
    assert record.table.rows == 1200
    assert record.table.sampled == 300
    assert rows == {"LinearRegression": 800, "MeanRegressor": 800, "DecisionTreeRegressor": 300}
    assert study.predictions is None
    assert record.importance[0].column == "a"
    whole = surefit.read(folder, target="y", columns=["a", "b", "colour"])
    held = surefit.make_pipeline(surefit.TablePreparer(), surefit.LinearRegression()).fit(whole)
    np.testing.assert_array_equal(study.model[-1].coef_, held[-1].coef_)
    folds = surefit.cross_validate(held, whole, split=3, metrics="root_mean_squared_error")
    own = next(entry for entry in record.leaderboard if entry.name == "LinearRegression")
    np.testing.assert_allclose(own.folds, folds.scores["root_mean_squared_error"], rtol=1e-9)


def test_a_family_that_does_not_stream_is_fitted_to_the_sample_and_the_script_as_well(
    folder: Path, tmp_path: Path
) -> None:
    options = {"drop": ["y"], "folds": 3, "most_cells": 1500, "metric": "log_loss"}
    study = quick(folder, "side", models=["DecisionTreeClassifier"], folder=tmp_path, **options)
    assert study.record.chosen.name == "DecisionTreeClassifier"
    assert "a sample of 500 rows" in study.record.chosen.why
    subprocess.run([sys.executable, "script.py"], check=True, capture_output=True, cwd=tmp_path)
    again = surefit.load(tmp_path / "model-again.safetensors")
    rows = surefit.read(folder, columns=["a", "b", "colour"])
    np.testing.assert_array_equal(again.predict_proba(rows), study.model.predict_proba(rows))


def test_classes_of_a_streamed_table_are_told_apart_with_a_threshold(folder: Path) -> None:
    study = quick(
        folder, "side", drop=["y"], models=["GaussianNB"], folds=3, most_cells=900, costs=(1.0, 4.0)
    )
    assert study.record.chosen.name == "GaussianNB"
    assert study.record.threshold is not None
    assert study.record.threshold.value < 0.5
    assert study.record.leaderboard[0].others["log_loss"][0] < 0.6


def test_a_dask_cluster_gives_the_same_scores(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is an extra")
    monkeypatch.setattr("surefit.report.write", lambda record, predictions, path: path)
    options = {"drop": ["side"], "models": ["LinearRegression"], "folds": 3, "most_cells": 900}
    here = quick(folder, "y", **options)
    given = ["learn", folder, "--target", "y", "--drop", "side", "--models", "LinearRegression", "--folds", 3]
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        there = call(
            *given, "--out", tmp_path, "--dask", cluster.scheduler_address, "--budget", 600, "--json"
        )
    assert there.code == 0
    for one, two in zip(here.record.leaderboard, there.json["leaderboard"], strict=True):
        np.testing.assert_allclose(one.folds, two["folds"][:3], rtol=1e-9)  # of the first cut
    monkeypatch.setattr("surefit.engine.dask.PATIENCE", 1)
    nobody = call(*given, "--out", tmp_path, "--dask", "tcp://127.0.0.1:1")
    refused(nobody, "no Dask scheduler answers at tcp://127.0.0.1:1")


@pytest.mark.slow
def test_a_million_rows_are_learnt_within_the_budget() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 8))
    y = X @ rng.normal(size=8) + rng.normal(size=1_000_000)
    table = pa.table({**{f"x{j}": X[:, j] for j in range(8)}, "y": y})
    study = surefit.learn(table, "y", budget=60.0)
    record = study.record
    assert record.chosen.name != record.baseline
    assert all("budget" in entry.failed for entry in record.leaderboard if entry.failed is not None)
    assert record.leaderboard[0].others["r2_score"][0] > 0.5
