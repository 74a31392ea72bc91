"""Permutation importance of a fitted forest and of a fitted linear model, five shufflings of 28 columns."""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task


def make(rows: int, forest: bool) -> Data:
    """Return a table in which eight of 28 columns matter: numbers for a line, classes for a forest."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 28))
    y = X[:, :8] @ rng.standard_normal(8) + rng.standard_normal(rows)
    return {"X": X, "y": (y > 0).astype(int) if forest else y, "forest": np.array(forest)}


def fitted(data: Data) -> dict[str, Any]:
    """Fit the model, the same for all contenders."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import Ridge

    model: Any = RandomForestClassifier(100, n_jobs=2, random_state=0) if data["forest"] else Ridge()
    return {**data, "model": model.fit(data["X"], data["y"])}


def fitted_by_us(data: Data) -> dict[str, Any]:
    """Fit our own model of the kind."""
    from surefit import RandomForestClassifier, Ridge

    model: Any = RandomForestClassifier(100, random_state=0) if data["forest"] else Ridge()
    return {**data, "model": model.fit(data["X"], data["y"])}


def error(data: Data, result: Any) -> float:
    """Return the largest importance given to a column that does not matter."""
    return float(np.max(np.abs(np.asarray(result)[8:])))


def surefit_importance(data: dict[str, Any]) -> Any:
    """Ours, which does not ask the model again."""
    from surefit import permutation_importance

    return permutation_importance(data["model"], data["X"], data["y"], repeats=5).mean


def sklearn_importance(data: dict[str, Any]) -> Any:
    """scikit-learn's, which predicts anew for each column and shuffling."""
    from sklearn.inspection import permutation_importance

    jobs = None if data["forest"] else 2
    found = permutation_importance(
        data["model"], data["X"], data["y"], n_repeats=5, random_state=0, n_jobs=jobs
    )
    return found.importances_mean


def case(name: str, rows: int, forest: bool) -> Case:
    """Return a case with its least work: X read once a shuffling."""
    return Case(name, partial(make, rows, forest), bytes=5 * 8.0 * rows * 28)


TASK = Task(
    title="Permutation importance, 28 columns, 5 shufflings",
    cases=[case("linear, 2e4 rows", 20_000, False), case("forest of 100, 2e4 rows", 20_000, True)],
    quick=case("linear, 1000 rows", 1000, False),
    contenders=[
        Contender(
            "surefit",
            surefit_importance,
            ["surefit.evaluate.explain.permutation_importance"],
            prepare=fitted,
            ours=True,
        ),
        Contender(
            "surefit, its own model",
            surefit_importance,
            ["surefit.evaluate.explain.permutation_importance"],
            prepare=fitted_by_us,
            ours=True,
        ),
        Contender("scikit-learn", sklearn_importance, ["sklearn.inspection"], prepare=fitted),
    ],
    quality=Quality("largest of useless columns", error, better="lower", absolute=2e-2),
)
