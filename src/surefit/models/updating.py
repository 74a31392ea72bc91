"""Estimators whose fit is one statistic: they can take more rows later, give rows back, and two fitted ones
can be joined, exactly.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import deepcopy
from types import MethodType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import RefusalError
from surefit.core.parameters import validate
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import admit
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine, choose_engine
from surefit.models.base import Estimator, Learned
from surefit.stats.base import Statistic


class OneStatistic(Estimator, abstract=True):
    """A fit in one pass: ``_learn`` accumulates ``_of()`` and hands the sum to ``_finish``.

    shaping: the parameters that the statistic itself depends on; rows gathered under others do not add up.
    """

    shaping: ClassVar[tuple[str, ...]] = ()
    statistic_: Statistic

    @abstractmethod
    def _of(self, schema: Schema) -> Callable[[Batch], Statistic]:
        """Return the function from a batch to the statistic."""

    @abstractmethod
    def _finish(self, statistic: Any, schema: Schema) -> Learned:
        """Turn the sum into parameters and certificate."""

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        self.statistic_ = engine.accumulate(self._of(source.schema), source)
        self._schema = source.schema
        return self._finish(self.statistic_, source.schema)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Update the fit with more rows: the result is that of one ``fit`` on all rows seen so far."""
        return self._add(X, y, sample_weight)

    def _add(self, X: Any, y: Any, weight: Any, classes: Any = None) -> Self:
        def step() -> None:
            validate(self)
            first = not self.__sklearn_is_fitted__()
            known = classes if first else self._known_classes(classes)
            source = admit(self, self._accepted(), X, y, weight, reset=first, classes=known)
            schema = source.schema if first else self._schema
            kept = None if first else self._kept()
            statistic = choose_engine(source).accumulate(self._of(schema), source)
            self.statistic_ = statistic if kept is None else kept + statistic
            self._schema = schema
            self.trace_ = Trace()
            self._adopt(self._finish(self.statistic_, schema), schema)

        return self._atomically(step)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove rows from the fit: the result is that of one ``fit`` on the others.

        Only rows that were fitted before, with the same weights, can be removed. A statistic that does not
        support removal, or would lose too many digits by it, refuses.
        """
        check_is_fitted(self)

        def step() -> None:
            validate(self)
            kept, schema = self._kept(), self._schema
            source = admit(
                self, self._accepted(), X, y, sample_weight, reset=False, classes=self._known_classes(None)
            )
            left = kept - choose_engine(source).accumulate(self._of(schema), source)
            self.statistic_ = left
            self.trace_ = Trace()
            self._adopt(self._finish(left, schema), schema)

        return self._atomically(step)

    def _kept(self) -> Any:
        """The statistic of all rows seen so far."""
        if "statistic_" not in self.__dict__:
            raise RefusalError(
                f"this {type(self).__name__} kept no statistic to add rows to or remove them from: "
                f"{self._why_nothing_kept()}. Fit again on all rows, or start with partial_fit."
            )
        self._hold_shape("the rows so far", self.__dict__.get("_shape", self._asked_shape()))
        return self.statistic_

    def _adopt(self, learned: Learned, schema: Schema) -> None:
        super()._adopt(learned, schema)
        if self.shaping:
            # What cannot be copied, such as a generator of splits, is not changed behind our back either.
            self._shape = {name: _copied(value) for name, value in self._asked_shape().items()}

    def _asked_shape(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.shaping}

    def _hold_shape(self, rows: str, shape: dict[str, Any]) -> None:
        """Refuse to add up ``rows`` that were gathered under other parameters than those of now."""
        for name, value in self._asked_shape().items():
            if not _alike(shape[name], value):
                raise RefusalError(
                    f"{rows} were accumulated with {name}={shape[name]!r}, which their statistic depends "
                    f"on, so they cannot be combined with rows under {name}={value!r}: fit all rows with "
                    f"one {name}."
                )

    def _why_nothing_kept(self) -> str:
        """The reason, in words, why a fit of this class may keep no statistic."""
        return "it was not fitted from one"

    def _known_classes(self, classes: Any) -> Any:
        known = self._schema.classes
        if (
            classes is not None
            and known is not None
            and not np.array_equal(np.unique(np.asarray(classes)), known)
        ):
            raise RefusalError(
                f"{type(self).__name__}.partial_fit was first called with classes {known.tolist()}; "
                "later calls must give the same, or none."
            )
        return known

    def merge(self, other: Self) -> Self:
        """Update the fit with all rows that another fitted estimator of the same class has seen; the other is
        unchanged.
        """
        check_is_fitted(self)
        if type(other) is not type(self):
            raise RefusalError(
                f"a {type(self).__name__} can only merge with another, not with a {type(other).__name__}."
            )
        check_is_fitted(other)
        mine, theirs = self._schema, other._schema
        if (mine.width, mine.names) != (theirs.width, theirs.names):
            raise RefusalError(
                f"the two models saw different columns: {mine.names or mine.width} "
                f"and {theirs.names or theirs.width}."
            )
        if mine.targets != theirs.targets or not _equal_classes(mine, theirs):
            raise RefusalError(
                "the two models saw different targets; fit both with the same classes and number of outputs."
            )

        def step() -> None:
            mine_so_far = self._kept()
            self._hold_shape("the rows of the other model", other._asked_shape())
            self.statistic_ = mine_so_far + other._kept()
            self._adopt(self._finish(self.statistic_, mine), mine)

        return self._atomically(step)


def _copied(value: Any) -> Any:
    try:
        return deepcopy(value)
    except TypeError:
        return value


class UnavailableError(RefusalError, AttributeError):
    """A method that this estimator does not have as it is set; the message gives the reason."""


class ConditionalMethod:
    """A method that is there only where ``reason(estimator)`` is None; else asking for it gives the reason.

    ``hasattr`` answers False then, so that whoever asks first is told the truth. Without a method there is
    none, whatever the estimator.
    """

    def __init__(self, reason: Callable[[Any], str | None], method: Callable[..., Any] | None = None) -> None:
        self._reason = reason
        self._method = method

    def __get__(self, estimator: Any, cls: type | None = None) -> Any:
        if estimator is None and self._method is not None:
            return self._method
        reason = self._reason(estimator)
        if reason is not None or self._method is None:
            raise UnavailableError(reason)
        return MethodType(self._method, estimator)


def _alike(one: Any, two: Any) -> bool:
    """Whether two parameters are the same; NaN, which marks missing cells, is the same as NaN."""
    both_nan = isinstance(one, float) and isinstance(two, float) and one != one and two != two
    return bool(one is two or both_nan or np.all(one == two))


def _equal_classes(one: Schema, two: Schema) -> bool:
    if one.classes is None or two.classes is None:
        return one.classes is two.classes
    return np.array_equal(one.classes, two.classes)


class OneStatisticClassifier(ClassifierMixin, OneStatistic, abstract=True):
    """The same for classifiers, whose first ``partial_fit`` must know all classes."""

    classes_: NDArray[Any]

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Update the fit with more rows; the first call gives all ``classes``, by default those in its y."""
        return self._add(X, y, sample_weight, classes)
