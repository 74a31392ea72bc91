"""Factors: tables over named variables, multiplied, summed out and looked up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError

Table = NDArray[np.float64]


@dataclass(frozen=True)
class Factor:
    """A number that is not negative for each combination of states; one axis a variable.

    >>> rain = Factor(("rain",), np.array([0.8, 0.2]), {"rain": ("no", "yes")})
    >>> rain["yes"], (rain * rain).values.round(2)
    (0.2, array([0.64, 0.04]))
    """

    names: tuple[str, ...]
    values: Table
    states: Mapping[str, tuple[Any, ...]]

    def __mul__(self, other: Factor) -> Factor:
        names = (*self.names, *(name for name in other.names if name not in self.names))
        values = aligned(self, names) * aligned(other, names)
        return Factor(names, values, {**self.states, **other.states})

    def sum_out(self, names: Iterable[str]) -> Factor:
        """Sum over all states of these variables."""
        return self._without(names, np.sum)

    def max_out(self, names: Iterable[str]) -> Factor:
        """Take the largest value over all states of these variables."""
        return self._without(names, np.max)

    def _without(self, names: Iterable[str], reduce: Any) -> Factor:
        gone = set(names)
        axes = tuple(axis for axis, name in enumerate(self.names) if name in gone)
        kept = tuple(name for name in self.names if name not in gone)
        return Factor(kept, reduce(self.values, axis=axes), {name: self.states[name] for name in kept})

    def marginal(self, names: Sequence[str]) -> Factor:
        """Sum over all other variables; axes in the order of ``names``."""
        found = self.sum_out(name for name in self.names if name not in names)
        return Factor(tuple(names), aligned(found, tuple(names)), {name: self.states[name] for name in names})

    def given(self, evidence: Mapping[str, int]) -> Factor:
        """Keep the entries of one state of some variables, which are then gone."""
        index = tuple(evidence.get(name, slice(None)) for name in self.names)
        kept = tuple(name for name in self.names if name not in evidence)
        return Factor(kept, self.values[index], {name: self.states[name] for name in kept})

    def normalised(self) -> Factor:
        """Divide by the sum."""
        total = float(self.values.sum())
        if not total > 0:
            raise DataError("all entries are 0, so they cannot be made probabilities.")
        return Factor(self.names, self.values / total, self.states)

    def __getitem__(self, states: Any) -> float:
        """Look up one entry by its states, in the order of the names."""
        listed = states if isinstance(states, tuple) else (states,)
        if len(listed) != len(self.names):
            raise DataError(f"give one state for each of {', '.join(self.names)}.")
        places = tuple(
            place_of(self.states, name, state) for name, state in zip(self.names, listed, strict=True)
        )
        return float(self.values[places])

    def as_dict(self) -> dict[Any, float]:
        """Return the entries by state, or by tuple of states."""
        if len(self.names) == 1:
            pairs = zip(self.states[self.names[0]], self.values, strict=True)
            return {state: float(value) for state, value in pairs}
        return {
            tuple(self.states[name][place] for name, place in zip(self.names, places, strict=True)): float(
                value
            )
            for places, value in np.ndenumerate(self.values)
        }

    def __repr__(self) -> str:
        if len(self.names) == 1:
            inside = ", ".join(f"{state}: {value:.6g}" for state, value in self.as_dict().items())
            return f"{self.names[0]} {{{inside}}}"
        return f"Factor({' x '.join(self.names)}, {self.values.shape})"


def aligned(factor: Factor, names: tuple[str, ...]) -> Table:
    """Return the values with one axis for each name, of length 1 where the factor has none."""
    order = [factor.names.index(name) for name in names if name in factor.names]
    shape = [factor.values.shape[factor.names.index(name)] if name in factor.names else 1 for name in names]
    return factor.values.transpose(order).reshape(shape)


def place_of(states: Mapping[str, tuple[Any, ...]], name: str, state: Any) -> int:
    """Return the place of a state among those of its variable; an unknown one is an error that lists them."""
    known = states[name]
    if state in known:
        return known.index(state)
    as_text = [str(each) for each in known]
    if str(state) in as_text:
        return as_text.index(str(state))
    shown = ", ".join(map(repr, known[:8])) + (" ..." if len(known) > 8 else "")
    raise DataError(f"{name!r} has no state {state!r}; its states are {shown}.")
