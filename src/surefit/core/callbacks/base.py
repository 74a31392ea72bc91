"""The hooks that a callback may fill, and what it can learn of the task it is called for."""

from __future__ import annotations

from typing import Any

from surefit.core.trace import Event

Key = tuple[Any, ...]


class Callback:
    """A callback that does nothing; a subclass fills the hooks it wants."""

    def setup(self, estimator: Any, context: Any) -> None:
        """The outermost watched fit begins."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """The outermost watched fit has ended, well or not."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """A task of the fit begins."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool | None:
        """A task of the fit has ended; true stops the loop it belongs to."""


def path(context: Any) -> list[int]:
    """The task numbers from the root down to this task."""
    numbers: list[int] = []
    while context is not None:
        numbers.append(int(context.task_id))
        context = context.parent
    return numbers[::-1]


def fit_key(context: Any) -> Key:
    """What names the fit that an iteration belongs to, the same for all its iterations and for no other
    fit.
    """
    return (str(context.root_uuid), *path(context)[:-1])


def iteration_event(estimator: Any, context: Any) -> Event | None:
    """The event that was just recorded, if this task is an iteration of one of surefit's estimators."""
    trace = getattr(estimator, "trace_", None)
    if context.task_name != "iteration" or trace is None:
        return None
    last: Event | None = trace.last
    return last


def remark(event: Event) -> str:
    """Objective and gap of an event, in words."""
    parts = [(name, getattr(event, name)) for name in ("objective", "gap")]
    return "  ".join(f"{name} {value:.6g}" for name, value in parts if value is not None)
