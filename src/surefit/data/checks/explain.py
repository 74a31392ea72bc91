"""What is wrong with a table in memory that scikit-learn turned down, said in one sentence.

The words that scikit-learn's users and its estimator checks look for are kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from surefit.core.diagnosis import listed
from surefit.data.checks.cells import missing_cells, other_kinds
from surefit.data.checks.schemas import is_number, name_given_twice
from surefit.data.schema import Column


def explain(who: str, X: Any, missing_allowed: bool) -> str | None:
    """The sentence for a frame, an array, a sparse matrix or a list; None if nothing wrong is found in it."""
    if hasattr(X, "columns") and hasattr(X, "shape"):
        return _of_frame(who, X, missing_allowed)
    if hasattr(X, "toarray"):
        return _of_entries(who, X, missing_allowed)
    try:
        array = np.asarray(X)
    except ValueError:
        return "the rows of X have different lengths: give every row a value in each column."
    return _of_array(who, array, missing_allowed)


def _of_array(who: str, array: Any, missing_allowed: bool) -> str | None:
    if array.ndim < 2:
        form = "scalar array" if array.ndim == 0 else "1D array"
        return (
            f"Expected 2D array, got {form} instead: X has shape {array.shape}. Reshape your data with "
            "array.reshape(-1, 1) if it is one column, or array.reshape(1, -1) if it is one row."
        )
    if array.dtype.kind == "c":
        return "Complex data not supported: give real and imaginary parts as columns of their own."
    if array.ndim == 2 and array.shape[1] == 0:
        return (
            f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required by {who}: "
            "give X at least one column."
        )
    huge = explain_huge(array)
    if huge is not None:
        return huge
    if array.dtype.kind in "OU":
        return _text(who, array, "works on numbers, but X")
    if array.dtype.kind != "f" or array.ndim > 2:
        return None
    names = [f"x{j}" for j in range(array.shape[1])]
    endless, gone = np.isinf(array).sum(axis=0), np.isnan(array).sum(axis=0)
    if endless.any():
        return _infinite(dict(zip(names, endless.tolist(), strict=True)))
    if gone.any() and not missing_allowed:
        return _missing(who, dict(zip(names, gone.tolist(), strict=True)))
    return None


def explain_dates(who: str, X: Any) -> str | None:
    """The sentence for dates, which some libraries turn into numbers without a word and others cannot."""
    if hasattr(X, "columns") and hasattr(X, "shape"):
        import narwhals as nw

        if name_given_twice([str(name) for name in X.columns]) is not None:
            return None
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        schema = frame.schema.items() if isinstance(frame, nw.DataFrame) else ()
        dates = [Column(str(name), "date") for name, dtype in schema if dtype.is_temporal()]
        return other_kinds(who, dates, len(frame)) if dates else None
    if getattr(X, "dtype", None) is None or X.dtype.kind not in "mM":
        return None
    return f"{who} works on numbers, but X holds dates: give days or seconds since some day as numbers."


def explain_missing_target(y: Any) -> str | None:
    """The sentence for targets that are not there; None if all are."""
    cells = np.asarray(y)
    if cells.dtype.kind == "U" and not isinstance(y, np.ndarray):
        cells = np.asarray(y, dtype=object)  # words and NaN in a list would all be words
    if cells.dtype.kind == "f":
        gone = np.isnan(cells)
    elif cells.dtype.kind in "mM":
        gone = np.isnat(cells)
    elif cells.dtype.kind == "O":
        gone = np.array([_is_nothing(cell) for cell in cells.flat], dtype=bool).reshape(cells.shape)
    else:
        return None
    if cells.ndim == 0 or not gone.any():
        return None
    rows = np.flatnonzero(gone.reshape(len(cells), -1).any(axis=1))
    return (
        f"Input y contains NaN: {len(rows)} of {len(cells)} targets are missing, the first in row {rows[0]}: "
        "leave those rows out, or fill them in."
    )


def _is_nothing(cell: Any) -> bool:
    """Whether a cell is None, NaN or one of their kind, such as pandas' NA, which equals nothing."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float | np.floating) and bool(cell != cell)


