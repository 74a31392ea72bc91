"""Gaussian naive Bayes on 50 columns and 5 classes: fitting, predicting many rows, predicting one at a time.

A model to predict with is fitted beforehand, untimed. The quality figure is the share of 1000 rows that get
another class than by two careful passes.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

CLASSES = 5
CHECKED = 1000
SINGLE = 200  # rows predicted one by one
Fit = Callable[[np.ndarray, np.ndarray], Any]
Predict = Callable[[Any, np.ndarray], np.ndarray]


def make(stage: str, rows: int, columns: int) -> Data:
    """Return normal classes that overlap, far from zero, and the right answers for some rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=rows)
    centres, scales = rng.normal(size=(CLASSES, columns)), rng.uniform(0.5, 4.0, (CLASSES, columns))
    X = rng.standard_normal((rows, columns))
    for c in range(CLASSES):
        X[y == c] = 100.0 + centres[c] + scales[c] * X[y == c]
    return {"X": X, "y": y, "stage": np.array(stage), "right": best_classes(X, y)}


def best_classes(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the most probable class of the first rows, by means and variances in two passes."""
    scores = []
    for c in range(CLASSES):
        mine = X[y == c]
        mean = mine.mean(axis=0)
        var = ((mine - mean) ** 2).mean(axis=0)
        square = ((X[:CHECKED] - mean) ** 2 / var).sum(axis=1)
        scores.append(np.log(len(mine)) - 0.5 * np.log(var).sum() - 0.5 * square)
    return np.argmax(scores, axis=0)


def wrong(data: Data, result: Any) -> float:
    """Return the share of the checked rows with another class than the right one."""
    labels = result(data["X"][:CHECKED]) if callable(result) else result[:CHECKED]
    return float(np.mean(np.asarray(labels).ravel() != data["right"][: len(labels)]))


def contender(
    name: str, fit: Fit, predict: Predict, requires: Sequence[str], ours: bool = False
) -> Contender:
    """Make a contender for every stage of two functions."""

    def prepare(data: Data) -> tuple[Data, Any]:
        return data, None if data["stage"] == "fit" else fit(data["X"], data["y"])

    def call(given: tuple[Data, Any]) -> Any:
        data, model = given
        if data["stage"] == "fit":
            return partial(predict, fit(data["X"], data["y"]))
        if data["stage"] == "predict":
            return predict(model, data["X"])
        return np.concatenate([predict(model, data["X"][i : i + 1]) for i in range(SINGLE)])

    return Contender(name, call, requires, ours, prepare)


def surefit_fit(X: np.ndarray, y: np.ndarray) -> Any:
    """Ours."""
    from surefit import GaussianNB

    return GaussianNB().fit(X, y)


def sklearn_fit(X: np.ndarray, y: np.ndarray) -> Any:
    """scikit-learn's."""
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB().fit(X, y)


def labels(model: Any, X: np.ndarray) -> np.ndarray:
    """Predict as all of scikit-learn's kind do."""
    found: np.ndarray = model.predict(X)
    return found


def mlpack_fit(X: np.ndarray, y: np.ndarray) -> Any:
    """The naive Bayes of mlpack."""
    import mlpack

    return mlpack.nbc(training=X, labels=y)["output_model"]


def mlpack_labels(model: Any, X: np.ndarray) -> np.ndarray:
    """Predict with mlpack."""
    import mlpack

    found: np.ndarray = mlpack.nbc(input_model=model, test=X)["predictions"]
    return found


def case(stage: str, rows: int, columns: int = 50) -> Case:
    """Return a case with its least work: X read once, and for a prediction three operations a class."""
    counted = SINGLE if stage == "single" else rows
    flops = 0.0 if stage == "fit" else 3.0 * counted * columns * CLASSES
    what = f"{SINGLE} rows, one by one" if stage == "single" else f"{stage} {rows:.0e} x {columns}"
    return Case(what, partial(make, stage, rows, columns), flops, 8.0 * counted * columns)


TASK = Task(
    title="Gaussian naive Bayes, float64",
    cases=[
        case("fit", 10**5),
        case("fit", 10**6),
        case("predict", 10**5),
        case("predict", 10**6),
        case("single", 10**5),
    ],
    quick=case("fit", 2000, 10),
    contenders=[
        contender("surefit", surefit_fit, labels, ["surefit.models.bayes.gaussian_nb"], ours=True),
        contender("scikit-learn", sklearn_fit, labels, ["sklearn.naive_bayes"]),
        contender("mlpack nbc", mlpack_fit, mlpack_labels, ["mlpack"]),
    ],
    quality=Quality("wrong classes", wrong, better="lower", absolute=0.002),
)
