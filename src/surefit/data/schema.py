"""What is known of a table before its first row is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import NDArray

Kind = Literal["number", "boolean", "date", "category", "text"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its kind, and for a category the levels that its codes stand for.

    Levels are one set over all files of a source, so that a code means the same everywhere. ordered: their
    order was declared with the data, as small < medium < large; otherwise they are sorted.
    """

    name: str
    kind: Kind = "number"
    levels: NDArray[Any] | None = field(default=None, compare=False)
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns and target of a source.

    width: how many columns. columns: what each is; None when all are plain numbers without a name.
    rows: how many rows, None when that is not known beforehand.
    classes: the sorted labels that class codes stand for; None for a quantitative target.
    targets: how many outputs the target has, 0 without one. target_is_flat: y is (n,), not (n, k).
    target_names, weight_name: of the columns that hold target and weights, where those have names.
    """

    width: int
    columns: tuple[Column, ...] | None = None
    rows: int | None = None
    classes: NDArray[Any] | None = None
    targets: int = 0
    target_is_flat: bool = True
    target_names: tuple[str, ...] = ()
    weight_name: str | None = None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns, None if they have none."""
        return None if self.columns is None else tuple(column.name for column in self.columns)
