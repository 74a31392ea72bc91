"""A path, a folder or a glob of files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from surefit.data.files import DataFile, list_files
from surefit.data.read import Reader
from surefit.data.readers.dataset import hive_dataset
from surefit.data.stream import ArrowStream


class PathReader(Reader):
    """Files of one format; a folder whose sub-folders are named ``key=value`` has the keys as columns."""

    name = "path"
    opens = "a path, folder or glob of Parquet, CSV, TSV, Arrow or JSON lines"

    @classmethod
    def takes(cls, what: Any) -> bool:
        """Text and paths."""
        return isinstance(what, str | Path)

    @classmethod
    def open(cls, what: Any) -> ArrowStream:
        """Find the files and open them."""
        form, names = list_files(what)
        if os.path.isdir(what) and any("=" in os.path.dirname(os.path.relpath(name, what)) for name in names):
            return hive_dataset(os.fspath(what), form, names)
        return form.open([DataFile.at(name) for name in names])
