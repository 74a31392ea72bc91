"""How a value becomes JSON and arrays, and back.

Plain JSON values stand for themselves. Everything else is an object with one key that starts with ``$``: an
array by its name in the file, a sparse matrix by its three arrays, a string array by its bytes and offsets, a
float that JSON lacks or a type of numbers by its name, a tuple by its list, a statistic by its registered
name and fields, a loss, penalty, kernel, metric or split of surefit by its registered name and options, a
distribution of scipy by its name and numbers. Nothing else can be written, so nothing else can be read.
Models inside of models are the callers' to describe and to build: ``nested`` does, and what it makes of one
stands under ``$model``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.certificate import Certificate
from surefit.core.errors import FormatError, RegistryError
from surefit.core.parameters import parameters_of, validate
from surefit.core.registry import Registered, lookup, members
from surefit.data.schema import Column, Schema
from surefit.stats.base import Joint, Statistic

Arrays = dict[str, np.ndarray[Any, Any]]
MAX_DEPTH = 20
MOST_TEXT = 2**28  # bytes of an array of strings
Describe = Callable[[Any, Arrays, str], "dict[str, Any] | None"]  # a model, or None for what is none
Build = Callable[["dict[str, Any]", int], Any]  # from what was described, at some depth

_PIECES = ("loss", "penalty", "kernel", "distance", "metric", "split")
_PLAIN: dict[str, type] = {"certificate": Certificate, "schema": Schema, "column": Column, "joint": Joint}

_NUMBERS: dict[str, type[np.generic]] = {np.dtype(kind).name: np.dtype(kind).type for kind in "?bhiqBHIQefd"}


def encode(value: Any, arrays: Arrays, where: str, nested: Describe | None = None) -> Any:
    """Turn a value into JSON, putting arrays aside; ``where`` names it in the error for what cannot be
    written.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if math.isfinite(number) else {"$float": repr(number)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, where, nested)
    if sparse.issparse(value) and value.format == "csr":
        parts = (value.data, value.indices.astype(np.int64), value.indptr.astype(np.int64))
        rows = [_encode_array(part, arrays, where, nested) for part in parts]
        return {"$csr": rows, "shape": list(value.shape)}
    if isinstance(value, np.dtype | type) and value in _NUMBERS.values():
        return {"$dtype": np.dtype(value).name}
    if isinstance(value, tuple):
        return {"$tuple": [encode(item, arrays, f"{where}[{i}]", nested) for i, item in enumerate(value)]}
    if isinstance(value, list):
        return [encode(item, arrays, f"{where}[{i}]", nested) for i, item in enumerate(value)]
    if isinstance(value, Mapping) and all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: encode(item, arrays, f"{where}.{key}", nested) for key, item in value.items()}
    for tag, plain in _PLAIN.items():
        if type(value) is plain:
            return {f"${tag}": _encode_fields(value, arrays, where, nested)}
    if isinstance(value, Statistic):
        return {"$statistic": type(value).name, "fields": _encode_fields(value, arrays, where, nested)}
    if _is_piece(value):
        cls: Any = type(value)
        options = parameters_of(cls)
        written = {name: encode(getattr(value, name), arrays, f"{where}.{name}", nested) for name in options}
        return {f"${value.kind}": _name_of(cls), "options": written}
    if type(value).__module__.startswith("scipy.stats.") and hasattr(value, "dist"):  # as a search draws from
        given = {"args": list(value.args), "kwds": dict(value.kwds)}
        return {"$scipy": value.dist.name, **encode(given, arrays, where)}
    model = None if nested is None else nested(value, arrays, where)
    if model is not None:
        return {"$model": model}
    raise FormatError(
        f"{where} is a {type(value).__name__}, which a model file cannot hold: "
        "files carry data only, never code. Replace it by a named option or a plain value before saving."
    )


def _encode_fields(value: Any, arrays: Arrays, where: str, nested: Describe | None) -> dict[str, Any]:
    return {
        entry.name: encode(getattr(value, entry.name), arrays, f"{where}.{entry.name}", nested)
        for entry in fields(value)
    }


