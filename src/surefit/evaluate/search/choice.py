"""Which candidate to take: the best, or the simplest of those that cannot be told from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, ParameterError
from surefit.core.public import public

Complexity = str | Sequence[str] | Callable[[Mapping[str, Any]], float] | None


@public
def simplest_within(
    scores: ArrayLike, complexity: ArrayLike, tolerance: float = 0.0, *, better: str = "higher"
) -> int:
    r"""Return the place of the least complex among scores within a tolerance of the best: Occam's razor.

    Of several that are equally simple the best score is taken, and of equal scores the first. Scores
    that are not numbers are no candidates.

    >>> simplest_within([0.902, 0.910, 0.911], complexity=[1, 3, 42], tolerance=0.005)
    1
    """
    values = np.asarray(scores, dtype=np.float64) * (1.0 if better == "higher" else -1.0)
    sizes = np.asarray(complexity, dtype=np.float64)
    if len(sizes) != len(values):
        raise DataError(f"there are {len(sizes)} complexities for {len(values)} scores; give one for each.")
    if not np.isfinite(values).any():
        raise DataError("no candidate has a finite score, so none can be chosen.")
    values = np.where(np.isfinite(values), values, -np.inf)
    near = np.flatnonzero(values >= values.max() - tolerance)
    simple = near[sizes[near] == sizes[near].min()]
    return int(simple[np.argmax(values[simple])])


def standard_errors(scores: NDArray[np.float64]) -> Vector:
    """The standard error of each row's mean over folds; zero for a single fold."""
    folds = scores.shape[1]
    if folds == 1:
        return np.zeros(len(scores))
    return np.asarray(scores.std(axis=1, ddof=1) / np.sqrt(folds))


def ranks_of(complexity: Complexity, candidates: Sequence[Mapping[str, Any]], strength: str | None) -> Vector:
    """The complexity of each candidate, as a number that grows with it.

    A name says that a larger value is more complex, "-name" that a smaller one is; several names count in
    turn. Where nothing is declared, a strength of the search says it.
    """
    if callable(complexity):
        return np.array([float(complexity(entry)) for entry in candidates])
    if complexity is None:
        if strength is None:
            raise ParameterError(
                "the simplest candidate is wanted, but there is no measure of complexity: give complexity=, "
                "such as 'max_depth', '-alpha' (smaller is more complex) or a function of the parameters."
            )
        complexity = strength
    names = [complexity] if isinstance(complexity, str) else list(complexity)
    keys = [tuple(_signed(entry, name) for name in names) for entry in candidates]
    places = {key: float(place) for place, key in enumerate(sorted(set(keys)))}
    return np.array([places[key] for key in keys])


def _signed(entry: Mapping[str, Any], name: str) -> float:
    plain = name.removeprefix("-")
    if plain not in entry:
        raise ParameterError(f"complexity={name!r} is no parameter of the search: {', '.join(entry)}.")
    value = entry[plain]
    if value is None:  # no limit, as in max_depth
        value = np.inf
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise ParameterError(
            f"complexity={name!r} has the value {value!r}, which has no order: give a function of the "
            "parameters."
        )
    return -float(value) if name.startswith("-") else float(value)


def choose(
    rule: str | float, scores: NDArray[np.float64], sign: float, ranks: Callable[[], Vector]
) -> tuple[int, float]:
    """The place of the chosen candidate, and the tolerance allowed; scores are (candidates, folds)."""
    means = sign * scores.mean(axis=1)
    if not np.isfinite(means).any():
        raise DataError("no candidate has a finite score, so none can be chosen.")
    best = int(np.nanargmax(np.where(np.isfinite(means), means, np.nan)))
    if rule == "best":
        return best, 0.0
    tolerance = standard_errors(scores)[best] if rule == "one_standard_error" else float(rule)
    return simplest_within(means, ranks(), float(tolerance)), float(tolerance)