def explain_names(X: Any) -> str | None:
    """The sentence for a frame with two columns of one name, or without any column."""
    if not hasattr(X, "columns") or not hasattr(X, "shape"):
        return None
    names = [str(name) for name in X.columns]
    if not names:
        return "the frame has no columns: give at least one."
    twice = name_given_twice(names)
    return None if twice is None else f"the frame has two columns named {twice!r}: rename one of them."


def explain_huge(array: Any, names: Any = None) -> str | None:
    """The sentence for a whole number that no float can hold, in a column or in the target."""
    if array.dtype.kind != "O":
        return None
    for place, cell in np.ndenumerate(array):
        if isinstance(cell, int) and cell.bit_length() > 1024:
            where = "the target"
            if array.ndim == 2:
                where = f"column {'x' + str(place[1]) if names is None else names[place[1]]!r}"
            digits = int(cell.bit_length() * 0.30103) + 1
            return (
                f"{where} holds a whole number of {digits} digits in row {place[0]}, beyond the range of "
                "floats: divide by a power of ten, or leave the row out."
            )
    return None


def explain_target(who: str, y: Any) -> str | None:
    """The sentence for a target of words where numbers are wanted."""
    array = np.asarray(y)
    if array.dtype.kind not in "OU":
        return None
    huge = explain_huge(array)
    return _text(who, array, "predicts numbers, but y") if huge is None else huge


def _text(who: str, array: Any, about: str) -> str | None:
    word = next((cell for cell in array.flat if isinstance(cell, str) and not is_number(cell)), None)
    return None if word is None else f"could not convert string to float: {who} {about} holds {str(word)!r}."


def _of_entries(who: str, X: Any, missing_allowed: bool) -> str | None:
    if X.ndim != 2 or X.dtype.kind != "f":
        return None
    entries = X.tocoo()
    counts = [
        np.bincount(entries.coords[1][bad], minlength=X.shape[1]).tolist()
        for bad in (np.isinf(entries.data), np.isnan(entries.data))
    ]
    endless, gone = ({f"x{j}": count for j, count in enumerate(found)} for found in counts)
    if any(endless.values()):
        return _infinite(endless)
    return _missing(who, gone) if any(gone.values()) and not missing_allowed else None


def _of_frame(who: str, X: Any, missing_allowed: bool) -> str | None:
    import narwhals as nw

    names = [str(name) for name in X.columns]
    words = explain_names(X)
    if words is not None:
        return words
    if hasattr(X, "to_numpy"):
        words = explain_huge(X.to_numpy(), names)
        if words is not None:
            return words
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        return None
    by_name = {str(name): frame.get_column(name) for name in frame.columns}  # a name may be a number
    gone = {name: int(_is_missing(column).sum()) for name, column in by_name.items()}
    other = [
        Column(str(name), "date" if dtype.is_temporal() else "category")
        for name, dtype in frame.schema.items()
        if not dtype.is_numeric()
        and dtype != nw.Boolean
        and (len(frame) == 0 or gone[str(name)] < len(frame))
    ]
    if other:
        seen = [replace(c, levels=_values(by_name[c.name])) if c.kind == "category" else c for c in other]
        return other_kinds(who, seen, len(frame))
    endless = {
        name: int((column.abs() == float("inf")).sum())
        for name, column in by_name.items()
        if column.dtype.is_float()
    }
    if any(endless.values()):
        return _infinite(endless)
    return _missing(who, gone) if any(gone.values()) and not missing_allowed else None


def _is_missing(column: Any) -> Any:
    return column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()


def _infinite(counts: dict[str, int]) -> str:
    where = listed([f"{name!r} ({count})" for name, count in counts.items() if count])
    return (
        f"Input X contains infinity in the columns {where}: replace infinite values by numbers, "
        "or leave their rows out."
    )


def _missing(who: str, counts: dict[str, int]) -> str:
    return f"Input X contains NaN: {missing_cells(who, counts)}"


def _values(column: Any) -> np.ndarray[Any, Any]:
    """The distinct values at the top of a column, as text."""
    top = (value for value in column.head(10_000).to_list() if value is not None and value == value)
    return np.array(list(dict.fromkeys(map(str, top))), dtype=object)
