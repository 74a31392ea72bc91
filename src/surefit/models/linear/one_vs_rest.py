"""One classifier of two classes for each class: it against all others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from surefit.data.batch import Batch
from surefit.models.linear.binary_members import BinaryMembers, Member, Rows


@dataclass(frozen=True, slots=True)
class AgainstRest:
    """Code the rows of a class as 1 and all others as 0."""

    code: int

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such a target."""
        return replace(batch, y=(np.asarray(batch.y) == self.code).astype(np.int64))


class OneVsRestClassifier(BinaryMembers):
    """Fit a copy of a classifier for each class against the rest, and predict the class that scores highest.

    estimator: any classifier with ``fit`` and scores, of surefit or another library. Of two classes, one
    member tells the second from the first. n_jobs, verbose: without effect; members of surefit use all cores
    one after the other, others one core each. The certificate is the worst of the members'. Several labels a
    row are not taken.

    >>> from surefit import LogisticRegression, OneVsRestClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], list("aabbcc")
    >>> model = OneVsRestClassifier(LogisticRegression(C=100.0)).fit(X, y)
    >>> model.predict([[0.0], [5.0]]).tolist(), len(model.estimators_), model.certificate_.holds
    (['a', 'c'], 3, True)
    """

    def __init__(self, estimator: Member, *, n_jobs: int | None = None, verbose: int = 0) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _parts(self, classes: NDArray[Any]) -> list[tuple[Rows, NDArray[Any]]]:
        codes = [1] if len(classes) == 2 else range(len(classes))
        return [(AgainstRest(code), np.array([0, 1])) for code in codes]

    def _decision(self, X: Any) -> NDArray[np.float64]:
        scores = self._scores_of_members(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the members' probabilities, divided by their sum, or write them ``to`` a file."""
        return self._answer(self._chances, X, to, self._class_names())

    def _chances(self, X: Any) -> NDArray[np.float64]:
        found = np.column_stack([member.predict_proba(X)[:, 1] for member in self.estimators_])
        if found.shape[1] == 1:
            return np.hstack([1.0 - found, found])
        total = found.sum(axis=1, keepdims=True)
        return np.divide(found, total, out=found, where=total > 0)
