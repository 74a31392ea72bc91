"""A study reads, types and looks at its table once, and enters few Python functions on the way.

Counted on one thread, where all of the work is seen, once everything is warm.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.budget.calls import entered

import surefit

ROWS = 60
HEADROOM = 1.15  # other versions of Python and of the libraries enter other functions


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small CSV with a number, a category and a target."""
    rng = np.random.default_rng(0)
    size, colour, noise = rng.normal(size=ROWS), rng.choice(list("rgb"), ROWS), rng.normal(size=ROWS)
    lines = [f"{a:.4f},{c},{3 * a + e:.4f}" for a, c, e in zip(size, colour, noise, strict=True)]
    path = tmp_path_factory.mktemp("learn") / "small.csv"
    path.write_text("\n".join(["size,colour,price", *lines, ""]))
    return path


def smallest(table: Path, folder: Path, **options: Any) -> Callable[[], Any]:
    """A study of one family on two folds."""

    def work() -> Any:
        with surefit.config(n_threads=1):
            return surefit.learn(
                table, "price", models=["LinearRegression"], folds=2, folder=folder, **options
            )

    return work


@pytest.fixture(scope="module")
def functions(table: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return entered(smallest(table, tmp_path_factory.mktemp("study"), repeats=1))


@pytest.mark.parametrize(
    "function",
    [
        "PathReader.open",  # looks for the files
        "CsvFiles._find",  # finds the types of the columns
        "gather",  # gathers facts about the columns
        "Copies.see",  # watches one pass, over one batch
        "Digest.see",
        "judge",  # audits
        "RowsInMemory.of",  # takes the rows into memory
    ],
)
def test_a_study_does_once(functions: list[str], function: str) -> None:
    assert functions.count(function) == 1


def test_formats_are_listed_once_in_a_process(functions: list[str]) -> None:
    assert "formats" not in functions


def test_a_study_reads_its_file_for_the_header_the_types_and_the_facts(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.csv

    opened = []

    def counted(*given: Any, **named: Any) -> Any:
        opened.append(given)
        return original(*given, **named)

    original = pyarrow.csv.open_csv
    monkeypatch.setattr(pyarrow.csv, "open_csv", counted)
    smallest(table, tmp_path, repeats=1)()
    assert len(opened) == 3


@pytest.mark.parametrize(("repeats", "most"), [(1, 11_600), (10, 48_600)])
def test_the_smallest_study_enters_few_functions(
    table: Path, tmp_path: Path, repeats: int, most: int
) -> None:
    count = len(entered(smallest(table, tmp_path, repeats=repeats)))
    assert count <= HEADROOM * most, f"{count} calls, and {most} were enough."


def test_the_command_loads_nothing_that_it_has_just_saved(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surefit.cli import group
    from surefit.io import load as loading
    from surefit.study.predictions import Predictions
    from surefit.study.record import Record

    loaded: list[Any] = []
    monkeypatch.setattr(loading, "read", loaded.append)
    for cls in (Record, Predictions):
        monkeypatch.setattr(cls, "load", loaded.append)
    folder = tmp_path / "study"
    arguments = ["learn", table, "--target", "price", "--models", "LinearRegression", "--folds", 2]
    told = CliRunner().invoke(group, [*map(str, arguments), "--budget", "1", "--out", str(folder)])
    assert told.exit_code == 0, told.output
    assert (folder / "report.html").exists()
    assert (folder / "model.safetensors").exists()
    assert loaded == []
