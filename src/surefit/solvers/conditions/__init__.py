"""Conditions: what a function, a point or a constrained problem must satisfy, measured on any callable.

``differences`` finds slopes and curvatures by numbers alone, ``gradient_check`` compares them with formulas.
``stationarity``, ``subdifferential`` and ``optimality`` say what a point is; ``problem`` holds an objective
with constraints, and ``lagrangian``, ``kkt`` and ``slater`` look at it from the dual side. ``convexity`` and
``smoothness`` search for a counterexample: a ``probe`` can refute, never prove, and says so.
``bregman``, ``taylor`` and ``conditioning`` measure a function around a point.

Everything takes plain functions of a vector. Gradients are optional: without one, differences are taken.
"""

__all__ = [
    "bregman",
    "conditioning",
    "convexity",
    "differences",
    "gradient_check",
    "kkt",
    "lagrangian",
    "optimality",
    "probe",
    "problem",
    "qualification",
    "slater",
    "smoothness",
    "stationarity",
    "subdifferential",
    "taylor",
]
