r"""Bayes' rule for columns that are independent within each class, whatever the distribution of each.

.. math:: h(x) = \arg\max_c \Big[ \log P(c) + \sum_k \log P(x_k \mid c) \Big]

Densities are multiplied as sums of logarithms, since products of many small numbers vanish. What every row of
a class shares with the others, the density of x itself, is left out of the choice and divides the
probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError
from surefit.core.public import public
from surefit.data.checks.cells import check_weights


class Density(Protocol):
    """What a column's distribution must answer."""

    def log_density(self, x: Any) -> Any:
        """Return the logarithm of the density, or of the probability, at each x."""


class Family(Protocol):
    """What makes a distribution of the values of one column."""

    def fit(self, x: Any, sample_weight: Any = None) -> Density:
        """Return the distribution that suits the values."""


@public
@dataclass(frozen=True)
class NaiveRule:
    r"""Classify by one distribution for each class and column, of any kind: known, or fitted by ``fit``.

    classes: the labels. prior: the probability of each. densities: for each class, one distribution a column,
    anything with ``log_density(x)``. Of equal scores the first class wins; a row that no class can have
    produced gets the priors.

    >>> from surefit import NaiveRule
    >>> class Coin:
    ...     def __init__(self, heads):
    ...         self.heads = heads
    ...
    ...     def log_density(self, x):
    ...         return np.log(np.where(x == 1, self.heads, 1 - self.heads))
    >>> rule = NaiveRule(["fair", "loaded"], [0.5, 0.5], [[Coin(0.5)] * 2, [Coin(0.9)] * 2])
    >>> rule.predict([[1, 1], [1, 0]]).tolist()
    ['loaded', 'fair']
    >>> rule.predict_proba([[1, 1]]).round(4)
    array([[0.2358, 0.7642]])
    """

    classes: Sequence[Any] | NDArray[Any]
    prior: Sequence[float] | Vector
    densities: Sequence[Sequence[Density]]

    def __post_init__(self) -> None:
        labels, prior = np.asarray(self.classes), np.asarray(self.prior, dtype=np.float64)
        if not (prior >= 0).all() or not np.isclose(prior.sum(), 1.0):
            raise ParameterError(
                f"NaiveRule: prior={prior.tolist()} must be probabilities: at least 0, and 1 in all."
            )
        if labels.ndim != 1 or not len(labels) == len(prior) == len(self.densities):
            raise ParameterError(
                f"NaiveRule: {labels.shape} classes, {len(prior)} priors and {len(self.densities)} lists of "
                "distributions do not fit: give one of each a class."
            )
        widths = {len(columns) for columns in self.densities}
        if len(widths) != 1:
            raise ParameterError(
                f"NaiveRule: the classes have {sorted(widths)} distributions: give each one a column."
            )
        object.__setattr__(self, "classes", labels)
        object.__setattr__(self, "prior", prior)

    @classmethod
    def fit(
        cls,
        X: Any,
        y: Any,
        families: Sequence[Family] | Family,
        sample_weight: Any = None,
        prior: Sequence[float] | None = None,
    ) -> Self:
        """Fit one distribution for each class and column: of one family, or of one family a column.

        A family is anything whose ``fit(x, sample_weight)`` returns a distribution. The prior is the share
        of each class in the weight, unless it is given.
        """
        rows, labels = cls._rows(X), np.asarray(y)
        if labels.shape != (len(rows),):
            raise DataError(
                f"NaiveRule: y has shape {labels.shape}, but X has {len(rows)} rows: give one label a row."
            )
        weight = check_weights(sample_weight, len(rows))
        weight = np.ones(len(rows)) if weight is None else weight
        kinds = list(families) if isinstance(families, Sequence) else [families] * rows.shape[1]
        if len(kinds) != rows.shape[1]:
            raise ParameterError(
                f"NaiveRule: {len(kinds)} families for {rows.shape[1]} columns: give one, or one a column."
            )
        names = np.unique(labels[weight > 0])
        if len(names) == 0:
            raise DataError("NaiveRule: no row has a positive weight, so there is nothing to fit to.")
        densities, shares = [], []
        for name in names:
            mine = (labels == name) & (weight > 0)
            shares.append(weight[mine].sum())
            densities.append([kind.fit(x[mine], weight[mine]) for kind, x in zip(kinds, rows.T, strict=True)])
        return cls(names, np.array(shares) / np.sum(shares) if prior is None else prior, densities)

    def predict_joint_log_proba(self, X: Any) -> Matrix:
        """Return log P(x, c) for each row and class."""
        rows = self._rows(X)
        width = len(self.densities[0])
        if rows.shape[1] != width:
            raise DataError(f"X has {rows.shape[1]} columns, but the rule has distributions of {width}.")
        with np.errstate(divide="ignore"):
            scores = np.tile(np.log(self.prior), (len(rows), 1))
            for c, columns in enumerate(self.densities):
                for k, column in enumerate(columns):
                    scores[:, c] += column.log_density(rows[:, k])
        return scores

    def predict_log_proba(self, X: Any) -> Matrix:
        """Return log P(c | x) for each row and class."""
        scores = self.predict_joint_log_proba(X)
        lost = (scores == -np.inf).all(axis=1)
        with np.errstate(divide="ignore"):
            scores[lost] = np.log(self.prior)
            scores -= scores.max(axis=1, keepdims=True)
            scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return scores

    def predict_proba(self, X: Any) -> Matrix:
        """Return P(c | x) for each row and class."""
        found: Matrix = np.exp(self.predict_log_proba(X))
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        return np.asarray(self.classes)[np.argmax(self.predict_log_proba(X), axis=1)]

    @staticmethod
    def _rows(X: Any) -> NDArray[Any]:
        rows = np.asarray(X)
        if rows.ndim != 2:
            raise DataError(f"NaiveRule takes rows and columns, not an array of shape {rows.shape}.")
        return rows
