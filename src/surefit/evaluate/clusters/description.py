"""What sets each cluster apart, column by column, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.public import public

TELLING = 0.3  # deviations, or half of what separates shares of 0 and 1, below which a column is not told


@dataclass(frozen=True, slots=True)
class Trait:
    """One column of one cluster: how far it is from the other rows, in deviations, and in words."""

    column: str
    strength: float
    words: str


@dataclass(frozen=True, slots=True)
class ClusterSummary:
    """A cluster: its label, its rows and their share, and its traits, the most telling first."""

    label: Any
    rows: int
    share: float
    traits: tuple[Trait, ...]

    def __str__(self) -> str:
        told = "; ".join(trait.words for trait in self.traits) or "no column sets it apart"
        return f"cluster {self.label} ({self.rows} rows, {self.share:.0%}): {told}"


@public
def describe_clusters(
    X: Any, labels: Any, *, names: Any = None, most: int = 3, least: float = TELLING
) -> list[ClusterSummary]:
    """Say of each cluster what sets it apart from all other rows.

    X: a table: a matrix, a frame, or columns by name; text is taken for categories. Numbers are compared by
    the difference of means over the deviation of the column, categories by the level whose share differs
    most, over the deviation of that share. most: columns told of a cluster. least: the difference from which
    one is.

    >>> import surefit
    >>> table = {"size": [1.0, 2.0, 9.0, 10.0], "colour": ["red", "red", "blue", "red"]}
    >>> print(surefit.describe_clusters(table, [0, 0, 1, 1], most=1)[1])
    cluster 1 (2 rows, 50%): size is higher (mean 9.5 against 1.5)
    """
    codes = np.asarray(labels)
    columns = _columns(X, names)
    for name, values in columns.items():
        if len(values) != len(codes):
            raise DataError(
                f"describe_clusters: column {name!r} has {len(values)} cells for {len(codes)} labels."
            )
    found = []
    for label in np.unique(codes):
        inside = codes == label
        traits = [trait for name, values in columns.items() for trait in _traits(name, values, inside)]
        traits = sorted((t for t in traits if t.strength >= least), key=lambda t: -t.strength)[:most]
        share = float(inside.mean())
        found.append(ClusterSummary(label.item(), int(inside.sum()), share, tuple(traits)))
    return found


def _columns(X: Any, names: Any) -> dict[str, NDArray[Any]]:
    if isinstance(X, Mapping):
        return {str(name): np.asarray(values) for name, values in X.items()}
    if hasattr(X, "column_names"):  # pyarrow
        return {name: np.array(X[name].to_pylist(), dtype=object) for name in X.column_names}
    if hasattr(X, "columns") and not isinstance(X, np.ndarray):
        return {str(name): np.asarray(X[name]) for name in X.columns}
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if rows.ndim != 2:
        raise DataError("describe_clusters: X must be a table.")
    told = [f"x{j}" for j in range(rows.shape[1])] if names is None else [str(name) for name in names]
    return {name: rows[:, j] for j, name in enumerate(told)}


def _traits(name: str, values: NDArray[Any], inside: NDArray[np.bool_]) -> list[Trait]:
    if inside.all():
        return []
    numbers = _as_numbers(values)
    if numbers is None:
        return _shares(name, values, inside)
    there = np.isfinite(numbers)
    own, rest = numbers[inside & there], numbers[~inside & there]
    spread = float(numbers[there].std()) if there.any() else 0.0
    if not len(own) or not len(rest) or spread == 0:
        return []
    difference = (own.mean() - rest.mean()) / spread
    word = "higher" if difference > 0 else "lower"
    words = f"{name} is {word} (mean {own.mean():.3g} against {rest.mean():.3g})"
    return [Trait(name, float(abs(difference)), words)]


def _as_numbers(values: NDArray[Any]) -> NDArray[np.float64] | None:
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind == "O" and all(v is None or isinstance(v, int | float) for v in values):
        return np.array([np.nan if v is None else float(v) for v in values])
    return None


def _shares(name: str, values: NDArray[Any], inside: NDArray[np.bool_]) -> list[Trait]:
    levels, codes = np.unique(np.array(["" if v is None else str(v) for v in values]), return_inverse=True)
    own = np.bincount(codes[inside], minlength=len(levels)) / max(inside.sum(), 1)
    rest = np.bincount(codes[~inside], minlength=len(levels)) / max((~inside).sum(), 1)
    overall = np.bincount(codes, minlength=len(levels)) / len(codes)
    spread = np.sqrt(overall * (1 - overall))
    strength = np.divide(np.abs(own - rest), spread, out=np.zeros(len(levels)), where=spread > 0)
    place = int(strength.argmax())
    word = "more" if own[place] > rest[place] else "less"
    words = f"{name} is {word} often {str(levels[place])!r} ({own[place]:.0%} against {rest[place]:.0%})"
    return [Trait(name, float(strength[place]), words)]
