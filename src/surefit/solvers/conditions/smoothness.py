"""Searches for two points between which a gradient changes too fast."""

from __future__ import annotations

import numpy as np

from surefit.core.arrays import Vector
from surefit.solvers.conditions.differences import Function, numerical_gradient
from surefit.solvers.conditions.probe import Probe, Sampler, pairs


def probe_smoothness(
    f: Function,
    sampler: Sampler,
    constant: float | None = None,
    gradient: Function | None = None,
    *,
    trials: int = 300,
    random_state: int = 0,
) -> Probe:
    """Look for ‖∇f(u) - ∇f(v)‖ > L ‖u - v‖; ``seen`` is the largest ratio met, a lower bound of any L.

    >>> from surefit.solvers.conditions.probe import box_sampler
    >>> found = probe_smoothness(lambda x: 3 * x @ x, box_sampler([-1, -1], [1, 1]), 5.0, lambda x: 6 * x)
    >>> found.refuted, round(found.seen, 9)
    (True, 6.0)
    """
    rng = np.random.default_rng(random_state)
    name = "smoothness" if constant is None else f"smoothness with constant {constant:g}"
    found, largest = Probe(name, trials), 0.0

    def slope(point: Vector) -> Vector:
        return (
            numerical_gradient(f, point)
            if gradient is None
            else np.asarray(gradient(point), dtype=np.float64)
        )

    for _ in range(trials):
        one, other = pairs(sampler, rng)
        distance = float(np.linalg.norm(one - other))
        if distance == 0:
            continue
        first, second = slope(one), slope(other)
        change = float(np.linalg.norm(first - second))
        # What rounding, or differences, may add to the change of a gradient is no speed of it.
        noise = (1e-14 if gradient is not None else 1e-8) * float(
            np.linalg.norm(first) + np.linalg.norm(second)
        )
        ratio = max(change - noise, 0.0) / distance
        if constant is not None and ratio > constant * (1 + 1e-9) and ratio > largest:
            example = {"u": one, "v": other, "ratio": ratio}
            found = Probe(name, trials, ratio / constant - 1 if constant > 0 else np.inf, example)
        largest = max(largest, ratio)
    return Probe(name, trials, found.worst, found.counterexample, largest)
