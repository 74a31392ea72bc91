"""Files and paths that somebody made to do harm, or that the system will not give: one true sentence each."""

from __future__ import annotations

import bz2
import gzip
import os
import re
import socket
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefit
from surefit.core.errors import DataError
from surefit.data.readers.json_lines import DEEPEST, depth

ROWS = "a,b\n" + "1,2\n" * 10


def refused(message, what):
    with pytest.raises(DataError, match=message) as caught:
        surefit.read(what)
    sentence = str(caught.value)
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence
    assert len(sentence) < 1000
    return sentence


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(ROWS)
    return path


@contextmanager
def nobody():
    """Act as a user without rights, where the tests run as one with all."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def reachable():
    """A folder that nobody can reach too, below the system's own for temporary files."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        with nobody():
            if not os.access(folder, os.R_OK | os.X_OK, effective_ids=True):
                pytest.skip("the folder for temporary files is not open to all users here")
        yield Path(folder)


def refused_while_closed(path, message, what):
    """Refused as long as nobody may open the path."""
    assert surefit.read(what).schema.names  # imports what it needs, which may be closed to others
    before = path.stat().st_mode
    path.chmod(0)
    try:
        with nobody():
            if os.access(path, os.R_OK, effective_ids=True):
                pytest.skip("this system lets everybody read everything")
            refused(message, what)
    finally:
        path.chmod(before)


@pytest.mark.parametrize("between", ["", "\n", " ", "\r\n"])
@pytest.mark.parametrize("opened", ["[", '{"a":'])
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_json_of_twenty_thousand_levels(opened, between, packed, tmp_path):
    """Across lines as well, for the parser does not stop at their ends."""
    closing = "]" if opened == "[" else "}"
    text = '{"a": ' + (opened + between) * 20_000 + "1" + (closing + between) * 20_000 + "}\n"
    path = tmp_path / f"t.jsonl{packed}"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    refused("t.jsonl.* holds a value that is nested more than 64 levels deep", path)


def test_depth_counts_brackets_and_nothing_else():
    assert depth(b"") <= 1
    assert depth(b'{"a": "}\\n{[[[[", "b": [{}]}') == 3
    assert depth(rb'{"a": "\\\"[[[[", "b": [1]}') == 2
    assert depth(rb'{"a": "\\", "b": [[1]]}') == 3
    assert depth(b'{"a": 1}\n{"a": {"b": 2}}\n') == 2
    assert depth(b'{"a":\n{"a":\n{"a": 1}}}\n') == 3
    assert depth(b'{"a": 1}\n' * 100) == depth(b'{"a": 1}\r\n' * 100) == 1


def test_what_is_nested_a_little_is_still_told_by_its_column(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": ' + "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1) + "}\n")
    refused("column 'a' holds list<", path)
    path.write_text('{"a": "' + "[" * 500 + '"}\n')
    assert surefit.read(path).schema.names == ("a",)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.bz2", "t.jsonl.gz", "year=1/t.csv.gz"])
def test_a_packed_file_of_too_much(name, tmp_path, monkeypatch):
    """The bound is lowered for the test; what lies below it is read."""
    row, rows = (b'{"a": 1, "b": 2}\n' if "json" in name else b"1,2\n"), 3_000_000
    head = b"" if "json" in name else b"a,b\n"
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((bz2 if name.endswith("bz2") else gzip).compress(head + row * rows))
    monkeypatch.setattr("surefit.data.unpacked.MOST_BYTES", 2**20)
    what = tmp_path if "year" in name else path
    lengths = []

    def use():
        lengths.extend(map(len, surefit.read(what)))

    with pytest.raises(
        DataError, match=r"has [\d,]+ bytes and unpacks to more than \d+ MB.*unpack it to a file"
    ):
        use()
    monkeypatch.setattr("surefit.data.unpacked.MOST_BYTES", 2**30)
    lengths.clear()
    use()
    assert sum(lengths) == rows


def test_a_trap_is_left_at_its_first_bytes(tmp_path, monkeypatch):
    """However large the packed file is, for what was unpacked is held against what was read of it."""
    noise = b"".join(b"%d,%d\n" % (a, b) for a, b in np.random.default_rng(0).integers(0, 256, (2**19, 2)))
    content = b"a,b\n" + b"1,2\n" * 20_000_000 + noise
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(content))
    assert len(content) < 200 * path.stat().st_size
    monkeypatch.setattr("surefit.data.unpacked.MOST_BYTES", 2**20)
    found = re.search(r"more than (\d+) MB", refused("unpacks to more than", path))
    # The unpacker takes 64 KiB of packed bytes at a time, and blocks of 4 MiB are counted when they are read.
    assert found is not None
    assert int(found[1]) <= (200 * 2 * 2**16 + 4 * 2**20) / 1e6


