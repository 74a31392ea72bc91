"""The answers of a study in a file: what goes in comes out, and what does not belong is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests import records

from surefit.core.errors import DataError, FormatError
from surefit.study.predictions import Predictions


@pytest.mark.parametrize("kind", ["regression", "two_classes", "many_classes"])
def test_what_goes_in_comes_out(tmp_path: Path, kind: str) -> None:
    _, answers = getattr(records, kind)()
    answers.save(tmp_path / "a.parquet")
    again = Predictions.load(tmp_path / "a.parquet")
    assert again.classes == answers.classes
    for name in ("row", "fold", "truth", "prediction"):
        np.testing.assert_array_equal(getattr(again, name), getattr(answers, name))
    if answers.probabilities is None:
        assert again.probabilities is None
    else:
        np.testing.assert_array_equal(again.probabilities, answers.probabilities)


def test_weights_and_hostile_class_names_survive(tmp_path: Path) -> None:
    classes = ("a\x00<b>", "probability of probability of x", "")
    rows = np.arange(3)
    given = Predictions(rows, rows, np.array(classes), np.array(classes), np.eye(3), classes, np.arange(3.0))
    given.save(tmp_path / "a.parquet")
    again = Predictions.load(tmp_path / "a.parquet")
    assert again.classes == classes
    assert again.truth.tolist() == list(classes)
    np.testing.assert_array_equal(again.weight, given.weight)
    assert len(again) == 3


def test_what_does_not_belong_together_is_refused() -> None:
    rows = np.arange(3)
    with pytest.raises(DataError, match=r"\[2, 3\] rows"):
        Predictions(rows, rows, rows, rows[:2])
    with pytest.raises(DataError, match="2 classes are named"):
        Predictions(rows, rows, rows, rows, np.zeros((3, 3)), ("a", "b"))


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"no Parquet")
    with pytest.raises(FormatError, match="holds no predictions"):
        Predictions.load(tmp_path / "a.parquet")
    pq.write_table(pa.table({"row": [1], "fold": [1], "truth": [1]}), tmp_path / "b.parquet")
    with pytest.raises(FormatError, match="'prediction' is missing"):
        Predictions.load(tmp_path / "b.parquet")
    with pytest.raises(FileNotFoundError):
        Predictions.load(tmp_path / "c.parquet")
