"""A path, a folder, a glob, or a list of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from surefit.core.errors import DataError
from surefit.data.files import DataFile, is_path, list_files, one_format
from surefit.data.read import Reader
from surefit.data.readers.dataset import hive_dataset
from surefit.data.stream import ArrowStream


class PathReader(Reader):
    """Files of one format; a folder whose sub-folders are named ``key=value`` has the keys as columns."""

    name = "path"
    opens = "a path, folder or glob, or a list of them, of Parquet, CSV, TSV, Arrow or JSON lines"

    @classmethod
    def takes(cls, what: Any) -> bool:
        """Text and paths, alone or in a list."""
        return is_path(what)

    @classmethod
    def open(cls, what: Any) -> ArrowStream:
        """Find the files and open them; those of a list in its order."""
        if not isinstance(what, str | Path):
            return _open_list(what)
        names = list_files(what)
        form = one_format(names, os.fspath(what))
        if _is_partitioned(what, names):
            return hive_dataset(os.fspath(what), form, names)
        return form.open([DataFile.at(name) for name in names])


def _open_list(whats: Sequence[str | Path]) -> ArrowStream:
    found = []
    for what in whats:
        names = list_files(what)
        if _is_partitioned(what, names):
            raise DataError(f"{what} has sub-folders named key=value, which are read alone, not in a list.")
        found += names
    return one_format(found, "the list").open([DataFile.at(name) for name in found])


def _is_partitioned(what: str | Path, names: Sequence[str]) -> bool:
    return os.path.isdir(what) and any("=" in os.path.dirname(os.path.relpath(n, what)) for n in names)
