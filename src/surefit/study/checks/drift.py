"""Columns whose values are not as they were in the other table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy import special, stats

from surefit.core.diagnosis import Finding
from surefit.evaluate.compare.multiple_testing import adjust_pvalues
from surefit.study.checks.base import Case, Check, Seen, Vector, quoted
from surefit.study.table.facts import ColumnFacts, TableFacts


@dataclass(frozen=True, slots=True)
class Moved:
    """How far a column moved: a distance from 0 to 1, the stability index, and the chance of it."""

    name: str
    what: str
    distance: float
    psi: float
    p: float
    told: str


class Drift(Check):
    r"""The distribution of a column differs from the other table's by more than chance.

    Numbers by the Kolmogorov-Smirnov distance of their distribution functions, categories by half the sum of
    the differences of their shares and a chi-squared test, gaps by their share. The p-values allow for the
    number of columns (Holm). PSI is :math:`\sum (p - q) \ln(p / q)` over levels, or over tenths of the other
    table's numbers.
    """

    name = "drift"
    level = 0.01  # of a false alarm among all columns
    least = 0.05  # distance; smaller ones are certain in long tables, and harmless
    large = 0.2  # distance or PSI: by custom a change that a model suffers from
    shown = 20  # columns

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """One finding a column, the one that moved furthest first."""
        if seen.against is None:
            return
        other = seen.against
        moved: list[Moved] = []
        for name in seen.facts.columns:
            if name in other.facts.columns and seen.kinds[name] == other.kinds[name]:
                moved += _moves(seen, other, name)
        adjusted = adjust_pvalues([move.p for move in moved])
        found = [
            (move, float(p))
            for move, p in zip(moved, adjusted, strict=True)
            if p < self.level and move.distance >= self.least
        ]
        found.sort(key=lambda entry: -entry[0].distance)
        for move, p in found[: self.shown]:
            target = move.name == seen.target
            strong = move.distance >= self.large or move.psi >= self.large or target
            yield Finding(
                self.name,
                "warning" if strong else "note",
                f"{move.what} {move.name!r}{' (the target)' if target else ''} moved: {move.told}, "
                f"p = {p:.2g} for {len(moved)} comparisons.",
                "Find out why; a model that learnt from one table may be wrong on the other.",
                (move.name,),
                evidence={"distance": move.distance, "psi": move.psi, "p": p},
            )
        rest = [move.name for move, _ in found[self.shown :]]
        if rest:
            message = f"{len(rest)} more columns moved: {quoted(rest)}."
            yield Finding(self.name, "note", message, "The tables are of different kinds.", tuple(rest))

    @classmethod
    def triggering_case(cls) -> Case:
        """A shift by one deviation."""
        return cls._case(1.0)

    @classmethod
    def clean_case(cls) -> Case:
        """Other numbers of the same kind."""
        return cls._case(0.0)

    @staticmethod
    def _case(shift: float) -> Case:
        one, two = np.random.default_rng(0).normal(size=(2, 200))
        return Case(pa.table({"a": one + shift}), against=pa.table({"a": two}))


def _moves(seen: Seen, other: Seen, name: str) -> Iterable[Moved]:
    now, then = seen.facts.columns[name], other.facts.columns[name]
    kind = seen.kinds[name]
    if now.missing or then.missing:
        yield _gaps(now, then)
    if min(now.present, then.present) == 0:
        return
    if name in seen.facts.sketched and name in other.facts.sketched and kind in ("number", "date"):
        yield _numbers(seen.facts, other.facts, name)
    elif kind in ("category", "boolean", "number") and now.counts is not None and then.counts is not None:
        yield _levels(now, then)


def _gaps(now: ColumnFacts, then: ColumnFacts) -> Moved:
    table = np.array([[now.missing, now.present], [then.missing, then.present]], dtype=np.float64)
    one, two = now.missing / now.rows, then.missing / then.rows
    told = f"{100 * one:.3g} % are empty, where {100 * two:.3g} % were"
    return Moved(now.name, "The gaps of", abs(one - two), _psi(table[0], table[1]), _chance(table), told)


def _numbers(now: TableFacts, then: TableFacts, name: str) -> Moved:
    assert now.sketch is not None
    assert then.sketch is not None
    places = now.sketched.index(name), then.sketched.index(name)
    (one, first), (two, second) = now.sketch.points(places[0]), then.sketch.points(places[1])
    points = np.union1d(one, two)
    ours, theirs = _steps(one, first, points), _steps(two, second, points)
    distance = float(np.abs(ours - theirs).max(initial=0.0))
    doubt = float(now.sketch.error[places[0]] + then.sketch.error[places[1]])
    n, m = now.columns[name].present, then.columns[name].present
    p = float(special.kolmogorov(np.sqrt(n * m / (n + m)) * max(0.0, distance - doubt)))
    edges = np.unique(np.quantile(two, np.linspace(0.1, 0.9, 9), weights=second, method="inverted_cdf"))
    shares = [np.diff(_steps(v, w, edges), prepend=0.0, append=1.0) for v, w in ((one, first), (two, second))]
    psi = _psi(shares[0] * n, shares[1] * m)
    middle = now.columns[name].quartiles[1], then.columns[name].quartiles[1]
    told = (
        f"the distributions are {distance:.3g} apart (KS), PSI {psi:.3g}, "
        f"median {middle[0]:.4g} from {middle[1]:.4g}"
    )
    return Moved(name, "The numbers of", distance, psi, p, told)


def _steps(values: Vector, weights: Vector, points: Vector) -> Vector:
    ends = np.append(0.0, np.cumsum(weights))
    return np.asarray(ends[np.searchsorted(values, points, side="right")] / ends[-1])


def _levels(now: ColumnFacts, then: ColumnFacts) -> Moved:
    assert now.counts is not None
    assert then.counts is not None
    levels = sorted({*now.counts, *then.counts}, key=str)
    both = now.counts, then.counts
    table = np.array([[counts.get(level, 0) for level in levels] for counts in both], dtype=np.float64)
    shares = table / table.sum(axis=1, keepdims=True)
    apart = shares[0] - shares[1]
    distance, psi = float(np.abs(apart).sum() / 2), _psi(table[0], table[1])
    worst = int(np.argmax(np.abs(apart)))
    told = (
        f"the shares are {distance:.3g} apart (total variation), PSI {psi:.3g}, "
        f"{str(levels[worst])!r} has {100 * shares[0, worst]:.3g} % from {100 * shares[1, worst]:.3g} %"
    )
    return Moved(now.name, "The levels of", distance, psi, _chance(table), told)


def _psi(now: Vector, then: Vector) -> float:
    """Half a row is added to every part, so that an empty one is no infinite change."""
    p, q = (now + 0.5) / (now + 0.5).sum(), (then + 0.5) / (then + 0.5).sum()
    return float(((p - q) * np.log(p / q)).sum())


def _chance(table: Vector) -> float:
    """Chi-squared, with levels that are too rare for it put together."""
    expected = table.sum(axis=0) * table.sum(axis=1).min() / table.sum()
    rare = expected < 5
    if rare.any():
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return 1.0 if table.shape[1] < 2 else float(stats.chi2_contingency(table, correction=False).pvalue)
