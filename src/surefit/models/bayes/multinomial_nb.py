"""Classify counts, such as those of words, by one multinomial distribution a class."""

from __future__ import annotations

from typing import Any

from surefit.core.arrays import Matrix, Vector
from surefit.models.bayes.counted import Counted, Given, Smoothing, linear_scores
from surefit.models.bayes.generative import log_of
from surefit.models.candidate import Candidate


class MultinomialNB(Counted):
    r"""Naive Bayes for counts: :math:`P(c|x) \propto \pi_c \prod_j \theta_{cj}^{x_j}`.

    :math:`\theta_{cj} = (N_{cj} + \alpha) / (N_c + \alpha d)`, with :math:`N_{cj}` the sum of column j over
    the rows of class c. alpha: what is added to every count, one number or one a column. force_alpha: keep
    an alpha below 1e-10 as it is. fit_prior: take the share of each class; else all classes are as likely.
    class_prior: the :math:`\pi_c` themselves.

    >>> from surefit import MultinomialNB
    >>> X, y = [[2, 1, 0], [3, 0, 0], [0, 1, 4]], ["sport", "sport", "music"]
    >>> model = MultinomialNB().fit(X, y)
    >>> model.predict([[1, 1, 0], [0, 0, 2]]).tolist()
    ['sport', 'music']
    >>> model.feature_count_.tolist()
    [[0.0, 1.0, 4.0], [5.0, 1.0, 0.0]]
    """

    candidate = Candidate("Multinomial naive Bayes", 8, "count", streams=True)

    def __init__(
        self,
        *,
        alpha: Smoothing = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Given | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _log_probabilities(self, count: Matrix, weight: Vector, alpha: Any) -> Matrix:
        smoothed = count + alpha
        return log_of(smoothed) - log_of(smoothed.sum(axis=1, keepdims=True)).clip(min=-1e300)

    def _joint(self, X: Any) -> Matrix:
        return linear_scores(X, self.feature_log_prob_, self.class_log_prior_)
