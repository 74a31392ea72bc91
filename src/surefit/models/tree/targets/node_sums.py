"""What the rows of a stream add to the sums of their nodes, as whole numbers, and what the sums say.

A class adds its weight and a row to the sums of its class. A number is taken about the middle of all and
rounded to whole units so fine that sums just fit; its square is added in three parts, so that impurities
come out of exact sums. Rounding a number to units is the only error: 2 to the minus ``bits`` of the range.
Where weights are not whole, so are the weights and their products with numbers and with squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.models.tree.nodes.criteria import impurity
from surefit.models.tree.nodes.parameters import Target

Whole = NDArray[np.int64]
SUM_BITS = 61


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What the sums of a node say; sums: the weights of classes, or the sum of the target."""

    rows: int
    weight: float
    impurity: float
    sums: Matrix
    total: Whole
    middle: int = 0  # of numbers: the mean in whole units

    @property
    def cost(self) -> float:
        """The weight times the impurity."""
        return self.weight * self.impurity


@dataclass(frozen=True, slots=True)
class LevelTarget:
    """One output, of classes or of numbers.

    kind: the kernel's name of the criterion. weight_unit: what weights are multiplied by to be whole.
    factors: by how much each class multiplies weights. bits: of a number in units, at most. whole: weights
    are whole numbers, so that sums are exact. shift: the middle of the scaled numbers.
    """

    kind: str
    classes: int = 0
    weight_unit: float = 1.0
    factors: Vector | None = None
    centre: float = 0.0
    factor: float = 1.0
    bits: int = 0
    shift: float = 0.0
    whole: bool = True

    @classmethod
    def of_classes(cls, kind: str, classes: int, rows: int, largest: float, whole: bool) -> LevelTarget:
        """Return units for weights; largest: of the weights of rows."""
        return cls(kind, classes, 1.0 if whole else _weight_unit(rows, largest), whole=whole)

    @classmethod
    def of_numbers(
        cls, kind: str, low: float, high: float, rows: int, largest: float = 1.0, whole: bool = True
    ) -> LevelTarget:
        """Return units for numbers between two ends; largest: of the weights of rows."""
        middle, spread = low / 2 + high / 2, high / 2 - low / 2
        # Near zero nothing is lost by squares, and rows that are alike keep their digits.
        centre = middle if abs(middle) > 16 * spread else 0.0
        reach = max(abs(low - centre), abs(high - centre))
        factor = float(2.0 ** -frexp(reach)[1]) if reach > 0 else 1.0
        weight_bits = int(largest).bit_length() if whole else 0
        bits = min(SUM_BITS - rows.bit_length() - weight_bits, 52)
        unit = 1.0 if whole else _weight_unit(rows, largest)
        return cls(kind, 0, unit, None, centre, factor, bits, (middle - centre) * factor, whole)

    def target(self, y: NDArray[Any]) -> Target:
        """Return targets as the kernels take them."""
        if self.classes:
            return Target(y.astype(np.int32)[:, None], (self.classes,))
        scaled = (np.asarray(y, dtype=np.float64) - self.centre) * self.factor
        return Target(scaled[:, None], (), np.array([self.centre]), self.factor, 2)

    @property
    def parts(self) -> int:
        """How many sums a code has."""
        return self.classes or 1

    @property
    def half(self) -> int:
        """The bits of the lower half of a number in units."""
        return (self.bits + 1) // 2

    @property
    def entries(self) -> int:
        """How many numbers each of these sums has."""
        return 2 if self.classes else 6

    def part(self, y: NDArray[Any]) -> NDArray[np.int32] | None:
        """Which of the sums rows add to."""
        return y.astype(np.int32) if self.classes else None

    def terms(self, y: NDArray[Any], weight: Vector) -> Whole:
        """What rows add, (rows, entries)."""
        found = np.zeros((len(y), self.entries), dtype=np.int64)
        q = np.rint(weight * self.weight_unit).astype(np.int64)
        found[:, 0], found[:, 1] = q, 1
        if self.classes:
            return found
        scaled = (np.asarray(y, dtype=np.float64) - self.centre) * self.factor - self.shift
        if not self.whole:
            heavy = weight * self.weight_unit
            found[:, 2], found[:, 3] = np.rint(heavy * scaled), np.rint(heavy * scaled * scaled)
            return found
        z = np.rint(np.ldexp(scaled, self.bits)).astype(np.int64)
        high = z >> self.half
        low = z & ((1 << self.half) - 1)
        found[:, 2], found[:, 3] = q * z, q * (high * high)
        found[:, 4], found[:, 5] = q * (high * low), q * (low * low)
        return found

    @property
    def doubt(self) -> float:
        """How much impurity rounding alone can leave."""
        return 0.0 if self.whole else 2.0 ** (4 - self.bits)

    def node(self, total: Whole) -> NodeFacts:
        """Read the sums of a node, (parts, entries)."""
        rows = int(total[:, 1].sum())
        if self.classes:
            counts = self.class_weights(total[None])[0]
            weight = float(counts.sum())
            own = impurity(counts[None], np.array([weight]), self.kind, (self.classes,))[0] if rows else 0.0
            return NodeFacts(rows, weight, float(own), counts, total)
        q, _, first, high, both, low = (int(entry) for entry in total[0])
        if q == 0:
            return NodeFacts(rows, 0.0, 0.0, np.zeros(1), total)
        weight, scale = q / self.weight_unit, self._scale
        mean = first / q * scale + self.shift
        second = (high << 2 * self.half) + (both << self.half + 1) + low if self.whole else high
        spread = (second * q - first * first) / (q * q)  # of whole numbers: no digit is lost
        spread = max(spread, 0.0) * scale * scale
        return NodeFacts(rows, weight, spread, np.array([mean * weight]), total, round(first / q))

    @property
    def _scale(self) -> float:
        """What a number in units stands for."""
        return 2.0**-self.bits if self.whole else 1.0

    def class_weights(self, sums: Whole) -> Matrix:
        """The weights of classes, (m, classes), of sums (m, parts, entries)."""
        found = sums[..., 0] / self.weight_unit
        return np.asarray(found if self.factors is None else found * self.factors)

    def scores(self, node: NodeFacts, left: Whole) -> tuple[Vector, Vector]:
        """How good splits are whose left sides have these sums, (m, parts, entries), and their weights."""
        if self.classes:
            sums = self.class_weights(left)
            wl = sums.sum(axis=1)
            wr = node.weight - wl
            with np.errstate(divide="ignore", invalid="ignore"):
                return _class_scores(self.kind, sums, wl, node.sums - sums, wr, node), wl
        own = left[:, 0]
        # About the whole mean, so that a mean far from the middle costs no digits.
        gap = (own[:, 2] - node.middle * own[:, 0]).astype(np.float64)
        q = float(node.total[0, 0])
        rest = float(int(node.total[0, 2]) - node.middle * int(node.total[0, 0]))
        gap = (gap - rest * (own[:, 0] / q)) * self._scale / self.weight_unit
        wl = own[:, 0] / self.weight_unit
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(gap * gap / (wl * (node.weight - wl))), wl

    def bar(self, node: NodeFacts, score: float) -> float:
        """What a better split must exceed: scores that differ by rounding alone are equal."""
        found = score + 1e-13 * abs(score)
        if not self.classes:
            centre = abs(float(node.sums[0])) / node.weight
            return float(found + 1e-14 * node.impurity + 2e-15 * centre * np.sqrt(max(score, 0.0)))
        return found + (1e-14 * node.weight**2 * node.impurity if self.paired else 0.0)

    @property
    def paired(self) -> bool:
        """Whether one sum tells all of a side."""
        return self.classes == 2 and self.kind == "gini"

    def level_keys(self, sums: Whole) -> Vector:
        """By what levels with these sums, (m, parts, entries), are put in order: a row an order."""
        if not self.classes:
            return np.asarray((sums[:, 0, 2] / sums[:, 0, 0])[None])
        weights = self.class_weights(sums)
        shares = (weights / weights.sum(axis=1, keepdims=True)).T
        return np.asarray(shares[1:] if self.classes == 2 else shares)


