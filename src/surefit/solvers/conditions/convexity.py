"""Searches for counterexamples to the convexity of sets and functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.core.arrays import Vector
from surefit.solvers.conditions.differences import Function, hessian_with_errors, numerical_gradient
from surefit.solvers.conditions.probe import ROUNDINGS, Probe, Sampler, pairs


def probe_convexity(
    f: Function,
    sampler: Sampler,
    *,
    modulus: float = 0.0,
    strict: bool = False,
    trials: int = 1000,
    random_state: int = 0,
) -> Probe:
    """Look for a chord below its function: f(λu + (1-λ)v) > λf(u) + (1-λ)f(v) - ½ modulus λ(1-λ)‖u-v‖².

    With a modulus above 0 it is strong convexity; with ``strict``, equality is a counterexample too. ``seen``
    is the least modulus that any chord allows.

    >>> from surefit.solvers.conditions.probe import box_sampler
    >>> probe_convexity(lambda x: x[0] ** 4, box_sampler([-1.0], [1.0])).refuted
    False
    >>> probe_convexity(lambda x: x[0] ** 3, box_sampler([-1.0], [1.0])).refuted
    True
    """
    rng = np.random.default_rng(random_state)
    name = f"strong convexity with modulus {modulus:g}" if modulus else "convexity"
    found = Probe(f"strict {name}" if strict else name, trials)
    least = np.inf
    for _ in range(trials):
        one, other = pairs(sampler, rng)
        distance = float(np.sum((one - other) ** 2))
        if distance == 0:
            continue
        share = float(rng.uniform(0.05, 0.95))
        values = [_value(f, point) for point in (one, other, share * one + (1 - share) * other)]
        if not np.isfinite(values[:2]).all():
            continue
        chord = share * values[0] + (1 - share) * values[1]
        lift = 0.5 * share * (1 - share) * distance
        size = max(abs(value) for value in values) + modulus * lift
        least = min(least, (chord - values[2] + ROUNDINGS * size) / lift)
        excess = (values[2] - chord + modulus * lift) / (size or 1.0)
        equal = strict and excess >= -ROUNDINGS and distance > 1e-6 * float(np.sum(one**2))
        if (excess > max(ROUNDINGS, found.worst)) or (equal and not found.refuted):
            example = {"u": one, "v": other, "λ": share, "excess": excess * size}
            found = Probe(found.of, trials, max(excess, 0.0), example)
    return Probe(found.of, trials, found.worst, found.counterexample, float(least))


def probe_tangents(
    f: Function,
    sampler: Sampler,
    gradient: Function | None = None,
    *,
    trials: int = 300,
    random_state: int = 0,
) -> Probe:
    """Look for a tangent above its function: f(v) < f(u) + ∇f(u)'(v - u).

    >>> from surefit.solvers.conditions.probe import box_sampler
    >>> probe_tangents(np.cos, box_sampler([0.0], [1.0]), lambda x: -np.sin(x)).refuted
    True
    """
    rng = np.random.default_rng(random_state)
    found = Probe("convexity by tangents", trials)
    for _ in range(trials):
        one, other = pairs(sampler, rng)
        slope = (
            numerical_gradient(f, one) if gradient is None else np.asarray(gradient(one), dtype=np.float64)
        )
        rise = float(slope.ravel() @ (other - one))
        values = _value(f, one), _value(f, other)
        size = abs(values[0]) + abs(values[1]) + float(np.abs(slope.ravel()) @ np.abs(other - one))
        excess = (values[0] + rise - values[1]) / (size or 1.0)
        # Differences know a slope to about nine digits, formulas to all of them.
        if excess > max(ROUNDINGS if gradient is not None else 1e-8, found.worst):
            found = Probe(found.of, trials, excess, {"u": one, "v": other, "excess": excess * size})
    return found


def probe_curvature(
    f: Function,
    sampler: Sampler,
    gradient: Function | None = None,
    *,
    trials: int = 100,
    random_state: int = 0,
) -> Probe:
    """Look for a point where the Hessian has a negative eigenvalue; ``seen`` is the least met.

    >>> from surefit.solvers.conditions.probe import box_sampler
    >>> probe_curvature(lambda x: x[0] * x[1], box_sampler([-1, -1], [1, 1])).refuted
    True
    """
    rng = np.random.default_rng(random_state)
    found, least = Probe("convexity by curvature", trials), np.inf
    for _ in range(trials):
        point = sampler(rng)
        bends, errors = hessian_with_errors(f, point, gradient)
        values, vectors = np.linalg.eigh(bends)
        least = min(least, float(values[0]))
        size = float(np.abs(values).max())
        # Second differences know a curvature to some six digits, and to no more than they say themselves.
        if -values[0] > 10 * float(np.linalg.norm(errors)) and -values[0] > max(1e-5, found.worst) * size:
            example = {"point": point, "direction": vectors[:, 0], "curvature": float(values[0])}
            found = Probe(found.of, trials, float(-values[0]) / size, example)
    return Probe(found.of, trials, found.worst, found.counterexample, least)


def probe_convex_set(
    contains: Callable[[Vector], bool], sampler: Sampler, *, trials: int = 1000, random_state: int = 0
) -> Probe:
    """Look for two points of a set with a point between them outside; the sampler draws members.

    >>> ring = lambda rng: (lambda v: v / np.linalg.norm(v))(rng.normal(size=2))
    >>> probe_convex_set(lambda x: bool(np.linalg.norm(x) > 0.9), ring).refuted
    True
    """
    rng = np.random.default_rng(random_state)
    found, inside = Probe("convexity of the set", trials), 0
    for _ in range(trials):
        one, other = sampler(rng), sampler(rng)
        if not (contains(one) and contains(other)):
            continue
        inside += 1
        for share in (0.5, float(rng.random())):
            if not contains(share * one + (1 - share) * other):
                return Probe(found.of, trials, 1.0, {"u": one, "v": other, "λ": share})
    return Probe(found.of, inside)


def _value(f: Function, x: Vector) -> float:
    with np.errstate(all="ignore"):
        return float(np.asarray(f(x), dtype=np.float64).sum())
