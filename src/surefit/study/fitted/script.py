"""The study as a program of public calls, which fits the same model to the same table again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TEMPLATE = '''"""Fit again what surefit chose for {name}: python {file} [TABLE] [MODEL]."""

import sys

import surefit

TABLE = {table}
KINDS = {kinds}

table = sys.argv[1] if len(sys.argv) > 1 else TABLE
file = sys.argv[2] if len(sys.argv) > 2 else "model-again.safetensors"
rows = surefit.typed(table, KINDS, {target}{weight})
model = surefit.make_pipeline(
    surefit.TablePreparer({purpose}, identifiers="keep"),
    surefit.{cls}({parameters}),
)
model.fit(rows)
print(model[-1].certificate_.statement)
surefit.save(model, file)
'''


def write_script(
    *,
    name: str,
    table: Any,
    kinds: Mapping[str, str],
    target: str,
    weight: str | None,
    purpose: str,
    cls: str,
    parameters: Mapping[str, Any],
) -> str:
    """Return the program; every name and value in it is a literal, whatever it holds.

    >>> text = write_script(name="a.csv", table="a.csv", kinds={"x": "number"}, target="y", weight=None,
    ...                     purpose="linear", cls="Ridge", parameters={"alpha": 0.5})
    >>> [line for line in text.splitlines() if "Ridge" in line]
    ['    surefit.Ridge(alpha=0.5),']
    """
    listed = "\n".join(f"    {each!r}: {kind!r}," for each, kind in kinds.items())
    return _TEMPLATE.format(
        name=_quiet(name),
        file="script.py",
        table=repr(str(table)),
        kinds="{\n" + listed + "\n}",
        target=repr(target),
        weight="" if weight is None else f", weight={weight!r}",
        purpose=repr(purpose),
        cls=cls,
        parameters=", ".join(f"{key}={value!r}" for key, value in parameters.items()),
    )


def _quiet(name: str) -> str:
    """A name inside a docstring: nothing that could end it, or the line."""
    return "".join(c if c.isprintable() and c not in "\\\"'{}" else "_" for c in name)
