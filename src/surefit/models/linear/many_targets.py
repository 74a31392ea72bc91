"""Logistic regression of many targets of the same rows at once, where each of them has a proof of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from surefit.core.parameters import validate
from surefit.data.source import in_memory
from surefit.losses.logistic import Logistic
from surefit.models.base import has_callbacks
from surefit.models.linear.logistic import GAP, LogisticRegression
from surefit.solvers.many_logits import Array, ManyLogits, Targets

ROWS_A_COLUMN = 4  # with fewer, shuffled classes come apart too, and every target is a hard one


@dataclass(frozen=True, slots=True, eq=False)
class TargetsAtOnce:
    """What a logistic regression learns of many targets: one score a row each, and whether it is proved."""

    learner: ManyLogits
    classes: NDArray[Any]
    codes: NDArray[Any]  # of the target that was given
    tolerance: float

    def __call__(self, targets: Targets, weights: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Scores and proofs; a row of both arguments is a target: which rows are of the second class."""
        found = self.learner(targets, weights)
        return found.scores, found.gap <= self.tolerance

    def answer(self, scores: Array, method: str) -> NDArray[Any]:
        """What the model would say to rows of these scores, asked by ``method``."""
        if method == "predict":
            return self.classes[(scores > 0).astype(np.intp)]
        if method == "predict_proba":
            return np.column_stack([Logistic.link.inverse(-scores), Logistic.link.inverse(scores)])
        return scores


def targets_at_once(model: Any, X: Any, y: Any, weight: Any) -> TargetsAtOnce | None:
    """Prepare a copy of a logistic regression for many targets; None where it learns them one by one."""
    if type(model) is not LogisticRegression:
        return None
    model = clone(model)
    validate(model)
    plain = model.penalty == "deprecated" and not model.l1_ratio and np.isfinite(model.C)
    usual = model.correction is None and model.constraints is None and model.class_weight is None
    if not (plain and usual) or model.solver == "liblinear" or model.warm_start or has_callbacks(model):
        return None
    source = model._source(X, y, weight)
    batch, classes = in_memory(source), source.schema.classes
    if batch is None or type(batch.X) is not np.ndarray or len(classes) != 2:
        return None
    rows = np.asarray(batch.X, dtype=np.float64)
    if len(rows) < ROWS_A_COLUMN * rows.shape[1]:
        return None
    given = np.ones(len(rows)) if batch.weight is None else batch.weight
    codes = np.asarray(batch.y)
    share = float(given @ codes / given.sum())
    if not 0 < share < 1:
        return None
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            learner = ManyLogits.of(rows, given, C=model.C, share=share, intercept=model.fit_intercept)
    except (ArithmeticError, ValueError, np.linalg.LinAlgError):  # numbers out of range: a fit says which
        return None
    return TargetsAtOnce(learner, classes, codes, GAP * model.tol)
