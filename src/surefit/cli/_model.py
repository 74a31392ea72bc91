"""The model file that a verb opens; opening one runs no code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefit.core.errors import DataError

if TYPE_CHECKING:
    from surefit.study.applied import Applied


def opened(path: str, *, predicts: bool = True) -> Applied:
    """Load a model file."""
    from surefit.io.load import load
    from surefit.study.applied import Applied

    applied = Applied.of(load(path))
    if predicts and not applied.predicts:
        raise DataError(f"{path} holds a {type(applied.last).__name__}, which predicts nothing.")
    return applied


def target_of(applied: Applied, table: Any, target: str | None) -> str:
    """The column with the truth: the one named, or the only one that the model does not read."""
    if target is not None:
        return target
    unused = applied.unused(table)
    if len(unused) != 1:
        raise DataError("say which column holds the truth, with --target NAME.")
    return unused[0]
