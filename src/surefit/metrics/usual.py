"""Which metrics are told of where none is named: what each metric declares of itself, put in order."""

from __future__ import annotations

from typing import Any, Literal

from surefit.core.registry import members
from surefit.metrics.base import Purpose

OF_TASK = {"regression": ("regression",), "classification": ("classification", "probability", "score")}


def usual_metrics(
    purpose: Purpose, task: Literal["regression", "classification"], *, two_classes: bool = False
) -> list[str]:
    """Return the names of the metrics that a purpose tells of by default, in their order.

    two_classes: add those that are told of only where there are two classes.

    >>> usual_metrics("evaluation", "regression")
    ['r2_score', 'root_mean_squared_error']
    """
    every: dict[str, Any] = dict(members("metric"))
    told = {name: metric for name, metric in every.items() if purpose in metric.told}
    suited = [
        name
        for name, metric in told.items()
        if metric.task in OF_TASK[task] and (two_classes or not metric.told_of_two)
    ]
    return sorted(suited, key=lambda name: (told[name].told_of_two, told[name].told[purpose]))


def usual_metric(task: Literal["regression", "classification"]) -> str:
    """Return the name of the one metric that an evaluation takes by default.

    >>> usual_metric("regression"), usual_metric("classification")
    ('r2_score', 'accuracy_score')
    """
    return usual_metrics("evaluation", task)[0]
