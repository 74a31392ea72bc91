"""Warm paths of logistic regressions, one a fold, and the choice among their strengths."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import ParameterError
from surefit.core.trace import Trace
from surefit.engine.base import Engine
from surefit.models.linear.folds import Fold
from surefit.models.linear.sparse_cv import Choice
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.objective import Objective

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PathOfFold:
    """For each ratio and strength: the score of the rows left out, packed points, shaped ones, iterations."""

    scores: Array
    packed: Array
    shaped: Array
    n_iter: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The strength and ratio chosen, where to start from, and all that was measured."""

    C: float
    l1_ratio: float
    start: Array
    Cs: Array
    l1_ratios: Array
    scores: Array
    paths: Array
    n_iter: NDArray[np.int32]


def path_of_fold(model: Any, fold: Fold, engine: Engine, Cs: Array, ratios: Array) -> PathOfFold:
    """Fit every ratio and strength, each from where the last one ended, and score the rows left out."""
    model.trial(float(Cs[0]), float(ratios[0]))
    objective: Objective = model._bound(fold.train, engine)
    scores, packed, shaped, steps = [], [], [], []
    for ratio in ratios:
        start = None
        for C in Cs:
            model.trial(float(C), float(ratio))
            objective.penalty = model._within_constraints(objective)
            solution = model._solver(objective).solve(objective, start, Trace())
            start = solution.x
            coef, intercept = model._shaped(objective, solution)
            scores.append(_score(model, fold, engine, coef, intercept))
            packed.append(start)
            shaped.append(np.column_stack([coef, intercept]) if model.fit_intercept else coef)
            steps.append(max(solution.iterations, 1))
    grid = (len(ratios), len(Cs))
    return PathOfFold(
        np.reshape(scores, grid),
        np.reshape(packed, (*grid, *packed[0].shape)),
        np.reshape(shaped, (*grid, *shaped[0].shape)),
        np.reshape(steps, grid).astype(np.int32),
    )


def _score(model: Any, fold: Fold, engine: Engine, coef: Array, intercept: Array) -> float:
    """Return the score of the rows left out, the weights of their classes not counted."""
    from surefit.models.linear.logistic_cv import scorer

    if model.scoring in ("warn", "neg_log_loss"):
        held_out = Objective(fold.test, engine, model._loss(fold.test.schema), NoPenalty())
        held_out.outputs = None if len(coef) == 1 else len(coef)
        point = np.vstack([coef.T, intercept])
        return -held_out.at(point[:, 0] if len(coef) == 1 else point, 0).value
    if fold.rows is None:
        raise ParameterError(
            "LogisticRegressionCV: a table that is read piece by piece is scored by its logarithmic loss: "
            "leave scoring as it is, or load the table as one array."
        )
    classes = fold.test.schema.classes
    assert classes is not None
    rows = fold.rows
    weights = {} if rows.weight is None else {"sample_weight": rows.weight}
    labels = classes[np.asarray(rows.y)]
    judge = _of_all_classes(scorer(model.scoring), classes)
    return float(judge(model.scored_as(coef, intercept, classes), rows.X, labels, **weights))


def _of_all_classes(judge: Any, classes: NDArray[Any]) -> Any:
    """Return a scorer that knows all classes: the rows left out may lack some."""
    from sklearn.metrics import make_scorer

    measure = getattr(judge, "_score_func", None)
    takes = signature(measure).parameters if measure is not None else {}
    if measure is None or "labels" not in takes:
        return judge
    told: dict[str, Any] = {"labels": classes}
    if len(classes) == 2 and "pos_label" in takes:
        told["pos_label"] = classes[-1]
    told |= getattr(judge, "_kwargs", {})
    better = judge._sign == 1
    return make_scorer(measure, greater_is_better=better, response_method=judge._response_method, **told)


def choose(Cs: Array, ratios: Array, found: list[PathOfFold], rule: Choice) -> Chosen:
    """Choose the best mean score, or the smallest C within one standard error of it.

    Folds count alike; the standard error is that of their mean, at the best point.
    """
    scores = np.array([path.scores for path in found])
    mean = np.nan_to_num(scores.mean(axis=0), nan=-np.inf)
    C, ratio = (int(k) for k in np.unravel_index(np.argmax(mean.T), mean.T.shape))
    if rule == "one_standard_error" and len(scores) > 1:
        error = scores[:, ratio, C].std(ddof=1) / np.sqrt(len(scores))
        near = np.flatnonzero(mean[ratio] >= mean[ratio, C] - error)
        C = int(near[np.argmin(Cs[near])])
    return Chosen(
        float(Cs[C]),
        float(ratios[ratio]),
        np.mean([path.packed[ratio, C] for path in found], axis=0),
        Cs,
        ratios,
        scores,
        np.array([path.shaped for path in found]),
        np.array([path.n_iter for path in found]),
    )
