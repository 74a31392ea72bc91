"""Classifiers made of classifiers of two classes: their members, how these are fitted, and their proof."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone, is_regressor
from sklearn.utils import get_tags

from surefit.core.certificate import Certificate
from surefit.core.config import threads
from surefit.core.errors import DataError
from surefit.core.parameters import Has, validate
from surefit.core.trace import Trace
from surefit.data.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import ArraySource, MappedSource, Source, in_memory
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.tree.members import accepted_by

Member = Annotated[object, Has("fit")]
Rows = Callable[[Batch], Batch]


@dataclass(frozen=True, slots=True)
class MembersParameters:
    """The fitted members and the labels."""

    estimators: list[Any]
    classes: NDArray[Any]
    n_classes: int


class BinaryMembers(ClassifierMixin, Estimator, abstract=True):
    """Base of the classifiers that ask several classifiers of two classes."""

    accepts = Accepts(target="class")
    learns = MembersParameters

    estimator: Any
    estimators_: list[Any]
    classes_: NDArray[Any]
    n_classes_: int

    @abstractmethod
    def _parts(self, classes: NDArray[Any]) -> list[tuple[Rows, NDArray[Any]]]:
        """Return for each member the rows that it sees, coded 0 and 1, and the labels of the codes."""

    def _iteration_limit(self) -> int | None:
        return None

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        classes = source.schema.classes
        assert classes is not None
        if len(classes) < 2:
            raise DataError(
                f"y holds one class, {classes.tolist()[0]!r}, and a classifier needs at least two."
            )
        parts = self._parts(classes)
        sources = self._sources(source, parts)
        if isinstance(self.estimator, Estimator):  # its kernels use all cores by themselves
            members = []
            for part, _ in zip(sources, trace.iterations(len(sources)), strict=False):
                members.append(_own_member(self.estimator, part, engine))
                trace.record(gap=members[-1].certificate_.value)
            if len(members) < len(sources):
                raise DataError(
                    f"{type(self).__name__}: a callback stopped the fit after {len(members)} of "
                    f"{len(sources)} members, which are no classifier yet."
                )
            proof = _worst([member.certificate_ for member in members])
        else:
            members = self._foreign(sources)
            proof = _again(0.0)
        return Learned(MembersParameters(members, classes, len(classes)), proof)

    def _sources(self, source: Source, parts: list[tuple[Rows, NDArray[Any]]]) -> list[Source]:
        """What each member sees; a regression sees its two classes as the numbers 0 and 1."""
        numbers = is_regressor(self.estimator)
        return [_part(source, AsNumbers(r) if numbers else r, None if numbers else k) for r, k in parts]

    def _accepted(self) -> Accepts:
        return accepted_by(self.estimator, self.accepts)

    def _foreign(self, sources: list[Source]) -> list[Any]:
        """Fit members of other libraries, one a core: BLAS is held to one thread."""
        batches = [in_memory(source) for source in sources]
        if batches[0] is None:
            raise DataError(
                f"{type(self).__name__}: a {type(self.estimator).__name__} cannot read a table piece by "
                "piece: use surefit's own estimators, or load the table as one array."
            )
        labels = [source.schema.classes for source in sources]
        with ThreadPoolExecutor(threads()) as pool:
            return list(pool.map(self._foreign_member, batches, labels))

    def _foreign_member(self, batch: Batch, labels: NDArray[Any] | None) -> Any:
        weights = {} if batch.weight is None else {"sample_weight": batch.weight}
        y = np.asarray(batch.y)
        return clone(self.estimator).fit(batch.X, y if labels is None else labels[y], **weights)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        sources = self._sources(source, self._parts(self.classes_))
        if isinstance(self.estimator, Estimator):
            pairs = zip(self.estimators_, sources, strict=True)
            return _worst([member._certify(part, engine) for member, part in pairs])
        batch = in_memory(source)
        assert batch is not None
        others = self._foreign(sources)
        gaps = [
            np.abs(_score(one, batch.X) - _score(two, batch.X)).max()
            for one, two in zip(self.estimators_, others, strict=True)
        ]
        return _again(float(max(gaps)))

    def _scores_of_members(self, X: Any) -> NDArray[np.float64]:
        return np.column_stack([_score(member, X) for member in self.estimators_])

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the class of each row, or write it ``to`` a file."""
        return self._answer(self._label, X, to, ["prediction"])

    def decision_function(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the scores, (n,) for two classes and (n, k) for more, or write them ``to`` a file."""
        names = self._class_names()
        return self._answer(self._decision, X, to, names[1:] if len(names) == 2 else names)

    def _class_names(self) -> list[str]:
        return [str(label) for label in self.__dict__.get("classes_", ())]

    @abstractmethod
    def _decision(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of checked rows."""

    def _label(self, X: Any) -> NDArray[Any]:
        scores = self._decision(X)
        if scores.ndim == 2:
            return self.classes_[np.argmax(scores, axis=1)]
        return self.classes_[(scores > _threshold(self.estimators_[0])).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


@dataclass(frozen=True, slots=True)
class AsNumbers:
    """The rows of a member, its target as numbers."""

    rows: Rows

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such a target."""
        found = self.rows(batch)
        return replace(found, y=np.asarray(found.y, dtype=np.float64))


def _part(source: Source, rows: Rows, labels: NDArray[Any] | None) -> Source:
    """Return what a member sees; its columns have no names, as it is asked through their owner alone."""
    schema = replace(source.schema, classes=labels, columns=None, rows=None)
    if isinstance(source, ArraySource):
        return ArraySource(schema, rows(source.batch))
    return MappedSource(source, schema, rows)


def _own_member(estimator: Estimator, source: Source, engine: Engine) -> Estimator:
    """Fit one of ours to a source that has passed the door."""
    member: Estimator = clone(estimator)
    validate(member)
    member.trace_ = Trace()
    member.n_features_in_ = source.schema.width
    member._adopt(member._learn(source, engine, member.trace_), source.schema)
    return member


def _score(member: Any, X: Any) -> NDArray[np.float64]:
    """Return one number a row, larger for the second class."""
    if hasattr(member, "decision_function"):
        return np.asarray(member.decision_function(X), dtype=np.float64).ravel()
    if hasattr(member, "predict_proba"):
        return np.asarray(member.predict_proba(X)[:, 1], dtype=np.float64)
    if not hasattr(member, "classes_"):  # a regression, whose answer is near 1 for the second class
        return np.asarray(member.predict(X), dtype=np.float64)
    return np.asarray(member.predict(X) == member.classes_[-1], dtype=np.float64)


def chosen_second(member: Any, X: Any) -> NDArray[np.bool_]:
    """Return whether a member takes rows to be of its second class."""
    found = member.predict(X)
    return np.asarray(found == member.classes_[-1] if hasattr(member, "classes_") else found > 0.5)


def _threshold(member: Any) -> float:
    return 0.0 if hasattr(member, "decision_function") else 0.5


def _worst(proofs: list[Certificate]) -> Certificate:
    """Return the proof of the member that is farthest from its tolerance."""
    tiny = np.finfo(float).tiny
    worst = max(proofs, key=lambda proof: (not proof.holds, proof.value / max(proof.tolerance, tiny)))
    return replace(worst, measure=f"{worst.measure}, of the worst of {len(proofs)} members", witness={})


def _again(value: float) -> Certificate:
    """Return what there is to say of members that prove nothing: that fitting them again gives the same."""
    return Certificate("fixed point", "scores of the members, fitted again", value, 1e-6)
