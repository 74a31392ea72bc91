"""What the intervals of a study promise, measured on tables whose truth is known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import surefit
from surefit.evaluate.search.selection_bias import corrected_by_folds

ROWS, COLUMNS, NOISE = 60, 4, 0.7


def drawn(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(rows, COLUMNS))
    return X, X[:, 0] - 0.5 * X[:, 1] + NOISE * rng.normal(size=rows)


def covered(seed: int, repeats: int) -> tuple[bool, bool]:
    """Whether the interval of the chosen model holds its error on new rows, and who was chosen."""
    rng = np.random.default_rng(seed)
    X, y = drawn(rng, ROWS)
    table = pa.table({**{f"x{j}": X[:, j] for j in range(COLUMNS)}, "y": y})
    models = ["LinearRegression", "RidgeCV"]
    study = surefit.learn(table, "y", models=models, repeats=repeats, budget=600.0)
    new, truth = drawn(rng, 20_000)
    rows = pa.table({f"x{j}": new[:, j] for j in range(COLUMNS)})
    error = float(np.sqrt(np.mean((study.model.predict(rows) - truth) ** 2)))
    score = study.record.score
    assert score is not None
    return score.low <= error <= score.high, study.record.chosen.name != "MeanRegressor"


def test_intervals_of_the_chosen_model_hold_what_new_rows_show() -> None:
    found = np.array([covered(seed, 2) for seed in range(10)])
    # Of 10 intervals of 95 % fewer than 8 hold with a chance of 1 in 80.
    assert found[:, 0].sum() >= 8
    assert found[:, 1].sum() >= 8


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say_when_folds_are_cut_anew() -> None:
    found = np.array([covered(seed, 4)[0] for seed in range(1000, 1300)])
    assert found.mean() >= 0.95


@pytest.mark.slow
def test_skill_is_found_in_noise_no_more_often_than_the_level_allows() -> None:
    false = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        table = pa.table({**{f"x{j}": rng.normal(size=60) for j in range(5)}, "y": rng.normal(size=60)})
        models = ["LinearRegression", "RidgeCV", "BayesianRidge"]
        study = surefit.learn(table, "y", models=models, folds=5, repeats=2, budget=600.0)
        false += study.record.chosen.name != "MeanRegressor"
    assert false <= 0.05 * 200 + 3 * np.sqrt(200 * 0.05 * 0.95)


def test_more_repeats_narrow_the_intervals() -> None:
    rng = np.random.default_rng(5)
    X, y = drawn(rng, ROWS)
    table = pa.table({**{f"x{j}": X[:, j] for j in range(COLUMNS)}, "y": y})
    widths = []
    for repeats in (1, 8):
        study = surefit.learn(table, "y", models=["LinearRegression"], folds=5, repeats=repeats, budget=600.0)
        entry = study.record.leaderboard[0]
        assert len(entry.folds) == 5 * repeats
        assert entry.low is not None
        assert entry.high is not None
        widths.append(entry.high - entry.low)
    assert widths[1] < widths[0]


def test_the_score_of_the_best_of_many_equals_is_lowered() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20, 10))
    best = scores.mean(axis=1).max()
    assert corrected_by_folds(scores, 1.0, "score").estimate < best - 0.1
