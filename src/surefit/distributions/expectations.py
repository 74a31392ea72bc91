"""Expectations: sums and integrals of f p with an estimate of their error; what does not converge is refused.

An integral is taken on each side of the median, after a substitution that packs the nodes at both ends of the
side, towards infinity at every order of magnitude, so that poles at an end and slowly falling tails are met
alike. Panels whose two rules disagree are halved until the rest of the error is rounding: a jump of f, as
that of an indicator, is closed in on from both sides. What lies beyond the last node that floats can tell
from the end has a known probability; f is continued there, and how far it is from its continuation is a
part of the error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from surefit.core.errors import RefusalError
from surefit.distributions.base import Array

Function = Callable[[Array], Any]

_PANELS = 64  # on each side, before any is halved
_WIDTH = 6.1  # exp(pi/2 sinh 6.1) is far enough that its square is still a float
_AIM = 1e-12  # of the integral of |f| p: below it there is little but rounding
_ROUNDING = 1e-10  # of the same: an error below it that does not fall is that of f itself
_ALLOWED = 1e-6  # of the same, what is not given as an answer
_CANCELLED = 1e-14  # what rounding leaves of a difference of numbers around 1, as that of two log-densities
_MOST_PANELS = 2**13
_FEW_DIGITS = 2.0**16  # times the spacing of floats at a finite end, its distance has few digits left
_NARROWEST = 1e-13  # of a panel, where nodes begin to fall together
_FAINT = 1e-290  # densities below it are no longer floats with all digits
_GONE = 1e-25  # about the probability that is left out of a sum
_TERMS = 2**22


def _clenshaw_curtis(steps: int) -> Array:
    """Return the weights of the rule with nodes cos(pi k / steps), for an even number of steps."""
    k = np.arange(steps + 1)
    orders = np.arange(1, steps // 2 + 1)
    factor = np.where(orders == steps // 2, 1.0, 2.0) / (4.0 * orders**2 - 1.0)
    weights = 2.0 / steps * (1.0 - np.cos(2.0 * np.pi * np.outer(k, orders) / steps) @ factor)
    weights[[0, -1]] *= 0.5
    return np.asarray(weights)


# Rules with nodes at both ends of a panel: wherever f jumps, it jumps between two nodes of the finer one.
_STEPS = 16
_NODES = -np.cos(np.pi * np.arange(_STEPS + 1) / _STEPS)
_FINE = _clenshaw_curtis(_STEPS)
_COARSE = np.zeros(_STEPS + 1)
_COARSE[::2] = _clenshaw_curtis(_STEPS // 2)


@dataclass(frozen=True, slots=True)
class _Panels:
    """Integrals over pieces of one side, (..., panels): of f p, of its size, and how far two rules differ."""

    start: Array
    width: Array
    value: Array
    size: Array
    error: Array
    reach: float  # the last node towards the end of the side where f p is a number

    def joined(self, other: _Panels, kept: Any) -> _Panels:
        """Those of the panels that are kept, and others."""
        start, width, value, size, error = (
            np.concatenate([mine[..., kept], theirs], axis=-1)
            for mine, theirs in zip(self._arrays(), other._arrays(), strict=True)
        )
        return _Panels(start, width, value, size, error, self.reach)

    def _arrays(self) -> tuple[Array, ...]:
        return self.start, self.width, self.value, self.size, self.error


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of the median."""

    distribution: Any
    function: Function
    middle: float
    end: float
    unit: float  # signed: a width of the distribution, towards the end

    def panels(self, start: Array, width: Array) -> _Panels:
        """Integrate over panels."""
        t = start[:, None] + width[:, None] * (0.5 + 0.5 * _NODES)
        x, slope = self._substituted(t.ravel())
        terms, there = self._terms(x, slope)
        terms = terms.reshape(*terms.shape[:-1], *t.shape)
        half = 0.5 * width
        fine, coarse = (terms @ rule * half for rule in (_FINE, _COARSE))
        towards = x[there]
        reach = self.middle
        if len(towards):
            reach = float(towards.max() if self.unit > 0 else towards.min())
        return _Panels(start, width, fine, np.abs(terms) @ _FINE * half, np.abs(fine - coarse), reach)

    def limit(self) -> float:
        """Return how far to go towards the end: up to where floats have few digits for the distance left."""
        if np.isinf(self.end):
            return _WIDTH
        whole = abs(self.end - self.middle)
        least = max(_FEW_DIGITS * float(np.spacing(abs(self.end))), whole * 1e-300)
        return float(np.arcsinh(np.log(max(whole / least, 64.0)) / np.pi))

    def _substituted(self, t: Array) -> tuple[Array, Array]:
        return (
            _outwards(t, self.middle, self.unit) if np.isinf(self.end) else _between(t, self.middle, self.end)
        )

    def _terms(self, x: Array, slope: Array) -> tuple[Array, Any]:
        """Return f p times the slope at all nodes, and where it is a number above zero or f a number."""
        low, high = sorted((self.middle, self.end))
        inside = (x > low) & (x < high) & (slope > 0) & np.isfinite(x)
        with np.errstate(all="ignore"):
            density = np.where(inside, self.distribution.density(np.where(inside, x, self.middle)), 0.0)
            mass = density * np.where(inside, slope, 0.0)
            there = inside & (mass > 0)
            found = np.asarray(self.function(x[there]), dtype=np.float64)
            values = np.zeros((*found.shape[:-1], len(x)))
            values[..., there] = found
            terms = np.where(there, values * np.where(there, mass, 0.0), 0.0)
        endless = ~np.isfinite(terms).reshape(-1, len(x)).all(axis=0)
        if (endless & (density > _FAINT)).any():
            at = float(x[np.argmax(endless & (density > _FAINT))])
            refuse(self.distribution, f"the function times the density is not a finite number at x = {at:g}")
        return np.where(endless, 0.0, terms), there & ~endless

    def beyond(self, reach: float) -> tuple[Any, Any]:
        """Return the part of the integral beyond the last node, and its error.

        With d for the distance to a finite end, or one over that to the median, probability falls there as a
        power of d, and f as a + b log d or slower: so does a log-density.
        """
        steps = np.array([1.0, 4.0, 16.0])
        x = self.middle + (reach - self.middle) / steps
        if abs(reach - self.end) < abs(self.middle - self.end) / 32:
            x = self.end + (reach - self.end) * steps
        tail = self.distribution.survival if self.unit > 0 else self.distribution.cdf
        with np.errstate(all="ignore"):
            mass, more = (float(tail(at)) for at in x[:2])
            if mass == 0:
                return 0.0, 0.0
            power = max(np.log(more / mass) / np.log(4.0), 1e-3)
            values = np.asarray(self.function(x), dtype=np.float64)
            slope, before = values[..., 1] - values[..., 0], values[..., 2] - values[..., 1]
            rest = mass * (values[..., 0] - slope / (power * np.log(4.0)))
            return rest, mass * np.abs(slope - before) * max(1.0, 1.0 / power)