def _encode_array(value: np.ndarray[Any, Any], arrays: Arrays, where: str, nested: Describe | None) -> Any:
    if value.dtype.kind in "biuf":
        name = f"a{len(arrays)}"
        # safetensors writes the buffer as it lies in memory, so a strided view would be silently scrambled.
        arrays[name] = np.ascontiguousarray(value)
        return {"$array": name, "shape": list(value.shape)}
    if value.dtype.kind in "OU" and all(isinstance(item, str) for item in value.flat):
        encoded = [item.encode() for item in value.flat]
        name = f"a{len(arrays)}"
        arrays[name] = np.frombuffer(b"".join(encoded) or b"\0", dtype=np.uint8)
        offsets = f"a{len(arrays)}"
        arrays[offsets] = np.concatenate([[0], np.cumsum([len(item) for item in encoded])]).astype(np.int64)
        kind = "object" if value.dtype.kind == "O" else "str"
        return {"$strings": name, "offsets": offsets, "shape": list(value.shape), "kind": kind}
    if value.dtype.kind == "O" and value.ndim == 1:
        return {"$objects": [encode(item, arrays, f"{where}[{i}]", nested) for i, item in enumerate(value)]}
    raise FormatError(f"{where} is an array of {value.dtype}, which a model file cannot hold.")


def decode(
    value: Any, arrays: Mapping[str, np.ndarray[Any, Any]], depth: int = 0, nested: Build | None = None
) -> Any:
    """Turn JSON back into the value; anything unexpected is a FormatError."""
    if depth > MAX_DEPTH:
        raise FormatError("the file's header is nested too deeply.")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [decode(item, arrays, depth + 1, nested) for item in value]
    tags = [key for key in value if key.startswith("$")]
    if not tags:
        return {key: decode(item, arrays, depth + 1, nested) for key, item in value.items()}
    tag, content = tags[0], value[tags[0]]
    if tag == "$float" and content in ("nan", "inf", "-inf"):
        return float(content)
    if tag == "$dtype" and isinstance(content, str) and content in _NUMBERS:
        return _NUMBERS[content]
    if tag == "$tuple":
        return tuple(decode(item, arrays, depth + 1, nested) for item in _expect(content, list))
    if tag == "$array":
        return _array(arrays, content).reshape(_shape(value))
    if tag == "$strings":
        return _decode_strings(value, arrays)
    if tag == "$csr":
        return _decode_csr(
            [decode(part, arrays, depth + 1) for part in _expect(content, list)], _shape(value)
        )
    if tag == "$objects":
        items = _expect(content, list)
        array = np.empty(len(items), dtype=object)
        array[:] = [decode(item, arrays, depth + 1, nested) for item in items]
        return array
    if tag == "$model" and nested is not None:
        return nested(_expect(content, dict), depth + 1)
    if tag == "$statistic":
        try:
            cls = lookup("statistic", _expect(content, str))
        except RegistryError as error:
            raise FormatError(f"the file holds an unknown statistic: {error}") from None
        return _build(cls, decode(_expect(value.get("fields"), dict), arrays, depth + 1, nested))
    if tag[1:] in _PIECES:
        return _piece(
            tag[1:], content, decode(_expect(value.get("options"), dict), arrays, depth + 1, nested)
        )
    if tag == "$scipy":
        return _distribution(content, _expect(value.get("args"), list), _expect(value.get("kwds"), dict))
    if tag[1:] in _PLAIN:
        return _build(_PLAIN[tag[1:]], decode(_expect(content, dict), arrays, depth + 1, nested))
    raise FormatError(
        f"the file holds a value of an unknown form, {tag!r}: it may come from a newer version of surefit."
    )


def _distribution(name: Any, args: list[Any], kwds: dict[str, Any]) -> Any:
    """A distribution of scipy's, by its name and numbers."""
    from scipy import stats

    found = getattr(stats, _expect(name, str), None)
    plain = all(type(number) in (int, float) for number in (*args, *kwds.values()))
    if not isinstance(found, stats.rv_continuous | stats.rv_discrete) or not plain:
        raise FormatError(f"the file holds a distribution {name!r} that is not one of scipy's.")
    return found(*args, **kwds)


def _is_piece(value: Any) -> bool:
    """Whether it is a loss, penalty, kernel, metric or split of surefit's own, not of a derived class."""
    if not isinstance(value, Registered) or getattr(value, "kind", None) not in _PIECES:
        return False
    own = type(value).__module__.startswith("surefit.")
    return own and members(value.kind).get(_name_of(type(value))) is type(value)


