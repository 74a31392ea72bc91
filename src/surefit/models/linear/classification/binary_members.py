"""Classifiers made of classifiers of two classes: their members, how these are fitted, and their proof."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from surefit.core.certificate import Certificate
from surefit.core.config import threads
from surefit.core.errors import DataError, RefusalError
from surefit.core.parameters import Has, validate
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, MappedSource, Source, in_memory
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned, certify
from surefit.models.baseline.majority import MajorityClassifier
from surefit.models.ensemble import accepted_by


def updated_members(
    base: Any, members: Sequence[Any], parts: Sequence[Callable[[Batch], Batch]], source: Source
) -> list[Any]:
    """Return copies of the members, or of ``base`` where there is none yet, that know the rows as well."""
    from copy import deepcopy

    found = [clone(base) if member is None else deepcopy(member) for member in members]
    for batch in source:
        for member, rows in zip(found, parts, strict=True):
            seen = rows(batch)
            if len(seen):
                _learn_more(member, seen)
    return found


def _learn_more(member: Any, rows: Batch) -> None:
    weights = {} if rows.weight is None else {"sample_weight": rows.weight}
    y = np.asarray(rows.y)
    if is_regressor(member):
        member.partial_fit(rows.X, y.astype(np.float64), **weights)
    else:
        member.partial_fit(rows.X, y, classes=np.array([0, 1]), **weights)


Member = Annotated[object, Has("fit")]
Rows = Callable[[Batch], Batch]
TWO = np.array([0, 1])  # what members see their two classes as


@dataclass(frozen=True, slots=True)
class MembersParameters:
    """The fitted members and the labels."""

    estimators: list[Any]
    classes: NDArray[Any]
    n_classes: int


def member_has(method: str) -> Callable[[Any], bool]:
    """Return a check that the member has a method, for ``available_if``; else its own words say so."""
    return lambda model: getattr(model.estimator, method) is not None


class BinaryMembers(ClassifierMixin, Estimator, abstract=True):
    """Base of the classifiers that ask several classifiers of two classes."""

    accepts = Accepts(target="class")
    learns: ClassVar[type] = MembersParameters

    estimator: Any
    estimators_: list[Any]
    classes_: NDArray[Any]
    n_classes_: int

    @abstractmethod
    def _parts(self, schema: Schema) -> Sequence[Rows]:
        """Return for each member what makes a batch the rows that it sees, their classes coded 0 and 1."""

    def _labels(self, schema: Schema) -> NDArray[Any]:
        """Return the labels that are told apart."""
        assert schema.classes is not None
        return schema.classes

    def _alike(self, source: Source, engine: Engine) -> Collection[int]:
        """Return which members see rows of one class only."""
        return ()

    def _learnt(self, members: list[Any], schema: Schema, source: Source | None) -> MembersParameters:
        labels = self._labels(schema)
        return MembersParameters(members, labels, len(labels))

    def _iteration_limit(self) -> int | None:
        return None

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        labels = self._labels(source.schema)
        if len(labels) < 2 and source.schema.classes is not None:
            raise DataError(
                f"{type(self).__name__} can not be fit when only one class is present: y holds "
                f"{labels.tolist()[0]!r} and nothing else; add rows of another class."
            )
        alike = self._alike(source, engine)
        sources = self._sources(source, alike)
        members: list[Any] = self._foreign(sources, alike)
        left = [k for k, member in enumerate(members) if member is None]
        for k, _ in zip(left, trace.iterations(len(left)), strict=False):
            base = MajorityClassifier() if k in alike else self.estimator
            members[k] = _own_member(base, sources[k], engine)
            trace.record(gap=members[k].certificate_.value)
        missing = sum(member is None for member in members)
        if missing:
            raise DataError(
                f"{type(self).__name__}: a callback stopped the fit after {len(members) - missing} of "
                f"{len(members)} binary classifiers, and prediction needs all of them: let the fit finish."
            )
        proofs = [member.certificate_ for member in members if isinstance(member, Estimator)]
        proof = _worst(proofs if self._is_own() else [_again(0.0), *proofs])
        self._schema = source.schema
        return Learned(self._learnt(members, source.schema, source), proof)

    def _is_own(self) -> bool:
        """Whether members prove what they learnt, and use all cores by themselves."""
        return isinstance(self.estimator, Estimator)

    def _sources(self, source: Source, alike: Collection[int]) -> list[Source]:
        """What each member sees; a regression sees its two classes as the numbers 0 and 1."""
        numbers = is_regressor(self.estimator)
        return [
            _part(source, MemberRows(rows), None) if numbers and k not in alike else _part(source, rows, TWO)
            for k, rows in enumerate(self._parts(source.schema))
        ]

    def _accepted(self) -> Accepts:
        return accepted_by(self.estimator, self.accepts)

    def _foreign(self, sources: list[Source], alike: Collection[int]) -> list[Any]:
        """Fit members of other libraries, one a core: BLAS is held to one thread; None for ours."""
        if self._is_own():
            return [None] * len(sources)
        batches = [None if k in alike else in_memory(source) for k, source in enumerate(sources)]
        if any(batch is None and k not in alike for k, batch in enumerate(batches)):
            raise DataError(
                f"{type(self).__name__}: a {type(self.estimator).__name__} cannot read a table piece by "
                "piece: use surefit's own estimators, or load the table as one array."
            )
        with ThreadPoolExecutor(threads()) as pool:
            return list(pool.map(self._foreign_member, batches))

    def _foreign_member(self, batch: Batch | None) -> Any:
        if batch is None:
            return None
        weights = {} if batch.weight is None else {"sample_weight": batch.weight}
        return clone(self.estimator).fit(batch.X, np.asarray(batch.y), **weights)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        alike = {k for k, member in enumerate(self.estimators_) if isinstance(member, MajorityClassifier)}
        alike = set() if isinstance(self.estimator, MajorityClassifier) else alike
        sources = self._sources(source, alike)
        proofs = [
            certify(member, part, engine)
            for member, part in zip(self.estimators_, sources, strict=True)
            if isinstance(member, Estimator)
        ]
        if self._is_own():
            return _worst(proofs)
        if self.certificate_.claim == "estimated":
            raise RefusalError(
                f"the members of this {type(self).__name__} were fitted by partial_fit, which keeps no rows, "
                "so its certificate cannot be recomputed: fit all rows at once."
            )
        pairs = zip(self.estimators_, sources, self._foreign(sources, alike), strict=True)
        gaps = [_apart(one, two, part) for one, part, two in pairs if two is not None]
        return _worst([_again(max(gaps, default=0.0)), *proofs])

    @available_if(member_has("partial_fit"))
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Let every member learn from more rows; the first call names all ``classes`` there will ever be."""

        def step() -> None:
            validate(self)
            first = not self.__sklearn_is_fitted__()
            known = classes if first else self.classes_
            self._hold_classes(y, known)
            source = self._source(X, y, sample_weight, reset=first, classes=known)
            schema = source.schema if first else self._schema
            if not first and (schema.classes is None) != (source.schema.classes is None):
                raise DataError(
                    "y is multilabel in one call of partial_fit and has one class per row in another: use "
                    "the same kind of target in all calls."
                )
            members = [None] * len(self._parts(schema)) if first else self.estimators_
            wrong = self._share_wrong(source, first)
            self.trace_ = Trace()
            members = updated_members(self.estimator, members, self._parts(schema), source)
            proofs = [member.certificate_ for member in members if hasattr(member, "certificate_")]
            if not self._is_own():
                measure = "share of rows misclassified before they were learnt from"
                proofs = [Certificate("estimated", measure, wrong, np.inf)]
            self._schema = schema
            self._adopt(Learned(self._learnt(members, schema, None), _worst(proofs)), schema)

        return self._atomically(step)

    def _hold_classes(self, y: Any, known: Any) -> None:
        """Refuse classes that were not named, in scikit-learn's words."""

    def _share_wrong(self, source: Source, first: bool) -> float:
        """Return how much of the rows the members get wrong before they learn from them; all at first."""
        if first or self._is_own():
            return 1.0
        wrong = total = 0.0
        for batch in source:
            y = np.asarray(batch.y)
            given = y if source.schema.classes is None else source.schema.classes[y]
            wrong += float(np.sum(np.any((self._label(batch.X) != given).reshape(len(y), -1), axis=1)))
            total += len(y)
        return wrong / max(total, 1.0)

    def _seen(self, member: int, X: Any) -> Any:
        """Return what a member is asked about, of checked rows."""
        return X

    def _scores_of_members(self, X: Any) -> NDArray[np.float64]:
        return np.column_stack([_score(m, self._seen(k, X)) for k, m in enumerate(self.estimators_)])

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the class of each row, or write it ``to`` a file."""
        return self._answer(self._label, X, to, ["prediction"])

    def decision_function(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the scores, (n,) for two classes and (n, k) for more, or write them ``to`` a file."""
        names = self._class_names()
        return self._answer(self._decision, X, to, names[1:] if len(names) == 2 else names)

    @abstractmethod
    def _decision(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of checked rows."""

    def _label(self, X: Any) -> NDArray[Any]:
        scores = self._decision(X)
        if scores.ndim == 2:
            return self.classes_[np.argmax(scores, axis=1)]
        return self.classes_[(scores > threshold(self.estimators_[0])).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.pairwise = inner.input_tags.pairwise
        return tags


@dataclass(frozen=True, slots=True)
class MemberRows:
    """The rows of a member, its target as numbers."""

    rows: Rows

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such a target."""
        found = self.rows(batch)
        return replace(found, y=np.asarray(found.y, dtype=np.float64))


def _part(source: Source, rows: Rows, labels: NDArray[Any] | None) -> Source:
    """Return what a member sees; its columns have no names, as it is asked through their owner alone."""
    schema = replace(source.schema, classes=labels, columns=None, rows=None, targets=1, target_is_flat=True)
    if isinstance(source, ArraySource):
        batch = rows(source.batch)
        return ArraySource(replace(schema, width=batch.X.shape[1]), batch)
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


def _apart(one: Any, two: Any, source: Source) -> float:
    """Return by how much the scores of two members differ at most."""
    batch = in_memory(source)
    assert batch is not None
    return float(np.abs(_score(one, batch.X) - _score(two, batch.X)).max())


def chosen_second(member: Any, X: Any) -> NDArray[np.bool_]:
    """Return whether a member takes rows to be of its second class."""
    found = member.predict(X)
    return np.asarray(found == member.classes_[-1] if hasattr(member, "classes_") else found > 0.5)


def threshold(member: Any) -> float:
    """Return the score above which a member takes a row to be of its second class."""
    return 0.0 if hasattr(member, "decision_function") else 0.5


def _worst(proofs: list[Certificate]) -> Certificate:
    """Return the proof of the member that is farthest from its tolerance."""
    tiny = np.finfo(float).tiny
    worst = max(proofs, key=lambda proof: (not proof.holds, proof.value / max(proof.tolerance, tiny)))
    return replace(worst, measure=f"{worst.measure}, of the worst of {len(proofs)} members", witness={})


def _again(value: float) -> Certificate:
    """Return what there is to say of members that prove nothing: that fitting them again gives the same."""
    return Certificate("fixed point", "scores of the members, fitted again", value, 1e-6)
