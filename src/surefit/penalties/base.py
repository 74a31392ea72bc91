"""The contract of a penalty."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefit.core.errors import RefusalError
from surefit.core.parameters import Interval, Scale, values_of
from surefit.core.registry import Registered

if TYPE_CHECKING:
    from surefit.penalties.coordinate_table import CoordinateTable

Array = NDArray[Any]
Columns = list[Any] | tuple[Any, ...] | NDArray[Any]  # one entry a column, or a matrix of them
Strength = Annotated[float, Interval(0, math.inf, open_high=True), Scale("log")]

CASE_COLUMNS = 6  # how many coefficients the penalties of `cases` are made for


class Penalty(Registered, kind="penalty", folder="surefit.penalties"):
    r"""A function of the coefficients that an objective adds to its mean loss.

    convex: whether it is. separable: whether it is a sum over single coefficients. constraint: whether it is
    zero on a set and infinite elsewhere. Parameters are checked when it is made. A class writes ``value`` and
    ``prox``; ``offers`` tells which of the other methods it has as well.

    >>> from surefit.penalties.l1 import L1
    >>> penalty = L1(2.0)
    >>> penalty.value([1.0, -3.0]), penalty.offers("conjugate")
    (8.0, True)
    """

    convex: ClassVar[bool] = True
    separable: ClassVar[bool] = False
    constraint: ClassVar[bool] = False

    def __init__(self) -> None:
        pass

    @abstractmethod
    def value(self, w: ArrayLike) -> float:
        """Return the penalty of the coefficients; infinite outside a constraint."""

    @abstractmethod
    def prox(self, v: ArrayLike, step: float) -> Array:
        r"""Return :math:`\arg\min_w \; step \cdot pen(w) + \frac12 \|w - v\|^2`, in the type of ``v``.

        Where a penalty that is not convex has several minimisers, the one with more zeros.
        """

    def conjugate(self, u: ArrayLike) -> float:
        r"""Return :math:`\sup_w \langle u, w \rangle - pen(w)`; infinite outside its domain."""
        raise self._refusal("conjugate")

    def dual_scaling(self, u: ArrayLike) -> float:
        """Return the largest factor in [0, 1] that brings ``u`` into the conjugate's domain, up to rounding.

        It is 0 where a coefficient is free, as no multiple of a slope along it is in the domain.
        """
        raise self._refusal("dual_scaling")

    def table(self, p: int) -> CoordinateTable:
        """Return the penalty of each of the p coefficients as numbers, for compiled solvers."""
        raise self._refusal("table")

    def largest(self, gradient_at_zero: ArrayLike) -> float:
        """Return the smallest strength at which w = 0 is stationary, given the loss's gradient there.

        Infinite where no strength does it. For a convex penalty, stationary means optimal.
        """
        raise self._refusal("largest")

    def subdifferential_distance(self, w: ArrayLike, gradient: ArrayLike) -> Array:
        """Return how far ``-gradient`` is from the subdifferential at ``w``: all 0 when it is stationary.

        These are the entries of the shortest vector from the subdifferential to ``-gradient``.
        """
        raise self._refusal("subdifferential_distance")

    def free_directions(self, p: int, slope: ArrayLike | None = None) -> Array:
        """Return the directions (p, f) that the penalty does not hold back, nor a multiple of it.

        A slope along them, however small, is outside the conjugate's domain. Where that depends on the sign
        of the slope, as with bounds on one side, those that are free for this ``slope`` are among them.
        """
        return np.zeros((p, 0))

    def quadratic(self, p: int) -> Array | None:
        """Return A (p, p), or its diagonal (p,), of a penalty w'Aw/2; None for any other."""
        return None

    def scaled(self, factor: float) -> Self:
        """Return the same penalty times a number; a constraint stays as it is."""
        if self.constraint:
            return self
        if "strength" not in self.parameters:
            raise self._refusal("scaled")
        return self.replace(strength=self.parameters["strength"] * factor)

    def feasible(self, w: ArrayLike) -> bool:
        """Whether the penalty is finite at ``w``."""
        return self.value(w) < math.inf

    def offers(self, method: str) -> bool:
        """Whether one of the optional methods exists for this penalty."""
        return getattr(type(self), method) is not getattr(Penalty, method)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return values_of(self)

    def replace(self, **changes: Any) -> Self:
        """Return the same penalty with other values of some parameters."""
        return type(self)(**{**self.parameters, **changes})

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{type(self).__name__}({options})"

    def _refusal(self, method: str) -> RefusalError:
        return RefusalError(
            f"{type(self).__name__} has no {method}(): choose a solver that does not need it, "
            "or another penalty."
        )

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws, each for ``CASE_COLUMNS`` coefficients."""
        yield cls()