def test_rows_without_an_end(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": "' + "x" * 9_000_000)
    refused("t.jsonl has a line of more than 4 MB", tmp_path / "t.jsonl")
    (tmp_path / "t.csv").write_text('a,b\n1,"' + "x" * 9_000_000)
    refused("t.csv has a row of more than 4 MB: look for a quote that is never closed", tmp_path / "t.csv")


def test_another_encoding_in_a_packed_file_is_found_on_its_line(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress("name,n\nRené,1\n".encode() + "Zoë,2\n".encode("latin-1")))
    refused("t.csv.gz is not in UTF-8: line 3 holds", path)


@pytest.mark.parametrize("place", ["alone", "folder", "pattern", "list"])
@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "dangling", "loop"])
def test_what_is_no_file(kind, place, tmp_path, csv):
    """In a folder too: a part of a table that is passed over is missed by nobody."""
    odd = tmp_path / "odd.csv"
    if kind == "pipe":
        os.mkfifo(odd)
    elif kind == "socket":
        bound = socket.socket(socket.AF_UNIX)
        here = Path.cwd()
        os.chdir(tmp_path)  # the name of a socket may not be long
        bound.bind("odd.csv")
        os.chdir(here)
        bound.close()
    else:
        odd.symlink_to({"device": "/dev/zero", "dangling": "nowhere.csv", "loop": "odd.csv"}[kind])
    what = {"alone": odd, "folder": tmp_path, "pattern": f"{tmp_path}/*.csv", "list": [csv, odd]}[place]
    said = {
        "pipe": "odd.csv is a pipe, which can be read only once, not a file: write",
        "socket": "odd.csv is a socket, not a file",
        "device": "odd.csv is a device, not a file",
        "dangling": "odd.csv is a link to nowhere.csv, which does not exist: make the link anew",
        "loop": "odd.csv is a link that leads back to itself",
    }
    refused(said[kind], what)


def test_a_link_to_a_table_is_a_table(tmp_path, csv):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link.csv").symlink_to(csv)
    assert surefit.read(tmp_path / "folder").schema.rows == 10


def test_devices_by_their_own_names():
    refused("/dev/zero is a device, not a file", "/dev/zero")


def test_a_file_that_may_not_be_read(reachable):
    (reachable / "t.csv").write_text(ROWS)
    refused_while_closed(
        reachable / "t.csv", "t.csv may not be read by this user: allow it", reachable / "t.csv"
    )


def test_a_parquet_file_that_may_not_be_read(reachable):
    path = reachable / "t.parquet"
    pq.write_table(pa.table({"a": [1.0]}), path)
    refused_while_closed(path, "t.parquet may not be read by this user", path)


@pytest.mark.parametrize("place", ["alone", "above", "pattern", "inside"])
def test_a_folder_that_may_not_be_looked_into(place, reachable):
    folder = reachable / "shut"
    folder.mkdir()
    (folder / "t.csv").write_text(ROWS)
    what = {
        "alone": folder,
        "above": reachable,
        "pattern": f"{folder}/*.csv",
        "inside": folder / "t.csv",
    }[place]
    refused_while_closed(folder, "the folder .*shut may not be looked into by this user: allow it", what)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ([], "the list is empty: give rows, or paths"),
        ((), "the list is empty"),
        ("", "'' is no path"),
        ("a\0b.csv", r"'a\\x00b.csv' is no path"),
        ("x" * 5000 + ".csv", "longer than the system allows"),
    ],
    ids=["list", "tuple", "text", "zero byte", "long"],
)
def test_nothing_and_names_that_no_file_has(what, message):
    refused(message, what)


@pytest.mark.parametrize("error", [MemoryError, pa.ArrowMemoryError])
def test_too_little_memory_for_a_file(error, csv, monkeypatch):
    def fails(*given, **named):
        raise error("malloc of size 9223372036854775807 failed")

    monkeypatch.setattr(pa.csv, "open_csv", fails)
    refused("t.csv cannot be read, for there is not enough memory for a part of it: read fewer", csv)


def test_a_disk_that_fails(csv, monkeypatch):
    def fails(*given, **named):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(pa.csv, "open_csv", fails)
    refused("the disk fails to give .*t.csv", csv)
