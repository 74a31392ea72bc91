"""One batch after the other, in the calling thread; kernels may still use several threads inside a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, Source
from surefit.engine.base import Engine, Step
from surefit.engine.running_sum import S, Tally


class Serial(Engine):
    """The plain loop: one batch in memory."""

    name = "serial"

    def accumulate(self, of: Callable[[Batch], S], source: Source) -> S:
        """Return the sum over one pass; rows in memory are one batch, with nothing to add up."""
        if isinstance(source, ArraySource):
            batch = source.batch
            if len(batch) and (batch.weight is None or batch.weight.any()):
                return of(batch)
        return super().accumulate(of, source)

    def _steps(
        self, of: Callable[[Batch], Tally[S]], parts: Sequence[Source], first: int = 0
    ) -> Iterator[Step[S]]:
        for part in parts:
            for tally in map(of, part):
                yield tally, 0
            yield None, 1

    def _answers(self, f: Callable[[Batch], Any], parts: Sequence[Source]) -> Iterator[Any]:
        return map(f, chain.from_iterable(parts))
