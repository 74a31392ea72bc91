"""The contract of an engine, and how one is chosen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from surefit.core.config import current_config
from surefit.core.registry import Registered, lookup
from surefit.data.batch import Batch
from surefit.data.source import Source
from surefit.stats.base import Statistic

S = TypeVar("S", bound=Statistic)


class Engine(Registered, kind="engine", folder="surefit.engine"):
    """Reads sources and adds up statistics."""

    @abstractmethod
    def accumulate(self, of: Callable[[Batch], S], source: Source) -> S:
        """Return the sum of ``of(batch)`` over one pass."""

    @abstractmethod
    def map(self, f: Callable[[Batch], Any], source: Source) -> Iterator[Any]:
        """Yield ``f(batch)`` for each batch, in row order."""


def choose_engine(source: Source) -> Engine:
    """Return the engine of the settings; ``"auto"`` reads in this thread."""
    name = current_config().engine
    found = lookup("engine", "serial" if name == "auto" else name)
    assert issubclass(found, Engine)
    return found()
