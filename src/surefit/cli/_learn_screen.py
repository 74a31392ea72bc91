"""What ``surefit learn`` shows while it works: a live table on a terminal, lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from surefit.cli._frame import Output, shown
from surefit.core.printable_text import visible
from surefit.study.events import Event, Listener
from surefit.study.record import EntryRecord

ARROW = "> "
NARROW = 100  # columns of a terminal that a whole leaderboard does not fit into


def head(level: float, narrow: bool = False) -> tuple[str, ...]:
    """The head of a leaderboard."""
    more = () if narrow else ("rows", "seconds a fit")
    return ("", "model", "score", f"{100 * level:g} % interval", "group", *more)


def lines(
    entries: Sequence[EntryRecord], chosen: str | None = None, narrow: bool = False
) -> list[tuple[Any, ...]]:
    """The rows of a leaderboard, with an arrow at the one to take; what has no score is in ``left_out``."""
    found: list[tuple[Any, ...]] = []
    for place, entry in enumerate(entries, 1):
        if entry.score is None:
            continue
        ends = f"{shown(entry.low)} to {shown(entry.high)}"
        mark = f"{ARROW if entry.name == chosen else ''}{place}"
        more = () if narrow else (entry.rows, entry.seconds)
        found.append((mark, entry.title, entry.score, ends, entry.group, *more))
    return found


def left_out(entries: Sequence[EntryRecord], unsuited: Mapping[str, str]) -> list[str]:
    """Who is not in a leaderboard, and why, one line a reason."""
    why: dict[str, list[str]] = {}
    failed = {entry.title: entry.failed for entry in entries if entry.failed is not None}
    for title, reason in {**failed, **unsuited}.items():
        why.setdefault(reason.rstrip("."), []).append(title)
    return [f"{', '.join(titles)}: {reason}." for reason, titles in why.items()]


@contextmanager
def screen(out: Output) -> Iterator[Listener]:
    """Give a listener that shows what a study tells, on standard error."""
    console = out.progress
    if not console.is_terminal:
        yield _Plain(out)
        return
    from rich.live import Live

    with Live(console=console, transient=True, refresh_per_second=4) as live:
        yield _Watched(out, live.update, lambda text: live.console.print(visible(text)))


class _Plain:
    """Says each step on a line."""

    def __init__(self, out: Output) -> None:
        self._log = out.log
        self._told: set[str] = set()

    def __call__(self, event: Event) -> None:
        """Say the first score of each model, and every other step."""
        if event.stage == "race":
            for entry in event.entries:
                if entry.name not in self._told:
                    self._told.add(entry.name)
                    self._log(_said(entry))
        else:
            for line in told(event):
                self._log(line)


class _Watched:
    """Shows the leaderboard as it grows."""

    def __init__(self, out: Output, update: Callable[[Any], None], say: Callable[[str], None]) -> None:
        self._update, self._say = update, say

    def __call__(self, event: Event) -> None:
        """Say the step, or draw the table anew."""
        if event.stage == "race":
            self._update(_drawn(event.entries))
            return
        for line in told(event):
            self._say(line)


def told(event: Event) -> list[str]:
    """The lines of a step: what was decided and why, what the audit found, what happens now."""
    if event.stage == "columns":
        decided = event.about
        found = [f"{decided.rows:,} rows, {len(decided.columns):,} columns; {event.message}"]
        shown_columns = decided.columns[:40]
        found += [
            f"  {column.name}: {column.kind}{'' if column.used else ', not used'} ({column.why})"
            for column in shown_columns
        ]
        more = len(decided.columns) - len(shown_columns)
        return [*found, f"  and {more:,} more columns"] if more else found
    if event.stage == "audit":
        serious = [entry for entry in event.about if entry.severity != "note"]
        notes = len(event.about) - len(serious)
        found = [f"{entry.severity}: {entry.message} {entry.remedy}" for entry in serious]
        return [*found, f"the audit has {notes} note{'s' if notes != 1 else ''} besides"] if notes else found
    if event.stage == "done":
        return []
    return [event.message]


def _said(entry: EntryRecord) -> str:
    if entry.score is None:
        return f"{entry.title}: left out, {entry.failed}"
    return f"{entry.title}: {shown(entry.score)} ({shown(entry.low)} to {shown(entry.high)})"


def _drawn(entries: Sequence[EntryRecord]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for name in ("model", "score", "interval", "seconds a fit"):
        table.add_column(name)
    for entry in entries:
        cells = (entry.title, "", f"left out: {entry.failed}", "")
        if entry.score is not None:
            ends = f"{shown(entry.low)} to {shown(entry.high)}"
            cells = (entry.title, shown(entry.score), ends, shown(entry.seconds))
        table.add_row(*(Text(visible(each)) for each in cells))
    return table
