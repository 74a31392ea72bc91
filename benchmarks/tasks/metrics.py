"""Metrics of ten million rows: the area under the ROC curve, average precision, labels, numbers.

A case names a metric and its data; every contender calls the metric of that name. scikit-learn-intelex speeds
up the area under the ROC curve alone, and is scikit-learn for the rest.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

ROWS = 10**7
SCORES = {"roc_auc_score", "average_precision_score"}
CHANCES = {"log_loss", "brier_score_loss"}
POSITIVE = {"mean_poisson_deviance", "mean_squared_log_error"}
LABELS = {"confusion_matrix", "accuracy_score", "f1_score", "matthews_corrcoef"}
OPTIONS: dict[str, dict[str, Any]] = {"f1_score": {"average": "macro"}}


def make(name: str, rows: int, kind: str = "float64") -> Data:
    """Return truth and prediction, and the name of the metric as an array."""
    rng = np.random.default_rng(0)
    data: dict[str, Any] = {"metric": np.array(name)}
    if name in SCORES | CHANCES:
        truth: Any = rng.integers(2, size=rows)
        score = truth + 1.5 * rng.standard_normal(rows)
        score = 1 / (1 + np.exp(-score)) if name in CHANCES else score
        score = np.round(score, 2) if kind == "ties" else score
        data |= {"truth": truth, "prediction": score.astype(np.float32 if kind == "float32" else np.float64)}
    elif name in LABELS:
        names = np.array(["eggs", "ham", "spam"]) if kind == "text" else np.arange(5)
        truth, other = rng.integers(len(names), size=(2, rows))
        data |= {"truth": names[truth], "prediction": names[np.where(rng.random(rows) < 0.6, truth, other)]}
    else:
        truth = rng.standard_normal(rows)
        guess = truth + 0.5 * rng.standard_normal(rows)
        pair = (np.exp(truth), np.exp(guess)) if name in POSITIVE else (truth, guess)
        data |= {"truth": pair[0], "prediction": pair[1]}
    if kind == "weights":
        data["weight"] = rng.uniform(0.5, 2, size=rows)
    return data


def call(module: Any, data: Data) -> Any:
    """Call the metric of a module."""
    name = str(data["metric"])
    options = {**OPTIONS.get(name, {}), **({"sample_weight": data["weight"]} if "weight" in data else {})}
    return getattr(module, name)(data["truth"], data["prediction"], **options)


def surefit_metric(data: Data) -> Any:
    """Ours."""
    from surefit import metrics

    return call(metrics, data)


def sklearn_metric(data: Data) -> Any:
    """scikit-learn's."""
    from sklearn import metrics

    return call(metrics, data)


def sklearnex_metric(data: Data) -> Any:
    """oneDAL's where it has one, through scikit-learn's face."""
    from sklearn import metrics
    from sklearnex.metrics import roc_auc_score

    return roc_auc_score(data["truth"], data["prediction"]) if _plain_auc(data) else call(metrics, data)


def _plain_auc(data: Data) -> bool:
    return str(data["metric"]) == "roc_auc_score" and "weight" not in data


def difference(data: Data, result: Any) -> float:
    """Return the largest difference from the same metric, computed in numpy."""
    truth, guess = data["truth"], data["prediction"]
    weight = data.get("weight", np.ones(len(truth)))
    return float(
        np.abs(np.asarray(result, dtype=np.float64) - plain(str(data["metric"]), truth, guess, weight)).max()
    )


def plain(name: str, truth: Any, guess: Any, weight: Any) -> Any:
    """The metric by its definition."""
    if name in SCORES:
        levels, place = np.unique(guess, return_inverse=True)
        hits, alarms = (np.bincount(place, weight * (truth == k), len(levels))[::-1] for k in (1, 0))
        above = np.cumsum(hits)
        if name == "roc_auc_score":
            return alarms @ (above - hits / 2) / (hits.sum() * alarms.sum())
        return hits @ (above / np.cumsum(hits + alarms)) / hits.sum()
    if name in CHANCES:
        given = np.where(truth == 1, guess, 1 - guess)
        return np.average(-np.log(given) if name == "log_loss" else (1 - given) ** 2, weights=weight)
    if name in LABELS:
        names = np.unique(truth)
        table = np.array([[weight @ ((truth == a) & (guess == b)) for b in names] for a in names])
        true, predicted, right = table.sum(axis=1), table.sum(axis=0), np.diagonal(table)
        total = table.sum()
        spread = (total**2 - true @ true) * (total**2 - predicted @ predicted)
        return {
            "confusion_matrix": table,
            "accuracy_score": right.sum() / total,
            "f1_score": np.mean(2 * right / (true + predicted)),
            "matthews_corrcoef": (right.sum() * total - true @ predicted) / np.sqrt(spread),
        }[name]
    if name == "median_absolute_error":
        return np.median(np.abs(truth - guess))
    if name == "r2_score":
        return 1 - np.mean((truth - guess) ** 2) / truth.var()
    values = {
        "mean_squared_error": lambda: (truth - guess) ** 2,
        "mean_absolute_error": lambda: np.abs(truth - guess),
        "mean_squared_log_error": lambda: (np.log1p(truth) - np.log1p(guess)) ** 2,
        "mean_poisson_deviance": lambda: 2 * (truth * np.log(truth / guess) - truth + guess),
    }
    return np.average(values[name](), weights=weight)


def case(name: str, kind: str = "float64", rows: int = ROWS) -> Case:
    """Return a case with its least work: truth and prediction read once."""
    shown = name if kind == "float64" else f"{name}, {kind}"
    return Case(
        f"{shown}, {rows:.0e} rows".replace("e+0", "e"), partial(make, name, rows, kind), bytes=16.0 * rows
    )


TASK = Task(
    title="Metrics",
    cases=[
        case("roc_auc_score"),
        case("roc_auc_score", "float32"),
        case("roc_auc_score", "ties"),
        case("roc_auc_score", "weights"),
        case("average_precision_score"),
        case("accuracy_score"),
        case("confusion_matrix"),
        case("confusion_matrix", "text"),
        case("confusion_matrix", "weights"),
        case("f1_score"),
        case("matthews_corrcoef"),
        case("log_loss"),
        case("brier_score_loss"),
        case("mean_squared_error"),
        case("mean_squared_error", "weights"),
        case("mean_absolute_error"),
        case("median_absolute_error"),
        case("r2_score"),
        case("mean_squared_log_error"),
        case("mean_poisson_deviance"),
    ],
    quick=case("roc_auc_score", rows=20_000),
    contenders=[
        Contender("surefit", surefit_metric, ["surefit.metrics"], ours=True),
        Contender("scikit-learn", sklearn_metric, ["sklearn.metrics"]),
        Contender("scikit-learn-intelex", sklearnex_metric, ["sklearnex.metrics"]),
    ],
    quality=Quality("difference", difference, better="lower", absolute=1e-6),
)
