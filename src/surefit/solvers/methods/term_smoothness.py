"""The greatest curvature of any single term, which bounds the steps of stochastic methods."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.solvers.function import Terms
from surefit.solvers.methods.smoothness import APART, SAFETY
from surefit.solvers.methods.terms import RowTerms
from surefit.solvers.objective import Objective

Array = NDArray[np.float64]

ROUNDS = 10


def greatest_smoothness(terms: Terms | RowTerms, objective: Objective, x: Array) -> float:
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
    for _ in range(ROUNDS):
        direction = direction / np.linalg.norm(direction)
        turned = (terms.gradients(x + length * direction, rows) - here) / length
        sizes = np.linalg.norm(turned, axis=1)
        found = max(found, float(sizes.max()))
        if not sizes.max() > 0:
            break
        direction = turned[int(np.argmax(sizes))]
    return SAFETY * found if found > 0 else 1.0
