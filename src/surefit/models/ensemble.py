"""What ensembles of any base model share: copies of it, each with its own seed, and how rows reach them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.config import threads
from surefit.core.errors import RefusalError
from surefit.core.parameters import Has, validate
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts, is_streamed
from surefit.data.read import read
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, Source, in_memory
from surefit.engine.base import Engine
from surefit.models.base import Estimator, admitted, certify, fit_admitted, has_callbacks
from surefit.models.rows_in_memory import MOST_BYTES, gathered
from surefit.stats.missing import Missing

Member = Annotated[object, Has("fit")]
MOST_SEED = 2**31 - 1
STATED = 1e-9  # by how much a number that is computed again may differ, relative to its scale


class Ensemble(Estimator, abstract=True):
    """An estimator whose answers are those of its members, taken together."""

    estimator: Any
    estimators_: list[Any]

    def _base(self) -> Any:
        """The model that members are copies of."""
        return self._default_base() if self.estimator is None else self.estimator

    @abstractmethod
    def _default_base(self) -> Any:
        """The model to copy where none is given."""

    def _checked_base(self) -> Any:
        """The same, its parameters checked where it is a model of surefit: copies are as valid as it is."""
        base = self._base()
        if isinstance(base, Estimator):
            validate(base)
        return base

    def _accepted(self) -> Accepts:
        return accepted_by(self._base(), self.accepts)

    @property
    def estimator_(self) -> Any:
        """The model that the members are copies of."""
        check_is_fitted(self)
        return self._base()

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: int) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._base())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def accepted_by(base: Any, accepts: Accepts) -> Accepts:
    """What an ensemble can be fed, given what its base model can."""
    if isinstance(base, Estimator):
        own = base._accepted()
        return replace(accepts, sparse=own.sparse, missing=own.missing)
    missing = get_tags(_first_step(base)).input_tags.allow_nan
    return replace(accepts, sparse=get_tags(base).input_tags.sparse, missing=missing)


def takes_as_given(base: Any, X: Any) -> bool:
    """Whether an array goes to members as it came: a model of others that says that it checks nothing, or
    whose first step says so, gets any cells, and any of others gets rows of more than one dimension.

    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> cells = np.array([[1, None], [2, "a"]])
    >>> model = make_pipeline(FunctionTransformer(), DummyClassifier())
    >>> [takes_as_given(model, X) for X in (cells, [[1], [2]])]
    [True, False]
    """
    if isinstance(base, Estimator) or type(X) is not np.ndarray or X.ndim < 2 or X.size == 0:
        return False
    return X.ndim > 2 or bool(get_tags(_first_step(base)).no_validation)


def _first_step(base: Any) -> Any:
    """Of a pipeline, the step that meets the cells."""
    steps = [step for _, step in getattr(base, "steps", ()) if hasattr(step, "fit")]
    return steps[0] if steps else base


def takes_frames(base: Any) -> bool:
    """Whether a model takes frames with categories: those of others look for themselves."""
    return base._accepted().tables if isinstance(base, Estimator) else True


def all_rows(source: Source, engine: Engine) -> tuple[Batch, dict[str, Any]]:
    """All rows in one batch, and evidence of them; what a stream lacks is counted in a pass of its own."""
    inside = in_memory(source)
    size = 8 * (source.schema.rows or 0) * source.schema.width
    if inside is None and size > MOST_BYTES:
        raise RefusalError(
            f"an ensemble needs all rows in memory, which takes {size / 2**30:.3g} GiB here: "
            "give fewer rows or columns, or use a single model that reads in batches."
        )
    cells = None if inside is not None else engine.accumulate(Missing.of, source)
    batch = gathered(source) if inside is None else inside
    evidence: dict[str, Any] = {"rows": len(batch)}
    return batch, evidence if cells is None else {**evidence, "cells": (cells.weight, cells.missing)}


def is_own(base: Any) -> bool:
    """Whether a model, or the last step of a pipeline, is one of surefit's."""
    return isinstance(base.steps[-1][1] if hasattr(base, "steps") else base, Estimator)


