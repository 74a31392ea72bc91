"""Which families of the registry suit a target, and how each is built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from surefit.core.errors import ParameterError
from surefit.core.registry import members
from surefit.models.base import Estimator
from surefit.models.candidate import Candidate

WORDS = {"positive": "values above zero", "counts": "counts"}


@dataclass(frozen=True, slots=True)
class Entrant:
    """A class that takes part, with what it declares."""

    name: str
    cls: Any
    candidate: Candidate

    def parameters(self, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What it declares, with settings chosen among those to try; what is drawn at random has a seed."""
        seed = {"random_state": 0} if "random_state" in self.cls().get_params(deep=False) else {}
        return {**seed, **self.candidate.given, **(settings or {})}

    def model(self, settings: Mapping[str, Any] | None = None) -> Any:
        """The model with these parameters."""
        return self.cls(**self.parameters(settings))

    @property
    def grid(self) -> list[dict[str, Any]]:
        """All settings to choose among; one without any, for a family that has nothing to choose."""
        names, values = list(self.candidate.settings), self.candidate.settings.values()
        return [dict(zip(names, entry, strict=True)) for entry in product(*values)]


def known(task: str) -> list[Entrant]:
    """All families of the registry that learn such a task."""
    found = [
        Entrant(name, cls, cls.__dict__["candidate"])
        for name, cls in members(Estimator.kind).items()
        if isinstance(cls.__dict__.get("candidate"), Candidate)
    ]
    return [entry for entry in found if is_classifier(entry.cls()) == (task == "classification")]


def unsuited(task: str, y: NDArray[Any], costs: bool = False) -> dict[str, str]:
    """The titles of families that cannot learn such a target, with the reason; costs: of errors are given.

    >>> unsuited("regression", np.array([0.5, -1.0, 2.0]))["Poisson regression"]
    'it needs counts, and the target has other values'
    """
    found = {
        entry.candidate.title: f"it needs {WORDS[entry.candidate.target]}, and the target has other values"
        for entry in known(task)
        if not _suits(entry, task, y)
    }
    for entry in known(task) if costs else ():
        if not hasattr(entry.cls, "predict_proba"):
            found[entry.candidate.title] = "it gives no probabilities, which costs need"
    return found


def entrants(task: str, y: NDArray[Any], models: Iterable[str] | None = None) -> list[Entrant]:
    """The families that can learn such a target, the baseline first, then from simple to complex.

    models: names of classes; others, but for the baseline, are left out.

    >>> found = entrants("regression", np.array([0.5, -1.0, 2.0]))
    >>> found[0].name, "Lasso" in [entry.candidate.title for entry in found]
    ('MeanRegressor', True)
    """
    found = [entry for entry in known(task) if _suits(entry, task, y)]
    if models is not None:
        found = _named(found, [models] if isinstance(models, str) else list(models), task)
    return sorted(found, key=lambda entry: (entry.candidate.complexity, entry.name))


def _suits(entrant: Entrant, task: str, y: NDArray[Any]) -> bool:
    if task == "classification" or entrant.candidate.target == "any":
        return True
    if entrant.candidate.target == "positive":
        return bool((y > 0).all())
    return bool((y >= 0).all() and (y == np.floor(y)).all() and y.max() > 0)


def _named(found: Sequence[Entrant], names: list[str], task: str) -> list[Entrant]:
    by_name = {entry.name: entry for entry in found}
    for name in names:
        if name not in by_name:
            near = get_close_matches(name, by_name, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose among {', '.join(by_name)}."
            raise ParameterError(f"there is no model {name!r} for {task} of this target: {hint}")
    return [entry for entry in found if entry.name in names or entry.candidate.complexity == 0]
