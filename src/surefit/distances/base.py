"""The contract of a distance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError
from surefit.core.native.neighbours.norms import Norm
from surefit.core.parameters import parameters_of, validate, values_of
from surefit.core.registry import Registered
from surefit.data.batches.objects import Objects, objects_of


def _itself(values: Any) -> Any:
    return values


@dataclass(frozen=True)
class Native:
    """A distance as compiled code counts it: a norm of differences of ``rows(X)``.

    ``finish`` turns the norm into the distance, ``undo`` a distance into the norm; both rise.
    """

    norm: Norm
    rows: Callable[[Any], Matrix] = _itself
    finish: Callable[[Any], Any] = _itself
    undo: Callable[[Any], Any] = _itself


class Distance(Registered, kind="distance", folder="surefit.distances"):
    """How far apart two things are: 0 for equal ones, the same in both directions.

    metric: whether the triangle inequality holds, on which trees rely. takes: what it compares: rows of
    numbers, a sequence of any objects, typed cells, or a matrix of its own values. missing: whether cells
    may be missing.
    """

    metric: bool = True
    takes: Literal["rows", "objects", "cells", "pairs"] = "rows"
    missing: ClassVar[bool] = False
    aliases: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        pass

    def _check(self) -> None:
        """Check the parameters; every ``__init__`` with parameters ends with it."""
        validate(self)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return {} if type(self).__init__ is Distance.__init__ else values_of(self)

    @classmethod
    def options(cls) -> frozenset[str]:
        """The names of the parameters."""
        own: Any = cls
        return frozenset() if own.__init__ is Distance.__init__ else frozenset(parameters_of(own))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        ours, theirs = self.parameters, other.parameters
        return all(_same(ours[name], theirs[name]) for name in ours)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        given = (f"{key}={_shown(value)}" for key, value in self.parameters.items() if value is not None)
        return f"{type(self).__name__}({', '.join(given)})"

    def fitted(self, X: Any) -> Self:
        """Return the distance with what it takes from the rows that are searched, such as their variances."""
        return self

    def native(self) -> Native | None:
        """Return the form that compiled code counts, or None."""
        return None

    def inputs(self, X: Any) -> Any:
        """Return what ``_between`` may be given."""
        if self.takes == "objects":
            return objects_of(type(self).__name__, X)
        if self.takes == "rows" and not hasattr(X, "toarray"):
            return self._rows(X)
        return X

    def held(self, rows: Any) -> Any:
        """Return rows as ``inputs`` left them, from how a model keeps them."""
        return rows

    def _rows(self, X: Any) -> Matrix:
        try:
            rows = np.ascontiguousarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(
                f"{type(self).__name__} compares rows of numbers, and X holds something else: choose a "
                "distance for objects, such as EditDistance for words, or Gower for mixed columns."
            ) from None
        if rows.ndim != 2:
            raise DataError(f"{type(self).__name__} compares rows: X must be a matrix, one row a point.")
        return rows

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the distances (n, m) of the rows of X from those of Y, or from each other."""
        own = self.fitted(X if Y is None else Y)
        left = own.inputs(X)
        right = left if Y is None else own.inputs(Y)
        if self.takes == "rows" and left.shape[1] != right.shape[1]:
            raise DataError(
                f"X has {left.shape[1]} columns and Y has {right.shape[1]}: they must be the same."
            )
        return own.between(left, right)

    def between(self, X: Any, Y: Any) -> Matrix:
        """Return the distances of checked inputs; the distance is fitted."""
        native = self.native()
        if native is None or hasattr(X, "toarray") or hasattr(Y, "toarray"):
            return self._between(X, Y)
        sums = native.norm.sums(native.rows(X), native.rows(Y))
        found: Matrix = native.finish(native.norm.distance(sums))
        return found

    def _between(self, X: Any, Y: Any) -> Matrix:
        """Return the distances where there is no native form, or for sparse rows."""
        return self.between(self._rows(_dense(X)), self._rows(_dense(Y)))

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make n things to compare, for the laws."""
        return rng.normal(size=(n, 3))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()


def _same(one: Any, two: Any) -> bool:
    """Whether two parameters are equal, arrays and lists of them too."""
    if isinstance(one, list | tuple) and isinstance(two, list | tuple):
        return len(one) == len(two) and all(_same(a, b) for a, b in zip(one, two, strict=True))
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        if one is None or two is None:
            return False
        one, two = np.asarray(one), np.asarray(two)
        return np.array_equal(one, two, equal_nan=one.dtype.kind == "f" and two.dtype.kind == "f")
    return bool(one == two)


def _shown(value: Any) -> str:
    """A value in words, an array by its shape."""
    return f"array{value.shape}" if isinstance(value, np.ndarray) else repr(value)


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def length(X: Any) -> int:
    """How many things there are."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


__all__ = ["Distance", "Native", "Objects", "length"]
