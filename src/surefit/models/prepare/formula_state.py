"""What functions of a formula learn of all rows together: means, spreads, knots and recurrences.

formulaic's own functions learn it, from the columns that they name; what they learn is numbers, which are
kept as such, so that a model file holds them and later rows are transformed alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.models.prepare.formula import FUNCTIONS, Formula, load_formulaic

State = dict[str, dict[str, Any]]
NUMBERED = ("alpha", "norms2")  # of a recurrence: a number for each degree


def learnt_state(formula: Formula, columns: Mapping[str, NDArray[np.float64]]) -> State:
    """Return what the functions learn of columns that hold all rows."""
    import pandas as pd

    formulaic = load_formulaic()
    asked = formulaic.Formula("0 + " + " + ".join(formula.stateful))
    frame = pd.DataFrame(dict(columns))
    try:
        with np.errstate(all="ignore"):
            made = formulaic.model_matrix(asked, frame, context=dict(FUNCTIONS), na_action="ignore")
    except Exception as error:  # formulaic's functions raise whatever numpy and pandas do
        raise DataError(f"{_functions(formula)} cannot learn from these rows: {_reason(error)}.") from None
    state = {name: _plain(found) for name, found in made.model_spec.transform_state.items()}
    broken = [name for name, found in state.items() if not np.isfinite(_numbers(found)).all()]
    if broken:
        raise DataError(
            f"{broken[0]} finds no finite numbers in these rows, as its column is constant or too large: "
            "leave it out."
        )
    return state


def by_formulaic(state: State) -> dict[str, dict[str, Any]]:
    """Return a state as formulaic's functions keep it."""
    return {
        name: {
            key: dict(enumerate(value)) if key in NUMBERED and isinstance(value, list) else value
            for key, value in found.items()
        }
        for name, found in state.items()
    }


def state_change(before: State, after: State) -> float:
    """Return the largest change of a number, relative to the largest of its function; inf for others."""
    if before.keys() != after.keys():
        return float("inf")
    change = 0.0
    for name, found in before.items():
        one, two = _numbers(found), _numbers(after[name])
        if one.shape != two.shape:
            return float("inf")
        size = max(float(np.abs(one).max(initial=0.0)), float(np.finfo(float).tiny))
        change = max(change, float(np.abs(one - two).max(initial=0.0)) / size)
    return change


def refuse_outside(formula: Formula, error: Exception) -> DataError:
    """Return the refusal for rows that a function does not take, such as those beyond its outer knots."""
    return DataError(f"{_functions(formula)} does not take one of these rows: {_reason(error)}.")


def _functions(formula: Formula) -> str:
    return " or ".join(formula.stateful)


def _reason(error: Exception) -> str:
    said = str(error).strip().splitlines()
    return said[0].rstrip(".") if said else type(error).__name__


def _plain(found: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): _value(value) for key, value in found.items()}


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [float(value[key]) for key in sorted(value)]
    if isinstance(value, np.ndarray | list | tuple):
        return np.asarray(value, dtype=np.float64).tolist()
    return value.item() if isinstance(value, np.generic) else value


def _numbers(found: Mapping[str, Any]) -> NDArray[np.float64]:
    values = [np.ravel(value) for value in found.values() if value is not None]
    return np.concatenate([np.zeros(0), *values]).astype(np.float64)
