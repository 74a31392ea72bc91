"""Rows that are no vectors: objects as they are, and matrices of all pairs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from surefit.core.errors import DataError
from surefit.data.batches.objects import Objects, objects_of
from surefit.data.door import Accepts, admit, admit_rows

WORDS = ["ab", "abc", "b"]
OBJECTS = Accepts(target="class", objects=True)
PAIRS = Accepts(target="number", pairwise=True)


@pytest.mark.parametrize(
    "given",
    [
        WORDS,
        tuple(WORDS),
        np.array(WORDS),
        np.array(WORDS, dtype=object)[:, None],
        pd.Series(WORDS),
        pd.DataFrame(WORDS),
    ],
)
def test_words_come_through_the_door_as_they_are(given):
    source = admit(SimpleNamespace(), OBJECTS, given, [1, 0, 1], [1.0, 2.0, 1.0])
    (batch,) = source
    assert list(batch.X) == WORDS
    assert batch.y.tolist() == [1, 0, 1]
    assert source.schema.rows == 3
    assert list(admit_rows(SimpleNamespace(), OBJECTS, given)) == WORDS


def test_rows_of_a_matrix_and_items_of_equal_length_stay_one_object_each():
    assert [row.tolist() for row in objects_of("Model", np.eye(2))] == [[1.0, 0.0], [0.0, 1.0]]
    assert list(objects_of("Model", [(0, 1), (1, 2)])) == [(0, 1), (1, 2)]
    rows = objects_of("Model", WORDS)
    assert isinstance(rows[1:], Objects)
    assert list(rows[np.array([True, False, True])]) == ["ab", "b"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("abc", "a single string"),
        ([], "no rows"),
        (["a", None], "row 1 of X is missing"),
        (3, "X is a int"),
    ],
)
def test_what_is_no_row_of_objects_is_refused_in_a_sentence(given, words):
    with pytest.raises(DataError, match=words):
        objects_of("Model", given)


def test_sparse_rows_are_no_objects():
    with pytest.raises(TypeError, match="toarray"):
        objects_of("Model", sparse.eye(2))


def test_targets_of_objects_are_checked():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        admit(SimpleNamespace(), OBJECTS, WORDS, [1, 0])


def test_a_matrix_of_all_pairs_is_square_for_a_fit():
    model = SimpleNamespace()
    admit(model, PAIRS, np.eye(3), np.arange(3.0))
    assert admit_rows(model, PAIRS, np.ones((2, 3))).shape == (2, 3)
    with pytest.raises(DataError, match="3 by 2"):
        admit(model, PAIRS, np.ones((3, 2)), np.arange(3.0))
