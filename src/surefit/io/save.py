"""Save a fitted model."""

from __future__ import annotations

from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import FormatError
from surefit.io.model_file import write
from surefit.models.base import Estimator
from surefit.stats.values import Arrays, encode


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model to one file, atomically: a reader sees the old file or the new one, never a part.

    The file holds data only. A parameter that is a function or an object of the user's own is refused.
    """
    if not isinstance(model, Estimator):
        raise FormatError(f"only surefit's own estimators can be saved, not a {type(model).__name__}.")
    check_is_fitted(model)
    arrays: Arrays = {}
    name = type(model).__name__
    parameters = model.get_params(deep=False)
    state = {f"{entry.name}_": getattr(model, f"{entry.name}_") for entry in fields(model.learns)}
    state |= {key: model.__dict__[key] for key in STATE if key in model.__dict__}
    header = {
        "class": name,
        "surefit": version("surefit"),
        "parameters": {key: encode(value, arrays, f"{name}.{key}") for key, value in parameters.items()},
        "state": {key: encode(value, arrays, f"{name}.{key}") for key, value in state.items()},
    }
    write(path, header, arrays)


STATE = ("n_features_in_", "feature_names_in_", "certificate_", "statistic_", "_schema")
