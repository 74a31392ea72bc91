"""What each column of a table is, and why: number, category, boolean, date, text, identifier or constant.

The decision is made from ``facts.py`` and asks the preparer of tables, which has the last word on what a
model sees. Everything can be overruled. The thresholds, all of them:

- a column is constant when it has one value in every row, or none at all;
- numbers 0 and 1, and words for yes and no, are boolean;
- text is a number, boolean or date when every cell is one, or a word for nothing;
- whole numbers, each once, that fill a range or rise from row to row are an identifier from 20 rows on, and
  so are whole numbers, each once, in a column whose name ends in "id" or the like;
- words are an identifier when 95 % of at least 20 rows have one of their own, or text if they are sentences;
- words of more than 10 000 different values are text, and so are sentences, of 5 words on average, of which
  half are different; other words are categories.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any

import numpy as np

from surefit.core.errors import DataError, ParameterError
from surefit.core.public import public
from surefit.data.arrow import to_numpy
from surefit.data.batches.batch import Batch
from surefit.data.schema import Column
from surefit.models.prepare.tables.column_plan import LEAST_ROWS, MAX_LEVELS, Facts, decide
from surefit.stats.sketch import Sketch
from surefit.study.record import Cell, ColumnRecord
from surefit.study.table import spellings
from surefit.study.table.facts import ColumnFacts, TableFacts, gather
from surefit.study.table.stream import stream_of

KINDS = ("number", "category", "boolean", "date", "text", "identifier", "constant")
USED = ("number", "category", "boolean", "date")  # what a model can learn from
OWN_VALUE = 0.95  # of the rows have a value of their own: an identifier
SENTENCE = 5.0  # words a cell
SEVERAL = 0.5  # of the cells are different: sentences, not answers to choose from
FEW = 20  # whole numbers of so few values might as well be categories, which the reason says
MOSTLY = 0.5  # of the rows are missing
IDENTIFIER_NAME = re.compile(
    r"(^|[^a-z])(id|ids|idx|index|key|uuid|guid|rowid|row[ _]?(nr|no|num|number))$", re.I
)
SHOWN = 5  # levels in the summary
EPOCH = datetime(1970, 1, 1)


@public
def decide_kinds(
    table: Any,
    target: Any = None,
    overrides: Mapping[str, str] | None = None,
    *,
    drop: tuple[str, ...] = (),
    weight: str | None = None,
) -> tuple[ColumnRecord, ...]:
    """Say what each column of a table is, in one pass over whatever ``surefit.read`` can read.

    target: a name, or values. overrides: kinds by name. Models see the columns with ``used``; the target,
    the weight and what ``drop`` names are listed, but not used.

    >>> import pyarrow as pa
    >>> table = pa.table({"size": ["1,200", "n/a", "950"], "sold": ["yes", "no", "no"], "year": [2020] * 3})
    >>> [(column.name, column.kind) for column in decide_kinds(table)]
    [('size', 'number'), ('sold', 'boolean'), ('year', 'constant')]
    """
    stream, name = stream_of(table, target)
    return kinds_of(gather(stream), name, overrides, drop=drop, weight=weight)


def kinds_of(
    facts: TableFacts,
    target: str | None = None,
    overrides: Mapping[str, str] | None = None,
    *,
    drop: tuple[str, ...] = (),
    weight: str | None = None,
) -> tuple[ColumnRecord, ...]:
    """Say what each column is, from facts gathered before."""
    overrides = overrides or {}
    asked = [("target", target), ("weight", weight), *(("column to drop", name) for name in drop)]
    for role, name in [*asked, *(("column to override", name) for name in overrides)]:
        if name is not None and name not in facts.columns:
            near = get_close_matches(name, facts.columns, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"its columns are {_some(facts.columns)}."
            raise DataError(f"the table has no {role} named {name!r}: {hint}")
    found = []
    for name, column in facts.columns.items():
        kind, why = _overridden(column, overrides[name]) if name in overrides else kind_of(column)
        used = kind in USED
        for role, names in (("the target", (target,)), ("the weight", (weight,)), ("left out", drop)):
            if name in names:
                used, why = False, f"{why}; {role}"
        gone = column.missing + spelt_gaps(column, kind)
        found.append(ColumnRecord(name, kind, why, gone, column.distinct, used, summary(column, kind)))
    return tuple(found)


def _some(names: Any) -> str:
    return ", ".join(list(names)[:20])


def spelt_gaps(column: ColumnFacts, kind: str) -> int:
    """Cells of text that are gaps when it is read as the kind: words for nothing, and what does not fit."""
    if column.text is None or kind not in ("number", "boolean", "date"):
        return 0
    text = column.text
    return column.present - {"number": text.numbers, "boolean": text.booleans, "date": text.dates}[kind]


def _overridden(column: ColumnFacts, kind: str) -> tuple[str, str]:
    if kind not in KINDS:
        raise ParameterError(f"{column.name!r} cannot be a {kind!r}: choose one of {', '.join(KINDS)}.")
    found, why = kind_of(column)
    return kind, "as specified" if kind == found else f"as specified; detected as {found}: {why}"


def kind_of(column: ColumnFacts) -> tuple[str, str]:
    """The kind of a column and the reason, in words."""
    kind, why = _kind(column)
    if column.missing >= MOSTLY * column.rows and column.present:
        why += f"; {column.missing / column.rows:.0%} of its rows are empty"
    return kind, why


def _kind(column: ColumnFacts) -> tuple[str, str]:
    if column.present == 0:
        return "constant", "no row has a value"
    stored, why = _stored(column)
    if column.distinct == 1 or (stored == "constant"):
        only = _shown(column)
        if column.missing == 0:
            return "constant", f"every row has {only}"
        return _single(stored), f"either {only} or missing, which may be informative"
    reason = _preparer(column, stored) if stored in ("number", "category") else ""
    if reason == "identifier" or (stored == "number" and _numbers_are_identifier(column)):
        return _identifier(column)
    if stored == "category" and column.text is not None and not column.declared:
        stored, why = _words(column, why)
    if reason == "text" and stored == "category":
        return "text", f"words of about {column.distinct} different values, more than {MAX_LEVELS}"
    return stored, why


def _single(stored: str) -> str:
    return stored if stored in USED else "category"


def _stored(column: ColumnFacts) -> tuple[str, str]:
    """The kind of what is stored, and of text, of what it stands for."""
    if column.held == "number":
        if column.counts is not None and set(column.counts) == {0.0, 1.0}:
            return "boolean", "numbers 0 and 1"
        if column.whole and column.counts is not None and len(column.counts) <= FEW:
            few = f"whole numbers of {len(column.counts)} values"
            return "number", f"{few}; should they be names, say {column.name}=category"
        return "number", "whole numbers" if column.whole else "numbers"
    if column.held != "category":
        return column.held, {"boolean": "true and false", "date": "dates"}[column.held]
    if column.declared:
        return "category", f"a category of {column.distinct} levels by its type"
    text = column.text
    if text is None:
        return "category", f"{column.distinct} levels"
    told = column.present - text.nothing
    if told > 0:
        gone = f", {text.nothing} spelt as missing" if text.nothing else ""
        distinct = _folded(column)
        # Words for nothing may be levels; among numbers, dates, yes and no they can only be gaps.
        if text.booleans == told and (distinct is None or distinct > 1 or text.nothing):
            return "boolean", f"words for yes and no{gone}"
        if text.numbers == told:
            return "number", f"numbers, stored as text{gone}"
        if text.dates == told:
            return "date", f"dates, stored as text{gone}"
    return "category", f"words of {column.distinct} different values"


def _folded(column: ColumnFacts) -> int | None:
    """How many values differ in more than case and space around them."""
    return None if column.counts is None else len({str(value).strip().lower() for value in column.counts})


def _preparer(column: ColumnFacts, kind: str) -> str:
    """Why the preparer of tables would leave the column out; nothing if it would not."""
    weight, gone = float(column.rows), float(column.missing)
    if kind == "category":
        if column.counts is None:
            return "text" if column.distinct > MAX_LEVELS else ""
        levels = np.empty(len(column.counts), dtype=object)
        levels[:] = list(column.counts)
        facts = Facts(weight, gone, levels=levels, counts=np.array(list(column.counts.values()), float))
    elif column.held == "number":
        moments = column.mean, column.variance, column.low, column.high, column.quartiles[1]
        facts = Facts(weight, gone, *moments)
    else:
        return ""
    return decide(column.name, kind, facts, "tree", None, True).reason


def _numbers_are_identifier(column: ColumnFacts) -> bool:
    """Whether whole numbers, each once, rise from row to row or have a name that says what they are."""
    if column.held != "number" or not column.whole or column.missing or column.rows < LEAST_ROWS:
        return False
    return column.rising or (
        column.distinct >= OWN_VALUE * column.rows and IDENTIFIER_NAME.search(column.name) is not None
    )


def _identifier(column: ColumnFacts) -> tuple[str, str]:
    if column.held == "number":
        how = "rise from row to row" if column.rising else "are different in every row"
        return "identifier", f"whole numbers that {how}"
    assert column.text is None or column.present
    if column.text is not None and column.text.words >= SENTENCE * column.present:
        return "text", "sentences, nearly all different"
    return "identifier", f"{column.distinct} different values in {column.rows} rows{_hint(column)}"


def _words(column: ColumnFacts, why: str) -> tuple[str, str]:
    text = column.text
    assert text is not None
    if column.rows >= LEAST_ROWS and column.distinct >= OWN_VALUE * column.present:
        kind, reason = _identifier(column)
        if kind == "text" or column.missing == 0:
            return kind, reason
    if text.words >= SENTENCE * column.present and column.distinct > SEVERAL * column.present:
        return "text", f"{text.words / column.present:.0f} words a cell, {column.distinct} different"
    return "category", why + _hint(column)


def _hint(column: ColumnFacts) -> str:
    """What words might be taken for, if they were written otherwise."""
    text = column.text
    if text is not None and text.slashed > SEVERAL * column.present:
        return "; if they are dates, write them as 2020-12-31, for day and month cannot be told apart"
    if text is not None and text.numbers > SEVERAL * column.present:
        other = column.present - text.nothing - text.numbers
        return f"; {text.numbers} cells are numbers and {other} are not"
    return ""


def _shown(column: ColumnFacts) -> str:
    only = next(iter(column.counts)) if column.counts else column.low
    return repr(plain_cell(only))


def plain_cell(value: Any) -> Cell:
    """A value as a record holds it: whole numbers without a point."""
    if isinstance(value, float):
        return int(value) if value == value and abs(value) < 2**53 and value == int(value) else value
    return value if isinstance(value, bool | int | str) or value is None else str(value)


def summary(column: ColumnFacts, kind: str) -> tuple[tuple[str, Cell], ...]:
    """Low, median and high of numbers and dates, else the commonest values with their counts."""
    if kind in ("number", "date", "identifier", "constant") and column.held in ("number", "date"):
        return _range((column.low, column.quartiles[1], column.high), column.held)
    if column.counts is None:
        return ()
    if kind in ("number", "date") and column.held == "category":
        return _range_of_text(column, kind)
    common = sorted(column.counts.items(), key=lambda entry: (-entry[1], str(entry[0])))
    return tuple((str(plain_cell(value)), count) for value, count in common[:SHOWN])


def _range(ends: tuple[float, float, float], kind: str) -> tuple[tuple[str, Cell], ...]:
    if not np.isfinite(ends).all():
        return ()
    shown = _day if kind == "date" else plain_cell
    return tuple((name, shown(value)) for name, value in zip(("low", "median", "high"), ends, strict=True))


def _range_of_text(column: ColumnFacts, kind: str) -> tuple[tuple[str, Cell], ...]:
    import pyarrow as pa

    assert column.counts is not None
    cells = pa.array([str(value) for value in column.counts], pa.large_string())
    read = spellings.to_numbers(cells) if kind == "number" else spellings.to_dates(cells)
    values = to_numpy(read, Column(column.name, "number" if kind == "number" else "date"))
    counts = np.array(list(column.counts.values()), dtype=np.float64)
    sketch = Sketch.of(Batch(values[:, None], weight=counts))
    low, median, high = sketch.quantile([0.0, 0.5, 1.0])[:, 0].tolist()
    return _range((low, median, high), kind)


def _day(days: float) -> Cell:
    try:
        return (EPOCH + timedelta(days=days)).isoformat(sep=" ").removesuffix(" 00:00:00")
    except (OverflowError, ValueError):  # a year beyond 9999
        return days
