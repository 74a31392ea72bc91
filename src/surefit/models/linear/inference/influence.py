"""Rows that decide a generalised linear model, and whether its link bends the right way."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from surefit.core.arrays import Vector
from surefit.data.batches.batch import Batch
from surefit.losses.families import Family
from surefit.losses.links import Link
from surefit.stats.products import scores_of


def influence_evidence(
    rows: Batch, family: Family, link: Link, packed: Vector, fit_intercept: bool, freedom: float
) -> dict[str, Any]:
    """Return Cook's distances, and the score test of the squared score, for rules of the diagnosis."""
    X: Any = rows.X
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    coef, intercept = (packed[:-1], packed[-1]) if fit_intercept else (packed, None)
    s = np.ones(len(X)) if rows.weight is None else np.asarray(rows.weight, dtype=np.float64)
    z = scores_of(rows, coef, intercept)
    y, mean = np.asarray(rows.y, dtype=np.float64), np.asarray(link.inverse(z), dtype=np.float64)
    with np.errstate(all="ignore"):
        slope = np.asarray(link.inverse_derivative(z), dtype=np.float64)
        bend = s * slope**2 / family.variance(mean)
        working = (y - mean) / slope
    fine = (bend > 0) & np.isfinite(bend) & np.isfinite(working)
    if np.count_nonzero(fine) <= len(packed) + 1:
        return {}
    root = np.sqrt(np.where(fine, bend, 0.0))
    A = (np.column_stack([np.ones(len(X)), X]) if fit_intercept else X) * root[:, None]
    A = A / np.maximum(np.sqrt((A**2).sum(axis=0)), np.finfo(float).tiny)
    Q, sizes, _ = linalg.svd(A, full_matrices=False, check_finite=False)
    Q = Q[:, sizes > 1e-10 * sizes.max(initial=0.0)]
    residual = root * np.where(fine, working, 0.0)
    dispersion = float(residual @ residual) / freedom if family.scaled else 1.0
    leverage = (Q**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        cook = residual**2 * leverage / (dispersion * Q.shape[1] * (1.0 - leverage) ** 2)
    found: dict[str, Any] = {"cooks_distance": cook}
    square = root * (z - z.mean()) ** 2
    length = float(np.linalg.norm(square))
    square = square - Q @ (Q.T @ square)
    left = float(np.linalg.norm(square))
    if left > 1e-6 * length and dispersion > 0 and (bend[fine] > 0).sum() > Q.shape[1] + 10:
        # Under overdispersion, the test takes the variance that there is.
        scale = max(dispersion, float(residual @ residual) / freedom)
        found["link_test"] = (float(square @ residual) / left / np.sqrt(scale), link.name)
    return found
