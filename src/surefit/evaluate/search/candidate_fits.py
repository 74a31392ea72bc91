"""The work of a search: candidates fitted and scored on a fold, alone or along one warm path."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import _safe_split

from surefit.core.errors import SurefitWarning, warn
from surefit.core.progress import progress
from surefit.engine.thread_map import in_turn
from surefit.evaluate.cross_validation.fold_store import FoldStore
from surefit.evaluate.rows.source_models import weights_for
from surefit.evaluate.scoring.assess import answering_method
from surefit.evaluate.scoring.fold import Fold, FoldWork, Scorer, aligned
from surefit.evaluate.search.regularization_path import (
    WholeMoments,
    direct_path,
    has_direct_path,
    last_step,
    path_rows,
    warm_models,
)
from surefit.metrics.base import Metric
from surefit.resample.choose import Pair

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class SearchWork:
    """Fits and scores candidates on one fold; ``strength`` is the parameter along which paths run."""

    model: Any
    name: str
    scorer: Scorer
    X: Any
    y: Any
    weight: Any = None
    classes: Any = None
    train_scores: bool = False
    strength: str | None = None
    error_score: Any = np.nan
    shared: WholeMoments | None = None
    settings: Mapping[str, Any] = field(default_factory=get_config)

    def __call__(self, group: Sequence[Params], pair: Pair) -> list[Fold]:
        """Return what each candidate of a group did on a fold."""
        with config_context(**self.settings):
            if self.strength is not None and len(group) > 1:
                return self._along_path(group, pair)
            return [self._alone(params, pair) for params in group]

    def _alone(self, params: Params, pair: Pair) -> Fold:
        model = clone(self.model).set_params(**params)
        given = (self.X, self.y, self.weight, self.classes, self.train_scores)
        try:
            done = FoldWork(model, {self.name: self.scorer}, *given)(pair)
        except Exception as error:
            return self._failed(params, error)
        return replace(done, answers=self._kept(model, done.answers))

    def _failed(self, params: Params, error: Exception) -> Fold:
        if isinstance(self.error_score, str):
            error.add_note(f"with {dict(params)}; error_score=nan goes on without it")
            raise error
        warn(
            f"the candidate {dict(params)} failed, and counts as {self.error_score}: {error}", SurefitWarning
        )
        scores = {self.name: float(self.error_score)}
        return Fold(scores, scores if self.train_scores else {}, {}, 0.0, 0.0)

    def _kept(self, model: Any, answers: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(self.scorer, Metric):
            return {}
        method = answering_method(model, self.scorer)
        return {method: answers[method]}

    def _along_path(self, group: Sequence[Params], pair: Pair) -> list[Fold]:
        assert self.strength is not None
        train, test = pair
        began = time.perf_counter()
        name = self.strength.removeprefix("-")
        whole = clone(self.model).set_params(**group[0])
        values = [float(params[name]) for params in group]
        step, prefix = last_step(whole)
        direct = (
            isinstance(self.scorer, Metric) and not _inner_pipeline(whole) and has_direct_path(step, self.y)
        )
        if direct and self.shared is not None:
            held: Any = self.shared.batch
            learnt = (held.X[train], held.y[train]) if self.train_scores else None
            coefs = direct_path(step, self.shared, train, values, test)
            return self._of_path(coefs, (held.X[test], held.y[test]), learnt, pair, began)
        unseen, truth = _safe_split(whole, self.X, self.y, test, train)
        X, y = _safe_split(whole, self.X, self.y, train)
        if isinstance(whole, Pipeline):
            head = whole[:-1]
            X, unseen = head.fit_transform(X, y), head.transform(unseen)
        rows, asked = (path_rows(step, part) if direct else None for part in (X, unseen))
        if rows is not None and asked is not None:
            shared = WholeMoments(rows, y, None if self.weight is None else self.weight[train])
            coefs = direct_path(step, shared, np.arange(len(rows)), values, np.empty(0, dtype=np.intp))
            return self._of_path(coefs, (asked, truth), (rows, y) if self.train_scores else None, pair, began)
        if "warm_start" not in step.get_params(deep=False):
            return [self._alone(params, pair) for params in group]
        return list(self._warm(step, name.removeprefix(prefix), values, X, y, unseen, truth, pair))

    def _of_path(self, fits: Any, asked: Any, learnt: Any, pair: Pair, began: float) -> list[Fold]:
        """The folds of fits along a path: ``asked`` and ``learnt`` are rows and their truth."""
        coefs, intercepts = fits

        def answers(rows: Any) -> Any:
            return np.ascontiguousarray((np.asarray(rows @ coefs.T) + intercepts).T)

        found = answers(asked[0])
        own = [None] * len(found) if learnt is None else answers(learnt[0])
        y = None if learnt is None else learnt[1]
        spent = (time.perf_counter() - began) / len(found)
        return [
            self._scored(asked[1], y, answer, seen, pair, spent)
            for answer, seen in zip(found, own, strict=True)
        ]

    def _scored(self, truth: Any, y: Any, answer: Any, own: Any, pair: Pair, spent: float) -> Fold:
        began = time.perf_counter()
        metric: Any = self.scorer
        weight = (None, None) if self.weight is None else (self.weight[pair[0]], self.weight[pair[1]])
        scores = {self.name: float(metric.finish(metric.of(truth, answer, weight[1])))}
        learnt = {} if own is None else {self.name: float(metric.finish(metric.of(y, own, weight[0])))}
        return Fold(scores, learnt, {"predict": answer}, spent, time.perf_counter() - began)

    def _warm(
        self, step: Any, name: str, values: Any, X: Any, y: Any, unseen: Any, truth: Any, pair: Pair
    ) -> Iterator[Fold]:
        weights = {} if self.weight is None else weights_for(step, self.weight[pair[0]])
        seen = {} if self.weight is None else {"sample_weight": self.weight[pair[1]]}
        models = warm_models(step, name, values, X, y, weights)
        for _ in values:
            began = time.perf_counter()
            model = next(models)
            fitted = time.perf_counter()
            if isinstance(self.scorer, Metric):
                method = answering_method(model, self.scorer)
                answers = {method: aligned(model, method, unseen, self.classes)}
                metric = self.scorer
                score = metric.finish(metric.of(truth, answers[method], seen.get("sample_weight")))
                own = metric.finish(metric.of(y, aligned(model, method, X, self.classes), *weights.values()))
            else:
                answers = {}
                score, own = self.scorer(model, unseen, truth, **seen), self.scorer(model, X, y, **weights)
            learnt = {self.name: float(own)} if self.train_scores else {}
            ended = time.perf_counter()
            yield Fold({self.name: float(score)}, learnt, answers, fitted - began, ended - fitted)


def _inner_pipeline(model: Any) -> bool:
    return isinstance(model, Pipeline) and isinstance(model.steps[-1][1], Pipeline)


@dataclass(slots=True)
class Deadline:
    """When to begin nothing more."""

    seconds: float | None
    began: float = field(default_factory=time.monotonic)

    def passed(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and time.monotonic() - self.began >= self.seconds


def run_groups(
    work: Callable[[Sequence[Params], Pair], list[Fold]],
    groups: Sequence[Sequence[Params]],
    pairs: Sequence[Pair],
    jobs: int,
    deadline: Deadline,
    store: FoldStore | None = None,
    model: Any = None,
) -> list[list[list[Fold]] | None]:
    """For each group its folds, each a list over candidates; None for groups that were left unfinished.

    Groups come one after the other, so that those at the end are the ones not tried.
    """
    items = [(g, f) for g in range(len(groups)) for f in range(len(pairs))]

    def begun() -> Iterator[tuple[int, int]]:
        for item in items:
            if item != items[0] and deadline.passed():
                return
            yield item

    def one(item: tuple[int, int]) -> list[Fold]:
        group, pair = groups[item[0]], pairs[item[1]]
        if store is None:
            return work(group, pair)
        places = [[clone(model).set_params(**params), *pair] for params in group]
        kept = [store.load(place) for place in places]
        if all(fold is not None for fold in kept):
            return kept  # type: ignore[return-value]
        done = work(group, pair)
        for place, fold in zip(places, done, strict=True):
            store.keep(place, fold)
        return done

    found: list[list[list[Fold]]] = [[] for _ in groups]
    with progress("search", total=len(items)) as bar:
        for item, folds in zip(items, in_turn(one, begun(), min(jobs, len(items))), strict=False):
            found[item[0]].append(folds)
            bar.advance()
    return [folds if len(folds) == len(pairs) else None for folds in found]
