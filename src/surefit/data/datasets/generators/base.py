"""The contract of a generator: draw data from a truth, and measure how well the two agree."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import ParameterError
from surefit.core.parameters import Parameter, RandomState, parameters_of
from surefit.core.registry import Registered

Codes: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

P = ParamSpec("P")
R = TypeVar("R")


class Generated(Registered, kind="generator", folder="surefit.data.datasets.generators"):
    """Data and the truth they were drawn from."""

    X: Any
    draw: ClassVar[Callable[..., Any]]  # each has parameters of its own, all with defaults

    @abstractmethod
    def surprise(self) -> dict[str, float]:
        """Return, a claim each, how far the data lie from the truth: in standard errors where chance has a
        part, in units of the rounding allowed where it has none. More than 5 means that the two do not
        belong together.
        """


def checked(draw: Callable[P, R]) -> Callable[P, R]:
    """Hold the arguments of a ``draw`` to the types and ranges that its signature declares."""
    shape = signature(draw)
    declared: dict[str, Parameter] = {}

    @wraps(draw)
    def draw_checked(*arguments: P.args, **named: P.kwargs) -> R:
        if not declared:  # read late: the annotations may name classes that are defined further down
            declared.update(parameters_of(type(draw.__qualname__, (), {"__init__": draw})))
        given = list(shape.bind(*arguments, **named).arguments.items())[1:]
        for name, value in given:
            if not declared[name].holds(value):
                raise ParameterError(
                    f"{draw.__qualname__}: {name}={value!r} is not allowed; "
                    f"it must be {declared[name].words}."
                )
        return draw(*arguments, **named)

    return draw_checked


def stream(random_state: RandomState) -> np.random.Generator:
    """Return the stream of random numbers that a seed stands for; a generator is taken as it is."""
    return np.random.default_rng(cast(Any, random_state))
