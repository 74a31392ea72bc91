"""One batch after the other, in the calling thread; kernels may still use several threads inside a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Any

from surefit.data.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine, S, Tally


class Serial(Engine):
    """The plain loop."""

    name = "serial"

    def _sum(self, of: Callable[[Batch], Tally[S]], source: Source) -> Tally[S] | None:
        """Add from left to right."""
        batches = map(of, source)
        first = next(batches, None)
        return None if first is None else reduce(add, batches, first)

    def map(self, f: Callable[[Batch], Any], source: Source) -> Iterator[Any]:
        """Apply in order."""
        return map(f, source)
