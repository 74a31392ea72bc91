"""What searches and selectors tell a model file: parameters, what they have found, and how to verify it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from surefit.core.certificate import Certificate
from surefit.core.errors import FormatError
from surefit.core.registry import Registered, members

Verify = Callable[..., Certificate]


class Saved(Registered, kind="chooser", folder="surefit.evaluate", named_by_class=True):
    """A class whose fitted objects go into a model file, by the attributes that it names.

    finds: what a fit leaves, beside what the classes above it name. may_find: what only some fits leave.
    """

    finds: ClassVar[tuple[str, ...]] = ()
    may_find: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def attributes(cls) -> tuple[set[str], set[str]]:
        """The attributes that every fit leaves, and those that some do."""
        above = [entry for entry in cls.__mro__ if issubclass(entry, Saved)]
        always = {name for entry in above for name in entry.__dict__.get("finds", ())}
        return always, {name for entry in above for name in entry.__dict__.get("may_find", ())}

    def to_file(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The parameters and what was found, as values that a file can hold."""
        given: Any = self
        parameters = {name: plain(value) for name, value in given.get_params(deep=False).items()}
        always, sometimes = self.attributes()
        return parameters, {name: value for name, value in vars(self).items() if name in always | sometimes}

    @classmethod
    def from_file(cls, parameters: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
        """Make the object again; without a state one that is not fitted."""
        made: Any = cls(**parameters)
        always, sometimes = cls.attributes()
        if state and not always <= set(state) <= always | sometimes:
            raise FormatError(
                f"a {cls.__name__} has the values {sorted(always | sometimes)}, not {sorted(state)}."
            )
        if state:
            made.__dict__.update(state)
            made._check_found()
        return made

    def _check_found(self) -> None:
        """Refuse, with a FormatError, what no fit can have left."""

    @abstractmethod
    def verify_by(self, verify: Verify, X: Any, y: Any, weight: Any) -> Certificate:
        """Recompute what was found, from the rows; ``verify`` does it for models inside."""


def plain(value: Any) -> Any:
    """A parameter as a file can hold it: scikit-learn's splitters as ours of that name, paths as text."""
    if isinstance(value, Path):
        return str(value)
    if type(value).__module__ == "sklearn.model_selection._split":
        ours: Any = members("split").get(type(value).__name__)
        if ours is not None:
            from surefit.core.parameters import parameters_of

            return ours(**{name: getattr(value, name) for name in parameters_of(ours)})
    return value


def check_models(who: Saved, models: Any) -> None:
    """Refuse what are not fitted models in a list."""
    if not isinstance(models, list) or not models or not all(hasattr(model, "predict") for model in models):
        raise FormatError(f"the models of a {type(who).__name__} are missing.")


def check_numbers(who: Saved, *names: str) -> None:
    """Refuse fitted values that are no vectors of numbers."""
    for name in names:
        values = getattr(who, name)
        if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.ndim != 1:
            raise FormatError(f"{name} of a {type(who).__name__} must hold numbers.")
