"""Records: what a file says of a model, which is its class, its parameters and what it has learnt.

A model inside of another, such as a step of a pipeline, is a record inside of its record. A pipeline has
learnt nothing by itself: its steps have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline as SklearnPipeline
from sklearn.utils.validation import check_is_fitted

from surefit.core.certificate import Certificate
from surefit.core.diagnosis import Diagnosis
from surefit.core.errors import FormatError, ParameterError
from surefit.core.parameters import validate
from surefit.core.registry import members
from surefit.core.trace import Trace
from surefit.data.schema import Schema
from surefit.evaluate.persistence import Saved
from surefit.evaluate.pipeline import Pipeline
from surefit.models.base import Estimator
from surefit.stats.values import Arrays, decode, encode

STATE = (
    "n_features_in_",
    "feature_names_in_",
    "certificate_",
    "statistic_",
    "_schema",
    "_sklearn_output_config",
)
OPTIONAL = {"feature_names_in_", "statistic_", "_schema", "_sklearn_output_config"}
OUTPUTS = ("default", "pandas", "polars", None)  # what ``set_output`` knows
MOST_COLUMNS = 2**26  # half a GiB for a number of each

Known = Mapping[str, type[Any]]


def is_pipeline(model: Any) -> bool:
    """Whether it is a pipeline of ours or of scikit-learn's, and not of a class derived from them."""
    return type(model) in (Pipeline, SklearnPipeline)


def is_left_out(step: Any) -> bool:
    """Whether a step of a pipeline is none."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def describe(model: Any, arrays: Arrays, where: str = "") -> dict[str, Any] | None:
    """The record of a fitted model; None for what is none."""
    if is_pipeline(model):
        return _describe_pipeline(model, arrays, where)
    if isinstance(model, Saved):
        if not where:
            check_is_fitted(model)
        parameters, state = model.to_file()
        return _record(type(model).__name__, parameters, state, arrays, where)
    if not isinstance(model, Estimator):
        return None
    if where and not model.__sklearn_is_fitted__():  # such as the one that a wrapper copies
        return _record(type(model).__name__, model.get_params(deep=False), {}, arrays, where)
    check_is_fitted(model)
    names = {f"{entry.name}_": entry.default for entry in fields(model.learns)}
    # What a fit need not leave has a default.
    state = {
        name: getattr(model, name) if default is MISSING else getattr(model, name, default)
        for name, default in names.items()
    }
    state |= {key: model.__dict__[key] for key in STATE if key in model.__dict__}
    return _record(type(model).__name__, model.get_params(deep=False), state, arrays, where)


def _describe_pipeline(model: Any, arrays: Arrays, where: str) -> dict[str, Any]:
    copied = where and not _is_fitted(model)  # such as the one that a search copies
    for name, step in model.steps:
        if isinstance(step, Estimator | Saved) and not copied:
            check_is_fitted(step)
        if not isinstance(step, Estimator | Saved) and not is_pipeline(step) and not is_left_out(step):
            origin = type(step).__module__.partition(".")[0]
            raise FormatError(
                f"the step {name!r} is a {type(step).__name__} of {origin}, and only surefit's estimators "
                "can be saved: save the steps before it as a pipeline of their own."
            )
    if model.memory is not None:
        raise FormatError(
            "the pipeline has a cache, which belongs to this machine: set_params(memory=None) before saving."
        )
    return _record("Pipeline", model.get_params(deep=False), {}, arrays, where)


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _record(
    name: str, parameters: dict[str, Any], state: dict[str, Any], arrays: Arrays, where: str
) -> dict[str, Any]:
    place = f"{where}.{name}" if where else name
    return {
        "class": name,
        "parameters": {
            key: encode(value, arrays, f"{place}.{key}", describe) for key, value in parameters.items()
        },
        "state": {key: encode(value, arrays, f"{place}.{key}", describe) for key, value in state.items()},
    }


def known_classes(classes: Iterable[type[Estimator]] = ()) -> Known:
    """The classes that a file may name: surefit's own, and those that the caller adds."""
    every = {**members("estimator"), **members("chooser")}
    own = {name: cls for name, cls in every.items() if cls.__module__.startswith("surefit.")}
    return {**own, "Pipeline": Pipeline, **{cls.__name__: cls for cls in classes}}


