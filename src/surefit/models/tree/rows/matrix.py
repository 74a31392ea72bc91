"""What a tree is grown from: a matrix of numbers and of codes of levels, NaN where missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import Cells, column_levels, column_numbers, column_places, kind_of_cells
from surefit.data.batches.table import Table
from surefit.data.checks.explain import explain_names
from surefit.data.schema import Schema
from surefit.data.source import Source

MOST_BYTES = (
    2**32
)  # of cells that are gathered from a source: every threshold is looked at, so all must be here
MOST_LEVELS = 10_000

Levels = tuple[NDArray[Any], ...]  # of each column, empty for numbers; () where all are numbers


def whole(source: Source, who: str) -> Batch:
    """Gather all rows of a source; one that is too large is refused."""
    rows, width = source.schema.rows, source.schema.width
    if rows is not None and 8 * rows * width > MOST_BYTES:
        raise RefusalError(_too_large(who))
    batches: list[Batch] = []
    cells = 0
    for batch in source:
        cells += len(batch) * width
        if len(batches) and 8 * cells > MOST_BYTES:
            raise RefusalError(_too_large(who))
        batches.append(batch)
    if len(batches) == 1:
        return batches[0]
    X: Any = _stacked([batch.X for batch in batches])
    y = None if batches[0].y is None else np.concatenate([np.asarray(batch.y) for batch in batches])
    plain = all(batch.weight is None for batch in batches)
    weights = [np.ones(len(batch)) if batch.weight is None else batch.weight for batch in batches]
    return Batch(X, y, None if plain else np.concatenate(weights))


def _too_large(who: str) -> str:
    return (
        f"{who} needs all rows in memory to search every threshold, which would take more than "
        f"{MOST_BYTES / 2**30:g} GiB: give fewer rows or columns, or use a model that reads in batches."
    )


def _stacked(blocks: list[Any]) -> Any:
    if isinstance(blocks[0], Table):
        first = blocks[0]
        columns = [np.concatenate([block.column(j) for block in blocks]) for j in range(len(first.columns))]
        return Table.build(first.columns, columns, sum(block.shape[0] for block in blocks))
    return vstack(blocks, format="csr") if issparse(blocks[0]) else np.concatenate(blocks)


def typed_columns(X: Any) -> list[bool] | None:
    """Which columns of a frame in memory hold categories, by their types; None where none does."""
    if not hasattr(X, "columns") or not hasattr(X, "shape") or hasattr(X, "toarray"):
        return None
    import narwhals as nw

    words = explain_names(X)
    if words is not None:
        raise DataError(words)
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        return None
    found = [_is_category(frame[:, j]) for j in range(frame.shape[1])]
    return found if any(found) else None


def _is_category(column: Any) -> bool:
    import narwhals as nw

    if isinstance(column.dtype, nw.Categorical | nw.Enum | nw.String):
        return True
    return bool(column.dtype == nw.Object and kind_of_cells(column.to_numpy()) == "category")


def category_mask(
    asked: Any, schema: Schema, by_type: Sequence[bool] | None, who: str
) -> NDArray[np.bool_] | None:
    """Which columns are split by levels; None for none."""
    if isinstance(asked, str):
        kinds = [column.kind for column in schema.columns or ()]
        mask = np.array([kind in ("category", "text") for kind in kinds] or [False] * schema.width)
        if by_type is not None:
            mask |= np.array(by_type)
        return mask if mask.any() else None
    if asked is None:
        return None
    asked = np.asarray(asked)
    if asked.size == 0:
        return None
    _refuse_kinds(asked, who)
    if asked.dtype == bool:
        if asked.shape != (schema.width,):
            raise ParameterError(
                f"{who}: categorical_features set as a boolean mask must have shape (n_features,), "
                f"got: {asked.shape} for {schema.width} columns."
            )
        return asked if asked.any() else None
    mask = np.zeros(schema.width, dtype=bool)
    for entry in asked.tolist():
        mask[_place(entry, schema, who)] = True
    return mask


def _refuse_kinds(asked: NDArray[Any], who: str) -> None:
    if asked.dtype.kind in "biuU":
        return
    kinds = {type(entry) for entry in asked.tolist()}
    if asked.dtype.kind == "O" and (kinds <= {bool, int} or kinds == {str}):
        return
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise ParameterError(
        f"{who}: categorical_features must be an array-like of bool, int or str, "
        f"got: {names if asked.dtype.kind == 'O' else asked.dtype.name}."
    )


def _place(entry: Any, schema: Schema, who: str) -> int:
    if not isinstance(entry, str):
        if 0 <= int(entry) < schema.width:
            return int(entry)
        raise ParameterError(
            f"{who}: categorical_features set as integer indices must be in [0, n_features - 1], "
            f"got: {entry} for {schema.width} columns."
        )
    if schema.names is None:
        raise ParameterError(
            f"{who}: categorical_features should be passed as an array of integers or as a boolean mask "
            "when the model is fitted on data without feature names."
        )
    if entry not in schema.names:
        raise ParameterError(
            f"{who}: categorical_features has an item value {entry!r} which is not a valid feature name "
            "of the training data."
        )
    return schema.names.index(entry)


def find_levels(
    X: Any, mask: NDArray[np.bool_] | None, names: Sequence[str] | None, own_level: bool
) -> Levels:
    """The levels of each column that is split by them; ``own_level`` makes one of what is missing."""
    if mask is None:
        return ()
    found: list[NDArray[Any]] = []
    for j, is_category in enumerate(mask.tolist()):
        if not is_category:
            found.append(np.empty(0))
            continue
        levels = column_levels(X, j)[0]
        if not own_level:
            levels = np.array([level for level in levels.tolist() if level is not None and level == level])
        if len(levels) > MOST_LEVELS:
            name = names[j] if names else f"x{j}"
            raise DataError(
                f"column {name!r} has {len(levels)} levels, but trees support {MOST_LEVELS}: "
                "group them, or drop the column."
            )
        found.append(levels)
    return tuple(found)


def matrix_of(X: Any, levels: Levels) -> NDArray[Any]:
    """Numbers as they are and categories as places among their levels; NaN for what is missing or unknown."""
    if isinstance(X, np.ndarray) and not levels:
        return X
    if issparse(X) and not levels:
        return np.asarray(X.toarray(order="F"))  # as trees and forests sort them
    if hasattr(X, "toarray") and not isinstance(X, Table | Cells):
        X = X.toarray()
    rows, width = X.shape
    found = np.empty((rows, width), dtype=np.float64, order="F")
    for j in range(width):
        own = levels[j] if levels else ()
        if len(own) == 0:
            found[:, j] = column_numbers(X, j, f"x{j}")
            continue
        places = column_places(X, j, levels[j]).astype(np.float64)
        places[places < 0] = np.nan
        found[:, j] = places
    return found


def level_counts(levels: Levels, width: int) -> NDArray[np.int64]:
    """How many levels each column has; 0 for numbers."""
    if not levels:
        return np.zeros(width, dtype=np.int64)
    return np.array([len(own) for own in levels], dtype=np.int64)
