"""The model file that a verb opens; opening one runs no code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefit.core.errors import DataError

if TYPE_CHECKING:
    from surefit.study.fitted.apply import Applied


def opened(path: str, *, predicts: bool = True) -> Applied:
    """Load a model file."""
    from surefit.io.load import load
    from surefit.study.fitted.apply import Applied

    applied = Applied.of(load(path))
    if predicts and not applied.predicts:
        raise DataError(f"{path} holds a {type(applied.last).__name__}, which has no predict method.")
    return applied


def target_of(applied: Applied, table: Any, target: str | None) -> str:
    """The column with the truth: the one named, the one learnt from, or the only one that is not read."""
    if target is not None:
        return target
    unused = applied.unused(table)
    known = applied.target
    if known is None and len(unused) == 1:
        return unused[0]
    if known is None:
        raise DataError("the model does not say which column holds the truth: name it with --target NAME.")
    if known not in unused:
        raise DataError(
            f"the table has no column {known!r}, which the model predicts: name the truth with --target NAME."
        )
    return known
