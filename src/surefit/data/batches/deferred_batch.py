"""A batch whose cells are looked at by the sums over them: large matrices need not be read once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from surefit.data.batches.batch import Batch


class LateBatch(Batch):
    """A batch that checks its cells when ``X`` is first asked for.

    A statistic that takes ``unchecked`` instead looks at ``X`` where its sums are not finite, and says that
    the cells are ``known_finite`` where they are.
    """

    __slots__ = ("_check", "_held")
    _held: Any
    _check: Callable[[], object] | None

    def __init__(self, *given: Any, check: Callable[[], object] | None = None, **named: Any) -> None:
        object.__setattr__(self, "_check", check)
        super().__init__(*given, **named)

    @property
    def X(self) -> Any:
        """The matrix, every cell of it finite."""
        if self._check is not None:
            self._check()
            self.known_finite()
        return self._held

    @X.setter
    def X(self, held: Any) -> None:
        object.__setattr__(self, "_held", held)

    @property
    def unchecked(self) -> Any:
        """The matrix as it is."""
        return self._held

    def known_finite(self) -> None:
        """Take the cells for checked."""
        object.__setattr__(self, "_check", None)

    def __len__(self) -> int:
        return int(self._held.shape[0])

    def __reduce__(self) -> tuple[type[Batch], tuple[Any, ...]]:
        return Batch, tuple(getattr(self, field.name) for field in fields(self))  # checked once, here
