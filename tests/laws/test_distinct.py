"""Levels of long columns: cells that share objects, cells that are equal but apart, and what is missing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import preprocessing

import surefit
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


WHOLE = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def ranges(dtype: type) -> list[tuple[int, int]]:
    """The whole range of a type, and both ends of it."""
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return [(low, high), (high - 50, high), (low, low + 50)]


@pytest.mark.parametrize("rows", [300, 40_000], ids=["short", "long"])
@pytest.mark.parametrize("dtype", WHOLE)
def test_whole_numbers_at_the_ends_of_their_type_keep_their_levels(dtype, rows):
    for low, high in ranges(dtype):
        cells = np.random.default_rng(0).integers(low, high, size=rows, dtype=dtype, endpoint=True)
        cells[:2] = low, high
        expected, codes, counts = np.unique(cells, return_inverse=True, return_counts=True)
        found, own = distinct(cells)
        known, sums = counted(cells, None)
        assert found.dtype == known.dtype == dtype
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(known, expected)
        np.testing.assert_array_equal(own, codes)
        np.testing.assert_array_equal(sums, counts)
        half = np.where(codes % 2 == 0, codes // 2, -1)
        np.testing.assert_array_equal(places(cells, expected[::2]), half)


@pytest.mark.parametrize("other", [np.int8, np.int64, np.uint64, np.float64])
@pytest.mark.parametrize("dtype", WHOLE)
def test_whole_numbers_of_two_types_are_compared_as_numbers(dtype, other):
    ends = [0, 1] if other is np.float64 else [np.iinfo(other).min, np.iinfo(other).max, 0, 1]
    cells = np.array([*ends, 2.0**63, 2.0**64] if other is np.float64 else ends, dtype=other)
    for low, high in ranges(dtype):
        levels = np.unique(np.array([low, low + 1, high - 1, high], dtype=dtype))
        known = {int(level): code for code, level in enumerate(levels)}
        assert places(cells, levels).tolist() == [known.get(int(cell), -1) for cell in cells]


@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize("name", ["TargetEncoder", "OneHotEncoder", "OrdinalEncoder"])
def test_encoders_agree_with_scikit_learn_over_the_whole_range_of_a_type(name, dtype):
    rng = np.random.default_rng(0)
    for low, high in ranges(dtype):
        X = rng.integers(low, high, size=(300, 2), dtype=dtype, endpoint=True)
        X[:2] = [[low], [high]]
        y = rng.normal(size=len(X))
        ours, theirs = (getattr(room, name)().fit(X, y) for room in (surefit, preprocessing))
        for mine, other in zip(ours.categories_, theirs.categories_, strict=True):
            assert mine.dtype == other.dtype
            np.testing.assert_array_equal(mine, other)
        found, expected = (sp.csr_array(model.transform(X)).toarray() for model in (ours, theirs))
        # Means of up to 300 targets, which the two add up in other orders.
        np.testing.assert_allclose(found, expected, rtol=0, atol=300 * np.finfo(float).eps * np.abs(y).max())
        if name != "TargetEncoder":
            np.testing.assert_array_equal(ours.inverse_transform(ours.transform(X)), X)
        assert surefit.verify(ours, X, y).holds
