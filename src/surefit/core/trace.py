"""The trace: what an iterative fit did, step by step, and the one place where the outside world can ask it
to stop.

A solver's outer loop has this shape and knows nothing of callbacks, bars or logs::

    for iteration in trace.iterations(max_iter):
        ...
        trace.record(objective=value, gap=gap, passes=objective.passes)
        if gap <= tolerance:
            break
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from surefit.core.public import public


@dataclass(frozen=True, slots=True)
class Event:
    """One finished iteration; None where the solver has no such number."""

    iteration: int
    seconds: float  # since the fit began
    objective: float | None = None
    gap: float | None = None
    step: float | None = None
    passes: int | None = None  # passes over the data so far
    values: Mapping[str, float] = field(default_factory=dict)  # whatever else the solver measures
    learned: Any = None  # parameters and certificate of this moment, when the trace keeps them


class Watcher(Protocol):
    """What is told about each iteration while the fit runs."""

    def begin(self, iteration: int) -> None:
        """An iteration starts."""

    def end(self, trace: Trace, learned: Callable[[], Any] | None) -> bool:
        """An iteration was recorded; true asks the fit to stop after it."""


@dataclass(frozen=True, slots=True)
class Landscape:
    """What a path in two dimensions is drawn over: a function, the start, and what bounds it.

    inside: whether a point is allowed. nearest: the allowed point nearest to another, for sets as thin as a
    line. lines: numbers that are 0 where equalities hold.
    """

    value: Callable[[Any], float]
    start: NDArray[np.float64]
    inside: Callable[[Any], bool] | None = None
    nearest: Callable[[Any], Any] | None = None
    lines: Callable[[Any], Any] | None = None


@public
class Trace:
    """Append-only record of a fit.

    >>> trace = Trace()
    >>> for iteration in trace.iterations(3):
    ...     trace.record(objective=1.0 / (iteration + 1))
    >>> trace
    Trace(3 iterations, objective 1 -> 0.333)
    """

    def __init__(self, *, keep_learned: bool = False, watcher: Watcher | None = None) -> None:
        self._events: list[Event] = []
        self._keep_learned = keep_learned
        self._watcher = watcher
        self._start = time.perf_counter()
        self.asked_to_stop = False
        self.limit: int | None = None
        self.landscape: Landscape | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far."""
        return tuple(self._events)

    def iterations(self, limit: int) -> Iterator[int]:
        """Count iterations from where the trace stands, ``limit`` at the most, until asked to stop."""
        self.limit = limit
        first = len(self._events)
        for iteration in range(first, first + limit):
            if self._watcher is not None:
                self._watcher.begin(iteration)
            yield iteration
            if len(self._events) != iteration + 1:
                raise RuntimeError("each iteration must call trace.record exactly once.")
            if self.asked_to_stop:
                return

    def record(
        self,
        *,
        objective: float | None = None,
        gap: float | None = None,
        step: float | None = None,
        passes: int | None = None,
        learned: Callable[[], Any] | None = None,
        **values: float,
    ) -> None:
        """Close the current iteration.

        ``learned`` makes parameters and certificate of this moment, when a callback or the trace wants them.
        """
        kept = learned() if self._keep_learned and learned is not None else None
        seconds = time.perf_counter() - self._start
        self._events.append(Event(len(self._events), seconds, objective, gap, step, passes, values, kept))
        if self._watcher is not None and self._watcher.end(self, learned):
            self.asked_to_stop = True

    def close(self) -> None:
        """End the watching; the record stays."""
        self._watcher = None

    def column(self, name: str) -> NDArray[np.float64]:
        """One quantity over the iterations as an array, NaN where it was not measured."""
        named = name in Event.__dataclass_fields__
        found = [getattr(e, name) if named else e.values.get(name) for e in self._events]
        return np.array([np.nan if value is None else value for value in found], dtype=np.float64)

    def plot(self, tolerance: float | None = None) -> Any:
        """Draw objective and gap over the iterations; see :func:`surefit.plots.plot_trace`."""
        from surefit.plots.trace import plot_trace

        return plot_trace(self, tolerance)

    @property
    def last(self) -> Event | None:
        """The newest event; None before the first."""
        return self._events[-1] if self._events else None

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)

    def __repr__(self) -> str:
        if not self._events:
            return "Trace(no iterations)"
        parts = [f"{len(self)} iteration{'s' if len(self) > 1 else ''}"]
        for name in ("objective", "gap"):
            first, last = getattr(self._events[0], name), getattr(self._events[-1], name)
            if first is not None and last is not None:
                parts.append(f"{name} {first:.3g} -> {last:.3g}")
        return f"Trace({', '.join(parts)}{', stopped by a callback' if self.asked_to_stop else ''})"
