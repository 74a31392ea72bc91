"""The table of a search, with scikit-learn's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.ma import MaskedArray
from scipy.stats import rankdata

from surefit.evaluate.search_choice import standard_errors


def results_of(
    candidates: Sequence[Mapping[str, Any]],
    folds: Sequence[Any],
    name: str,
    sign: float,
    extra: Mapping[str, Sequence[Any]],
) -> dict[str, Any]:
    """What ``cv_results_`` holds: times, parameters, the score of each fold, means, spreads and ranks.

    >>> from surefit.evaluate.cross_validate_folds import Fold
    >>> done = [Fold({"r": 0.5}, {}, {}, 0.1, 0.0), Fold({"r": 0.7}, {}, {}, 0.1, 0.0)]
    >>> results_of([{"alpha": 1.0}], [done], "r", 1.0, {})["mean_test_score"]
    array([0.6])
    """
    found: dict[str, Any] = {}
    for word, field in (("fit", "fit_seconds"), ("score", "score_seconds")):
        seconds = np.array([[getattr(fold, field) for fold in one] for one in folds])
        found[f"mean_{word}_time"], found[f"std_{word}_time"] = seconds.mean(axis=1), seconds.std(axis=1)
    found |= _parameters(candidates)
    found["params"] = [dict(entry) for entry in candidates]
    found |= {key: np.asarray(values) for key, values in extra.items()}
    found |= _scores(np.array([[fold.scores[name] for fold in one] for one in folds]), "test", sign)
    if folds[0][0].train_scores:
        learnt = np.array([[fold.train_scores[name] for fold in one] for one in folds])
        found |= _scores(learnt, "train", None)
    return found


def _scores(values: Any, word: str, sign: float | None) -> dict[str, Any]:
    found: dict[str, Any] = {f"split{k}_{word}_score": column for k, column in enumerate(values.T)}
    found[f"mean_{word}_score"], found[f"std_{word}_score"] = values.mean(axis=1), values.std(axis=1)
    if sign is not None:
        found[f"error_{word}_score"] = standard_errors(values)  # of the mean; scikit-learn has none
        mean = np.where(np.isfinite(found[f"mean_{word}_score"]), sign * found[f"mean_{word}_score"], -np.inf)
        found[f"rank_{word}_score"] = rankdata(-mean, method="min").astype(np.int32)
    return found


def to_lists(found: Mapping[str, Any]) -> dict[str, Any]:
    """The table without the columns that follow from its candidates."""
    return {name: value for name, value in found.items() if not name.startswith("param_")}


def from_lists(kept: Any) -> dict[str, Any]:
    """The whole table out of what ``to_lists`` kept, in the same order.

    >>> from_lists({"params": [{"alpha": 1.0}, {"alpha": 2.0}]})["param_alpha"].tolist()
    [1.0, 2.0]
    """
    found: dict[str, Any] = {}
    for name, value in kept.items():
        if name == "params":
            found |= _parameters([dict(entry) for entry in value])
        found[name] = value
    return found


def _parameters(candidates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = sorted({key for entry in candidates for key in entry})
    return {f"param_{name}": _column([entry.get(name, _MISSING) for entry in candidates]) for name in names}


_MISSING = object()


def _column(values: Sequence[Any]) -> Any:
    mask = np.array([value is _MISSING for value in values])
    plain = [value for value in values if value is not _MISSING]
    kinds = {type(value) for value in plain}
    simple = len(kinds) == 1 and isinstance(plain[0], bool | int | float | str | np.number)
    data = np.empty(len(values), dtype=np.asarray(plain).dtype if simple else object)
    for place, value in enumerate(values):
        if value is not _MISSING:
            data[place] = value
    return MaskedArray(data, mask=mask)