def _name_of(cls: Any) -> str:
    """What the registry calls it: its name, or that of its class."""
    return str(getattr(cls, "name", cls.__name__))


def _piece(kind: str, name: Any, options: Any) -> Any:
    try:
        cls: Any = lookup(kind, _expect(name, str))
        if not cls.__module__.startswith("surefit."):
            raise FormatError(f"the file holds a {kind} {name!r} that is not one of surefit's.")
        made = cls(**options)
        validate(made)
        return made
    except RegistryError as error:
        raise FormatError(f"the file holds an unknown {kind}: {error}") from None
    except (TypeError, ValueError) as error:
        raise FormatError(f"the file's {kind} {name!r} is damaged: {error}") from None


def _expect(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise FormatError(
            f"the file's header holds a {type(value).__name__} where a {kind.__name__} belongs."
        )
    return value


def _shape(value: Mapping[str, Any]) -> tuple[int, ...]:
    shape = _expect(value.get("shape"), list)
    if not all(type(size) is int and size >= 0 for size in shape):
        raise FormatError("the file's header holds a shape that is not a list of sizes.")
    return tuple(shape)


def _array(arrays: Mapping[str, np.ndarray[Any, Any]], name: Any) -> np.ndarray[Any, Any]:
    if not isinstance(name, str) or name not in arrays:
        raise FormatError(f"the file's header names an array {name!r} that is not in the file.")
    return arrays[name]


def _decode_strings(
    value: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]
) -> np.ndarray[Any, Any]:
    blob = _array(arrays, value["$strings"])
    offsets = _array(arrays, value.get("offsets"))
    shape = _shape(value)
    fits = blob.dtype == np.uint8 and blob.ndim == 1 and offsets.dtype == np.int64 and offsets.ndim == 1
    if (
        not fits
        or len(offsets) != math.prod(shape) + 1
        or offsets[0] != 0
        or offsets[-1] > len(blob)
        or (np.diff(offsets) < 0).any()
    ):
        raise FormatError("the file's strings are damaged.")
    kind = object if value.get("kind") == "object" else str
    longest = int(np.diff(offsets).max(initial=0))
    if (
        kind is str and 4 * longest * (len(offsets) - 1) > MOST_TEXT
    ):  # numpy gives each the room of the longest
        raise FormatError("the file's strings would take more memory than a model's may.")
    raw = blob.tobytes()
    try:
        items = [raw[a:b].decode() for a, b in pairwise(offsets)]
    except UnicodeDecodeError:
        raise FormatError("the file's strings are not valid UTF-8.") from None
    return np.array(items, dtype=kind).reshape(shape)


def _decode_csr(parts: list[Any], shape: tuple[int, ...]) -> Any:
    """A sparse matrix, whose columns and rows are where its shape says."""
    if (
        len(parts) != 3
        or len(shape) != 2
        or not all(isinstance(p, np.ndarray) and p.ndim == 1 for p in parts)
    ):
        raise FormatError("the file's sparse matrix is damaged.")
    data, columns, starts = parts
    whole = columns.dtype == np.int64 and starts.dtype == np.int64 and data.dtype.kind == "f"
    if (
        not whole
        or len(starts) != shape[0] + 1
        or starts[0] != 0
        or starts[-1] != len(columns)
        or len(data) != len(columns)
        or (np.diff(starts) < 0).any()
        or (len(columns) and not (columns.min() >= 0 and columns.max() < shape[1]))
    ):
        raise FormatError("the file's sparse matrix is damaged.")
    return sparse.csr_matrix((data, columns, starts), shape=shape)


def _build(cls: Any, content: Mapping[str, Any]) -> Any:
    # A field that came later has a default, which is what older files mean.
    names = {entry.name for entry in fields(cls)}
    needed = {entry.name for entry in fields(cls) if entry.default is entry.default_factory is MISSING}
    if not needed <= set(content) <= names:
        raise FormatError(f"the file's {cls.__name__} has the fields {sorted(content)}, not {sorted(names)}.")
    try:
        return cls(**content)
    except (TypeError, ValueError) as error:
        raise FormatError(f"the file's {cls.__name__} is damaged: {error}") from None
