"""How many principal components to keep: a number, a share of the variance, or the likeliest (Minka)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from surefit.core.errors import ParameterError

Vector = NDArray[np.float64]


def axes_needed(n_components: Any, rows: int, width: int, solver: str) -> int:
    """Return how many axes must be computed before the number to keep can be told."""
    most = min(rows, width)
    if n_components == "mle":
        if rows < width:
            raise ParameterError("n_components='mle' is only supported if n_samples >= n_features.")
        return most
    if n_components is None or 0 < n_components < 1:
        return most
    if n_components > most:
        raise ParameterError(
            f"n_components={n_components} must be between 0 and min(n_samples, n_features)={most} "
            f"with svd_solver={solver!r}."
        )
    return int(n_components)


def axes_kept(n_components: Any, variances: Vector, samples: float) -> int:
    """Return how many of the variances, all of them falling, are kept."""
    if n_components == "mle":
        return likeliest_dimension(variances, samples)
    if n_components is not None and 0 < n_components < 1:
        total = variances.sum()
        shares = np.cumsum(variances) / total if total > 0 else np.ones(len(variances))
        # The share kept is to exceed the one asked for, and rounding must not ask for an axis too many.
        return min(int(np.searchsorted(shares, n_components, side="right")) + 1, len(variances))
    return len(variances)


def likeliest_dimension(variances: Vector, samples: float) -> int:
    r"""Return the dimension with the largest evidence for normal data in normal noise (Minka, 2000).

    For dimension k: :math:`\log p(k) \approx \log p(U) - \frac n2 \sum_{j \le k} \log \lambda_j
    - \frac{n(p-k)}2 \log v + \frac{m+k}2 \log 2\pi - \frac12 \log|A| - \frac k2 \log n`, with v the mean of
    the other variances and m = pk - k(k+1)/2.

    >>> likeliest_dimension(np.array([9.0, 4.0, 0.11, 0.1, 0.09]), 100)
    2
    """
    p, tiny = len(variances), 1e-15
    evidence = np.full(p, -np.inf)  # a dimension is between 1 and p - 1
    safe = np.maximum(variances, tiny)
    logs = np.log(safe)
    # Equal variances would make their axes infinitely likely: they count as apart as chance would put them.
    chance = np.sqrt(2 / samples)  # the relative deviation of a sample variance
    apart = np.subtract.outer(variances, variances)
    apart = np.where(apart > 1e-12 * safe[:, None], apart, chance * safe[:, None])
    differences = np.triu(np.log(apart), k=1)
    # log((a - b)(1/b - 1/a)) = 2 log(a - b) - log a - log b
    within = 2 * differences - np.triu(np.add.outer(logs, logs), k=1)
    for k in range(1, p):
        if variances[k - 1] < tiny:
            break
        noise = max(tiny, float(variances[k:].sum()) / (p - k))
        degrees = p - np.arange(k)
        volume = -k * np.log(2.0) + (gammaln(degrees / 2) - np.log(np.pi) * degrees / 2).sum()
        m = p * k - k * (k + 1) / 2
        above = 1 / noise - 1 / safe[:k]
        flat = np.log(np.where(above * noise > 1e-12, above, chance / noise))
        curvature = (
            within[:k, :k].sum() + differences[:k, k:].sum() + (p - k) * flat.sum() + m * np.log(samples)
        )
        evidence[k] = (
            volume
            - samples / 2 * (logs[:k].sum() + (p - k) * np.log(noise))
            + (m + k) / 2 * np.log(2 * np.pi)
            - curvature / 2
            - k / 2 * np.log(samples)
        )
    return int(np.argmax(evidence))
