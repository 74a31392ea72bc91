"""What a study tells while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from surefit.study.record import EntryRecord

Stage = Literal["columns", "audit", "race", "fit", "questions", "done"]


@dataclass(frozen=True, slots=True)
class Event:
    """A step of a study, in words. about: what it is about, by stage.

    "columns": the decisions; "audit": the findings; "race": the leaderboard so far, in ``entries``; "done":
    the record.
    """

    stage: Stage
    message: str
    entries: tuple[EntryRecord, ...] = ()
    about: Any = None


Listener = Callable[[Event], None]


def silent(event: Event) -> None:
    """Tell nobody."""