def integrated(distribution: Any, function: Function) -> Any:
    """Return the integral of f p; what does not converge is refused."""
    middle = distribution.median
    unit = float(distribution.quantile(0.75) - distribution.quantile(0.25))
    value: Any = 0.0
    size: Any = 0.0
    error: Any = 0.0
    for end, sign in zip(distribution.ends, (-1.0, 1.0), strict=True):
        side = _Side(distribution, function, middle, end, sign * unit)
        panels = _refined(side)
        rest, unsure = side.beyond(panels.reach)
        value = value + panels.value.sum(axis=-1) + rest
        size = size + panels.size.sum(axis=-1) + np.abs(rest)
        error = error + panels.error.sum(axis=-1) + unsure
    if not (error <= _ALLOWED * size + _CANCELLED).all():  # NaN is not
        refuse(distribution, "the integral does not converge, or not within the range of floats")
    return value


def _refined(side: _Side) -> _Panels:
    """Halve the panels that hold the error, until it is small or they are too many."""
    edges = np.linspace(-_WIDTH, side.limit(), _PANELS + 1)
    panels = side.panels(edges[:-1], np.diff(edges))
    before = np.inf
    while len(panels.start) < _MOST_PANELS:
        size = panels.size.sum(axis=-1, keepdims=True)
        share = np.where(panels.error > 0, panels.error / np.where(size > 0, size, 1.0), 0.0)
        share = share.reshape(-1, len(panels.start)).max(axis=0)
        left = float(share.sum())
        if left <= _AIM or (left <= _ROUNDING and left > 0.9 * before):
            break
        # The largest first, lest there be panels for rounding and none left for a jump.
        split = (share > max(_AIM / (4 * len(share)), 1e-3 * share.max())) & (panels.width > _NARROWEST)
        if not split.any():
            break
        before = left
        start, half = panels.start[split], 0.5 * panels.width[split]
        halves = side.panels(np.concatenate([start, start + half]), np.concatenate([half, half]))
        panels = panels.joined(halves, ~split)
    return panels


