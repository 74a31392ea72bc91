"""The container: one safetensors file, with our JSON header in its metadata."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from surefit.core.errors import FormatError
from surefit.core.files import atomic

VERSION = 1
MAX_HEADER = 100_000_000  # bytes


def write(path: str | Path, header: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> None:
    """Write the file, atomically."""
    from safetensors.numpy import save

    content = save(arrays, metadata={"surefit": json.dumps({"format": VERSION, **header}, allow_nan=False)})
    with atomic(path) as file:
        file.write(content)


def read(
    path: str | Path, *, with_arrays: bool = True
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Read header and arrays; anything that is not a model file of a known version is a FormatError."""
    path = Path(path)
    header = _header(path)
    arrays = {}
    if with_arrays:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            arrays = load_file(path)
        except (SafetensorError, ValueError, KeyError, TypeError, OverflowError) as error:
            raise FormatError(f"{path} is damaged: {error}.") from None
    return header, arrays


def _header(path: Path) -> dict[str, Any]:
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if not 2 <= length <= min(MAX_HEADER, size - 8):
            raise FormatError(f"{path} is not a model file: it has no safetensors header, or was cut short.")
        text = file.read(length)
    try:
        outer = json.loads(text)
        header = json.loads(outer["__metadata__"]["surefit"])
        version = header["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FormatError(f"{path} is not a surefit model file: its header is not one of ours.") from None
    if type(version) is not int or not 1 <= version <= VERSION:
        raise FormatError(
            f"{path} has format version {version!r}, and this surefit reads up to {VERSION}: "
            "install a newer surefit."
        )
    return dict(header)
