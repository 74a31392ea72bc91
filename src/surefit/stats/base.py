"""The contract of a statistic."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from surefit.core.errors import RefusalError
from surefit.core.registry import Registered
from surefit.data.batches.batch import Batch
from surefit.stats.cases import Trial, relative_gap


class Additive(Protocol):
    """What an engine can add up over the batches of a table: a statistic, or a sum that one model needs."""

    def __add__(self, other: Self) -> Self:
        """Join with the sum of other rows."""


class Statistic(Registered, kind="statistic", folder="surefit.stats"):
    """A frozen value that adds up.

    weights_repeat: weight 2 equals the row twice. subtractable: ``whole - part`` leaves the other rows.
    """

    weights_repeat: ClassVar[bool] = True
    subtractable: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def of(cls, batch: Batch, **context: Any) -> Self:
        """Compute it over some rows; no rows give the identity of ``+``."""

    @abstractmethod
    def __add__(self, other: Self) -> Self:
        """Join with the statistic of other rows; commutative up to rounding."""

    def __sub__(self, other: Self) -> Self:
        raise RefusalError(
            f"a {type(self).__name__} does not support removing rows: compute it again over the rows that "
            "remain."
        )

    def distance(self, other: Self) -> float:
        """How far two statistics of the same rows are apart, relative to their size; the laws ask for 1e-12.

        The number of rows is left out, since a weight stands for several.
        """
        names = [entry.name for entry in fields(self) if entry.name != "rows"]  # type: ignore[arg-type]
        return max(relative_gap(getattr(self, name), getattr(other, name)) for name in names)

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Say on which rows and with which context the laws run; overridden where ``of`` needs more."""
        return (Trial("numbers"), Trial("sparse"))


def seal(statistic: Any) -> None:
    """Make the arrays of a statistic read-only; for a ``__post_init__`` whose arrays are its own."""
    for name in statistic.__dataclass_fields__:
        value = getattr(statistic, name)
        for array in value if isinstance(value, tuple) else (value,):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False


@dataclass(frozen=True, slots=True)
class Joint(Statistic):
    """Several statistics of the same rows, gathered in one pass."""

    members: Mapping[str, Statistic]

    @classmethod
    def of(cls, batch: Batch, **context: Any) -> Joint:
        """Each keyword is a function from a batch to a statistic."""
        return cls({name: make(batch) for name, make in context.items()})

    def __add__(self, other: Joint) -> Joint:
        return Joint({name: member + other.members[name] for name, member in self.members.items()})

    def __sub__(self, other: Joint) -> Joint:
        return Joint({name: member - other.members[name] for name, member in self.members.items()})

    def __getitem__(self, name: str) -> Any:
        return self.members[name]
