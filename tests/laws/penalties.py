"""The penalties that the laws run over, and the points at which they do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.laws.looping import in_one_test

from surefit.core.registry import members
from surefit.penalties.base import CASE_COLUMNS, Penalty

PENALTIES: dict[str, type[Penalty]] = dict(members("penalty"))  # type: ignore[arg-type]
CASES = [
    pytest.param(penalty, id=f"{name}-{number}")
    for name, cls in PENALTIES.items()
    for number, penalty in enumerate(cls.cases(np.random.default_rng(3)))
]
OPTIONAL = ["conjugate", "dual_scaling", "table", "largest", "subdifferential_distance"]
SHAPES = [(CASE_COLUMNS,), (CASE_COLUMNS, 3)]
STEPS = [0.1, 1.0, 4.0]  # on both sides of where the concave penalties outbend the distance


def those(*conditions: str, without: str = "") -> list[Any]:
    """Return the cases that offer these methods or have these flags."""
    return [
        case
        for case in CASES
        if all(has(case.values[0], condition) for condition in conditions)
        and not (without and has(case.values[0], without))
    ]


def has(penalty: Penalty, condition: str) -> bool:
    if condition in OPTIONAL:
        return penalty.offers(condition)
    if condition == "strength":
        return "strength" in penalty.parameters
    return bool(getattr(penalty, condition))


def each(*conditions: str, without: str = "") -> pytest.MarkDecorator:
    return pytest.mark.parametrize("penalty", those(*conditions, without=without))


each_shape = in_one_test("shape", SHAPES)
each_step = in_one_test("step", STEPS)
each_class = pytest.mark.parametrize("cls", PENALTIES.values(), ids=PENALTIES.keys())


def points(shape: tuple[int, ...], count: int, seed: int = 0) -> list[np.ndarray]:
    """Return points of all sizes, some with zeros in them."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([0.3, 1.0, 3.0], size=count)
    return [size * rng.normal(size=shape) * (rng.random(shape) < 0.8) for size in sizes]


def subgradient(penalty: Penalty, v: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a point and a subgradient there, moved into the conjugate's domain by no more than rounding."""
    w = penalty.prox(v, step)
    u = (v - w) / step
    factor = penalty.dual_scaling(u)
    assert factor == pytest.approx(1.0, abs=1e-13)
    return w, factor * u