def takes_weights(base: Any) -> bool:
    """Whether a model can be fitted to weighted rows."""
    cls: Any = type(base)
    own = isinstance(base, Estimator)
    return _class_takes_weights(cls) if own else bool(has_fit_parameter(base, "sample_weight"))


def can_be_weighted(base: Any) -> bool:
    """Whether weights can reach a model: its own, or the last step of a pipeline."""
    return takes_weights(base) or (hasattr(base, "steps") and takes_weights(base.steps[-1][1]))


def _fit_weighted(member: Any, X: Any, y: NDArray[Any], weight: Vector) -> None:
    """Fit to weighted rows; every step of a pipeline that takes weights has them."""
    if takes_weights(member) or not hasattr(member, "steps"):
        member.fit(X, y, sample_weight=weight)
    elif is_streamed(X) and hasattr(member, "_fit_source"):  # an Arrow table, and a pipeline of surefit
        member.fit(read(X, target=y, weight=weight))
    else:
        weighted = [name for name, step in member.steps if hasattr(step, "fit") and takes_weights(step)]
        member.fit(X, y, **{f"{name}__sample_weight": weight for name in weighted})


@cache
def _class_takes_weights(cls: Any) -> bool:
    return bool(has_fit_parameter(cls, "sample_weight"))


def seeded(base: Any, generator: np.random.Generator) -> Any:
    """A copy of a model; wherever it draws at random, it has a seed from the generator."""
    member = clone(base)
    names = [name for name in sorted(member.get_params(deep=True)) if name.endswith("random_state")]
    seeds = {name: int(generator.integers(MOST_SEED)) for name in names}
    return member.set_params(**seeds) if seeds else member


class EncodedTarget(NamedTuple):
    """A target of classes as codes, and the labels that they stand for, each of which is there."""

    codes: NDArray[np.int64]
    labels: NDArray[Any]


def fit_member(
    member: Any, X: Any, y: NDArray[Any], weight: Vector | None, coded: EncodedTarget | None
) -> Any:
    """Fit a member to rows that the ensemble has checked; ``coded`` is y once more, where it is known."""
    quick = isinstance(member, Estimator) and member.takes_checked_rows
    quick = quick and (member.accepts.target == "class") == (coded is not None)
    quick = quick and type(member).fit is Estimator.fit  # and not that of someone's subclass
    if quick and type(X) is np.ndarray and X.flags.forc and y.ndim == 1 and not has_callbacks(member):
        target, classes = (y, None) if coded is None else coded
        schema = Schema(X.shape[1], None, len(X), classes, targets=1)
        return fit_admitted(member, ArraySource(schema, Batch(X, target, weight)))
    if weight is None:
        member.fit(X, y)
    else:
        _fit_weighted(member, X, y, weight)
    return member  # for a model of someone else's may return nothing


def predicted(member: Any, X: Any) -> Any:
    """What a member predicts; some learn, and predict nothing."""
    found = member.predict(X) if hasattr(member, "predict") else None
    if found is None:
        raise NotImplementedError(
            f"{type(member).__name__} does not predict, so an ensemble of them cannot: "
            "give an estimator with a predict method."
        )
    return found


def jobs_for(n_jobs: int | None) -> int:
    """On how many threads members are fitted; all that are configured for None and for -1."""
    if n_jobs is None or n_jobs == -1:
        return threads()
    return max(1, n_jobs if n_jobs > 0 else threads() + 1 + n_jobs)


def proof_of(
    member: Estimator, X: Any, y: NDArray[Any], weight: Any, engine: Engine | None = None
) -> Certificate:
    """The certificate of a member, computed again from the rows that it was fitted to."""
    return certify(member, admitted(member, X, y, weight, reset=False), engine)


def relative_change(stated: Any, found: Any, scale: float) -> float:
    """By how much numbers differ from those that were stated, relative to a scale; NaN is equal to NaN."""
    one, two = np.asarray(stated, dtype=np.float64), np.asarray(found, dtype=np.float64)
    if one.shape != two.shape or (np.isnan(one) != np.isnan(two)).any():
        return float("inf")
    gap = np.abs(np.nan_to_num(one) - np.nan_to_num(two)).max(initial=0.0)
    return float(gap / scale) if scale > 0 else float(gap > 0)