def _outwards(t: Array, middle: float, unit: float) -> tuple[Array, Array]:
    """Return x = middle + unit exp(pi/2 sinh t), and the size of its derivative."""
    with np.errstate(over="ignore"):
        away = unit * np.exp(0.5 * np.pi * np.sinh(t))
        return middle + away, np.abs(away) * 0.5 * np.pi * np.cosh(t)


def _between(t: Array, middle: float, end: float) -> tuple[Array, Array]:
    """Return x between the two, crowded at both and exact near the end; and the size of its derivative."""
    with np.errstate(over="ignore", under="ignore"):
        u = np.pi * np.sinh(t)
        share = 1.0 / (1.0 + np.exp(u))
        slope = abs(end - middle) * share / (1.0 + np.exp(-u)) * np.pi * np.cosh(t)
        return end + (middle - end) * share, slope


def summed(distribution: Any, function: Function) -> Any:
    """Return the sum of f p over all whole numbers; what does not converge is refused.

    Of an endless support, a stretch that holds nearly all of the probability comes first; it is doubled until
    the next one adds nothing to the sum.
    """
    low, high = first, last = distribution.ends
    centre = distribution.median if high - low >= _TERMS else low
    if high - low >= _TERMS:
        low, high = (_last(distribution, centre, end, sign) for end, sign in ((low, -1.0), (high, 1.0)))
    if high - low >= 2 * _TERMS:
        raise RefusalError(
            f"{distribution!r} spreads over more than {_TERMS} values, too many to sum: use a sample."
        )
    total, size = _stretch(distribution, function, low, high)
    while low > first or high < last:
        length = high - low + 1
        wider = (
            max(first, low - length) if low > first else low,
            min(last, high + length) if high < last else high,
        )
        parts = [(wider[0], low - 1), (high + 1, wider[1])]
        added = [_stretch(distribution, function, *part) for part in parts if part[0] <= part[1]]
        low, high = wider
        more = sum(part[1] for part in added)
        total, size = total + sum(part[0] for part in added), size + more
        if (more <= _AIM * size).all():
            break
        if high - low >= 2 * _TERMS or all(distribution.density(end) == 0 for end in wider):
            refuse(distribution, "the sum does not converge, or not within the range of floats")
    return total


def _stretch(distribution: Any, function: Function, low: float, high: float) -> tuple[Any, Any]:
    """Return the sum of f p, and of its size, from one whole number to another."""
    x = np.arange(low, high + 1.0)
    with np.errstate(all="ignore"):
        p = distribution.density(x)
        terms = np.where(p > 0, np.asarray(function(x)) * p, 0.0)
        total, size = terms.sum(axis=-1), np.abs(terms).sum(axis=-1)
    if not np.isfinite(size).all():
        refuse(distribution, "the function times the probability is not a finite number everywhere")
    return total, size


def _last(distribution: Any, centre: float, end: float, sign: float) -> float:
    """Return where a tail has become too small to count: the length so far times the probability there."""
    length = 1.0
    while length < 2 * _TERMS and abs(end - centre) > length:
        if length * distribution.density(centre + sign * length) <= _GONE:
            return float(centre + sign * length)
        length *= 2.0
    return float(end) if abs(end - centre) <= length else float(centre + sign * length)


def refuse(distribution: Any, reason: str) -> NoReturn:
    """Refuse an expectation that there is none of, or that floats cannot hold."""
    raise RefusalError(
        f"the expectation under {distribution!r} cannot be computed, for {reason}: give a function that "
        "grows more slowly than the density falls, or average it over a sample."
    )
