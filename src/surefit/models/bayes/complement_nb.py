"""Classify counts by what the other classes contain: for classes of unequal size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.models.bayes.counted import Counted, CountParameters, Given, Smoothing
from surefit.models.bayes.generative import log_of
from surefit.models.candidate import Candidate


@dataclass(frozen=True, slots=True)
class ComplementParameters(CountParameters):
    """Those of the other counted models, and the count of each column over all classes."""

    feature_all: Vector


class ComplementNB(Counted):
    r"""Complement naive Bayes: the class whose complement suits the counts least.

    With :math:`\theta_{cj}` the smoothed share of column j in all classes but c, a row goes to the class
    with the greatest :math:`-\sum_j x_j \log\theta_{cj}`. norm: divide the weights of a class by their sum.
    The other parameters are those of MultinomialNB; the priors count only where there is a single class.

    >>> from surefit import ComplementNB
    >>> ComplementNB().fit([[2, 1, 0], [3, 0, 0], [0, 1, 4]], [0, 0, 1]).predict([[0, 0, 2]]).tolist()
    [1]
    """

    learns = ComplementParameters
    candidate = Candidate("Complement naive Bayes", 9, "count", streams=True)
    feature_all_: Vector

    def __init__(
        self,
        *,
        alpha: Smoothing = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Given | None = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _log_probabilities(self, count: Matrix, weight: Vector, alpha: Any) -> Matrix:
        others = count.sum(axis=0) + alpha - count
        # Of columns that no other class has, the logarithm is kept finite: a weight of 1e300 decides anyway.
        shares = np.maximum(
            log_of(others) - log_of(others.sum(axis=1, keepdims=True)).clip(min=-1e300), -1e300
        )
        if not self.norm:
            return -shares
        total = shares.sum(axis=1, keepdims=True)
        return np.divide(shares, total, out=np.zeros_like(shares), where=total != 0)

    def _extra(self, count: Matrix) -> dict[str, Any]:
        return {"feature_all": count.sum(axis=0)}

    def _joint(self, X: Any) -> Matrix:
        scores = np.asarray(X @ self.feature_log_prob_.T, dtype=np.float64)
        return scores + self.class_log_prior_ if len(self.classes_) == 1 else scores
