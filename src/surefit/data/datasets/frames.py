"""Typed frames: one way to build a table, and the three kinds of frame it can be handed over as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from surefit.core.errors import DataError, ParameterError

FrameKind = Literal["auto", "pandas", "polars", "arrow"]


def category(codes: NDArray[np.integer[Any]], levels: Sequence[str]) -> pa.DictionaryArray:
    """Return a column of categories; code -1 is a missing cell."""
    indices = pa.array(codes, type=pa.int32(), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(list(levels), type=pa.string()))


def numbers(values: NDArray[np.floating[Any]]) -> pa.Array:
    """Return a column of numbers: integers where all of them are, and NaN as a missing cell."""
    missing = np.isnan(values)
    whole = bool((values[~missing] == np.round(values[~missing])).all())
    if whole:
        return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)
    return pa.array(values, mask=missing)


def frame_of(columns: Mapping[str, pa.Array], as_: FrameKind = "auto") -> Any:
    """Make a frame of Arrow columns: of pandas, of polars, or an Arrow table; "auto" is pandas if it is
    installed, else Arrow.

    >>> frame_of({"size": numbers(np.array([1.0, 2.0]))}, "arrow").schema.names
    ['size']
    """
    if as_ not in ("auto", "pandas", "polars", "arrow"):
        raise ParameterError(
            f"as_={as_!r} is not a kind of frame; choose 'auto', 'pandas', 'polars' or 'arrow'."
        )
    table = pa.table(dict(columns))
    if as_ == "auto":
        as_ = "pandas" if find_spec("pandas") else "arrow"
    if as_ == "arrow":
        return table
    if find_spec(as_) is None:
        raise DataError(
            f"{as_} is not installed, so no {as_} frame can be made: install it, or ask for 'arrow'."
        )
    return nw.from_arrow(table, backend=as_).to_native()
