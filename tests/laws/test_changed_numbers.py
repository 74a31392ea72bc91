"""A model with one number changed by 1 % is another model: ``verify`` says so wherever answers change."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
from tests.laws.estimators import CLASSES, each_estimator, outputs, table

import surefit
from surefit.models.base import Estimator

PART = 1.01
SLIGHT = 1e-4
FRESH = 500  # rows that were not fitted: a threshold between two that were changes answers of these
SENTENCES = (surefit.core.errors.SurefitError, ValueError)

# Fields that change answers and that no verification can tell, each with its reason.
EXEMPT: dict[tuple[str, str], str] = {}


@cache
def fitted(name: str) -> tuple[Any, Any, Any, Any]:
    """A model at its default parameters, the rows that it learnt from, and rows that it did not."""
    X, y = table(CLASSES[name])
    fresh, _ = table(CLASSES[name], rows=FRESH, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return CLASSES[name]().fit(X, y), X, y, fresh


def numbers(
    value: Any, change: Callable[[Any], None] | None = None
) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """Each array of floats in a value, and each float by itself, with what puts another in its place."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and value.size:
            yield value, lambda changed: np.copyto(value, changed)
        elif value.dtype.kind == "O":
            for place in np.ndindex(value.shape):
                yield from numbers(
                    value[place], lambda changed, place=place: value.__setitem__(place, changed)
                )
    elif isinstance(value, float) and change is not None:
        yield np.asarray(value), lambda changed: change(float(changed))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from numbers(part, lambda changed, place=place: value.__setitem__(place, changed))
    elif isinstance(value, tuple):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, dict):
        for place, part in value.items():
            yield from numbers(part, lambda changed, place=place: value.__setitem__(place, changed))
    elif isinstance(value, Estimator) and "certificate_" in value.__dict__:
        for name in learnt(value):
            yield from numbers(getattr(value, name), lambda changed, name=name: setattr(value, name, changed))
    elif is_dataclass(value) and not isinstance(value, type):
        for entry in fields(value):
            name = entry.name
            yield from numbers(
                getattr(value, name), lambda changed, name=name: object.__setattr__(value, name, changed)
            )


def learnt(model: Any) -> list[str]:
    """The fields that this fit has: some are there only when asked for."""
    return [f"{entry.name}_" for entry in fields(model.learns) if hasattr(model, f"{entry.name}_")]


def with_the_largest_changed(model: Any, name: str) -> Any:
    """A copy whose largest number in a field is 1 % larger; None if there is none that is not 0."""
    other = copy.deepcopy(model)
    held = list(numbers(getattr(other, name), lambda changed: setattr(other, name, changed)))
    sizes = [np.where(np.isfinite(array), np.abs(array), 0.0).max() for array, _ in held]
    if max(sizes, default=0.0) == 0.0:
        return None
    array, put = held[int(np.argmax(sizes))]
    place = np.argmax(np.where(np.isfinite(array), np.abs(array), 0.0))
    changed = array.copy()
    changed.flat[place] *= PART
    put(changed)
    return other


def answers_differ(one: Any, two: Any, rows: list[Any]) -> bool:
    """Whether any answer for any rows is another; a model that gives none is its numbers."""
    for X in rows:
        before = outputs(one, X)
        if not before:
            return True
        try:
            after = outputs(two, X)
        except SENTENCES:
            return True
        if any(is_another(before[key], after[key]) for key in before):
            return True
    return False


def is_another(before: Any, after: Any) -> bool:
    """Whether answers differ by more than a ten-thousandth of their range: less is 1 % of next to nothing."""
    if before.shape != after.shape or before.dtype.kind != "f":
        return not np.array_equal(before, after)
    finite = np.isfinite(before)
    if not np.array_equal(finite, np.isfinite(after)):
        return True
    one, two = before[finite], after[finite]
    return bool(len(one) and np.abs(two - one).max() > SLIGHT * np.ptp(one))


def is_found(model: Any, X: Any, y: Any) -> bool:
    """Whether verification notices: by a certificate that does not hold, or by a sentence."""
    try:
        return not surefit.verify(model, X, y).holds
    except SENTENCES:
        return True


@each_estimator
def test_a_change_of_one_percent_of_the_largest_number_of_a_field_is_found(cls: type[Estimator]) -> None:
    model, X, y, fresh = fitted(cls.__name__)
    assert surefit.verify(model, X, y).holds
    missed = []
    for name in learnt(model):
        if (cls.__name__, name) in EXEMPT:
            continue
        other = with_the_largest_changed(model, name)
        if other is not None and not is_found(other, X, y) and answers_differ(model, other, [X, fresh]):
            missed.append(name)
    assert not missed, f"verify holds for {cls.__name__} with another {', '.join(missed)}"
