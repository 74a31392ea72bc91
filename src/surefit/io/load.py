"""Load and inspect model files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from surefit.core.certificate import Certificate
from surefit.core.diagnosis import Diagnosis
from surefit.core.errors import FormatError, ParameterError
from surefit.core.parameters import validate
from surefit.core.registry import members
from surefit.core.trace import Trace
from surefit.io.model_file import read
from surefit.io.save import STATE
from surefit.models.base import Estimator
from surefit.stats.values import Arrays, decode

OPTIONAL = {"feature_names_in_", "statistic_", "_schema"}


def load(path: str | Path, *, classes: Iterable[type[Estimator]] = ()) -> Any:
    """Open a model file.

    No code in a file can run: it names one of surefit's own classes, or one of ``classes`` that you pass
    in. A file that is damaged, hostile or from a newer version is refused with a FormatError.
    """
    header, arrays = read(path)
    known = {name: cls for name, cls in members("estimator").items() if cls.__module__.startswith("surefit.")}
    known |= {cls.__name__: cls for cls in classes}
    name = header.get("class")
    cls = known.get(name) if isinstance(name, str) else None
    if cls is None:
        raise FormatError(
            f"{path} holds a model of class {name!r}, not one of surefit's: pass classes=[{name}]."
        )
    assert issubclass(cls, Estimator)
    return _built(path, cls, *_contents(path, header, arrays))


def _contents(
    path: str | Path, header: dict[str, Any], arrays: Arrays
) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        parameters, state = decode(header.get("parameters"), arrays), decode(header.get("state"), arrays)
    except FormatError as error:
        raise FormatError(f"{path} is damaged: {error}") from None
    except Exception as error:  # a header that fits nothing, however it fails to
        raise FormatError(f"{path} is damaged: {type(error).__name__} while decoding its header.") from None
    if not isinstance(parameters, dict) or not isinstance(state, dict):
        raise FormatError(f"{path} is damaged: its parameters or fitted values are missing.")
    return parameters, state


def _built(
    path: str | Path, cls: type[Estimator], parameters: dict[str, Any], state: dict[str, Any]
) -> Estimator:
    allowed = {f"{entry.name}_" for entry in fields(cls.learns)} | set(STATE)
    if not allowed - OPTIONAL <= set(state) <= allowed or not isinstance(state["certificate_"], Certificate):
        raise FormatError(
            f"{path} is damaged: a {cls.__name__} has the values {sorted(allowed)}, not {sorted(state)}."
        )
    try:
        model = cls(**parameters)
        validate(model)
    except (TypeError, ParameterError) as error:
        raise FormatError(f"{path} is damaged: its parameters do not fit a {cls.__name__}: {error}") from None
    model.__dict__.update(state, trace_=Trace(), diagnosis_=Diagnosis())
    return model


def inspect(path: str | Path) -> dict[str, Any]:
    """List what a file says of itself, without building the model."""
    header, arrays = read(path)
    parameters, state = _contents(path, header, arrays)
    certificate = state.get("certificate_")
    return {
        "class": header.get("class"),
        "format": header["format"],
        "surefit": header.get("surefit"),
        "parameters": parameters,
        "columns": state.get("n_features_in_"),
        "certificate": dict(certificate.view()) if isinstance(certificate, Certificate) else None,
        "arrays": {name: (str(array.dtype), array.shape) for name, array in arrays.items()},
    }
