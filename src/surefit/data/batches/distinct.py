"""Levels: the distinct values of a column, in order, and the place of each cell among them.

Order is ascending, then None, then NaN, as scikit-learn has it. Whole numbers of a small range are looked up
in a table, long columns of floats and strings are hashed, objects go through a dictionary, others are sorted.
Readers of files make one object a level, so cells that are the very same object are looked up once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError

Codes = NDArray[np.int32]
Counts = NDArray[np.float64]
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
        values = np.ascontiguousarray(values)  # it is read several times
        low, span = int(levels.min()), int(levels.max()) - int(levels.min())
        if span <= 16 * len(levels) + 1024 or span <= len(values):
            return _looked_up(values, levels, low, span)
    if values.dtype.kind in "biuf" and levels.dtype.kind in "biuf" and _compare_exactly(values, levels):
        return _searched(values, levels)
    known = {_key(level): code for code, level in enumerate(levels.tolist())}
    if values.dtype.kind == "O" and _NAN not in known and not _share_objects(values):
        try:  # one pass where all is known
            return np.fromiter(map(known.__getitem__, values.tolist()), np.int32, len(values))
        except (KeyError, TypeError):
            pass
    found, codes = _found(values)
    place = np.array([known.get(_key(value), -1) for value in found.tolist()], dtype=np.int32)
    return place[codes] if len(place) else codes


def counted(values: NDArray[Any], weight: NDArray[np.float64] | None) -> tuple[NDArray[Any], Counts]:
    """Return the levels of a column and the weight of each; one that has no weight is none.

    >>> levels, counts = counted(np.array([3, 1, 3]), None)
    >>> levels.tolist(), counts.tolist()
    ([1, 3], [1.0, 2.0])
    """
    if values.dtype.kind in "iu":
        values = np.ascontiguousarray(values)  # it is read several times
    if values.dtype.kind in "iu" and _is_narrow(values):
        sums = np.bincount(_steps(values), weight).astype(np.float64)
        return _shifted(np.flatnonzero(sums), values), sums[sums > 0]
    levels, codes = distinct(values)
    sums = np.bincount(codes, weight, len(levels)).astype(np.float64)
    return levels[sums > 0], sums[sums > 0]


def _found(values: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """Distinct values in no certain order, each once, and the code of each cell."""
    if values.dtype.kind in "iu" and _is_narrow(values):
        return _tabled(values)
    if values.dtype.kind == "O":
        return _one_by_one(values)
    if len(values) >= _LONG and values.dtype.kind in "fU":
        return _hashed(values)
    levels, codes = np.unique(values, return_inverse=True)
    return levels, codes.astype(np.int32, copy=False)


def _is_narrow(values: NDArray[Any]) -> bool:
    """Whether a table over the range of whole numbers is not much longer than the column."""
    return len(values) > 0 and int(values.max()) - int(values.min()) <= 4 * len(values) + 1024


def _steps(values: NDArray[Any], low: int | None = None) -> NDArray[np.intp]:
    """How far whole numbers lie above the least, or above ``low``: exact where the steps are few.

    Differences wrap around in 64 bits without a sign, of any type, and the wrapping undoes itself; in
    the narrow type of a column they would not (127 - (-128) is -1 in int8).
    """
    least = np.uint64((int(values.min()) if low is None else low) % 2**64)
    steps: NDArray[np.intp] = (values.astype(np.uint64) - least).astype(np.intp)
    return steps


def _shifted(steps: NDArray[np.intp], values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers of the type of ``values`` from their steps above the least."""
    least = np.uint64(int(values.min()) % 2**64)
    found: NDArray[Any] = (steps.astype(np.uint64) + least).astype(values.dtype)
    return found


def _tabled(values: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    steps = _steps(values)
    there = np.zeros(int(steps.max()) + 1, dtype=bool)
    there[steps] = True
    codes = (np.cumsum(there, dtype=np.int32) - 1).astype(np.int32)[steps]
    return _shifted(np.flatnonzero(there), values), codes


def _hashed(values: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """Hash floats and strings."""
    import pyarrow as pa

    floats = values.dtype.kind == "f"
    # Adding zero makes one of the two zeros.
    cells = pa.array(np.ascontiguousarray(values) + values.dtype.type(0) if floats else values)
    coded = cells.dictionary_encode()
    levels: NDArray[Any] = coded.dictionary.to_numpy(zero_copy_only=False)
    codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    return levels.astype(values.dtype, copy=False), codes


def _objects(cells: Any) -> NDArray[Any]:
    array = np.empty(len(cells), dtype=object)
    array[:] = list(cells)
    return array


def _one_by_one(values: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    if _share_objects(values):
        cells, which = _same_objects(values)
    else:
        cells, which = values.tolist(), None
    try:
        met = list(set(cells))
    except TypeError:
        raise MixedCellsError(_mixed(values)) from None
    place: dict[Any, int] = {}
    index = {cell: place.setdefault(_key(cell), len(place)) for cell in met}
    codes = np.fromiter(map(index.__getitem__, cells), np.int32, len(cells))
    levels = _objects([np.nan if value is _NAN else value for value in place])
    return levels, codes if which is None else codes[which]


class _Addresses:
    """Where the objects of an array lie, as an array of whole numbers without a copy."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values
        whole = np.dtype(np.intp)
        self.__array_interface__ = {**values.__array_interface__, "typestr": whole.str, "descr": whole.descr}


def _share_objects(values: NDArray[Any]) -> bool:
    """Whether a sample shows that most cells are the same object as another."""
    if values.dtype.kind != "O" or len(values) < _LONG:
        return False
    return len(np.unique(np.asarray(_Addresses(values[:_LONG])))) <= _LONG // 2


def _same_objects(values: NDArray[Any]) -> tuple[list[Any], Codes]:
    """The different objects, of which some may be equal, and which of them each cell is."""
    import pyarrow as pa

    coded = pa.array(np.ascontiguousarray(np.asarray(_Addresses(values)))).dictionary_encode()
    codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    first = np.empty(len(coded.dictionary), dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return values[first].tolist(), codes


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
    table[_steps(levels, low)] = np.arange(len(levels), dtype=np.int32)
    steps = _steps(values, low)
    if len(values) == 0 or int(values.min()) < low or int(values.max()) > low + span:
        steps[(values < low) | (values > low + span)] = span + 1
    return table[steps]


def _compare_exactly(values: NDArray[Any], levels: NDArray[Any]) -> bool:
    """Whether numpy compares the two without rounding: whole numbers of 64 bits it may turn into floats."""
    together = np.result_type(values, levels)
    return together.kind != "f" or not any(
        array.dtype.kind in "iu" and array.dtype.itemsize == 8 for array in (values, levels)
    )


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
