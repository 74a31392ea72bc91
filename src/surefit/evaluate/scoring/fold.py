"""One fold: a copy of the whole model is fitted on its training rows and answers for its test rows."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.metaestimators import _safe_split

from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.registry import lookup, members
from surefit.evaluate.rows.source_models import weights_for
from surefit.evaluate.scoring.assess import answering_method, told_of_classes
from surefit.metrics.base import Metric
from surefit.metrics.usual import usual_metrics
from surefit.resample.choose import Pair

Scorer = Metric | Callable[..., float]


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """What is kept of a fold: scores, answers for its test rows by method, seconds, perhaps the model."""

    scores: Mapping[str, float]
    train_scores: Mapping[str, float]
    answers: Mapping[str, Any]
    fit_seconds: float
    score_seconds: float
    model: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class FoldWork:
    """Fits and scores folds of rows in memory."""

    model: Any
    metrics: Mapping[str, Scorer]
    X: Any
    y: Any
    weight: Any = None
    classes: Any = None
    train_scores: bool = False
    keep_models: bool = False
    shared: bool = False
    settings: Mapping[str, Any] = field(
        default_factory=get_config
    )  # of the caller: scikit-learn's are a thread's

    def __call__(self, pair: Pair) -> Fold:
        """Work on one pair of train and test."""
        with config_context(**self.settings):
            return self._fold(*pair)

    def _fold(self, train: Any, test: Any) -> Fold:
        model = clone(self.model)
        if self.shared:  # a frozen step is its own copy, and two threads would fit it at once
            model = copy.deepcopy(model)
        began = time.perf_counter()
        X, y = _safe_split(model, self.X, self.y, train)
        model.fit(X, *(() if y is None else (y,)), **self._weights(train))
        fitted = time.perf_counter()
        answers, scores = self._scored(model, test, train)
        ended = time.perf_counter()
        learnt = self._scored(model, train, train)[1] if self.train_scores else {}
        kept = model if self.keep_models else None
        return Fold(scores, learnt, answers, fitted - began, ended - fitted, kept)

    def _weights(self, rows: Any) -> dict[str, Any]:
        return {} if self.weight is None else weights_for(self.model, self.weight[rows])

    def _scored(self, model: Any, rows: Any, train: Any) -> tuple[dict[str, Any], dict[str, float]]:
        X, y = _safe_split(model, self.X, self.y, rows, train)
        weight = None if self.weight is None else self.weight[rows]
        wanted = {
            answering_method(model, metric) for metric in self.metrics.values() if isinstance(metric, Metric)
        }
        if hasattr(model, "predict"):  # dir(model) would work out every attribute
            wanted.add("predict")
        answers = {name: aligned(model, name, X, self.classes) for name in sorted(wanted)}
        scores = {}
        for name, metric in self.metrics.items():
            if isinstance(metric, Metric):
                scores[name] = metric.finish(metric.of(y, answers[answering_method(model, metric)], weight))
            else:
                scores[name] = metric(model, X, y, **({} if weight is None else {"sample_weight": weight}))
        return answers, {name: float(score) for name, score in scores.items()}


def aligned(model: Any, method: str, X: Any, classes: Any) -> Any:
    """The answers of a model; probabilities for all classes, also those that its training rows lacked."""
    return filled(getattr(model, method)(X), model, method, classes)


def filled(answer: Any, model: Any, method: str, classes: Any) -> Any:
    """Probabilities with a place for all classes; other answers as they are."""
    own = getattr(model, "classes_", None)
    if classes is None or own is None or method == "predict" or len(own) == len(classes):
        return answer
    missing = ", ".join(str(name) for name in np.setdiff1d(classes, own))
    if method != "predict_proba":
        raise DataError(
            f"a fold has no training row of class {missing}, so that decision_function has no score for it: "
            "take fewer folds, or stratified ones."
        )
    whole = np.zeros((len(answer), len(classes)), dtype=answer.dtype)
    whole[:, np.searchsorted(classes, own)] = answer
    return whole


def classes_of(model: Any, y: Any) -> Any:
    """The labels of all classes in order, for a classifier of one target."""
    if y is None or not is_classifier(model):
        return None
    labels = np.asarray(y)
    return np.unique(labels) if labels.ndim == 1 else None


def chosen_metrics(model: Any, metrics: Any, classes: Any) -> dict[str, Scorer]:
    """The metrics by name: ours, scikit-learn's scorers by name, or functions of (model, X, y)."""
    if metrics is None:
        metrics = _usual(model)
    if isinstance(metrics, str | Metric) or (callable(metrics) and not isinstance(metrics, Mapping)):
        metrics = [metrics]
    named = list(metrics.items()) if isinstance(metrics, Mapping) else [(None, entry) for entry in metrics]
    found: dict[str, Scorer] = {}
    for given, entry in named:
        made = _made(entry, classes)
        name = given or getattr(made, "name", None) or (entry if isinstance(entry, str) else None)
        name = name or getattr(made, "__name__", None) or type(made).__name__
        if name in found:
            raise ParameterError(f"the metric {name} is named twice; give a mapping with two names.")
        found[str(name)] = made
    if not found:
        raise ParameterError("metrics is empty; name at least one.")
    return found


def _made(entry: Any, classes: Any) -> Scorer:
    if isinstance(entry, str):
        if entry not in members("metric"):
            from sklearn.metrics import get_scorer, get_scorer_names

            if entry in get_scorer_names():
                return get_scorer(entry)
        entry = lookup("metric", entry)()
    if not isinstance(entry, Metric):
        if not callable(entry):
            raise ParameterError(
                f"{entry!r} is no metric: give its name, a metric, or a scorer(model, X, y)."
            )
        return entry
    if not entry.methods or entry.better is None:
        raise RefusalError(f"{entry.name} is not one score of predictions: choose a metric that is.")
    return told_of_classes(entry, classes)


def _usual(model: Any) -> Iterable[str]:
    if is_classifier(model):
        names = usual_metrics("evaluation", "classification")
    elif is_regressor(model):
        names = usual_metrics("evaluation", "regression")
    else:
        raise ParameterError(
            f"{type(model).__name__} is neither a classifier nor a regressor: "
            "name the metrics to score it by."
        )
    made: dict[str, Any] = {name: lookup("metric", name)() for name in names}
    asked = {name: metric.methods for name, metric in made.items()}
    return [name for name in names if "predict" in asked[name] or any(hasattr(model, m) for m in asked[name])]
