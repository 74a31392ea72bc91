"""Comparing families by five folds: all of the library's that scikit-learn has, with the same settings tried.

Both loops prepare columns inside each fold, choose settings by three folds of its training rows and score by
the area under the ROC curve. The quality is the best family's mean score, within 0.005 of the best.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import inspect
import warnings
from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

FOLDS = 5
BASELINE = "MajorityClassifier"  # which scikit-learn calls a dummy


def cancer() -> Data:
    """Return the breast cancer table."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return {"X": X, "y": y}


def few() -> Data:
    """Return a part of it."""
    data = cancer()
    return {"X": data["X"][:150], "y": data["y"][:150]}


def families() -> dict[str, Any]:
    """Our entrants that scikit-learn has, by name."""
    from surefit.study.race.candidates import entrants

    return {
        entry.name: entry
        for entry in entrants("classification", np.array([0, 1]))
        if entry.name == BASELINE or theirs(entry.name) is not None
    }


def theirs(name: str) -> Any:
    """scikit-learn's class of a name, if there is one."""
    from sklearn import dummy, ensemble, linear_model, naive_bayes, neighbors, svm, tree

    if name == BASELINE:
        return dummy.DummyClassifier
    places = (ensemble, linear_model, naive_bayes, neighbors, svm, tree)
    return next((getattr(place, name) for place in places if hasattr(place, name)), None)


def ours(data: Data) -> dict[str, float]:
    """Our race: rows are prepared once a fold for all families, two folds at a time."""
    import pyarrow as pa

    from surefit.core.config import threads
    from surefit.evaluate.scoring.fold import chosen_metrics
    from surefit.study.race.nested_fold import Work
    from surefit.study.race.race import Standing, run_race
    from surefit.study.table.prepared_rows import RowsInMemory
    from surefit.study.table.typed import typed

    columns = {f"x{j}": data["X"][:, j] for j in range(data["X"].shape[1])}
    table = pa.table({**columns, "y": data["y"]})
    held = RowsInMemory.of(typed(table, dict.fromkeys(columns, "number"), "y"), "classification")
    found = list(families().values())
    metrics: Any = chosen_metrics(found[0].model(), "roc_auc_score", held.classes)
    race = run_race(
        Work(held, metrics),
        [Standing(entry) for entry in found],
        folds=FOLDS,
        deadline=float("inf"),
        jobs=threads(),
        repeats=1,
    )
    return {
        name: float(np.mean([f.scores["roc_auc_score"] for f in s.folds])) for name, s in race.in_it.items()
    }


def sklearn_loop(data: Data, jobs: int = 1) -> dict[str, float]:
    """The same loop over scikit-learn's classes, by its own means, so many folds at a time."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    found = {}
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for name, entry in families().items():
        cls = theirs(name)
        taken = inspect.signature(cls).parameters
        given = {key: value for key, value in entry.candidate.given.items() if key in taken}
        if "random_state" in taken:
            given["random_state"] = 0
        model = cls(**given)
        grid = {key: list(values) for key, values in entry.candidate.settings.items()}
        if grid:
            model = GridSearchCV(model, grid, cv=3, scoring="roc_auc")
        scaler = "passthrough" if entry.candidate.purpose == "tree" else StandardScaler()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = cross_validate(
                make_pipeline(scaler, model), data["X"], data["y"], cv=folds, scoring="roc_auc", n_jobs=jobs
            )
        found[name] = float(scores["test_score"].mean())
    return found


def best(data: Data, result: dict[str, float]) -> float:
    """Return the score of the best family."""
    return max(result.values())


TASK = Task(
    title="Comparing all families by five folds",
    cases=[Case("breast cancer, 569 x 30", cancer, bytes=8.0 * 569 * 30)],
    quick=Case("150 x 30", few, bytes=8.0 * 150 * 30),
    contenders=[
        Contender("surefit", ours, ["surefit.study.learn"], ours=True),
        Contender("scikit-learn", sklearn_loop, ["sklearn.ensemble", "sklearn.model_selection"]),
        Contender(
            "scikit-learn, two processes",
            partial(sklearn_loop, jobs=2),
            ["sklearn.ensemble", "sklearn.model_selection"],
        ),
    ],
    quality=Quality("area under the ROC curve of the best", best, better="higher", absolute=5e-3),
    timeout=120.0,
)
