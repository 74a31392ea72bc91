"""Search: try candidates on rows left out, take one, and say what its score is worth."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.ma import MaskedArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surefit.core.certificate import Certificate
from surefit.core.config import current_config
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.data.checks.cells import check_weights
from surefit.data.door import is_streamed
from surefit.data.read import read
from surefit.evaluate.cross_validation.cross_validate import cross_validate, jobs_of
from surefit.evaluate.cross_validation.fold_store import FoldStore
from surefit.evaluate.cross_validation.leaks import with_leaks
from surefit.evaluate.persistence import Saved, Verify
from surefit.evaluate.rows.source_models import fit_source, weights_for
from surefit.evaluate.scoring.fold import Fold, chosen_metrics, classes_of
from surefit.evaluate.scoring.interval_base import check_level
from surefit.evaluate.search.candidate_fits import Deadline, SearchWork, run_groups
from surefit.evaluate.search.choice import Complexity, choose, ranks_of, standard_errors
from surefit.evaluate.search.regularization_path import grouped, shared_moments, strength_of
from surefit.evaluate.search.selection_bias import SearchScore, corrected_by_folds, corrected_by_rows
from surefit.metrics.base import Metric
from surefit.metrics.usual import usual_metric
from surefit.resample.choose import Pair, count_rows, pairs_of


def results_of(
    candidates: Sequence[Mapping[str, Any]],
    folds: Sequence[Any],
    name: str,
    sign: float,
    extra: Mapping[str, Sequence[Any]],
) -> dict[str, Any]:
    """What ``cv_results_`` holds: times, parameters, the score of each fold, means, spreads and ranks.

    >>> from surefit.evaluate.scoring.fold import Fold
    >>> done = [Fold({"r": 0.5}, {}, {}, 0.1, 0.0), Fold({"r": 0.7}, {}, {}, 0.1, 0.0)]
    >>> results_of([{"alpha": 1.0}], [done], "r", 1.0, {})["mean_test_score"]
    array([0.6])
    """
    found: dict[str, Any] = {}
    for word, field in (("fit", "fit_seconds"), ("score", "score_seconds")):
        seconds = np.array([[getattr(fold, field) for fold in one] for one in folds])
        found[f"mean_{word}_time"], found[f"std_{word}_time"] = seconds.mean(axis=1), seconds.std(axis=1)
    found |= _parameters(candidates)
    found["params"] = [dict(entry) for entry in candidates]
    found |= {key: np.asarray(values) for key, values in extra.items()}
    found |= _scores(np.array([[fold.scores[name] for fold in one] for one in folds]), "test", sign)
    if folds[0][0].train_scores:
        learnt = np.array([[fold.train_scores[name] for fold in one] for one in folds])
        found |= _scores(learnt, "train", None)
    return found


def _scores(values: Any, word: str, sign: float | None) -> dict[str, Any]:
    found: dict[str, Any] = {f"split{k}_{word}_score": column for k, column in enumerate(values.T)}
    found[f"mean_{word}_score"], found[f"std_{word}_score"] = values.mean(axis=1), values.std(axis=1)
    if sign is not None:
        found[f"error_{word}_score"] = standard_errors(values)  # of the mean; scikit-learn has none
        mean = np.where(np.isfinite(found[f"mean_{word}_score"]), sign * found[f"mean_{word}_score"], -np.inf)
        found[f"rank_{word}_score"] = rankdata(-mean, method="min").astype(np.int32)
    return found


def to_lists(found: Mapping[str, Any]) -> dict[str, Any]:
    """The table without the columns that follow from its candidates."""
    return {name: value for name, value in found.items() if not name.startswith("param_")}


def from_lists(kept: Any) -> dict[str, Any]:
    """The whole table out of what ``to_lists`` kept, in the same order.

    >>> from_lists({"params": [{"alpha": 1.0}, {"alpha": 2.0}]})["param_alpha"].tolist()
    [1.0, 2.0]
    """
    found: dict[str, Any] = {}
    for name, value in kept.items():
        if name == "params":
            found |= _parameters([dict(entry) for entry in value])
        found[name] = value
    return found


def _parameters(candidates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = sorted({key for entry in candidates for key in entry})
    return {f"param_{name}": _column([entry.get(name, _MISSING) for entry in candidates]) for name in names}


_MISSING = object()


def _column(values: Sequence[Any]) -> Any:
    mask = np.array([value is _MISSING for value in values])
    plain = [value for value in values if value is not _MISSING]
    kinds = {type(value) for value in plain}
    simple = len(kinds) == 1 and isinstance(plain[0], bool | int | float | str | np.number)
    data = np.empty(len(values), dtype=np.asarray(plain).dtype if simple else object)
    for place, value in enumerate(values):
        if value is not _MISSING:
            data[place] = value
    return MaskedArray(data, mask=mask)


MOST_ANSWERS = 50_000_000  # numbers kept to correct the score by rows; beyond it, folds must do


def _has(name: str) -> Any:
    def check(search: Any) -> bool:
        inner = getattr(search, "best_estimator_", search.estimator)
        getattr(inner, name)  # its own error, where it has none
        return True

    return check


class Search(Saved, MetaEstimatorMixin, BaseEstimator, abstract=True):
    """What all searches share: folds, scores, the choice, the refit on all rows, and an honest score."""

    finds: ClassVar[tuple[str, ...]] = (
        "metric_name_", "greater_is_better_", "not_tried_", "n_splits_", "cv_results_", "tolerance_",
        "best_index_", "best_score_", "searched_",
    )  # fmt: skip
    may_find = ("best_estimator_",)
    reads_sources: ClassVar[bool] = True
    estimator: Any
    scoring: Any
    split: Any
    choice: Any
    complexity: Complexity
    path: bool
    refit: bool
    n_jobs: int | None
    time_budget: float | None
    checkpoint: str | Path | None
    return_train_score: bool
    error_score: Any
    level: float
    random_state: Any

    @abstractmethod
    def _candidates(self) -> list[dict[str, Any]]:
        """All that may be tried, in order."""

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Try the candidates on rows left out, and fit the one chosen to all rows."""
        check_level(self.level)
        self._check_choice()
        candidates = self._candidates()
        if not candidates:
            raise ParameterError(f"{type(self).__name__} has no candidate to try: give at least one value.")
        classes = None if is_streamed(X, y, sample_weight) else classes_of(self.estimator, y)
        (name, scorer), *others = self._scorers(classes)
        if others:
            raise ParameterError(
                "a search chooses by one score: name one, and score the chosen model by others."
            )
        self.metric_name_, self.greater_is_better_ = name, getattr(scorer, "better", "higher") == "higher"
        strength = strength_of(self.estimator, list(candidates[0])) if self.path else None
        if is_streamed(X, y, sample_weight):
            self._search_source(X, y, sample_weight, groups, candidates, scorer)
        else:
            rows = count_rows(X)
            if y is not None and count_rows(y) != rows:
                raise DataError(f"X has {rows} rows and y has {count_rows(y)}; give one target for each row.")
            weight = check_weights(sample_weight, rows)
            whole_path = strength if weight is None or not hasattr(self.estimator, "steps") else None
            pairs = pairs_of(
                self.split, X, y, groups, classes=classes is not None, random_state=self._split_seed()
            )
            shared = shared_moments(self.estimator, X, y, weight, pairs) if whole_path else None
            work = SearchWork(
                self.estimator, name, scorer, X, y, weight, classes, self.return_train_score, whole_path,
                self.error_score, shared,
            )  # fmt: skip
            self._search(work, candidates, pairs)
        self._choose(strength)
        if self.refit:
            self._refit(X, y, sample_weight)
        return self

    def _scorers(self, classes: Any) -> list[tuple[str, Any]]:
        if self.scoring is not None:
            return list(chosen_metrics(self.estimator, self.scoring, classes).items())
        kind = get_tags(self.estimator).estimator_type
        if kind not in ("classifier", "regressor"):
            if not hasattr(self.estimator, "score"):
                raise ParameterError(f"{type(self.estimator).__name__} has no score: name one with scoring=.")
            return [("score", _own_score)]
        named = usual_metric("classification" if kind == "classifier" else "regression")
        return list(chosen_metrics(self.estimator, named, classes).items())

    def _check_choice(self) -> None:
        rule = self.choice
        number = isinstance(rule, int | float) and not isinstance(rule, bool) and rule >= 0
        if rule not in ("best", "one_standard_error") and not number:
            raise ParameterError(
                f"choice={rule!r} must be 'best', 'one_standard_error', or a difference within which the "
                "simplest is taken."
            )

    def _split_seed(self) -> Any:
        return self.random_state if isinstance(self.random_state, int | np.integer) else 0

    def _store(self, work: SearchWork) -> FoldStore | None:
        place = self.checkpoint if self.checkpoint is not None else current_config().checkpoint
        if place is None:
            return None
        what = (work.X, work.y, work.weight, {work.name: work.scorer}, work.train_scores)
        return FoldStore.of(place, self.estimator, *what)

    def _run(
        self,
        work: SearchWork,
        candidates: Sequence[Mapping[str, Any]],
        pairs: Sequence[Pair],
        deadline: Deadline,
    ) -> list[list[Fold] | None]:
        """For each candidate its folds; None where the time was over before."""
        groups = (
            grouped(candidates, work.strength) if work.strength else [[k] for k in range(len(candidates))]
        )
        wanted = [[candidates[k] for k in group] for group in groups]
        done = run_groups(
            work, wanted, pairs, jobs_of(self.n_jobs), deadline, self._store(work), self.estimator
        )
        found: list[list[Fold] | None] = [None] * len(candidates)
        for group, folds in zip(groups, done, strict=True):
            for place, number in enumerate(group):
                found[number] = None if folds is None else [fold[place] for fold in folds]
        return found

    def _search(self, work: SearchWork, candidates: list[dict[str, Any]], pairs: list[Pair]) -> None:
        found = self._run(work, candidates, pairs, Deadline(self.time_budget))
        self._keep(candidates, found, pairs, work)

    def _keep(
        self,
        candidates: list[dict[str, Any]],
        found: Sequence[list[Fold] | None],
        pairs: Sequence[Pair] | None,
        work: SearchWork | None,
        extra: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        """Note what was tried, and how it did."""
        tried = [k for k, folds in enumerate(found) if folds is not None]
        self.not_tried_ = [dict(candidates[k]) for k, folds in enumerate(found) if folds is None]
        if not tried:
            raise RefusalError(
                f"time_budget={self.time_budget} was over before the first candidate was scored on all "
                "folds: give more time, fewer folds or fewer rows."
            )
        folds = [found[k] for k in tried]
        self._tried = [dict(candidates[k]) for k in tried]
        self._scores = np.array([[fold.scores[self.metric_name_] for fold in one] for one in folds])  # type: ignore[union-attr]
        if work is not None and pairs is not None and np.isnan(self._scores).all():
            replace(work, error_score="raise", strength=None)([self._tried[0]], pairs[0])  # which says why
        self._evidence = (folds, pairs, work)
        self.n_splits_ = self._scores.shape[1]
        sign = 1.0 if self.greater_is_better_ else -1.0
        more = {name: [values[k] for k in tried] for name, values in (extra or {}).items()}
        self.cv_results_ = results_of(self._tried, folds, self.metric_name_, sign, more)

    def _finalists(self) -> list[int]:
        """The candidates that the choice is among."""
        return list(range(len(self._tried)))

    def _choose(self, strength: str | None) -> None:
        sign = 1.0 if self.greater_is_better_ else -1.0
        final = self._finalists()
        scores, tried = self._scores[final], [self._tried[k] for k in final]
        place, self.tolerance_ = choose(
            self.choice, scores, sign, lambda: ranks_of(self.complexity, tried, strength)
        )
        self.best_index_ = final[place]
        self.best_params_ = self._tried[self.best_index_]
        mean = float(scores[place].mean())
        self.best_score_ = SearchScore(mean, self._corrected(final, sign), self._caveat(len(final)))
        del self._evidence, self._scores, self._tried
        self.searched_ = self._searched()

    def _corrected(self, final: list[int], sign: float) -> Any:
        folds, pairs, work = self._evidence
        scorer = None if work is None else work.scorer
        chosen = [found for k in final if (found := folds[k]) is not None]
        if len(final) == 1 and self.n_splits_ < 2:
            return None
        if (
            isinstance(scorer, Metric)
            and work is not None
            and pairs is not None
            and all(fold.answers for one in chosen for fold in one)
            and len(final) * count_rows(work.y) <= MOST_ANSWERS
        ):
            method = next(iter(chosen[0][0].answers))
            rows = np.concatenate([test for _, test in pairs])
            answers = [np.concatenate([np.asarray(fold.answers[method]) for fold in one]) for one in chosen]
            weight = None if work.weight is None else work.weight[rows]
            truth = np.asarray(work.y)[rows]
            return corrected_by_rows(scorer, truth, answers, weight, level=self.level)
        if self.n_splits_ < 2:
            return None
        return corrected_by_folds(self._scores[final], sign, self.metric_name_, level=self.level)

    def _caveat(self, count: int) -> str:
        if count == 1:
            return "One candidate was tried, so that its score is that of cross-validation."
        return (
            f"It is the score by which one of {count} candidates was chosen, and so is optimistic; interval "
            "has the corrected one, and cross_validate(search, X, y) measures it by nested resampling."
        )

    def _searched(self) -> str:
        tried = len(self.cv_results_["params"])
        text = f"{tried} candidates were tried on {self.n_splits_} folds"
        if self.not_tried_:
            text += f", and {len(self.not_tried_)} were not, as the time was over"
        return f"{text}; {self.best_params_} was chosen by {self.metric_name_}."

    def _refit(self, X: Any, y: Any, weight: Any) -> None:
        model = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        if is_streamed(X, y, weight):
            self.best_estimator_ = fit_source(model, read(X, target=y, weight=weight))
        else:
            given = {} if weight is None else weights_for(model, np.asarray(weight))
            self.best_estimator_ = model.fit(X, *(() if y is None else (y,)), **given)

    def _search_source(
        self, X: Any, y: Any, weight: Any, groups: Any, candidates: list[dict[str, Any]], scorer: Any
    ) -> None:
        """Over a table that is read in batches: each candidate is a cross-validation of its own."""
        deadline = Deadline(self.time_budget)
        found: list[list[Fold] | None] = []
        for params in candidates:
            if found and deadline.passed():
                found.append(None)
                continue
            model = clone(self.estimator).set_params(**params)
            done = cross_validate(
                model, X, y, split=self.split, metrics={self.metric_name_: scorer}, groups=groups,
                sample_weight=weight, checkpoint=self.checkpoint, random_state=self._split_seed(),
            )  # fmt: skip
            found.append(list(done.folds))
        self._keep(candidates, found, None, None)

    def to_file(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The table without what follows from its candidates, and the score in its parts."""
        parameters, state = super().to_file()
        if state:
            state["cv_results_"] = to_lists(self.cv_results_)
            state["best_score_"] = self.best_score_.parts()
        return parameters, state

    def _check_found(self) -> None:
        self.cv_results_ = from_lists(self.cv_results_)
        self.best_score_ = SearchScore.of_parts(self.best_score_)
        self.best_params_ = self.cv_results_["params"][self.best_index_]

    def verify_by(self, verify: Verify, X: Any, y: Any, weight: Any) -> Certificate:
        """Recompute the certificate of the chosen model, which must be the one that the table names."""
        model = self._chosen_model()
        found = verify(model, X, y, weight)
        held = model.get_params()
        other = [name for name, value in self.best_params_.items() if repr(held.get(name)) != repr(value)]
        if other:
            measure = f"parameters of the model that are not those chosen: {', '.join(other)}"
            return replace(found, measure=measure, value=float(len(other)), tolerance=0.0)
        return replace(found, parts={**found.parts, **self._searched_parts()})

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the chosen model, with what was searched among its parts."""
        found = getattr(self._chosen_model(), "certificate_", None)
        if not isinstance(found, Certificate):
            raise AttributeError(f"{type(self.best_estimator_).__name__} has no certificate.")
        return replace(found, parts={**found.parts, **self._searched_parts()})

    def _searched_parts(self) -> dict[str, float]:
        return {
            "candidates tried": float(len(self.cv_results_["params"])),
            "candidates not tried": float(len(self.not_tried_)),
        }

    @property
    def diagnosis_(self) -> Any:
        """The diagnosis of the chosen model, and what the folds could not fit anew."""
        return with_leaks(getattr(self._chosen_model(), "diagnosis_", ()), self.estimator)

    @property
    def classes_(self) -> Any:
        """The classes that the chosen model tells apart."""
        return self._chosen_model().classes_

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the fit."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no n_features_in_ before it was fitted.")
        return int(self.best_estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """The names of the columns of the fit, if they had names."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no feature_names_in_ before it was fitted.")
        return self.best_estimator_.feature_names_in_

    def _chosen_model(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise RefusalError(
                "refit=False fits no model to all rows: set refit=True, or fit best_params_ yourself."
            )
        return self.best_estimator_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_params_")

    @available_if(_has("predict"))
    def predict(self, X: Any) -> Any:
        """Predict by the chosen model."""
        return self._chosen_model().predict(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Probabilities by the chosen model."""
        return self._chosen_model().predict_proba(X)

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of probabilities by the chosen model."""
        return self._chosen_model().predict_log_proba(X)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Scores by the chosen model."""
        return self._chosen_model().decision_function(X)

    @available_if(_has("transform"))
    def transform(self, X: Any) -> Any:
        """Map rows by the chosen model."""
        return self._chosen_model().transform(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Score the chosen model as the search did; higher is better: errors come with a minus sign."""
        model = self._chosen_model()
        ((_, scorer),) = self._scorers(getattr(model, "classes_", None))
        if not isinstance(scorer, Metric):
            return float(scorer(model, X, y))
        from surefit.evaluate.scoring.assess import assess

        found = float(assess(model, X, y, metrics=scorer)[scorer.name])
        return found if scorer.better == "higher" else -found

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = copy.deepcopy(inner.classifier_tags)
        tags.regressor_tags = copy.deepcopy(inner.regressor_tags)
        tags.target_tags = copy.deepcopy(inner.target_tags)
        tags.input_tags = copy.deepcopy(inner.input_tags)
        return tags


def _own_score(model: Any, X: Any, y: Any = None) -> float:
    return float(model.score(X) if y is None else model.score(X, y))
