"""The contract of an engine, and how one is chosen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

from surefit.core.config import current_config
from surefit.core.errors import DataError
from surefit.core.progress import Bar, progress
from surefit.core.registry import Registered, lookup
from surefit.data.batch import Batch
from surefit.data.files import files_in_place
from surefit.data.source import ArraySource, Source
from surefit.engine.running import Running, S, Tallied, Tally

Step: TypeAlias = tuple[Tally[S] | None, int]


class Engine(Registered, kind="engine", folder="surefit.engine"):
    """Reads sources and adds up statistics; the same bits whichever engine it is."""

    def accumulate(self, of: Callable[[Batch], S], source: Source) -> S:
        """Return the sum of ``of(batch)`` over one pass; no rows, or no weight at all, is an error."""
        with files_in_place():
            total = self._sum(Tallied(of), source)
        if total is None or total.rows == 0:
            raise DataError("the table has no rows.")
        if total.weight == 0:
            raise DataError(
                "every sample_weight is zero, so no row counts: give at least one row a positive weight."
            )
        return total.statistic

    def map(self, f: Callable[[Batch], Any], source: Source) -> Iterator[Any]:
        """Yield ``f(batch)`` for each batch, in row order, a few batches ahead of the caller at the most."""
        with files_in_place(), _reading(source) as bar:
            for answer in self._answers(f, source.parts()):
                yield answer
                bar.advance(*getattr(answer, "shape", ())[:1])

    def _sum(self, of: Callable[[Batch], Tally[S]], source: Source) -> Tally[S] | None:
        running: Running[S] = Running()
        for tally, ended in shown(self._steps(of, source.parts(), 0), source):
            running.take(tally, ended)
        return running.total()

    @abstractmethod
    def _steps(
        self, of: Callable[[Batch], Tally[S]], parts: Sequence[Source], first: int
    ) -> Iterator[Step[S]]:
        """Yield what ``Running.take`` takes, in row order; ``parts[0]`` is part ``first`` of the source."""

    @abstractmethod
    def _answers(self, f: Callable[[Batch], Any], parts: Sequence[Source]) -> Iterator[Any]:
        """Yield ``f(batch)`` in row order."""


def shown(steps: Iterator[Step[S]], source: Source) -> Iterator[Step[S]]:
    """Pass steps on, under a progress bar that appears when a pass takes long."""
    with _reading(source) as bar:
        for tally, ended in steps:
            yield tally, ended
            bar.advance(0 if tally is None else tally.rows)


def _reading(source: Source) -> AbstractContextManager[Bar]:
    return (
        nullcontext(Bar(None)) if isinstance(source, ArraySource) else progress("reading", source.schema.rows)
    )


def choose_engine(source: Source) -> Engine:
    """Return the engine of the settings; ``"auto"`` is the one that suits the source."""
    settings = current_config()
    found = lookup("engine", _suited(source) if settings.engine == "auto" else settings.engine)
    assert issubclass(found, Engine)
    if settings.checkpoint is None:
        return found()
    from surefit.engine.checkpoint import Checkpointed

    return Checkpointed(found(), settings.checkpoint)


def _suited(source: Source) -> str:
    """What the source asks for; else threads where batches are read, and the plain loop in memory."""
    return declared(source, "engine") or ("serial" if isinstance(source, ArraySource) else "threads")


def declared(origin: Any, name: str) -> Any:
    """What a source says of itself under a name, or a source or stream inside it; None for nothing."""
    named = getattr(origin, name, None)
    inside = [getattr(origin, entry.name) for entry in fields(origin)] if is_dataclass(origin) else []
    return named or next(filter(None, (declared(p, name) for p in inside if hasattr(p, "parts"))), None)
