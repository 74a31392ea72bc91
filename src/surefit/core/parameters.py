"""Parameters, declared once: the annotated signature of ``__init__`` is read by everything that needs to
know them.

A declaration is a type and its constraints::

    def __init__(self, alpha: NonNegative = 1.0, *, solver: Literal["auto", "cholesky"] = "auto"): ...

``parameters_of`` turns the signature into :class:`Parameter` values, once a class; ``validate`` checks an
instance when it is fitted, never before, as scikit-learn's contract asks. The command line's flags, the
lab's controls and the search ranges come from the same values.
"""

from __future__ import annotations

import inspect
import math
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from surefit.core.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Interval:
    """Allowed numbers; None is no bound on that side. ``open_low`` and ``open_high`` leave the bound itself
    out.
    """

    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False

    def holds(self, value: float) -> bool:
        """Whether the number lies inside; NaN never does."""
        if math.isnan(value):
            return False
        above = self.low is None or value > self.low or (value == self.low and not self.open_low)
        below = self.high is None or value < self.high or (value == self.high and not self.open_high)
        return above and below

    def __str__(self) -> str:
        left = "(" if self.open_low or self.low is None else "["
        right = ")" if self.open_high or self.high is None else "]"
        low = "-inf" if self.low is None else f"{self.low:g}"
        high = "inf" if self.high is None else f"{self.high:g}"
        return f"{left}{low}, {high}{right}"


@dataclass(frozen=True, slots=True)
class Scale:
    """How a search or a slider walks the range: ``"linear"`` or ``"log"``."""

    kind: Literal["linear", "log"] = "linear"


@dataclass(frozen=True, slots=True)
class Has:
    """An object that offers these methods, such as an estimator or a splitter."""

    methods: tuple[str, ...]

    def __init__(self, *methods: str) -> None:
        object.__setattr__(self, "methods", methods)


Positive = Annotated[float, Interval(0, None, open_low=True)]
NonNegative = Annotated[float, Interval(0, None)]
Fraction = Annotated[float, Interval(0, 1)]
Count = Annotated[int, Interval(1, None)]
WholeNumber = Annotated[int, Interval(0, None)]
Strength = Annotated[float, Interval(0, None), Scale("log")]
Tolerance = Annotated[float, Interval(0, None), Scale("log")]
RandomState = (
    Annotated[object, Has("randint", "bit_generator")] | Annotated[int, Interval(0, 2**32 - 1)] | None
)


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the forms that a parameter may take: a check and the words for it."""

    holds: Callable[[Any], bool]
    words: str
    type: Any
    interval: Interval | None = None
    scale: Scale | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter of a class."""

    name: str
    default: Any
    keyword_only: bool
    alternatives: tuple[Alternative, ...]
    default_holds: bool = False  # found out once, as most values are defaults

    def holds(self, value: Any) -> bool:
        """Whether the value is of one of the declared forms; shares are not meant by whole numbers that are
        counts.
        """
        counted = isinstance(value, Integral) and any(each.type is int for each in self.alternatives)
        return any(each.holds(value) for each in self.alternatives if not (counted and each.type is float))

    @property
    def words(self) -> str:
        """What is allowed, in words."""
        return " or ".join(alternative.words for alternative in self.alternatives)


@cache
def parameters_of(cls: type) -> Mapping[str, Parameter]:
    """Read the parameters of a class from the signature of its ``__init__``, once."""
    initialise: Any = cls.__init__  # type: ignore[misc]
    hints = typing.get_type_hints(initialise, include_extras=True)
    declared = {}
    for name, entry in list(inspect.signature(initialise).parameters.items())[1:]:
        if name not in hints:
            raise TypeError(f"{cls.__name__}.__init__ must annotate its parameter {name!r}.")
        alternatives = tuple(_alternatives(hints[name]))
        found = Parameter(name, entry.default, entry.kind is entry.KEYWORD_ONLY, alternatives)
        declared[name] = replace(found, default_holds=found.holds(entry.default))
    return types.MappingProxyType(declared)


def values_of(owner: Any) -> dict[str, Any]:
    """The values of an object's parameters, by name."""
    cls: Any = type(owner)
    return {name: getattr(owner, name) for name in parameters_of(cls)}


def validate(estimator: Any) -> None:
    """Check every parameter of an instance; the error names the parameter, its value and what is allowed."""
    cls: Any = type(estimator)
    for name, parameter in parameters_of(cls).items():
        value = getattr(estimator, name)
        if value is parameter.default and parameter.default_holds:
            continue
        if not parameter.holds(value):
            owner = type(estimator).__name__
            raise ParameterError(
                f"{owner}: {name}={_shown(value)} is not allowed; it must be {parameter.words}."
            )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _alternatives(hint: Any, marks: tuple[Any, ...] = ()) -> Iterator[Alternative]:
    """Flatten an annotation into its alternatives; unions branch, ``Annotated`` adds its marks."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *extra = get_args(hint)
        yield from _alternatives(inner, (*marks, *extra))
    elif origin in (Union, types.UnionType):
        for part in get_args(hint):
            yield from _alternatives(part, marks)
    else:
        yield _alternative(hint, origin, marks)


def _alternative(hint: Any, origin: Any, marks: tuple[Any, ...]) -> Alternative:
    interval = next((mark for mark in marks if isinstance(mark, Interval)), None)
    scale = next((mark for mark in marks if isinstance(mark, Scale)), None)
    has = next((mark for mark in marks if isinstance(mark, Has)), None)
    if hint is None or hint is types.NoneType:
        return Alternative(lambda value: value is None, "None", None)
    if hint is Any:
        return Alternative(lambda value: True, "anything", hint)
    if has is not None:
        words = f"an object with {' or '.join(f'.{method}' for method in has.methods)}"
        return Alternative(lambda value: any(hasattr(value, method) for method in has.methods), words, hint)
    if origin is Literal:
        options = get_args(hint)
        words = options[0].__repr__() if len(options) == 1 else f"one of {', '.join(map(repr, options))}"
        return Alternative(
            lambda value: isinstance(value, str | bool | int) and value in options, words, hint
        )
    if hint is bool:
        return Alternative(_is_bool, "True or False", bool)
    if hint in (int, float):
        kind, noun = (Integral, "a whole number") if hint is int else (Real, "a number")
        words = noun if interval is None else f"{noun} in {interval}"

        def holds(value: Any) -> bool:
            number = isinstance(value, kind) and not _is_bool(value)
            return number and (interval is None or interval.holds(float(value)))

        return Alternative(holds, words, hint, interval, scale)
    if origin in (Callable, typing.Callable) or hint in (Callable, typing.Callable):
        return Alternative(callable, "a callable", hint)
    kind = origin or hint
    return Alternative(lambda value: isinstance(value, kind), _article(kind.__name__), hint)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}


def _article(noun: str) -> str:
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"
