"""Lists of files and files without a header: read as one table, or refused in a sentence."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefit
from surefit.core.errors import DataError


@pytest.fixture
def files(tmp_path):
    """Three files, in a folder and beside it."""
    (tmp_path / "folder").mkdir()
    places = [tmp_path / "b.parquet", tmp_path / "a.parquet", tmp_path / "folder" / "c.parquet"]
    for number, place in enumerate(places):
        pq.write_table(pa.table({"x": [float(number)], "y": [10.0 * number]}), place)
    return places


def rows(source):
    return np.concatenate([batch.X.numbers for batch in source]).tolist()


def refused(message, what, **options):
    with pytest.raises(DataError, match=message) as caught:
        surefit.read(what, **options)
    assert "\n" not in str(caught.value)


def test_a_list_is_one_table_in_its_order(files):
    for what in (files, tuple(files), [str(path) for path in files]):
        assert rows(surefit.read(what, target="y")) == [[0.0], [1.0], [2.0]]
    source = surefit.read([files[1], files[0].parent / "folder", f"{files[0].parent}/b*"], target="y")
    assert rows(source) == [[1.0], [2.0], [0.0]]
    assert rows(source.parts()[2]) == [[0.0]]


def test_a_list_in_fit_and_predict(files):
    whole, pair = surefit.LinearRegression().fit(files, "y"), files[:2]
    assert whole.coef_ == pytest.approx([10.0])
    np.testing.assert_allclose(whole.predict(pair), [0.0, 10.0], atol=1e-12)
    assert surefit.verify(whole, files, "y").holds
    scaled = surefit.StandardScaler().fit(surefit.read(pair, columns=["x"])).transform(pair)
    np.testing.assert_array_equal(np.concatenate([batch.X for batch in scaled]), [[-1.0], [1.0]])


def test_lists_that_are_no_table(files, tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n1,2\n")
    refused(r"the list mixes formats, b.parquet and d.csv", [files[0], tmp_path / "d.csv"])
    refused("there is no file or folder .*gone.parquet", [files[0], tmp_path / "gone.parquet"])
    pq.write_table(pa.table({"z": [1.0]}), tmp_path / "z.parquet")
    refused("z.parquet has no column 'x', but .*b.parquet has", [files[0], tmp_path / "z.parquet"])
    (tmp_path / "hive" / "year=1").mkdir(parents=True)
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "hive" / "year=1" / "a.parquet")
    refused("hive has sub-folders named key=value, which are read alone", [tmp_path / "hive"])
    refused("the list is empty: give rows, or paths", [])


def test_a_file_without_a_header(tmp_path):
    (tmp_path / "1.csv").write_text("1.5,red,2024-01-01\n2.5,blue,2024-01-02\n")
    (tmp_path / "2.csv").write_text("3.5,red,\n")
    source = surefit.read(tmp_path, header=False)
    assert source.schema.names == ("column_0", "column_1", "column_2")
    assert [column.kind for column in source.schema.columns] == ["number", "category", "date"]
    assert source.schema.rows == 3
    assert rows(source) == [[1.5, 19723.0], [2.5, 19724.0], [3.5, pytest.approx(np.nan, nan_ok=True)]]
    assert rows(source.parts()[1])[0][0] == 3.5


@pytest.mark.parametrize(("ending", "mark"), [("csv", ","), ("tsv", "\t")])
def test_a_model_of_files_without_a_header(ending, mark, tmp_path):
    table = [[1.0, 3.0], [2.0, 5.0], [3.0, 7.0]]
    (tmp_path / f"t.{ending}").write_text("".join(mark.join(map(str, row)) + "\n" for row in table))
    source = surefit.read(tmp_path / f"t.{ending}", target="column_1", header=False)
    model = surefit.LinearRegression().fit(source)
    assert model.coef_ == pytest.approx([2.0])
    assert model.predict(surefit.read(tmp_path / f"t.{ending}", header=False)) == pytest.approx([3, 5, 7])
    (tmp_path / f"bad.{ending}").write_text(mark.join(["one", "2"]) + "\n")
    rows = surefit.read(tmp_path / f"bad.{ending}", header=False)
    with pytest.raises(DataError, match=r"'column_0' (was|should hold) a number"):
        model.predict(rows)


def test_a_first_row_of_numbers_is_asked_about(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,1,-2e3\n4,5,6\n")
    refused(r"t.csv starts with a row of numbers, 1, 1, -2e3: if it has no header, .*header=False", path)
    model = surefit.MeanRegressor().fit(pa.table({"2020": [1.0], "2021": [2.0]}), "2021")
    with pytest.raises(DataError, match="header=False"):
        model.predict(path)
    refused("t.csv has two columns named '1'", path, header=True)
    path.write_text("2020,2021\n4,5\n")
    assert surefit.read(path, header=True).schema.names == ("2020", "2021")
    path.write_text("2020,year\n4,5\n")
    assert surefit.read(path).schema.names == ("2020", "year")


def test_other_forms_have_no_header(files, tmp_path):
    refused("header= applies to CSV and TSV files only", files, header=False)
    refused("header= applies to CSV and TSV files only", np.ones((2, 2)), header=True)
    (tmp_path / "1.csv").write_text("1,2\n")
    (tmp_path / "2.csv").write_text("1,2,3\n")
    two = [tmp_path / "1.csv", tmp_path / "2.csv"]
    refused("2.csv has a column 'column_2', but .*1.csv has none", two, header=False)
