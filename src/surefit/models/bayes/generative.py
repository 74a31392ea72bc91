"""What classifiers share that score a row by log P(x, c): answers, probabilities, priors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.models.updating import OneStatisticClassifier


class Generative(OneStatisticClassifier, abstract=True):
    """A model of the pair (x, c), turned round by Bayes' rule. A row that no class can have produced gets
    the priors; of equal scores the first class wins.
    """

    @abstractmethod
    def _joint(self, X: Any) -> Matrix:
        """Return log P(x, c) for each row of a matrix and each class."""

    @abstractmethod
    def _log_prior(self) -> Vector:
        """Return log P(c)."""

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the most probable class of each row, or write it ``to`` a file."""
        return self._answer(self._predict, X, to, ["prediction"])

    def predict_joint_log_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return log P(x, c) for each row and class, or write them ``to`` a file."""
        return self._answer(self._joint, X, to, self._class_names(), infinite=True)

    def predict_log_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return log P(c | x) for each row and class, or write them ``to`` a file."""
        return self._answer(self._log_proba, X, to, self._class_names(), infinite=True)

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return P(c | x) for each row and class, or write them ``to`` a file."""
        return self._answer(self._proba, X, to, self._class_names())

    def _predict(self, X: Any) -> NDArray[Any]:
        scores = self._joint(X)
        best = scores.argmax(axis=1)
        lost = scores[np.arange(len(best)), best] == -np.inf
        if lost.any():
            best[lost] = int(self._log_prior().argmax())
        return self.classes_[best]

    def _relative(self, X: Any) -> Matrix:
        """Log densities less that of the best class; those of the priors where no class has any."""
        scores = self._joint(X)
        best = scores.max(axis=1, keepdims=True)
        lost = best[:, 0] == -np.inf
        if lost.any():
            scores[lost] = self._log_prior()
            best[lost] = scores[lost].max(axis=1, keepdims=True)
        scores -= best
        return scores

    def _log_proba(self, X: Any) -> Matrix:
        scores = self._relative(X)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return scores

    def _proba(self, X: Any) -> Matrix:
        scores = self._relative(X)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        return scores


def given_prior(priors: Any, classes: int) -> Vector:
    """Check priors that were given, one a class, and return them as an array."""
    prior = np.array(priors, dtype=np.float64)
    if prior.shape != (classes,):
        raise ParameterError(
            f"Number of priors must match number of classes: priors has shape {prior.shape}, "
            f"but there are {classes} classes; give one prior for each."
        )
    if not np.isclose(prior.sum(), 1.0):
        raise ParameterError(
            f"The sum of the priors should be 1, but it is {prior.sum():g}: divide them by it."
        )
    if (prior < 0).any():
        raise ParameterError(
            f"Priors must be non-negative, but the least of them is {prior.min():g}: "
            "give 0 to a class that cannot occur."
        )
    return prior


def log_of(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms, -inf of 0, without a warning."""
    return np.log(chances, out=np.full(chances.shape, -np.inf), where=chances > 0)


def dense_blocks(X: Any, cells: int = 2**20) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Row blocks of a matrix, dense, of about so many cells."""
    step = max(1, cells // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        block = X[rows] if isinstance(X, np.ndarray) else X[rows].toarray()
        yield rows, block
