"""The contract of a statistic."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from surefit.core.registry import Registered
from surefit.data.batch import Batch


class Statistic(Registered, kind="statistic", folder="surefit.stats"):
    """A frozen value that adds up."""

    @classmethod
    @abstractmethod
    def of(cls, batch: Batch, **context: Any) -> Self:
        """Compute it over some rows; no rows give the identity of ``+``."""

    @abstractmethod
    def __add__(self, other: Self) -> Self:
        """Join with the statistic of other rows; commutative up to rounding."""


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

    def __getitem__(self, name: str) -> Any:
        return self.members[name]
