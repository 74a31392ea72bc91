"""A tree as text, JSON, SQL and Python: each says the same as ``predict``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import RefusalError
from surefit.models.tree.export.conditions import Condition, is_gone
from surefit.models.tree.nodes.node_arrays import Nodes

Answer = Callable[[int], Any]  # of a node: what the tree says there, as a plain Python value
DEEPEST = 90  # Python's parser gives up on blocks that are nested deeper than this


def as_text(nodes: Nodes, splits: Mapping[int, Condition], answer: Answer, deepest: int | None = None) -> str:
    """One line a branch, indented by depth, with the answer, the rows and the impurity of each leaf."""
    grown, lines = nodes.grown, []
    stack: list[tuple[int, int, str]] = [(0, 0, "")]
    while stack:
        at, depth, words = stack.pop()
        about = f"{counted(grown.rows[at])}, impurity {grown.impurity[at]:.4g}"
        indent = "|   " * (depth - 1) + "|-- " if depth else ""
        stop = at not in splits or (deepest is not None and depth >= deepest)
        tail = f"{in_short(answer(at))}  ({about})" if stop else f"({about})"
        lines.append(f"{indent}{words}{': ' if words else ''}{tail}")
        if stop:
            continue
        split = splits[at]
        stack.append((int(grown.right[at]), depth + 1, split.words(False)))
        stack.append((int(grown.left[at]), depth + 1, split.words(True)))
    return "\n".join(lines)


def counted(rows: Any) -> str:
    """A number of rows in words.

    >>> counted(1), counted(2)
    ('1 row', '2 rows')
    """
    return f"{rows} row" if rows == 1 else f"{rows} rows"


def in_short(answer: Any) -> str:
    """An answer as one reads it, numbers with six digits.

    >>> in_short(1 / 3), in_short([1.0, 2.5]), in_short("no")
    ('0.333333', '[1, 2.5]', 'no')
    """
    if isinstance(answer, list | tuple):
        return f"[{', '.join(map(in_short, answer))}]"
    return f"{answer:.6g}" if isinstance(answer, float) else str(answer)


def as_json(nodes: Nodes, splits: Mapping[int, Condition], answer: Answer) -> str:
    """A list of nodes; those with a ``column`` are splits, whose children are numbers in the list."""
    grown, found = nodes.grown, []
    for at in range(nodes.node_count):
        node: dict[str, Any] = {
            "answer": answer(at),
            "rows": int(grown.rows[at]),
            "weight": float(grown.weight[at]),
            "impurity": float(grown.impurity[at]),
            "value": nodes.value[at].tolist(),
        }
        if at in splits:
            split = splits[at]
            node |= {
                "column": split.column,
                "name": split.name,
                "left": int(grown.left[at]),
                "right": int(grown.right[at]),
                "missing_left": split.missing_left,
            }
            if split.threshold is None:
                node["levels"] = [None if is_gone(level) else level for level in split.levels]
            else:
                node["threshold"] = split.threshold if np.isfinite(split.threshold) else None
        found.append(node)
    return json.dumps({"nodes": found}, allow_nan=False, default=str)


def as_sql(
    nodes: Nodes, splits: Mapping[int, Condition], answer: Answer, known: Mapping[int, Sequence[Any]]
) -> str:
    """One CASE expression; a missing value is NULL. ``known``: the levels of columns that have them."""

    def write(at: int) -> str:
        parts: list[str] = []
        stack: list[Any] = [at]
        while stack:
            entry = stack.pop()
            if isinstance(entry, str):
                parts.append(entry)
                continue
            if entry not in splits:
                parts.append(_sql_value(answer(entry)))
                continue
            split = splits[entry]
            left, right = int(nodes.grown.left[entry]), int(nodes.grown.right[entry])
            condition = _sql_condition(split, known.get(split.column, ()))
            stack += [" END", right, " ELSE ", left, f"CASE WHEN {condition} THEN "]
        return "".join(parts)

    return write(0)


def _sql_condition(split: Condition, known: Sequence[Any]) -> str:
    name = '"' + split.name.replace('"', '""') + '"'
    if split.threshold is None:
        ways = [f"{name} IN ({', '.join(map(_sql_value, own))})"] if (own := _there(split.levels)) else []
        if split.missing_left and (every := _there(known)):
            ways.append(f"{name} NOT IN ({', '.join(map(_sql_value, every))})")
        if _takes_gone(split, known):
            ways.append(f"{name} IS NULL")
        return ways[0] if len(ways) == 1 else f"({' OR '.join(ways)})" if ways else "FALSE"
    if np.isinf(split.threshold):
        return f"{name} IS NOT NULL"
    inside = f"{name} <= {split.threshold!r}"
    return f"({inside} OR {name} IS NULL)" if split.missing_left else inside


def _there(levels: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(level for level in levels if not is_gone(level))


def _takes_gone(split: Condition, known: Sequence[Any]) -> bool:
    """Whether what is missing goes left: as a level of its own if there is one, else as unknown ones."""
    own_level = any(map(is_gone, known))
    return any(map(is_gone, split.levels)) if own_level else split.missing_left


def _sql_value(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return repr(value)


def as_python(
    nodes: Nodes, splits: Mapping[int, Condition], answer: Answer, known: Mapping[int, Sequence[Any]]
) -> str:
    """A function ``predict`` of one row, a sequence of cells; missing is None or NaN. It needs no library."""
    if nodes.max_depth > DEEPEST:
        raise RefusalError(
            f"the tree is {nodes.max_depth} splits deep, and Python nests no more than {DEEPEST} blocks: "
            "prune it, or use to_json."
        )
    lines = ["def predict(row):"]
    stack: list[tuple[int | None, int]] = [(0, 1)]
    while stack:
        at, depth = stack.pop()
        indent = "    " * depth
        if at is None:
            lines.append(f"{'    ' * (depth - 1)}else:")
            continue
        if at not in splits:
            lines.append(f"{indent}return {answer(at)!r}")
            continue
        split = splits[at]
        lines.append(f"{indent}if {_python_condition(split, known.get(split.column, ()))}:  # {split.name!r}")
        stack += [
            (int(nodes.grown.right[at]), depth + 1),
            (None, depth + 1),
            (int(nodes.grown.left[at]), depth + 1),
        ]
    return "\n".join(lines) + "\n"


def _python_condition(split: Condition, known: Sequence[Any]) -> str:
    cell = f"row[{split.column}]"
    gone = f"({cell} is None or {cell} != {cell})"
    if split.threshold is None:
        ways = [f"{cell} in {own!r}"] if (own := _there(split.levels)) else []
        ways += [f"({cell} not in {_there(known)!r} and not {gone})"] if split.missing_left else []
        ways += [gone] if _takes_gone(split, known) else []
        return " or ".join(ways) or "False"
    if np.isinf(split.threshold):
        return f"not {gone}"
    inside = f"{cell} <= {split.threshold!r}"
    return f"{gone} or {inside}" if split.missing_left else f"not {gone} and {inside}"


def path_in_words(
    nodes: Nodes, splits: Mapping[int, Condition], answer: Answer, leaf: int, row: NDArray[Any]
) -> str:
    """Why a row ends in a leaf: every condition on its way, and what the leaf says."""
    parents, steps, at = nodes.parents, [], leaf
    while parents[at] >= 0:
        above = int(parents[at])
        went_left, split = int(nodes.grown.left[above]) == at, splits[above]
        cell = row[split.column]
        gone = bool(np.isnan(cell))
        words = f"{split.name} is missing or unknown, which goes {'left' if went_left else 'right'}"
        steps.append(words if gone else split.words(went_left))
        at = above
    rows, total = int(nodes.grown.rows[leaf]), int(nodes.grown.rows[0])
    way = " and ".join(reversed(steps)) or "no split"
    return f"{in_short(answer(leaf))}, because {way}: so went {rows} of {counted(total)}."
