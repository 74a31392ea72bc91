"""What a source or a function is, in 16 bytes: equal in two processes if, and only if, they would give the
same numbers.

Arrays and tables count by their content, files by their path, size and time of change, functions by their
name and whatever is bound to them, other objects by their fields.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from surefit.core.errors import FormatError
from surefit.core.trace import Trace

_ATOMS = (type(None), bool, int, float, complex, str, bytes)
# The record of a fit and its callbacks differ from run to run, and change no number.
_BESIDE_THE_POINT = ("_skl_", "_callback_")
# Of files that are named by fingerprints; it goes up when modules move, for those are part of a fingerprint.
LAYOUT = {"layout": "2"}


def fingerprint(value: Any) -> str:
    """Return the hexadecimal fingerprint of anything that holds data.

    >>> fingerprint([1.0, "a"]) == fingerprint([1.0, "a"])
    True
    >>> fingerprint([1.0, "a"]) == fingerprint([1.0, "b"])
    False
    """
    digest = blake2b(digest_size=16)
    _feed(digest, value, {})
    return digest.hexdigest()


def refuse_older(folder: Path) -> None:
    """Refuse a folder of checkpoints that another layout has named: nothing in it would be found again."""
    from safetensors import SafetensorError, safe_open

    for place in [*folder.glob("pass-*.safetensors"), *folder.glob("fold-*.safetensors")][:1]:
        try:
            with safe_open(place, framework="numpy") as file:
                older = not LAYOUT.items() <= (file.metadata() or {}).items()
        except SafetensorError:
            continue  # damaged: whoever reads it says so
        if older:
            raise FormatError(
                f"the checkpoints in {folder} were written by another version of surefit, which cannot be "
                "continued: delete them, or choose another folder."
            )


def _feed(digest: Any, value: Any, seen: dict[int, tuple[int, Any]]) -> None:
    """Write a value's content, preceded by its type, so that no two values read alike."""
    if isinstance(value, _ATOMS):
        text = value if isinstance(value, bytes) else repr(value).encode()
        digest.update(f"{type(value).__name__}:{len(text)}:".encode() + text)
        return
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"array:{value.dtype.str}:{value.shape}:".encode())
        digest.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8))
        return
    if id(value) in seen:
        digest.update(f"again:{seen[id(value)][0]}:".encode())
        return
    seen[id(value)] = len(seen), value  # kept alive, so that no other object takes over its place
    digest.update(f"{type(value).__module__}.{type(value).__qualname__}:".encode())
    for item in _content(value):
        _feed(digest, item, seen)
    digest.update(b";")


def _content(value: Any) -> Iterator[Any]:
    if isinstance(value, Trace):
        return
    library = type(value).__module__.partition(".")[0]
    if isinstance(value, Path):
        yield from _file(value)
    elif isinstance(value, np.ndarray):
        yield value.shape
        yield from value.flat
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield item
    elif isinstance(value, set | frozenset):
        yield from sorted(fingerprint(item) for item in value)
    elif isinstance(value, Sequence):
        yield from value
    elif isinstance(value, partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, MethodType):
        yield from (value.__self__, value.__func__)
    elif isinstance(value, type) or (hasattr(value, "__qualname__") and not isinstance(value, CodeType)):
        yield from _named(value)
    elif isinstance(value, CodeType):
        yield from (value.co_code, value.co_consts, value.co_names)
    elif hasattr(value, "__dask_tokenize__"):
        yield value.__dask_tokenize__()
    elif library == "pyarrow":
        yield _arrow(value)
    elif is_dataclass(value):
        for entry in fields(value):
            yield getattr(value, entry.name)
    else:
        yield _state(value)


def _file(path: Path) -> Iterator[Any]:
    yield os.path.abspath(path)
    if path.is_file():
        status = path.stat()
        yield from (status.st_size, status.st_mtime_ns)


def _named(value: Any) -> Iterator[Any]:
    """A class or function by its name; one without a place of its own by its code and what it closes over."""
    yield from (getattr(value, "__module__", None), value.__qualname__)
    if isinstance(value, FunctionType) and "<" in value.__qualname__:
        cells = value.__closure__ or ()
        yield from (value.__code__, value.__defaults__, [cell.cell_contents for cell in cells])


def _arrow(value: Any) -> Any:
    import pyarrow as pa

    if isinstance(value, pa.Schema):
        return value.serialize().to_pybytes()
    if isinstance(value, pa.Table | pa.RecordBatch):
        sink = _HashSink()
        with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), value.schema) as writer:
            writer.write(value)
        return sink.digest.hexdigest()
    return str(value)


class _HashSink:
    """A file that only remembers the fingerprint of what was written."""

    closed = False

    def __init__(self) -> None:
        self.digest = blake2b(digest_size=16)

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def _state(value: Any) -> Any:
    state = value.__getstate__() if hasattr(value, "__getstate__") else None
    if isinstance(state, dict):
        return {name: item for name, item in state.items() if not name.startswith(_BESIDE_THE_POINT)}
    return state
