"""Counts of what differs, and of what two sets share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.native.neighbours.norms import Norm
from surefit.distances.base import Distance, Native


class Hamming(Distance):
    r"""The share of columns that differ; ``w`` weighs the columns.

    >>> Hamming()([[1.0, 0.0, 1.0, 1.0]], [[1.0, 1.0, 1.0, 0.0]])
    array([[0.5]])
    """

    name = "hamming"

    def __init__(self, w: NDArray[Any] | list[Any] | None = None) -> None:
        self.w = w
        self._check()
        self._columns = 1

    def inputs(self, X: Any) -> Any:
        """Return rows of numbers."""
        rows = super().inputs(X)
        self._columns = max(int(rows.shape[1]), 1)
        return rows

    def fitted(self, X: Any) -> Hamming:
        """Take the number of columns."""
        made = type(self)(self.w)
        made._columns = max(int(np.shape(X)[1]) if not hasattr(X, "shape") else int(X.shape[1]), 1)
        return made

    def native(self) -> Native | None:
        """Return the count of differences, over the number of columns."""
        if self.w is not None:
            return None
        columns = self._columns
        return Native(
            Norm("differing", 1.0), finish=lambda count: count / columns, undo=lambda share: share * columns
        )

    def _between(self, X: Any, Y: Any) -> Matrix:
        if self.w is None:
            return super()._between(X, Y)
        weight = np.asarray(self.w, dtype=np.float64)
        found = np.zeros((len(X), len(Y)))
        for j in range(X.shape[1]):
            found += weight[j] * (X[:, j, None] != Y[None, :, j])
        return np.asarray(found / weight.sum())


class _Sets(Distance):
    """Rows as sets: the columns that are not 0."""

    def _between(self, X: Any, Y: Any) -> Matrix:
        dense = [rows.toarray() if hasattr(rows, "toarray") else rows for rows in (X, Y)]
        left, right = ((np.asarray(rows) != 0).astype(np.float64) for rows in dense)
        both = left @ right.T  # counts of at most 2^53 are exact
        only_left, only_right = left.sum(axis=1)[:, None] - both, right.sum(axis=1)[None, :] - both
        return self._of_counts(both, only_left + only_right, left.shape[1] - both - only_left - only_right)

    def _of_counts(self, both: Matrix, one: Matrix, neither: Matrix) -> Matrix:
        """Return the distances, from how many columns both, one or neither of two sets hold."""
        raise TypeError("a distance of sets says what its counts mean.")

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make sets."""
        return (rng.random((n, 6)) < 0.5).astype(np.float64)


def _share(part: Matrix, whole: Matrix) -> Matrix:
    """The quotient; 0 where the whole is 0, which two sets of nothing have."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


class Jaccard(_Sets):
    """The share of what only one of two sets holds in what either holds; 0 for two empty sets.

    >>> Jaccard()([[1.0, 1.0, 0.0]], [[1.0, 0.0, 1.0]]).round(4)
    array([[0.6667]])
    """

    name = "jaccard"

    def _of_counts(self, both: Matrix, one: Matrix, neither: Matrix) -> Matrix:
        return _share(one, both + one)


class Dice(_Sets):
    """As Jaccard's, with what both hold counted twice; no metric."""

    name = "dice"
    metric = False

    def _of_counts(self, both: Matrix, one: Matrix, neither: Matrix) -> Matrix:
        return _share(one, 2 * both + one)


class RogersTanimoto(_Sets):
    """The share of differing columns that count twice."""

    name = "rogerstanimoto"

    def _of_counts(self, both: Matrix, one: Matrix, neither: Matrix) -> Matrix:
        return _share(2 * one, both + neither + 2 * one)


class RussellRao(_Sets):
    """The share of columns that not both hold; equal sets need not be at 0."""

    name = "russellrao"
    metric = False

    def _of_counts(self, both: Matrix, one: Matrix, neither: Matrix) -> Matrix:
        return _share(one + neither, both + one + neither)


class SokalSneath(_Sets):
    """As Jaccard's, with what differs counted twice."""

    name = "sokalsneath"

    def _of_counts(self, both: Matrix, one: Matrix, neither: Matrix) -> Matrix:
        return _share(2 * one, both + 2 * one)


class Yule(_Sets):
    """How far the odds of being in both are from certain; no metric."""

    name = "yule"
    metric = False

    def _between(self, X: Any, Y: Any) -> Matrix:
        dense = [rows.toarray() if hasattr(rows, "toarray") else rows for rows in (X, Y)]
        left, right = ((np.asarray(rows) != 0).astype(np.float64) for rows in dense)
        both, only_left, only_right = left @ right.T, left @ (1 - right).T, (1 - left) @ right.T
        cross = only_left * only_right
        return _share(2 * cross, both * ((1 - left) @ (1 - right).T) + cross)
