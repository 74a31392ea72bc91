"""One classifier of two classes for each class: it against all others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from surefit.core.errors import DataError, SurefitWarning, warn
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.linear.classification.binary_members import (
    BinaryMembers,
    Member,
    MembersParameters,
    Rows,
    member_has,
    threshold,
)
from surefit.models.linear.common.label_columns import TakesLabelColumns, label_weights


@dataclass(frozen=True, slots=True)
class OneVsRestTarget:
    """Code the rows of a class as 1 and all others as 0."""

    code: int

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such a target."""
        return replace(batch, y=(np.asarray(batch.y) == self.code).astype(np.int64))


@dataclass(frozen=True, slots=True)
class LabelIndicator:
    """Code the rows that have a label as 1 and all others as 0."""

    label: int

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such a target."""
        return replace(batch, y=np.asarray(batch.y)[:, self.label].astype(np.int64))


@dataclass(frozen=True, slots=True)
class RestParameters(MembersParameters):
    """The same; whether a row may have several labels, and whether these came as a sparse matrix."""

    multilabel: bool
    sparse_labels: bool


class OneVsRestClassifier(TakesLabelColumns, BinaryMembers):
    """Fit a copy of a classifier for each class against the rest, and predict the class that scores highest.

    estimator: any classifier with ``fit`` and scores, or any regression, of surefit or another library. Of
    two classes, one member tells the second from the first. n_jobs, verbose: without effect; members of
    surefit use all cores one after the other, others one core each. The certificate is the worst of the
    members'.

    A target of several columns holds labels, each there (1) or not (0), and a row may have none, one or many:
    a member tells the rows that have a label from the others. A label that all rows share, or none, needs no
    member, and is warned of. A sparse target is answered by sparse predictions.

    >>> from surefit import LogisticRegression, OneVsRestClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], list("aabbcc")
    >>> model = OneVsRestClassifier(LogisticRegression(C=100.0)).fit(X, y)
    >>> model.predict([[0.0], [5.0]]).tolist(), len(model.estimators_), model.certificate_.holds
    (['a', 'c'], 3, True)
    >>> several = OneVsRestClassifier(LogisticRegression(C=100.0))
    >>> several.fit(X, [[1, 0], [1, 0], [1, 1], [1, 1], [0, 1], [0, 1]]).predict([[0.0], [2.5], [5.0]])
    array([[1, 0],
           [1, 1],
           [0, 1]])
    """

    learns = RestParameters

    multilabel_: bool
    sparse_labels_: bool

    def __init__(self, estimator: Member, *, n_jobs: int | None = None, verbose: int = 0) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _source(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None, **also: Any
    ) -> Source:
        if reset:
            self._sparse_labels = hasattr(y, "toarray")
        return super()._source(X, y, sample_weight, reset=reset, classes=classes, **also)

    def _labels(self, schema: Schema) -> NDArray[Any]:
        return np.arange(schema.targets) if schema.classes is None else schema.classes

    def _parts(self, schema: Schema) -> Sequence[Rows]:
        if schema.classes is None:
            return [LabelIndicator(label) for label in range(schema.targets)]
        codes = [1] if len(schema.classes) == 2 else range(len(schema.classes))
        return [OneVsRestTarget(code) for code in codes]

    def _alike(self, source: Source, engine: Engine) -> Collection[int]:
        if source.schema.classes is not None:
            return ()
        total, present = label_weights(source, engine)
        shared = np.flatnonzero((present == 0) | (present == total))
        for label in shared:
            who = f"{'Label' if present[label] else 'Label not'} {label}"
            warn(
                f"{who} is present in all training examples, so that every row is predicted so: leave the "
                "column out, or add rows that differ in it.",
                SurefitWarning,
            )
        return frozenset(shared.tolist())

    def _learnt(self, members: list[Any], schema: Schema, source: Source | None) -> MembersParameters:
        labels = self._labels(schema)
        several = schema.classes is None
        sparse = self.__dict__.pop("_sparse_labels", self.__dict__.get("sparse_labels_", False))
        return RestParameters(members, labels, len(labels), several, several and sparse)

    def _hold_classes(self, y: Any, known: Any) -> None:
        if known is None or np.ndim(y) != 1:
            return
        new = np.setdiff1d(y, known)
        if len(new):
            raise DataError(
                f"Mini-batch contains {new} while classes must be subset of {np.asarray(known)}: name all "
                "classes in the first call of partial_fit."
            )

    def _decision(self, X: Any) -> NDArray[np.float64]:
        scores = self._scores_of_members(X)
        return scores[:, 0] if scores.shape[1] == 1 and not self.multilabel_ else scores

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the class of each row, or its labels as columns of 0 and 1, or write them ``to`` a file."""
        names = self._class_names() if self.__dict__.get("multilabel_") else ["prediction"]
        found = self._answer(self._label, X, to, names)
        if found is None or not self.sparse_labels_:
            return found
        from scipy.sparse import csr_array

        return csr_array(found)

    def _label(self, X: Any) -> NDArray[Any]:
        if not self.multilabel_:
            return super()._label(X)
        least = np.array([threshold(member) for member in self.estimators_])
        return (self._decision(X) > least).astype(np.int64)

    @available_if(member_has("predict_proba"))
    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the members' probabilities, of classes divided by their sum, or write them ``to`` a file."""
        return self._answer(self._chances, X, to, self._class_names())

    def _chances(self, X: Any) -> NDArray[np.float64]:
        found = np.column_stack([member.predict_proba(X)[:, 1] for member in self.estimators_])
        if self.multilabel_:
            return found
        if found.shape[1] == 1:
            return np.hstack([1.0 - found, found])
        total = found.sum(axis=1, keepdims=True)
        return np.divide(found, total, out=found, where=total > 0)
