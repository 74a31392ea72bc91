r"""Ridge whose penalty, and the noise, are those that make the targets most likely.

The squares of columns are taken in the basis in which they are orthogonal, whatever units the columns come
in. Eigenvalues of :math:`X'X` are known to the rounding of the largest, so that one column in units of 1e8
hides all others. Columns of one length have :math:`D^{-1} X'X D^{-1} = F'F`, which rounds no column for
another's sake, and Jacobi's method finds the singular values of :math:`FD` each to its own digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Count, NonNegative, Positive, RandomState
from surefit.models.candidate import Candidate
from surefit.models.linear.bayesian.evidence import (
    EvidenceMaximum,
    HyperPriors,
    State,
    Sums,
    maximise_evidence,
    newton_step,
)
from surefit.models.linear.bayesian.evidence_regression import EvidenceRegression
from surefit.models.linear.common.constraints import Constraints

UNIT = float(np.finfo(float).eps)
ALIKE = 100.0  # of lengths: so close, their squares round alike, and plain eigenvalues keep twelve digits
BY_ROWS_AND_COLUMNS = 2  # dgejsv's 'F': digits of D C E, both of any size, are those of C
NO_VECTORS = 3


@dataclass(frozen=True, slots=True)
class Axes:
    """Sums where columns are orthogonal: squared lengths, and products with y.

    rest: the squares of y that no coefficients explain. vectors: the axes; None where units are unlike, which
    would hide small entries of theirs, and coefficients are solved for instead.

    >>> sums = Sums(np.diag([4.0, 1e20]), np.array([2.0, 1e10]), 3.0, 5.0, 0.6)
    >>> axes = Axes.of(sums)
    >>> axes.values, axes.rest, axes.coef(0.0)
    (array([1.e+20, 4.e+00]), 1.0, array([5.e-01, 1.e-10]))
    """

    values: Vector
    products: Vector
    rest: float
    sums: Sums
    vectors: Matrix | None

    @classmethod
    def of(cls, sums: Sums) -> Axes:
        """Find the axes."""
        lengths = np.sqrt(np.maximum(np.diagonal(sums.gram), 0.0))
        some = lengths[lengths > 0]
        if not len(some) or some.max() <= ALIKE * some.min():
            return cls._of_like_units(sums)
        p = len(lengths)
        lengths[lengths == 0] = 1.0
        values, vectors = np.linalg.eigh(sums.gram / lengths[:, None] / lengths)
        real = values > p * UNIT * values[-1]  # below it, columns depend on each other
        factor = np.sqrt(values[real])[:, None] * vectors[:, real].T
        sva, _, turn, work, _, failed = linalg.lapack.dgejsv(
            np.asfortranarray((factor * lengths).T), joba=BY_ROWS_AND_COLUMNS, jobu=NO_VECTORS
        )
        if failed:
            return cls._of_like_units(sums)
        sizes = sva * (work[0] / work[1])
        within = (vectors[:, real] / np.sqrt(values[real])).T @ (sums.cross / lengths)  # y along F's rows
        found, products = np.zeros((2, p))
        found[: len(sizes)], products[: len(sizes)] = sizes**2, sizes * (turn.T @ within)
        return cls(found, products, max(sums.squares - float(within @ within), 0.0), sums, None)

    @classmethod
    def _of_like_units(cls, sums: Sums) -> Axes:
        values, vectors = np.linalg.eigh(sums.gram)
        # Eigenvalues are known to this part of the largest; below it they, and what hangs on them, are noise.
        real = values > len(values) * UNIT * values[-1:]
        values, products = np.where(real, values, 0.0), np.where(real, vectors.T @ sums.cross, 0.0)
        explained = float(np.sum(products[real] ** 2 / values[real]))
        return cls(values, products, max(sums.squares - explained, 0.0), sums, vectors)

    def coef(self, penalty: float) -> Vector:
        """Return the coefficients of ridge."""
        if self.vectors is not None:
            square = self.values + penalty
            return self.vectors @ np.divide(
                self.products, square, out=np.zeros_like(square), where=square > 0
            )
        root = self._inverse_root(1.0, penalty)
        return np.asarray(root @ (root.T @ self.sums.cross))

    def inverse(self, alpha: float, lam: float) -> Matrix:
        """Return the inverse of alpha X'X + lam I."""
        if self.vectors is not None:
            return (self.vectors / (lam + alpha * self.values)) @ self.vectors.T
        root = self._inverse_root(alpha, lam)
        return np.asarray(root @ root.T)

    def _inverse_root(self, alpha: float, lam: float) -> Matrix:
        """Return R with RR' the inverse of alpha X'X + lam I, in the units of each column."""
        square = alpha * self.sums.gram
        square.flat[:: len(square) + 1] += lam
        size = np.sqrt(np.diagonal(square))
        values, vectors = np.linalg.eigh(square / size[:, None] / size)
        values = np.maximum(values, len(values) * UNIT * values[-1])
        return np.asarray(vectors / np.sqrt(values) / size[:, None])