def build(record: Mapping[str, Any], arrays: Arrays, known: Known, depth: int = 0) -> Any:
    """Make the model that a record describes; one that describes none is a FormatError."""
    name = record.get("class")
    cls = known.get(name) if isinstance(name, str) else None
    if cls is None:
        raise FormatError(f"it holds a model of class {name!r}, not one of surefit's: pass classes=[{name}].")

    def inner(content: dict[str, Any], at: int) -> Any:
        return build(content, arrays, known, at)

    parameters = _values(record, "parameters", arrays, depth, inner)
    state = _values(record, "state", arrays, depth, inner)
    if cls is Pipeline:
        return _built_pipeline(parameters, state)
    if issubclass(cls, Saved):
        return _built_chooser(cls, parameters, state, inside=depth > 0)
    return _built(cls, parameters, state, inside=depth > 0)


def _values(
    record: Mapping[str, Any], key: str, arrays: Arrays, depth: int, nested: Any = None
) -> dict[str, Any]:
    values = decode(record.get(key), arrays, depth, nested)
    if not isinstance(values, dict):
        raise FormatError("its parameters or fitted values are missing.")
    return values


def _built(
    cls: type[Estimator], parameters: dict[str, Any], state: dict[str, Any], *, inside: bool
) -> Estimator:
    if inside and not state:
        return _made(cls, parameters)
    _check_width(cls, state)
    if hasattr(cls, "of_older_file"):
        state = cls.of_older_file(parameters, state)
    allowed = {f"{entry.name}_" for entry in fields(cls.learns)} | set(STATE)
    # What a class learns since a file was written has a default.
    later = {f"{entry.name}_": entry.default for entry in fields(cls.learns) if entry.default is not MISSING}
    if not allowed - OPTIONAL - set(later) <= set(state) <= allowed or not isinstance(
        state["certificate_"], Certificate
    ):
        raise FormatError(f"a {cls.__name__} has the values {sorted(allowed)}, not {sorted(state)}.")
    _check_output(cls, state)
    _check_types(cls, state)
    model = _made(cls, parameters)
    model.__dict__.update(later | state, trace_=Trace(), diagnosis_=Diagnosis())
    model.check_loaded()
    return model


def _check_width(cls: type[Estimator], state: dict[str, Any]) -> None:
    """Refuse a number of columns that nothing could be made for."""
    width = state.get("n_features_in_")
    if type(width) is not int or not 0 <= width <= MOST_COLUMNS:
        raise FormatError(
            f"a {cls.__name__} has a whole number of up to {MOST_COLUMNS} columns, not {width!r}."
        )


def _check_types(cls: type[Estimator], state: dict[str, Any]) -> None:
    """Refuse values of other types than a fit leaves."""
    width, names, schema = (state.get(key) for key in ("n_features_in_", "feature_names_in_", "_schema"))
    if names is not None and (not isinstance(names, np.ndarray) or names.shape != (width,)):
        raise FormatError(f"the {width} columns of a {cls.__name__} must have a name each.")
    if schema is not None and not (isinstance(schema, Schema) and schema.width == width):
        raise FormatError(f"the schema of a {cls.__name__} must have its {width} columns.")
    for name, hint in _learnt_types(cls.learns).items():
        if f"{name}_" in state and not _is_of(state[f"{name}_"], hint):
            found, words = type(state[f"{name}_"]).__name__, _in_words(hint)
            raise FormatError(f"{name}_ of a {cls.__name__} must be {words}, and the file has a {found}.")


@cache
def _learnt_types(learns: type) -> dict[str, Any]:
    hints = get_type_hints(learns)
    return {entry.name: hints[entry.name] for entry in fields(learns)}


