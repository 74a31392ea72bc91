"""What is known of a table before its first row is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns and target of a source.

    columns: how many; names: their names, None if the table has none; rows: how many, None if not known
    beforehand. classes: the sorted labels that class codes stand for; None for a quantitative target.
    targets: how many outputs the target has; 0 without a target. target_is_flat: y was given as (n,), not
    (n, 1).
    """

    columns: int
    names: tuple[str, ...] | None = None
    rows: int | None = None
    classes: NDArray[Any] | None = None
    targets: int = 0
    target_is_flat: bool = True
