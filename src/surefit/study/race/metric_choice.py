"""What a study scores by: one metric to choose by, and others to tell of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import ParameterError
from surefit.evaluate.scoring.fold import chosen_metrics
from surefit.metrics.base import Metric
from surefit.metrics.usual import OF_TASK, usual_metrics
from surefit.study.record import Task

LARGE = 2000  # rows from which on five folds are enough


def folds_for(y: NDArray[Any], task: Task) -> int:
    """How many folds: ten for few rows, five for many, fewer where a class is so rare.

    A fold has ten rows or more where five folds can: the intervals of smaller ones hold less often than they
    say, for a root of a mean over six rows is too low by four percent.

    >>> folds_for(np.zeros(70), "regression"), folds_for(np.array(["a"] * 9 + ["b"] * 4), "classification")
    (7, 4)
    """
    wanted = int(np.clip(len(y) // 10, 5, 10)) if len(y) < LARGE else 5
    rarest = len(y) if task == "regression" else int(np.unique(y, return_counts=True)[1].min())
    return max(2, min(wanted, len(y), rarest))


def metrics_for(
    task: Task, y: NDArray[Any], classes: NDArray[Any] | None, metric: str | None, model: Any
) -> dict[str, Metric]:
    """The metrics by name, the one to choose by first.

    By default the root mean squared error; for two classes the area under the ROC curve, which does not
    depend on a threshold, if ten rows or more have the rarer one; else the accuracy.
    """
    two = classes is not None and len(classes) == 2
    others = usual_metrics("study", task)
    of_two = usual_metrics("study", task, two_classes=True)[len(others) :] if two else []
    names = [*others, *of_two]
    if metric is None:
        enough = two and int(np.unique(y, return_counts=True)[1].min()) >= 10
        metric = of_two[0] if enough else names[0]
    if not isinstance(metric, str):
        raise ParameterError(f"metric={metric!r} must be the name of a metric, such as {names[0]!r}.")
    found = chosen_metrics(model, list(dict.fromkeys([metric, *names])), classes)
    first = found[metric]
    if not isinstance(first, Metric) or first.task not in OF_TASK[task]:
        raise ParameterError(f"metric={metric!r} is no score of a {task}: choose one such as {names[0]!r}.")
    return {name: entry for name, entry in found.items() if isinstance(entry, Metric)}


def told_of(metric: str | None) -> list[str]:
    """The names of all metrics that a study of any task may tell of."""
    every = [metric] if metric is not None else []
    numbers, classes = (
        usual_metrics("study", "regression"),
        usual_metrics("study", "classification", two_classes=True),
    )
    return list(dict.fromkeys([*every, *numbers, *classes]))