def _is_of(value: Any, hint: Any) -> bool:
    """Whether a value has the type that an annotation names; what it leaves open may be anything."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin is UnionType:
        return any(_is_of(value, each) for each in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is np.ndarray:
        (kind,) = get_args(inner[1])
        return isinstance(value, np.ndarray) and (kind is Any or value.dtype == kind)
    if origin is list:
        return isinstance(value, list) and all(_is_of(each, inner[0]) for each in value)
    if origin is tuple:
        return isinstance(value, tuple) and all(_is_of(each, inner[0]) for each in value)
    if hint is float:
        return type(value) in (int, float)
    if hint in (int, bool, str):
        return type(value) is hint
    return isinstance(value, origin or hint)


def _in_words(hint: Any) -> str:
    if get_origin(hint) is np.ndarray:
        (kind,) = get_args(get_args(hint)[1])
        return "an array" if kind is Any else f"an array of {np.dtype(kind).name}"
    return getattr(hint, "__name__", None) or str(hint)


def _built_chooser(
    cls: type[Saved], parameters: dict[str, Any], state: dict[str, Any], *, inside: bool
) -> Saved:
    if not state and not inside:
        raise FormatError(f"the fitted values of its {cls.__name__} are missing.")
    _check_output(cls, state)
    try:
        made: Saved = cls.from_file(parameters, state)
    except TypeError as error:
        raise FormatError(f"its parameters do not fit a {cls.__name__}: {error}") from None
    return made


def _check_output(cls: type, state: dict[str, Any]) -> None:
    output = state.get("_sklearn_output_config", {})
    if (
        not isinstance(output, dict)
        or not set(output) <= {"transform"}
        or output.get("transform") not in OUTPUTS
    ):
        raise FormatError(
            f"the output of a {cls.__name__} must be 'default', 'pandas' or 'polars', not {output!r}."
        )


def _made(cls: type[Estimator], parameters: dict[str, Any]) -> Estimator:
    try:
        model = cls(**parameters)
        validate(model)
    except (TypeError, ParameterError) as error:
        raise FormatError(f"its parameters do not fit a {cls.__name__}: {error}") from None
    return model


def _built_pipeline(parameters: dict[str, Any], state: dict[str, Any]) -> Pipeline:
    steps, inputs = parameters.get("steps"), parameters.get("transform_input")
    fits = (
        set(parameters) == {"steps", "transform_input", "memory", "verbose"}
        and isinstance(steps, list)
        and all(isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str) for step in steps)
        and (inputs is None or (isinstance(inputs, list) and all(isinstance(name, str) for name in inputs)))
        and parameters["memory"] is None
        and isinstance(parameters["verbose"], bool)
        and not state
    )
    if not fits or not _are_steps(steps):
        raise FormatError("its pipeline is not valid: steps must be pairs of a name and a model.")
    return Pipeline(**parameters)


def _are_steps(steps: Any) -> bool:
    names = [name for name, _ in steps]
    models = [(place, model) for place, (_, model) in enumerate(steps, 1) if not is_left_out(model)]
    return 0 < len(set(names)) == len(names) and all(
        isinstance(model, Estimator | Pipeline | Saved)
        and (place == len(steps) or hasattr(model, "transform"))
        for place, model in models
    )


def listing(record: Mapping[str, Any], arrays: Arrays, depth: int = 0) -> dict[str, Any]:
    """What a record says, without building the model; those inside are listed in their places."""

    def inner(content: dict[str, Any], at: int) -> Any:
        return listing(content, arrays, at)

    state = _values(record, "state", arrays, depth, inner)
    certificate = state.get("certificate_")
    found = {
        "class": record.get("class"),
        "parameters": _values(record, "parameters", arrays, depth, inner),
        "columns": state.get("n_features_in_"),
        "certificate": dict(certificate.view()) if isinstance(certificate, Certificate) else None,
    }
    chosen = state.get("best_estimator_")  # by a search
    if isinstance(chosen, dict) and {"columns", "certificate"} <= set(chosen):
        found |= {"best_estimator_": chosen, "columns": chosen["columns"]}
        found |= {"certificate": chosen["certificate"]}
    return found
