"""What sections are made of: tables, figures with the table behind them, findings, and values as words."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from markupsafe import Markup

from surefit.core.printable_text import visible
from surefit.plots.base import to_svg
from surefit.plots.words import GROUPED, number
from surefit.report.svg import picture
from surefit.study.record import EntryRecord, FindingRecord, Record

MOST_CHARACTERS = 160  # of a cell
MOST_ROWS = 200  # of a table
MOST_FINDINGS = 60
MOST_COLUMNS = 20  # of a finding
ORDER = {"problem": 0, "warning": 1}
MARKS = {"problem": "Problem", "warning": "Warning"}
NONE = "–"
WIDTH = 400  # of a chart: two stand side by side on a screen, and its words can be read on a phone


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values below their headings. note: what is said below it. code: keep blanks as they are."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""
    code: bool = False

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers alone, and are set flush right with their headings."""
        return tuple(
            any(map(is_number, values)) and all(value is None or is_number(value) for value in values)
            for values in zip(*self.rows, strict=True)
        ) or (False,) * len(self.head)


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, what it says, and the table behind it."""

    key: str
    title: str
    said: str
    drawing: Markup
    table: Table
    look: str = ""  # "wide": over both columns; "natural": as large as it was drawn


@dataclass(frozen=True, slots=True)
class Marked:
    """A value with a mark beside it, such as "chosen"."""

    value: Any
    mark: str


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Any],
    line: Callable[[Any], Iterable[Any]] = tuple,
    code: bool = False,
) -> Table:
    """Make a table, cut after so many rows that it can still be read, and say how many were left out.

    line: makes the cells of a row, of those that are kept.

    >>> table("Numbers", ["n"], [[k] for k in range(205)]).note
    'and 5 more rows'
    """
    rest = iter(rows)
    kept = tuple(tuple(line(row)) for row in islice(rest, MOST_ROWS))
    more = sum(1 for _ in rest)
    note = f"and {more:,} more row{'s' if more > 1 else ''}" if more else ""
    return Table(caption, tuple(head), kept, note, code)


def figure(key: str, chart: Any, behind: Table, look: str = "") -> Figure:
    """Draw a chart for the page: its title and subtitle become words of the page, which can wrap."""
    heading = chart.title
    title, said = str(heading.text), _words(heading.subtitle)
    bare = chart.copy(deep=False)
    bare.title = ""
    return Figure(key, title, said, picture(to_svg(bare), key, title, said), behind, look)


def beside(names: Iterable[str], most: int = 28) -> int:
    """The width left for a chart beside its labels, so that charts with short and long ones are alike.

    >>> beside(["a"]), beside(["a" * 100])
    (413, 235)
    """
    longest = min(most, max((len(name) for name in names), default=0))
    return WIDTH + 20 - round(6.6 * longest)  # pixels of a letter


def _words(subtitle: Any) -> str:
    return subtitle if isinstance(subtitle, str) else ""


def cell(value: Any) -> str:
    """Write a value for a reader; an infinite number as a missing one, which it is in a file.

    >>> cell(None), cell(float("nan")), cell(True), cell(12345), cell(0.123456), cell("a\\x00")
    ('–', '–', 'yes', '12,345', '0.1235', 'a\\\\x00')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return (f"{value:,}" if abs(value) >= GROUPED else str(value)).replace("-", "−")
    if isinstance(value, float):
        return number(value, 4)
    return visible(value, MOST_CHARACTERS)


def is_number(value: Any) -> bool:
    """Whether a value is set flush right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def rough(value: float | None) -> float | None:
    """A number of which two digits are enough.

    >>> rough(0.01234), rough(None)
    (0.012, None)
    """
    return None if value is None else float(f"{value:.2g}")


def interval(low: float | None, high: float | None) -> str:
    """Write an interval, with blanks at which no line breaks.

    >>> interval(0.25, 0.5).replace("\\N{NO-BREAK SPACE}", " "), interval(None, 1.0)
    ('0.25 to 0.5', '–')
    """
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return NONE
    return f"{cell(low)}\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}{cell(high)}"


def settings_words(settings: dict[str, Any]) -> str:
    """Write settings as ``name=value``.

    >>> settings_words({"alpha": 0.1, "fit_intercept": True})
    'alpha = 0.1, fit_intercept = yes'
    """
    return ", ".join(f"{visible(name, 40)} = {cell(value)}" for name, value in settings.items()) or "defaults"


def shell_word(text: str) -> str:
    """Quote text for a shell; what cannot be seen is spelt out in a way that bash and zsh read.

    >>> print(shell_word("my table.csv"), shell_word("it's\\n"))
    'my table.csv' $'it\\'s\\n'
    """
    if visible(text) == text:
        return shlex.quote(text)
    spelt = "".join(
        "\\" + letter if letter in "\\'" else letter if letter == " " else visible(letter) for letter in text
    )
    return f"$'{spelt}'"


def findings(found: tuple[FindingRecord, ...]) -> list[dict[str, Any]]:
    """Findings as the page lists them, worst first."""
    ordered = sorted(found, key=lambda finding: ORDER.get(finding.severity, 2))
    return [
        {
            "mood": {"problem": "bad", "warning": "warn"}.get(finding.severity, "note"),
            "mark": MARKS.get(finding.severity, "Note"),
            "message": finding.message,
            "remedy": finding.remedy,
            "code": finding.code,
            "columns": finding.columns[:MOST_COLUMNS],
            "more": max(0, len(finding.columns) - MOST_COLUMNS),
            "evidence": list(finding.evidence.items())[:MOST_COLUMNS],
        }
        for finding in ordered[:MOST_FINDINGS]
    ]


def entry_of(record: Record, name: str) -> EntryRecord | None:
    """The line of the leaderboard with that name."""
    return next((entry for entry in record.leaderboard if entry.name == name), None)
