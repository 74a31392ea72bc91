"""One classifier of two classes for each pair of classes, which vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from surefit.core.errors import DataError, RefusalError
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import Source, in_memory
from surefit.models.linear.classification.binary_members import (
    BinaryMembers,
    Member,
    MembersParameters,
    Rows,
    chosen_second,
)
from surefit.models.linear.common.fold_moments import taken


@dataclass(frozen=True, slots=True)
class PairOfClasses:
    """Keep the rows of two classes, coded 0 and 1; columns: and the columns of the same numbers."""

    first: int
    second: int
    columns: bool = False

    def __call__(self, batch: Batch) -> Batch:
        """Return those rows."""
        rows = self.rows(batch)
        kept = taken(batch, rows)
        X: Any = kept.X[:, rows] if self.columns else kept.X  # type: ignore[index]
        return replace(kept, X=X, y=(np.asarray(kept.y) == self.second).astype(np.int64), start=0)

    def rows(self, batch: Batch) -> NDArray[np.intp]:
        """Return the numbers of those rows."""
        codes = np.asarray(batch.y)
        return np.flatnonzero((codes == self.first) | (codes == self.second))


@dataclass(frozen=True, slots=True)
class PairsParameters(MembersParameters):
    """The same, and the rows of each pair where X holds the kernel of each row with each."""

    pairwise_indices: list[NDArray[np.intp]] | None


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

    learns = PairsParameters

    pairwise_indices_: list[NDArray[np.intp]] | None

    def __init__(self, estimator: Member, *, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs

    def _parts(self, schema: Schema) -> Sequence[Rows]:
        assert schema.classes is not None
        return self._pairs(len(schema.classes))

    def _pairs(self, classes: int) -> list[PairOfClasses]:
        by_kernel = get_tags(self.estimator).input_tags.pairwise
        return [PairOfClasses(a, b, by_kernel) for a, b in combinations(range(classes), 2)]

    def _learnt(self, members: list[Any], schema: Schema, source: Source | None) -> MembersParameters:
        labels, kept = self._labels(schema), None
        if get_tags(self.estimator).input_tags.pairwise:
            batch = None if source is None else in_memory(source)
            if batch is None:
                raise RefusalError(
                    f"{type(self).__name__}: a precomputed kernel matrix must be in memory: pass it as one "
                    "array."
                )
            kept = [pair.rows(batch) for pair in self._pairs(len(labels))]
        return PairsParameters(members, labels, len(labels), kept)

    def _hold_classes(self, y: Any, known: Any) -> None:
        if known is None or np.ndim(y) != 1:
            return
        if len(np.setdiff1d(y, known)):
            raise DataError(
                f"Mini-batch contains {np.unique(y)} while it must be subset of {np.asarray(known)}: name "
                "all classes in the first call of partial_fit."
            )

    def _seen(self, member: int, X: Any) -> Any:
        return X if self.pairwise_indices_ is None else X[:, self.pairwise_indices_[member]]

    def _decision(self, X: Any) -> NDArray[np.float64]:
        try:
            scores = self._scores_of_members(X)
            wins = np.column_stack(
                [chosen_second(m, self._seen(k, X)) for k, m in enumerate(self.estimators_)]
            )
        except NotFittedError as error:
            raise DataError(
                "some pairs of classes have had no rows yet, so their classifiers are not fitted: call "
                "partial_fit with rows of every class first."
            ) from error
        votes, sums = np.zeros((2, len(scores), len(self.classes_)))
        for pair, (a, b) in enumerate(combinations(range(len(self.classes_)), 2)):
            votes[:, b] += wins[:, pair]
            votes[:, a] += ~wins[:, pair]
            sums[:, b] += scores[:, pair]
            sums[:, a] -= scores[:, pair]
        found = votes + sums / (3 * (np.abs(sums) + 1))
        return found[:, 1] if len(self.classes_) == 2 else found
