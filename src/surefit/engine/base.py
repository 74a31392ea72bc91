"""The contract of an engine, and how one is chosen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from surefit.core.config import current_config
from surefit.core.errors import DataError
from surefit.core.registry import Registered, lookup
from surefit.data.batch import Batch
from surefit.data.source import Source
from surefit.stats.base import Statistic

S = TypeVar("S", bound=Statistic)


@dataclass(frozen=True, slots=True)
class Tally(Generic[S]):
    """A statistic with the number of rows and the weight that went into it."""

    rows: int
    weight: float
    statistic: S

    def __add__(self, other: Tally[S]) -> Tally[S]:
        return Tally(self.rows + other.rows, self.weight + other.weight, self.statistic + other.statistic)


@dataclass(frozen=True, slots=True)
class _Tallied(Generic[S]):
    of: Callable[[Batch], S]

    def __call__(self, batch: Batch) -> Tally[S]:
        weight = float(len(batch)) if batch.weight is None else float(batch.weight.sum())
        return Tally(len(batch), weight, self.of(batch))


class Engine(Registered, kind="engine", folder="surefit.engine"):
    """Reads sources and adds up statistics."""

    def accumulate(self, of: Callable[[Batch], S], source: Source) -> S:
        """Return the sum of ``of(batch)`` over one pass; no rows, or no weight at all, is an error."""
        total = self._sum(_Tallied(of), source)
        if total is None or total.rows == 0:
            raise DataError("the table has no rows.")
        if total.weight == 0:
            raise DataError(
                "every sample_weight is zero, so no row counts: give at least one row a positive weight."
            )
        return total.statistic

    @abstractmethod
    def _sum(self, of: Callable[[Batch], Tally[S]], source: Source) -> Tally[S] | None:
        """Return the sum of ``of(batch)`` over one pass, added in row order; None for no batch at all."""

    @abstractmethod
    def map(self, f: Callable[[Batch], Any], source: Source) -> Iterator[Any]:
        """Yield ``f(batch)`` for each batch, in row order."""


def choose_engine(source: Source) -> Engine:
    """Return the engine of the settings; ``"auto"`` reads in this thread."""
    name = current_config().engine
    found = lookup("engine", "serial" if name == "auto" else name)
    assert issubclass(found, Engine)
    return found()
