"""Levels of long columns: cells that share objects, cells that are equal but apart, and what is missing."""

from __future__ import annotations

import numpy as np
import pytest

from surefit.data.batches import distinct as levels_of_columns
from surefit.data.batches.distinct import counted, distinct, places

ROWS = 6000
LEVELS = [f"level {k:03d}" for k in range(50)]


def shared() -> np.ndarray:
    """One object a level."""
    return np.array(LEVELS, dtype=object)[np.random.default_rng(0).integers(0, 50, ROWS)]


def twins() -> np.ndarray:
    """Two objects a level."""
    other = [bytes(level, "ascii").decode() for level in LEVELS]
    assert not any(a is b for a, b in zip(LEVELS, other, strict=True))
    return np.array(LEVELS + other, dtype=object)[np.random.default_rng(1).integers(0, 100, ROWS)]


def own() -> np.ndarray:
    """An object of its own for each cell."""
    cells = np.empty(ROWS, dtype=object)
    cells[:] = [f"level {k:03d}" for k in np.random.default_rng(2).integers(0, 50, ROWS)]
    return cells


def gaps() -> np.ndarray:
    """None, and NaN as two objects."""
    cells = shared()
    cells[::7], cells[1::7], cells[2::7] = None, float("nan"), np.nan
    return cells


def strided() -> np.ndarray:
    """A column of a matrix."""
    return np.stack([own(), shared(), own()], axis=1)[:, 1]


def read_only() -> np.ndarray:
    cells = shared()
    cells.flags.writeable = False
    return cells


COLUMNS = {make.__name__: make for make in (shared, twins, own, gaps, strided, read_only)}


@pytest.mark.parametrize("name", COLUMNS)
def test_long_columns_of_objects_have_the_levels_of_their_cells(name, monkeypatch):
    cells = COLUMNS[name]()
    weight = np.random.default_rng(3).integers(0, 3, ROWS).astype(float)
    found, codes = distinct(cells)
    known, sums = counted(cells, weight)
    placed = places(cells, found[::2])
    monkeypatch.setattr(levels_of_columns, "_share_objects", lambda values: False)
    expected, expected_codes = distinct(cells)
    assert [repr(level) for level in found] == [repr(level) for level in expected]
    np.testing.assert_array_equal(codes, expected_codes)
    again, expected_sums = counted(cells, weight)
    assert [repr(level) for level in known] == [repr(level) for level in again]
    np.testing.assert_array_equal(sums, expected_sums)
    np.testing.assert_array_equal(placed, places(cells, found[::2]))


def test_cells_that_share_objects_are_looked_up_once(monkeypatch):
    looked: list[int] = []
    key = levels_of_columns._key
    monkeypatch.setattr(levels_of_columns, "_key", lambda cell: looked.append(1) or key(cell))
    places(shared(), np.array(LEVELS, dtype=object))
    assert len(looked) == 3 * len(LEVELS)  # as levels, as objects, as values found


def test_a_later_row_that_is_new_is_met():
    cells = shared()
    cells[-1] = "late"
    assert places(cells, np.array(LEVELS, dtype=object))[-1] == -1
    assert "late" in distinct(cells)[0].tolist()


def test_cells_that_cannot_be_looked_up_are_an_error():
    cells = np.empty(ROWS, dtype=object)
    cells[:] = [["a"], *shared()[1:]]
    with pytest.raises(TypeError, match="uniformly strings or numbers"):
        distinct(cells)
    with pytest.raises(TypeError, match="uniformly strings or numbers"):
        places(cells, np.array(LEVELS, dtype=object))
