"""Parameters are declared once and checked when fitted."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import pytest

from surefit.core.errors import ParameterError
from surefit.core.parameters import (
    Count,
    Fraction,
    Has,
    Interval,
    NonNegative,
    Positive,
    RandomState,
    Scale,
    parameters_of,
    validate,
)


class Model:
    def __init__(
        self,
        alpha: Annotated[float, Interval(0, None), Scale("log")] = 1.0,
        *,
        size: Count = 3,
        share: Fraction = 0.5,
        step: Positive | Literal["auto"] = "auto",
        flag: bool = True,
        seed: RandomState = None,
        splitter: Annotated[object, Has("split")] | None = None,
    ) -> None:
        self.alpha, self.size, self.share, self.step = alpha, size, share, step
        self.flag, self.seed, self.splitter = flag, seed, splitter


class Splitter:
    def split(self):
        """Only there to be there."""


GOOD = [
    {"alpha": 0}, {"alpha": np.float32(2)}, {"alpha": np.int64(3)}, {"alpha": float("inf")},
    {"size": np.int32(1)}, {"share": 1}, {"step": 0.1}, {"step": "auto"}, {"flag": np.bool_(False)},
    {"seed": 0}, {"seed": np.random.RandomState(0)}, {"seed": None}, {"splitter": Splitter()},
]  # fmt: skip
BAD = [
    ({"alpha": -1.0}, r"alpha=-1.0 is not allowed; it must be a number in \[0, inf\)"),
    ({"alpha": float("nan")}, "alpha=nan"),
    ({"alpha": True}, "alpha=True"),
    ({"alpha": "1"}, "alpha='1'"),
    ({"alpha": None}, "alpha=None"),
    ({"size": 0}, r"size=0 is not allowed; it must be a whole number in \[1, inf\)"),
    ({"size": 2.0}, "size=2.0"),
    ({"size": np.bool_(True)}, "size="),
    ({"share": 1.5}, r"\[0, 1\]"),
    ({"step": 0}, r"step=0 is not allowed; it must be a number in \(0, inf\) or 'auto'"),
    ({"step": "fast"}, "step='fast'"),
    ({"flag": 1}, "flag=1 is not allowed; it must be True or False"),
    ({"seed": -1}, "seed=-1"),
    ({"seed": "x"}, "seed='x'"),
    ({"splitter": 5}, "splitter=5 is not allowed; it must be an object with .split or None"),
]


@pytest.mark.parametrize("values", GOOD, ids=[f"{next(iter(v))}-{i}" for i, v in enumerate(GOOD)])
def test_what_is_declared_passes(values):
    validate(Model(**values))


@pytest.mark.parametrize(("values", "message"), BAD, ids=[str(values) for values, _ in BAD])
def test_what_is_not_declared_is_named(values, message):
    with pytest.raises(ParameterError, match=f"Model: .*{message}"):
        validate(Model(**values))


def test_the_declaration_can_be_read():
    declared = parameters_of(Model)
    assert list(declared) == ["alpha", "size", "share", "step", "flag", "seed", "splitter"]
    (alpha,) = declared["alpha"].alternatives
    assert (alpha.interval, alpha.scale, declared["alpha"].default) == (Interval(0, None), Scale("log"), 1.0)
    assert not declared["alpha"].keyword_only
    assert declared["size"].keyword_only
    assert parameters_of(Model) is declared


def test_a_parameter_without_a_type_is_an_error():
    class Bare:
        def __init__(self, alpha=1.0):
            self.alpha = alpha

    with pytest.raises(TypeError, match="must annotate its parameter 'alpha'"):
        parameters_of(Bare)


def test_intervals():
    assert NonNegative.__metadata__[0].holds(0)
    assert not Positive.__metadata__[0].holds(0)
    assert str(Interval(0, 1, open_high=True)) == "[0, 1)"
    assert str(Interval()) == "(-inf, inf)"
