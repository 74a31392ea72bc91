"""How probable it is that one model is better than another, or as good as makes no difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from surefit.core.errors import DataError, ParameterError


@dataclass(frozen=True, slots=True)
class Odds:
    """Probabilities that the first model is worse, as good within the rope, or better."""

    worse: float
    alike: float
    better: float

    def __str__(self) -> str:
        return f"worse {self.worse:.3f}, alike {self.alike:.3f}, better {self.better:.3f}"


def bayesian_correlated_t(differences: Any, test_share: float, *, rope: float = 0.01) -> Odds:
    r"""The Bayesian correlated t test: the posterior of the mean difference is Student's t, J - 1 df.

    Its middle is the mean of the J differences and its scale :math:`\sqrt{(1/J + q)\,v}`, that of the
    corrected t test, with q the rows tested over those learnt from. rope: the half width of the region
    that is as good as no difference. Differences are of scores of which more is better.

    >>> print(bayesian_correlated_t([0.02, 0.01, 0.03, 0.02, 0.04], 1 / 4, rope=0.01))
    worse 0.006, alike 0.065, better 0.929
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2 or not np.isfinite(values).all():
        raise DataError("the Bayesian correlated t test needs the finite scores of at least two folds.")
    if not rope >= 0 or not math.isfinite(rope):
        raise ParameterError(f"rope={rope!r} must be a finite number of at least 0.")
    mean = float(values.mean())
    scale = math.sqrt((1 / len(values) + test_share) * float(values.var(ddof=1)))
    if scale == 0:
        return Odds(float(mean < -rope), float(abs(mean) <= rope), float(mean > rope))
    low, high = (float(special.stdtr(len(values) - 1, (end - mean) / scale)) for end in (-rope, rope))
    return Odds(low, high - low, 1 - high)
