"""Nested cross-validation: choose inside, score outside, so that the choice does not flatter itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if

from surefit.core.config import config
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.public import public
from surefit.evaluate.cross_validation.cross_validate import cross_validate
from surefit.evaluate.cross_validation.result import CrossValidation
from surefit.evaluate.rows.source_models import weights_for
from surefit.evaluate.scoring.fold import chosen_metrics, classes_of
from surefit.metrics.base import Metric

Candidates = Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]]


@public
def nested_cross_validate(
    model: Any,
    candidates: Candidates,
    X: Any,
    y: Any = None,
    *,
    inner: Any = 5,
    choose_by: Any = None,
    metrics: Any = None,
    split: Any = 5,
    **options: Any,
) -> CrossValidation:
    """Cross-validate the whole way of choosing: each fold takes the best by an inner cross-validation.

    candidates: a grid, parameter to values, or a list of parameter settings. inner: the split of the training
    rows that candidates are compared on. choose_by: the metric to choose by, the first of ``metrics`` by
    default. options are those of ``cross_validate``. The result's ``chosen`` has each fold's choice.

    >>> import surefit
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> grid = {"alpha": [0.01, 0.1, 10.0]}
    >>> found = surefit.nested_cross_validate(surefit.Ridge(), grid, X, y, metrics="r2_score")
    >>> [entry["alpha"] for entry in found.chosen]
    [0.01, 0.1, 0.1, 0.1, 0.1]
    """
    if options.get("checkpoint") is not None or options.get("keep_models"):
        raise ParameterError("nested_cross_validate does not support checkpoint and keep_models.")
    settings = list_candidates(candidates)
    scored = chosen_metrics(model, metrics, classes_of(model, y))
    name = next(iter(scored)) if choose_by is None else choose_by
    state = options.get("random_state", 0)
    choice = Chosen(model, settings, scored.get(name, name) if isinstance(name, str) else name, inner, state)
    found = cross_validate(choice, X, y, split=split, metrics=scored, keep_models=True, **options)
    chosen = [fold.model.best_params_ for fold in found.folds]
    folds = [replace(fold, model=None) for fold in found.folds]
    return replace(found, model=clone(model), folds=folds, chosen=chosen)


def list_candidates(candidates: Candidates) -> list[dict[str, Any]]:
    """List the settings of a grid, or those given.

    >>> list_candidates({"a": [1, 2], "b": ["x"]})
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'x'}]
    """
    if isinstance(candidates, Mapping):
        values = [list(choices) for choices in candidates.values()]
        found = [dict(zip(candidates, entry, strict=True)) for entry in product(*values)]
    else:
        found = [dict(entry) for entry in candidates]
    if not found:
        raise ParameterError("there are no candidates; give at least one setting of the parameters.")
    return found


def _delegates(name: str) -> Any:
    return available_if(lambda self: hasattr(getattr(self, "best_estimator_", self.model), name))


class Chosen(MetaEstimatorMixin, BaseEstimator):
    """The best of some settings of a model by cross-validation, fitted on all the rows it is given."""

    reads_sources: ClassVar[bool] = True

    def __init__(self, model: Any, settings: Any, metric: Any, split: Any = 5, random_state: Any = 0) -> None:
        self.model = model
        self.settings = settings
        self.metric = metric
        self.split = split
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Chosen:
        """Compare the settings and fit the best; of equals, the first."""
        means = []
        with config(checkpoint=None):
            for setting in self.settings:
                found = cross_validate(
                    clone(self.model).set_params(**clone(setting, safe=False)),
                    X,
                    y,
                    split=self.split,
                    metrics={"metric": self.metric},
                    sample_weight=sample_weight,
                    random_state=self.random_state,
                )
                means.append(found.intervals["metric"].estimate)
        lower = isinstance(self.metric, Metric) and self.metric.better == "lower"
        worth = np.where(np.isfinite(means), -np.asarray(means) if lower else means, -np.inf)
        if not np.isfinite(worth).any():
            raise RefusalError("no candidate has a finite score: choose another metric, or larger folds.")
        self.best_index_ = int(np.argmax(worth))
        self.best_params_ = dict(self.settings[self.best_index_])
        self.best_score_ = float(means[self.best_index_])
        best = clone(self.model).set_params(**clone(self.best_params_, safe=False))
        given = {} if sample_weight is None else weights_for(best, sample_weight)
        self.best_estimator_ = best.fit(X, *(() if y is None else (y,)), **given)
        if hasattr(self.best_estimator_, "classes_"):
            self.classes_ = self.best_estimator_.classes_
        return self

    def predict(self, X: Any) -> Any:
        """Answer by the best."""
        return self.best_estimator_.predict(X)

    @_delegates("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Answer by the best."""
        return self.best_estimator_.predict_proba(X)

    @_delegates("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Answer by the best."""
        return self.best_estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags, inner = super().__sklearn_tags__(), get_tags(self.model)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags = inner.input_tags
        return tags
