"""What is to be learnt: classes or numbers, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surefit.core.errors import DataError, ParameterError
from surefit.study.record import Task
from surefit.study.table.facts import ColumnFacts

FEW_CLASSES = 10  # whole numbers of so few values are classes, if each has two rows on average
MANY_CLASSES = 100  # words of more are hardly classes
TASKS = ("regression", "classification")


@dataclass(frozen=True, slots=True)
class TaskDecision:
    """The task, why, and the kind that the target is read as."""

    task: Task
    why: str
    kind: str


def decide_task(target: ColumnFacts, kind: str, override: Any = None) -> TaskDecision:
    """Say what is to be learnt of a target, from the facts about its column and its kind.

    Booleans, categories and whole numbers of at most ten values are classes; other numbers are measured.
    A target that cannot be learnt is an error that says why.

    >>> import pyarrow as pa
    >>> from surefit.study.table.facts import gather
    >>> from surefit.study.table.stream import stream_of
    >>> facts = gather(stream_of(pa.table({"price": [3.5, 2.25, 9.0]}))[0])
    >>> decide_task(facts.columns["price"], "number").task
    'regression'
    """
    if override is not None and override not in TASKS:
        raise ParameterError(f"task={override!r} must be one of {', '.join(TASKS)}.")
    _refuse_unlearnable(target, kind)
    name = target.name
    numeric = kind in ("number", "boolean") or (kind == "identifier" and target.held == "number")
    if override == "regression":
        if not numeric:
            raise DataError(f"the target {name!r} is a {kind}, and regression needs numbers: name another.")
        return TaskDecision("regression", "as specified", "number")
    # Two words for yes and no are classes as they are; more of them are spellings of the same two.
    words = target.held == "category" and target.distinct == 2
    classes = "boolean" if kind == "boolean" and not words else "category"
    if override == "classification":
        return TaskDecision("classification", "as specified", classes)
    if kind == "boolean":
        return TaskDecision("classification", f"{name} is boolean", classes)
    if numeric:
        few = target.whole and target.distinct <= FEW_CLASSES and 2 * target.distinct <= target.present
        if few:
            values = f"{name} has {target.distinct} values, all whole numbers"
            why = f"{values}; ask for regression to predict it as a number"
            return TaskDecision("classification", why, classes)
        return TaskDecision("regression", f"{name} is a number of {target.distinct} values", "number")
    if kind == "identifier" or target.distinct > MANY_CLASSES:
        raise DataError(
            f"the target {name!r} has {target.distinct} different values that are not numbers, which are "
            "hardly classes: name another column, or ask for classification."
        )
    return TaskDecision("classification", f"{name} has {target.distinct} classes", classes)


def _refuse_unlearnable(target: ColumnFacts, kind: str) -> None:
    name = target.name
    if target.present == 0:
        raise DataError(f"the target {name!r} has no value in any row: name another column.")
    if target.distinct < 2:
        raise DataError(
            f"the target {name!r} has one value only, so there is nothing to learn: name another."
        )
    if kind == "date":
        raise DataError(f"the target {name!r} holds dates: turn them into a number, as days from a start.")
