"""Load and inspect model files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from surefit.core.errors import FormatError
from surefit.core.public import public
from surefit.io.model_file import read
from surefit.io.records import build, known_classes, listing
from surefit.models.base import Estimator

Found = TypeVar("Found")


@public
def load(path: str | Path, *, classes: Iterable[type[Estimator]] = ()) -> Any:
    """Open a model file.

    No code in a file can run: it names surefit's own classes, or some of ``classes`` that you pass in. A file
    that is damaged, hostile or from a newer version is refused with a FormatError.
    """
    header, arrays = read(path)
    known = known_classes(classes)
    return _or_damaged(path, lambda: build(header, arrays, known))


@public
def inspect(path: str | Path) -> dict[str, Any]:
    """List what a file says of itself, without building the model; the steps of a pipeline stand in its
    parameters.
    """
    header, arrays = read(path)
    return {
        "format": header["format"],
        "surefit": header.get("surefit"),
        **_or_damaged(path, lambda: listing(header, arrays)),
        "arrays": {name: (str(array.dtype), array.shape) for name, array in arrays.items()},
    }


def _or_damaged(path: str | Path, step: Callable[[], Found]) -> Found:
    try:
        return step()
    except FormatError as error:
        raise FormatError(f"{path} cannot be used: {error}") from None
    except Exception as error:  # a header that fits nothing, however it fails to
        raise FormatError(f"{path} is damaged: {type(error).__name__} while decoding its header.") from None
