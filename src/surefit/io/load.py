"""Load and inspect model files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from surefit.core.diagnosis import Diagnosis
from surefit.core.errors import FormatError
from surefit.core.registry import members
from surefit.core.trace import Trace
from surefit.io.model_file import read
from surefit.io.save import STATE
from surefit.models.base import Estimator
from surefit.stats.values import decode


def load(path: str | Path, *, classes: Iterable[type[Estimator]] = ()) -> Any:
    """Open a model file. No code in it can run: it names one of surefit's classes, or one of ``classes``
    that you pass in.
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
    parameters, state = (decode(header.get(part), arrays) for part in ("parameters", "state"))
    if not isinstance(parameters, dict) or not isinstance(state, dict):
        raise FormatError(f"{path} is damaged: its parameters or fitted values are missing.")
    allowed = {f"{entry.name}_" for entry in fields(cls.learns)} | set(STATE)
    required = allowed - {"feature_names_in_", "statistic_", "_schema"}
    if not required <= set(state) <= allowed:
        raise FormatError(
            f"{path} is damaged: a {name} has the values {sorted(allowed)}, not {sorted(state)}."
        )
    try:
        model = cls(**parameters)
    except TypeError:
        raise FormatError(
            f"{path} is damaged: a {name} does not have the parameters {sorted(parameters)}."
        ) from None
    model.__dict__.update(state, trace_=Trace(), diagnosis_=Diagnosis())
    return model


def inspect(path: str | Path) -> dict[str, Any]:
    """List what a file says of itself, without building the model: class, versions, parameters,
    certificate.
    """
    header, arrays = read(path)
    state = decode(header.get("state"), arrays)
    certificate = state.get("certificate_") if isinstance(state, dict) else None
    return {
        "class": header.get("class"),
        "format": header["format"],
        "surefit": header.get("surefit"),
        "parameters": decode(header.get("parameters"), arrays),
        "columns": state.get("n_features_in_") if isinstance(state, dict) else None,
        "certificate": None if certificate is None else dict(certificate.view()),
        "arrays": {name: (str(array.dtype), array.shape) for name, array in arrays.items()},
    }
