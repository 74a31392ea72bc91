"""The greatest curvature of a function around a point, by power iterations on differences of gradients.

The greatest curvature of any single term, which bounds the steps of stochastic methods.
"""

from __future__ import annotations

import numpy as np

from surefit.core.arrays import Vector
from surefit.solvers.methods.base import dot, whole
from surefit.solvers.methods.terms import RowTerms
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.function import Terms

ROUNDS = 20
APART = 1e-5  # how far apart the gradients are taken, relative to the point
SAFETY = 1.1


def smoothness_near(objective: Objective, x: Vector) -> float:
    """Return what the loss declares, or an estimate of the curvature at x, a little above.

    >>> from surefit.solvers.objective.function import FunctionObjective
    >>> objective = FunctionObjective(lambda x: 2 * x @ x, [1.0, 1.0], gradient=lambda x: 4 * x)
    >>> round(smoothness_near(objective, np.ones(2)), 6)
    4.4
    """
    declared = getattr(objective.loss, "smoothness", None)
    if declared is not None and not objective.tabular:
        return float(declared)
    g = whole(objective, x).gradient
    direction = np.random.default_rng(0).normal(size=x.shape)
    length = APART * max(float(np.linalg.norm(x)), 1.0)
    bend = 0.0
    for _ in range(ROUNDS):
        direction = direction / np.linalg.norm(direction)
        turned = (whole(objective, x + length * direction).gradient - g) / length
        found = abs(dot(turned, direction))
        if not np.linalg.norm(turned) > 0 or abs(found - bend) <= 1e-3 * found:
            bend = max(found, bend)
            break
        bend, direction = found, turned
    return SAFETY * bend if bend > 0 else 1.0


TERM_ROUNDS = 10


def greatest_smoothness(terms: Terms | RowTerms, objective: Objective, x: Vector) -> float:
    """Return c max |x_i|^2 for rows, c being the loss's curvature; for other terms, by power iterations."""
    bend = getattr(objective.loss, "smoothness", None)
    if isinstance(terms, RowTerms):
        X = terms.X
        squares = X.multiply(X).sum(axis=1) if hasattr(X, "multiply") else np.einsum("ij,ij->i", X, X)
        largest = (np.asarray(squares, dtype=np.float64).ravel() + objective.fit_intercept) * terms.share
        return float(largest.max(initial=0.0)) * float(bend or 1.0) or 1.0
    if bend is not None:
        return float(bend)
    rows = np.arange(terms.count)
    here = terms.gradients(x, rows)
    length = APART * max(float(np.linalg.norm(x)), 1.0)
    direction, found = np.random.default_rng(0).normal(size=x.shape), 0.0
    for _ in range(TERM_ROUNDS):
        direction = direction / np.linalg.norm(direction)
        turned = (terms.gradients(x + length * direction, rows) - here) / length
        sizes = np.linalg.norm(turned, axis=1)
        found = max(found, float(sizes.max()))
        if not sizes.max() > 0:
            break
        direction = turned[int(np.argmax(sizes))]
    return SAFETY * found if found > 0 else 1.0
