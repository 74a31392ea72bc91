"""Save a fitted model."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from surefit.core.errors import FormatError
from surefit.core.public import public
from surefit.io.model_file import write
from surefit.io.records import describe
from surefit.stats.values import Arrays


@public
def save(model: Any, path: str | Path) -> None:
    """Write a fitted model or pipeline to one file, atomically: a reader sees the old file or the new one.

    The file holds data only. A parameter that is a function or an object of the user's own is refused, and so
    is a pipeline with a step that is not surefit's.
    """
    arrays: Arrays = {}
    record = describe(model, arrays)
    if record is None:
        raise FormatError(f"only surefit's own estimators can be saved, not a {type(model).__name__}.")
    write(path, {"surefit": version("surefit"), **record}, arrays)