def _weight_unit(rows: int, largest: float) -> float:
    """The greatest power of two that keeps the sum of all weights below ``SUM_BITS`` bits."""
    return float(2.0 ** min(SUM_BITS - rows.bit_length() - frexp(largest)[1], 52 - frexp(largest)[1]))


def _class_scores(kind: str, a: Matrix, wl: Vector, b: Matrix, wr: Vector, node: NodeFacts) -> Vector:
    if kind == "gini":
        if a.shape[1] == 2:
            gap = a[:, 1] * node.weight - node.sums[1] * wl
            return np.asarray(gap * gap / (wl * wr))
        return np.asarray((a * a).sum(axis=1) / wl + (b * b).sum(axis=1) / wr)
    if kind == "misclassification":
        return np.asarray(a.max(axis=1) + b.max(axis=1))
    w = node.weight
    if kind == "chi_squared":
        whole = np.where(node.sums > 0, node.sums, 1.0)
        gap = a - node.sums * (wl / w)[:, None]
        return np.asarray((gap * gap / whole).sum(axis=1) * (w / wl + w / wr))
    # In the order of the kernel: what is left of sums this close to each other is their rounding.
    inside = -_x_log_x(wl) - _x_log_x(wr)
    before = -_x_log_x(np.array(w))
    for k in range(a.shape[1]):
        inside = inside + (_x_log_x(a[:, k]) + _x_log_x(b[:, k]))
        before = before + _x_log_x(node.sums[k])
    if kind == "entropy":
        return np.asarray(inside + w)
    return np.asarray((inside - before) / (_x_log_x(np.array(w)) - _x_log_x(wl) - _x_log_x(wr)))


def _x_log_x(x: Vector) -> Vector:
    return np.asarray(x * np.log(np.where(x > 0, x, 1.0)))
