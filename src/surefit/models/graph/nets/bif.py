"""The interchange format BIF: Bayes nets as text, read and written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from surefit.core.errors import FormatError
from surefit.core.files import atomic
from surefit.core.public import public
from surefit.models.graph.nets.bayes_net import BayesNet, ConditionalTable

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BLOCK = re.compile(r"\b(variable|probability)\s+([^{]*)\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", re.DOTALL)
_STATES = re.compile(r"type\s+discrete\s*\[\s*(\d+)\s*\]\s*\{([^}]*)\}")
_LARGEST = 2**26  # characters, and entries of a table
_PLAIN = re.compile(r"[\w.\-+<>=]+")


@public
def read_bif(path: Any) -> BayesNet:
    """Read a Bayes net from a file in the interchange format."""
    file = Path(path)
    try:
        if file.stat().st_size > _LARGEST:
            raise FormatError(
                f"{file.name} is larger than {_LARGEST} characters: it is no net that fits here."
            )
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{file} cannot be read: {error}.") from error
    return parsed(text, file.name)


@public
def write_bif(net: BayesNet, path: Any) -> None:
    """Write a Bayes net as a file in the interchange format, to all digits."""
    with atomic(path) as file:
        file.write(written(net).encode())


def parsed(text: str, name: str = "the text") -> BayesNet:
    """Make a net of the text of a file.

    >>> parsed('''network n {}  variable a { type discrete [ 2 ] { yes, no }; }
    ... probability ( a ) { table 0.25, 0.75; }''').marginal("a")
    {'yes': 0.25, 'no': 0.75}
    """
    blocks = _BLOCK.findall(_COMMENTS.sub(" ", text))
    states: dict[str, tuple[str, ...]] = {}
    for kind, head, body in blocks:
        if kind == "variable":
            found = _STATES.search(body)
            if found is None:
                raise FormatError(f"{name}: the variable {head.strip()!r} lists no discrete states.")
            listed = tuple(_word(state) for state in found.group(2).split(",") if state.strip())
            if len(listed) != int(found.group(1)):
                raise FormatError(
                    f"{name}: {head.strip()!r} says {found.group(1)} states, but lists {len(listed)}."
                )
            states[_word(head)] = listed
    tables = [_table(head, body, states, name) for kind, head, body in blocks if kind == "probability"]
    missing = set(states) - {table.variable for table in tables}
    if missing or not tables:
        raise FormatError(
            f"{name}: there is no probability block for {sorted(missing)[:1] or 'any variable'}."
        )
    return BayesNet(*tables)


def _table(head: str, body: str, states: dict[str, tuple[str, ...]], name: str) -> ConditionalTable:
    inside = re.fullmatch(r"\s*\(([^)]*)\)\s*", head)
    if inside is None:
        raise FormatError(f"{name}: 'probability {head.strip()}' names no variable in brackets.")
    variable, _, above = inside.group(1).partition("|")
    variable, given = _word(variable), tuple(_word(each) for each in above.split(",") if each.strip())
    for each in (variable, *given):
        if each not in states:
            raise FormatError(f"{name}: the table of {variable!r} names {each!r}, which is no variable.")
    shape = [len(states[each]) for each in (*given, variable)]
    if int(np.prod(shape, dtype=np.float64)) > _LARGEST:
        raise FormatError(f"{name}: the table of {variable!r} would have more than {_LARGEST} entries.")
    values = np.full(shape, np.nan)
    for entry in body.split(";"):
        row, numbers = _entry(entry, given, states, f"{name}: the table of {variable!r}")
        if row is None:
            continue
        size = values[row].size
        if len(numbers) != size:
            raise FormatError(
                f"{name}: the table of {variable!r} lists {len(numbers)} numbers where {size} belong."
            )
        # Without states of the parents, the numbers run over the variable first, as the format has it.
        whole = row == () and bool(given)
        listed = np.array(numbers)
        values[row] = (
            np.moveaxis(listed.reshape(shape[-1], *shape[:-1]), 0, -1)
            if whole
            else listed.reshape(values[row].shape)
        )
    if np.isnan(values).any():
        row = np.argwhere(np.isnan(values))[0][:-1]
        said = ", ".join(states[each][place] for each, place in zip(given, row, strict=True))
        raise FormatError(f"{name}: the table of {variable!r} has no row for ({said}).")
    return ConditionalTable(variable, values, given, states[variable])


def _entry(
    entry: str, given: tuple[str, ...], states: dict[str, tuple[str, ...]], who: str
) -> tuple[tuple[Any, ...] | None, list[float]]:
    """One line of a table: the states of the parents, and the numbers."""
    text = entry.strip()
    if not text or text.startswith("property"):
        return None, []
    row: tuple[Any, ...] = ()
    if text.startswith("("):
        inside, _, text = text[1:].partition(")")
        named = [_word(each) for each in inside.split(",")]
        if len(named) != len(given):
            raise FormatError(f"{who} has a row for {len(named)} states, but {len(given)} parents.")
        for each, state in zip(given, named, strict=True):
            if state not in states[each]:
                raise FormatError(f"{who} has a row for {state!r}, which is no state of {each!r}.")
        row = tuple(states[each].index(state) for each, state in zip(given, named, strict=True))
    else:
        text = re.sub(r"^(table|default)\b", "", text)
    try:
        return row, [float(each) for each in text.split(",")]
    except ValueError:
        raise FormatError(f"{who} has {text.strip()[:40]!r} where numbers belong.") from None


def written(net: BayesNet) -> str:
    """Return a net as the text of a file."""
    lines = ["network surefit {", "}"]
    for name, states in net.states.items():
        listed = ", ".join(_quoted(state) for state in states)
        lines.append(f"variable {_quoted(name)} {{\n  type discrete [ {len(states)} ] {{ {listed} }};\n}}")
    for name, table in net.tables.items():
        above = ", ".join(_quoted(each) for each in table.given)
        lines.append(f"probability ( {_quoted(name)}{' | ' + above if above else ''} ) {{")
        for row in np.ndindex(*table.values.shape[:-1]):
            numbers = ", ".join(repr(float(value)) for value in table.values[row])
            said = ", ".join(_quoted(net.states[p][k]) for p, k in zip(table.given, row, strict=True))
            lines.append(f"  ({said}) {numbers};" if table.given else f"  table {numbers};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _word(text: str) -> str:
    return text.strip().strip('"')


def _quoted(value: Any) -> str:
    """A name as the format takes it; what it could not tell apart is refused."""
    text = str(value)
    if not text or any(mark in text for mark in ',;(){}[]|"\n') or "//" in text or text != text.strip():
        raise FormatError(f"{text!r} cannot be a name in the interchange format: rename it first.")
    return text if _PLAIN.fullmatch(text) else f'"{text}"'
