"""Where a cross-validation could be fooled: steps that folds do not fit anew, and rows on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from surefit.core.diagnosis import Diagnosis, diagnose
from surefit.resample.choose import Pair

MOST_CELLS = 20_000_000  # beyond it, looking for twins would take longer than many a fit


def steps_fitted_outside(model: Any) -> tuple[str, ...]:
    """Name what a copy of the model brings along fitted: frozen steps, and those told to take a model as is.

    >>> from sklearn.frozen import FrozenEstimator
    >>> import surefit
    >>> scaler = surefit.StandardScaler().fit([[0.0], [1.0]])
    >>> steps_fitted_outside(surefit.make_pipeline(FrozenEstimator(scaler), surefit.Ridge()))
    ('frozenestimator',)
    """
    found = dict.fromkeys(_survivors(model, ""))
    return tuple(name for name in found if not any(name.startswith(f"{other}__") for other in found))


def with_leaks(found: Sequence[Any], model: Any) -> Diagnosis:
    """A diagnosis, and before it the steps of the model that were fitted outside."""
    leaks = diagnose({"steps_fitted_outside": steps_fitted_outside(model)})
    return Diagnosis((*leaks, *found), (*leaks.ran, *getattr(found, "ran", ())))


def _survivors(value: Any, path: str) -> Iterator[str]:
    """Walk through the parameters and the lists of steps in them."""
    if isinstance(value, list | tuple):
        for item in value:
            named = isinstance(item, tuple) and len(item) > 1 and isinstance(item[0], str)
            yield from _survivors(item[1] if named else item, _below(path, item[0]) if named else path)
        return
    if not isinstance(value, BaseEstimator) or isinstance(value, type):
        return
    own = path or type(value).__name__
    if _comes_fitted(value):
        yield own
        return
    for name, item in value.get_params(deep=False).items():
        steps = isinstance(item, list)
        yield from _survivors(item, path if steps else _below(path, name))
        if (name == "prefit" and item is True) or (
            name == "cv" and isinstance(item, str) and item == "prefit"
        ):
            yield own


def _below(path: str, name: str) -> str:
    return f"{path}__{name}" if path else name


def _comes_fitted(step: Any) -> bool:
    """Whether a copy, which should know nothing yet, does; steps that never learn do not count."""
    try:
        if not get_tags(step).requires_fit:
            return False
        check_is_fitted(clone(step))
    except (NotFittedError, TypeError, AttributeError):
        return False
    return True


def share_of_twins(X: Any, y: Any, pairs: Sequence[Pair]) -> float | None:
    """The share of rows tested on that have an equal among the rows learnt from; None if not looked for."""
    table = _numbers(X)
    if table is None or y is None:
        return None
    codes = np.unique(np.asarray(y), return_inverse=True)[1].reshape(len(table), -1)
    rows = np.ascontiguousarray(np.column_stack([table, codes]).astype(np.float64) + 0.0)
    # A sum with random weights is one number a row: equal rows agree in it, others by less than chance.
    keys = rows @ np.random.default_rng(0).normal(size=rows.shape[1])
    names, member = np.unique(keys, return_inverse=True)
    if len(names) == len(keys):
        return 0.0
    twins = tested = 0
    for train, test in pairs:
        learnt = np.zeros(len(names), dtype=bool)
        learnt[member[train]] = True
        twins += int(np.count_nonzero(learnt[member[test]]))
        tested += len(test)
    return twins / tested


def _numbers(X: Any) -> Any:
    if not isinstance(X, np.ndarray):
        try:
            X = X.to_numpy() if hasattr(X, "to_numpy") else None
        except Exception:  # a frame of kinds that do not go together
            return None
    if X is None or X.dtype.kind not in "biuf" or X.ndim != 2 or X.size > MOST_CELLS or X.shape[1] == 0:
        return None
    return X if np.isfinite(X).all() else None
