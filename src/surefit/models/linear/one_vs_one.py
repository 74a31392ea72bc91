"""One classifier of two classes for each pair of classes, which vote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batch import Batch
from surefit.models.linear.binary_members import BinaryMembers, Member, Rows, chosen_second
from surefit.models.linear.fold_moments import taken


@dataclass(frozen=True, slots=True)
class OfPair:
    """Keep the rows of two classes, coded 0 and 1."""

    first: int
    second: int

    def __call__(self, batch: Batch) -> Batch:
        """Return those rows."""
        codes = np.asarray(batch.y)
        kept = taken(batch, np.flatnonzero((codes == self.first) | (codes == self.second)))
        return replace(kept, y=(np.asarray(kept.y) == self.second).astype(np.int64), start=0)


class OneVsOneClassifier(BinaryMembers):
    r"""Fit a copy of a classifier for each pair of classes, and predict the class with most votes.

    The score of a class is its votes plus :math:`c / (3 (|c| + 1))`, c being the sum of the members' scores
    for it, so that a tie goes to the surer class. The other parameters are those of
    :class:`~surefit.OneVsRestClassifier`.

    >>> from surefit import LogisticRegression, OneVsOneClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], list("aabbcc")
    >>> model = OneVsOneClassifier(LogisticRegression()).fit(X, y)
    >>> model.predict([[0.0], [2.5], [5.0]]).tolist(), len(model.estimators_)
    (['a', 'b', 'c'], 3)
    """

    pairwise_indices_ = None

    def __init__(self, estimator: Member, *, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs

    def _parts(self, classes: NDArray[Any]) -> list[tuple[Rows, NDArray[Any]]]:
        return [(OfPair(a, b), np.array([0, 1])) for a, b in combinations(range(len(classes)), 2)]

    def _decision(self, X: Any) -> NDArray[np.float64]:
        scores = self._scores_of_members(X)
        wins = np.column_stack([chosen_second(member, X) for member in self.estimators_])
        votes, sums = np.zeros((2, len(scores), len(self.classes_)))
        for pair, (a, b) in enumerate(combinations(range(len(self.classes_)), 2)):
            votes[:, b] += wins[:, pair]
            votes[:, a] += ~wins[:, pair]
            sums[:, b] += scores[:, pair]
            sums[:, a] -= scores[:, pair]
        found = votes + sums / (3 * (np.abs(sums) + 1))
        return found[:, 1] if len(self.classes_) == 2 else found
