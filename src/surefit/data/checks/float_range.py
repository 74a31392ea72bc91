"""Numbers whose squares leave the range of floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError

# Sums of squares of numbers beyond these are none that floats hold to all digits.
LARGEST, SMALLEST = 1e148, 1e-151


class RangeError(DataError):
    """Numbers beyond the limits that arithmetic with squares can bear."""

    def __init__(self, words: str, limits: tuple[float, float]) -> None:
        super().__init__(words)
        self.limits = limits

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.limits)  # a worker raises it too


def out_of_range(what: str, tiny: bool, limits: tuple[float, float] = (SMALLEST, LARGEST)) -> RangeError:
    """The error for the numbers of a column, or of the target."""
    beyond, change, limit = ("below", "multiply", limits[0]) if tiny else ("beyond", "divide", limits[1])
    return RangeError(
        f"the numbers in {what} are {beyond} {limit:g}, where squares leave the range of floats: "
        f"{change} them by a power of ten.",
        limits,
    )


def refuse_extreme_target(y: NDArray[Any]) -> None:
    """Refuse numbers to learn from whose squares floats cannot hold; those not finite are told elsewhere."""
    if y.dtype.kind != "f" or y.size == 0:
        return
    largest = max(float(y.max()), -float(y.min()))
    if LARGEST < largest < np.inf or 0 < largest < SMALLEST:
        raise out_of_range("the target", largest < 1)