class _At:
    """The evidence at a precision of the noise and one of all coefficients."""

    def __init__(self, axes: Axes, priors: HyperPriors, alpha: float, lam: float) -> None:
        self.alpha, self.lam = float(alpha), float(lam)
        self._priors = priors
        self._coef: Vector | None = None
        self._axes, self._weight = axes, axes.sums.weight
        d, k = axes.values, self.lam / self.alpha
        self._sigma = 1.0 / (self.lam + self.alpha * d)
        self._w = axes.products / (d + k)
        self._squares = float(self._w @ self._w)
        lost = np.divide(axes.products**2, d, out=np.zeros_like(d), where=d > 0) * (k / (d + k)) ** 2
        self._sse = axes.rest + float(lost.sum())
        self._gamma = float((d / (d + k)).sum())
        fit = self.alpha * self._sse + self.lam * self._squares
        logs = len(d) * np.log(self.lam) + self._weight * np.log(self.alpha / (2 * np.pi))
        self.score = float(
            priors.log_density(self.alpha, self.lam) + 0.5 * (logs - fit + np.log(self._sigma).sum())
        )

    @property
    def coef(self) -> Vector:
        """The mean of the coefficients."""
        if self._coef is None:
            self._coef = self._axes.coef(self.lam / self.alpha)
        return self._coef

    def following(self) -> tuple[float, float]:
        """Return the precisions of another step."""
        priors = self._priors
        alpha = (self._weight - self._gamma + 2 * priors.alpha_1) / (self._sse + 2 * priors.alpha_2)
        return alpha, (self._gamma + 2 * priors.lambda_1) / (self._squares + 2 * priors.lambda_2)

    def newton(self) -> tuple[float, float] | None:
        """Return the precisions of Newton's step in their logarithms."""
        priors, alpha, lam, sigma, w = self._priors, self.alpha, self.lam, self._sigma, self._w
        gradient = np.array(
            [
                0.5 * (self._weight - self._gamma - alpha * self._sse)
                + priors.alpha_1
                - priors.alpha_2 * alpha,
                0.5 * (self._gamma - lam * self._squares) + priors.lambda_1 - priors.lambda_2 * lam,
            ]
        )
        bent = lam**2 * float((w**2 * sigma).sum())
        narrowed = 0.5 * lam * float((sigma - lam * sigma**2).sum())
        both = narrowed - bent
        noise = bent - narrowed - 0.5 * alpha * self._sse - priors.alpha_2 * alpha
        own = bent + 0.5 * lam**2 * float((sigma**2).sum())
        own -= 0.5 * lam * (float(sigma.sum()) + self._squares) + priors.lambda_2 * lam
        step = newton_step(gradient, np.array([[noise, both], [both, own]]))
        return None if step is None else (alpha * np.exp(step[0]), lam * np.exp(step[1]))


class BayesianRidge(EvidenceRegression):
    r"""Find :math:`w \sim N(0, \lambda^{-1} I)` with the :math:`\lambda` and noise precision most likely.

    alpha_1, alpha_2, lambda_1, lambda_2: shape and rate of the gamma priors on the precisions of noise and
    coefficients. alpha_init, lambda_init: where to start. compute_score: keep the log-evidence of every step.
    max_iter, tol: the fit stops when another step would change no precision; its certificate holds the change
    of their logarithms to tol squared. fit_intercept: whether there is an intercept, outside of the prior.
    copy_X, verbose: without effect (X is never changed, nothing is printed).

    The iteration runs on moments, so rows can be added, merged and given back. ``sigma_`` is the covariance
    of the coefficients.

    constraints: as in :class:`~surefit.LinearModel`. The posterior is truncated to them: ``coef_`` is its
    mode, and ``posterior_mean_``, spreads, intervals and draws are those within, by Gibbs sampling seeded by
    random_state. The precisions, ``sigma_`` and ``scores_`` are those of the model without constraints: the
    constrained evidence has no closed form whose maximum could be proved.

    >>> from surefit import BayesianRidge
    >>> model = BayesianRidge().fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.1, 1.9, 3.0])
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> mean.round(3), model.coef_.round(2), model.certificate_.holds
    (array([1.5]), array([0.98]), True)
    """

    candidate = Candidate("Bayesian ridge regression", 12, streams=True)

    def __init__(
        self,
        *,
        max_iter: Count = 300,
        tol: Positive = 1e-3,
        alpha_1: NonNegative = 1e-6,
        alpha_2: NonNegative = 1e-6,
        lambda_1: NonNegative = 1e-6,
        lambda_2: NonNegative = 1e-6,
        alpha_init: NonNegative | None = None,
        lambda_init: NonNegative | None = None,
        compute_score: bool = False,
        fit_intercept: bool = True,
        copy_X: bool = True,
        verbose: bool = False,
        constraints: Constraints = None,
        random_state: RandomState = 0,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.alpha_1 = alpha_1
        self.alpha_2 = alpha_2
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.alpha_init = alpha_init
        self.lambda_init = lambda_init
        self.compute_score = compute_score
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.verbose = verbose
        self.constraints = constraints
        self.random_state = random_state

    def _maximise_evidence(self, sums: Sums, learned: Callable[[State], Any]) -> EvidenceMaximum:
        least = np.finfo(float).eps
        alpha = 1.0 / (sums.variance + least) if self.alpha_init is None else max(self.alpha_init, least)
        lam = 1.0 if self.lambda_init is None else max(self.lambda_init, least)
        at = partial(_At, Axes.of(sums), self._hyper_priors())
        return maximise_evidence(
            at, alpha, lam, limit=self.max_iter, tol=self.tol, trace=self.trace_, learned=learned
        )

    def _covariance(self, sums: Sums, state: Any) -> Matrix:
        return Axes.of(sums).inverse(state.alpha, state.lam)
