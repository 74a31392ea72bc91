"""Levels: the distinct values of a column, in order, and the place of each cell among them.

Order is ascending, then None, then NaN, as scikit-learn has it. Whole numbers of a small range are looked up
in a table, long columns of floats and strings are hashed, the rest is sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError

Codes = NDArray[np.int32]
_LONG = 5000  # rows from which on hashing pays for its start


class MixedCellsError(DataError, TypeError):
    """A column whose values cannot be put in order."""


def distinct(values: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """Return the levels of a column and the code of each cell.

    >>> levels, codes = distinct(np.array(["b", "a", "b"]))
    >>> levels.tolist(), codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    found, codes = _found(values)
    ordered, order = _ordered(found)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return ordered, place[codes] if len(place) else codes


def places(values: NDArray[Any], levels: NDArray[Any]) -> Codes:
    """Return the code of each cell among given levels, -1 for a value that is none of them.

    >>> places(np.array([3, 1, 7]), np.array([1, 3])).tolist()
    [1, 0, -1]
    """
    if values.dtype.kind in "iu" and levels.dtype.kind in "iu" and len(levels):
        low, span = int(levels.min()), int(levels.max()) - int(levels.min())
        if span <= 16 * len(levels) + 1024 or span <= len(values):
            return _looked_up(values, levels, low, span)
    if values.dtype.kind in "biuf" and levels.dtype.kind in "biuf":
        return _searched(values, levels)
    found, codes = _found(values)
    known = {_key(level): code for code, level in enumerate(levels.tolist())}
    place = np.array([known.get(_key(value), -1) for value in found.tolist()], dtype=np.int32)
    return place[codes] if len(place) else codes


def _found(values: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """Distinct values in no certain order, each once, and the code of each cell."""
    if values.dtype.kind in "iu" and len(values):
        low, span = int(values.min()), int(values.max()) - int(values.min())
        if span <= 4 * len(values) + 1024:
            return _tabled(values, low, span)
    if len(values) >= _LONG and values.dtype.kind in "fUO":
        hashed = _hashed(values)
        if hashed is not None:
            return hashed
    if values.dtype.kind == "O":
        return _one_by_one(values)
    levels, codes = np.unique(values, return_inverse=True)
    return levels, codes.astype(np.int32, copy=False)


def _tabled(values: NDArray[Any], low: int, span: int) -> tuple[NDArray[Any], Codes]:
    steps = (values - values.dtype.type(low)).astype(np.intp, copy=False)
    there = np.zeros(span + 1, dtype=bool)
    there[steps] = True
    levels = np.flatnonzero(there).astype(values.dtype) + values.dtype.type(low)
    return levels, (np.cumsum(there, dtype=np.int32) - 1).astype(np.int32)[steps]


def _hashed(values: NDArray[Any]) -> tuple[NDArray[Any], Codes] | None:
    """Hash floats and strings; None for objects that are no strings."""
    import pyarrow as pa

    if values.dtype.kind == "f":
        # Adding zero makes one of the two zeros.
        cells = pa.array(np.ascontiguousarray(values) + values.dtype.type(0))
    else:
        try:
            cells = pa.array(values, type=pa.string(), from_pandas=values.dtype.kind == "O")
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return None
    coded = cells.dictionary_encode()
    if coded.null_count == 0:
        codes = coded.indices.to_numpy(zero_copy_only=False)
        return _like(coded.dictionary, values.dtype), codes.astype(np.int32, copy=False)
    return _with_missing(values, coded)


def _with_missing(values: NDArray[Any], coded: Any) -> tuple[NDArray[Any], Codes]:
    """Arrow knows one missing value; None and NaN are two."""
    levels = _like(coded.dictionary, values.dtype)
    gone = coded.is_null().to_numpy(zero_copy_only=False)
    codes = coded.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
    none = np.zeros(len(values), dtype=bool)
    none[gone] = [value is None for value in values[gone]]
    kinds = [(mark, where) for mark, where in ((None, none), (np.nan, gone & ~none)) if where.any()]
    for extra, (_, where) in enumerate(kinds):
        codes[where] = len(levels) + extra
    return np.concatenate([levels, np.array([mark for mark, _ in kinds], dtype=object)]), codes


def _like(dictionary: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype.kind == "f":
        floats: NDArray[Any] = dictionary.to_numpy(zero_copy_only=False)
        return floats
    levels = np.empty(len(dictionary), dtype=object)
    levels[:] = dictionary.to_pylist()
    return levels if dtype.kind == "O" else levels.astype(dtype)


def _one_by_one(values: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    index: dict[Any, int] = {}
    cells = values.tolist()
    try:
        codes = [index.setdefault(_key(cell), len(index)) for cell in cells]
    except TypeError:
        raise MixedCellsError(_mixed(values)) from None
    levels = np.empty(len(index), dtype=object)
    levels[:] = [np.nan if key is _NAN else key for key in index]
    return levels, np.array(codes, dtype=np.int32)


class _Nan:
    """Stands for NaN, which does not equal itself, as a key."""


_NAN = _Nan()


def _key(value: Any) -> Any:
    return _NAN if isinstance(value, float) and value != value else value


def _ordered(found: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    if found.dtype.kind != "O":
        order = np.argsort(found, kind="stable")
        return found[order], order
    missing = [value is None or _key(value) is _NAN for value in found]
    there = [i for i, gone in enumerate(missing) if not gone]
    try:
        there.sort(key=lambda i: found[i])
    except TypeError:
        raise MixedCellsError(_mixed(found)) from None
    last = sorted((i for i, gone in enumerate(missing) if gone), key=lambda i: found[i] is not None)
    order = np.array([*there, *last], dtype=np.intp)
    return found[order], order


def _mixed(values: NDArray[Any]) -> str:
    types = sorted({type(value).__qualname__ for value in values})
    return (
        "the input argument must be uniformly strings or numbers, column by column, "
        f"but one column mixes {', '.join(types)}: turn its values into one type."
    )


def _looked_up(values: NDArray[Any], levels: NDArray[Any], low: int, span: int) -> Codes:
    table = np.full(span + 2, -1, dtype=np.int32)  # the last entry is for what lies outside
    table[levels.astype(np.intp) - low] = np.arange(len(levels), dtype=np.int32)
    if len(values) and low <= int(values.min()) and int(values.max()) <= low + span:
        codes: Codes = table[(values - values.dtype.type(low)).astype(np.intp, copy=False)]
        return codes
    inside = (values >= low) & (values <= low + span)
    return table[np.where(inside, values.astype(np.intp) - low, span + 1)]


def _searched(values: NDArray[Any], levels: NDArray[Any]) -> Codes:
    has_nan = levels.dtype.kind == "f" and len(levels) > 0 and bool(np.isnan(levels[-1]))
    known = levels[:-1] if has_nan else levels
    codes = np.full(len(values), -1, dtype=np.int32)
    if len(known):
        order = np.argsort(known, kind="stable")
        near = np.minimum(np.searchsorted(known, values, sorter=order), len(known) - 1)
        codes = np.where(known[order[near]] == values, order[near], -1).astype(np.int32)
    if has_nan:
        codes[np.isnan(values)] = len(known)
    return codes
