"""Classify rows of zeros and ones by one Bernoulli distribution for each class and column."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.core.parameters import Interval
from surefit.models.bayes.counted import Counted, Given, Smoothing, linear_scores
from surefit.models.bayes.generative import log_of
from surefit.models.candidate import Candidate
from surefit.resample.streams import seed_of, stream


class BernoulliNB(Counted):
    r"""Naive Bayes for zeros and ones: :math:`P(c|x) \propto \pi_c \prod_j p_{cj}^{x_j} (1-p_{cj})^{1-x_j}`.

    :math:`p_{cj} = (N_{cj} + \alpha) / (N_c + 2 \alpha)`, the share of ones with Laplace's smoothing; alpha
    0 is maximum likelihood. binarize: a cell above it counts as 1, others as 0; None takes X as zeros and
    ones. The other parameters are those of MultinomialNB.

    >>> from surefit import BernoulliNB
    >>> model = BernoulliNB(alpha=0).fit([[1, 0], [1, 1], [1, 1], [0, 1], [0, 0]], [1, 1, 1, 1, 0])
    >>> np.exp(model.feature_log_prob_[1]).round(4).tolist()
    [0.75, 0.75]
    """

    shaping = ("binarize",)
    counts_words = False
    candidate = Candidate("Bernoulli naive Bayes", 8, streams=True)

    def __init__(
        self,
        *,
        alpha: Smoothing = 1.0,
        force_alpha: bool = True,
        binarize: Annotated[float, Interval()] | None = 0.0,
        fit_prior: bool = True,
        class_prior: Given | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _threshold(self) -> float | None:
        return None if self.binarize is None else float(self.binarize)

    def _log_probabilities(self, count: Matrix, weight: Vector, alpha: Any) -> Matrix:
        total = (weight[:, None] + 2 * alpha) * np.ones_like(count)
        return log_of(np.divide(count + alpha, total, out=np.full_like(count, 0.5), where=total > 0))

    def _joint(self, X: Any) -> Matrix:
        one = np.minimum(self.feature_log_prob_, 0.0)
        zero = log_of(-np.expm1(one))
        if isinstance(X, np.ndarray):
            cells = X if self.binarize is None else (self.binarize < X).astype(np.float64)
        else:
            cells = X if self.binarize is None else (self.binarize < X).astype(np.float64)
        if np.isfinite(one).all() and np.isfinite(zero).all():
            return linear_scores(cells, one - zero, self.class_log_prior_ + zero.sum(axis=1))
        # A certain column rules classes out: by a one where only zeros may be, or a zero where only ones.
        sure = zero == -np.inf
        zero = np.where(sure, 0.0, zero)
        scores = linear_scores(cells, one - zero, self.class_log_prior_ + zero.sum(axis=1))
        ones = np.asarray(cells @ sure.T.astype(np.float64))
        scores[ones < sure.sum(axis=1)] = -np.inf
        return scores

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Matrix, Any]:
        """Draw rows of zeros and ones, and their classes, from the fitted distributions."""
        if n_samples < 1:
            raise ParameterError(f"sample: n_samples={n_samples!r} must be a whole number of at least 1.")
        rng = stream(seed_of(random_state), 0)
        cumulative = np.cumsum(np.exp(self.class_log_prior_))
        codes = np.searchsorted(cumulative / cumulative[-1], rng.random(n_samples), side="right")
        chances = np.exp(self.feature_log_prob_)[codes]
        return (rng.random(chances.shape) < chances).astype(np.float64), self.classes_[codes]
