"""The container: one safetensors file, with our JSON header in its metadata.

A digest over header and arrays stands in the file, so that a damaged one is never taken for a whole one. It
is no signature: whoever changes a file on purpose can make it fit again, and only ``surefit.verify`` with
the data tells.
"""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from surefit.core.errors import DataError, FormatError
from surefit.core.files import atomic

VERSION = 1
MAX_HEADER = 64 * 2**20  # bytes of JSON; a model's numbers are in its arrays, not there
MAX_ARRAYS = 100_000

Arrays = dict[str, np.ndarray[Any, Any]]


def write(path: str | Path, header: dict[str, Any], arrays: Arrays) -> None:
    """Write the file, atomically."""
    from safetensors.numpy import save

    text = json.dumps({"format": VERSION, **header}, allow_nan=False)
    content = save(arrays, metadata={"surefit": text, "digest": _digest(text, arrays)})
    head, body = _in_order(content)
    try:
        with atomic(path) as file:
            file.write(head)
            file.write(body)
    except OSError as error:
        raise DataError(
            f"{path} could not be written ({error.strerror or error}): nothing was changed there; "
            "make room, or choose another place."
        ) from error


def _in_order(content: bytes) -> tuple[bytes, memoryview]:
    """The header and the arrays of a file; safetensors lists the metadata in any order, we in one."""
    (length,) = struct.unpack_from("<Q", content)
    outer = json.loads(content[8 : 8 + length])
    metadata = dict(sorted(outer.pop("__metadata__").items()))
    text = json.dumps({"__metadata__": metadata, **outer}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that arrays stand where they can be mapped
    return struct.pack("<Q", len(text)) + text, memoryview(content)[8 + length :]


def read(path: str | Path) -> tuple[dict[str, Any], Arrays]:
    """Read header and arrays; anything but a whole model file of a known version is a FormatError."""
    path = Path(path)
    text, digest = _metadata(path)
    header = _parsed(path, text)
    from safetensors.numpy import load_file

    try:
        arrays = load_file(path)
    except Exception as error:  # whatever the parser trips over, the file is not whole
        raise FormatError(f"{path} is damaged: {_one_line(error)}.") from None
    if _digest(text, arrays) != digest:
        raise FormatError(f"{path} is damaged: its contents do not match its digest.")
    return header, arrays


def _metadata(path: Path) -> tuple[str, str]:
    """Our two entries of the safetensors metadata, read without touching the arrays."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            raw = file.read(length) if 2 <= length <= min(MAX_HEADER, size - 8) else None
    except OSError as error:
        raise FormatError(f"{path} cannot be opened as a model file: {error.strerror or error}.") from None
    if raw is None:
        raise FormatError(f"{path} is not a model file: it has no safetensors header, or was cut short.")
    try:
        outer = json.loads(raw)
        entries = outer["__metadata__"]
        text, digest = entries["surefit"], entries["digest"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FormatError(f"{path} is not a surefit model file: its header is not one of ours.") from None
    if not isinstance(text, str) or not isinstance(digest, str) or len(outer) > MAX_ARRAYS:
        raise FormatError(f"{path} is not a surefit model file: its header is not one of ours.")
    return text, digest


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        header = json.loads(text)
        version = header["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FormatError(f"{path} is not a surefit model file: its header is not one of ours.") from None
    if type(version) is not int or not 1 <= version <= VERSION:
        raise FormatError(
            f"{path} has format version {version!r}, and this surefit reads up to {VERSION}: "
            "install a newer surefit."
        )
    return dict(header)


def _digest(text: str, arrays: Arrays) -> str:
    total = hashlib.blake2b(text.encode(), digest_size=16)
    for name, array in sorted(arrays.items()):
        total.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        total.update(np.ascontiguousarray(array).view(np.uint8).reshape(-1).data)
    return total.hexdigest()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
