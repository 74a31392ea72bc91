"""The face of every estimator: scikit-learn's contract around one method, ``_learn``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, _clone_parametrized
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils.validation import check_is_fitted

from surefit.core.blas_threads import one_blas_thread
from surefit.core.certificate import STEP, Certificate, CertificateWarning
from surefit.core.diagnosis import Diagnosis, diagnose
from surefit.core.errors import DataError, SurefitError, warn
from surefit.core.parameters import validate
from surefit.core.registry import Registered
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.checks.float_range import RangeError
from surefit.data.door import Accepts, admit, admit_rows
from surefit.data.schema import Schema
from surefit.data.source import MappedSource, Source
from surefit.data.write import write_columns
from surefit.engine.base import Engine, choose_engine
from surefit.models.candidate import Candidate
from surefit.models.float_range import FEW, refuse_endless_answers, refuse_extreme_columns

if TYPE_CHECKING:
    from surefit.solvers.objective.newton_step import NewtonStep

PLAIN = {type(None), bool, int, float, str}
ALSO_CLONED = {"_metadata_request", "_skl_callbacks", "_sklearn_output_config"}  # beside the parameters


@dataclass(frozen=True, slots=True)
class Learned:
    """What a fit ends in: parameters (a frozen dataclass), certificate, and evidence for the diagnosis."""

    parameters: Any
    certificate: Certificate
    evidence: Mapping[str, Any] = field(default_factory=dict)


class Estimator(
    CallbackSupportMixin,
    Registered,
    BaseEstimator,
    kind="estimator",
    folder="surefit.models",
    named_by_class=True,
):
    """Base of all estimators.

    After ``fit``: one attribute for each field of ``learns``, with a trailing underscore, and
    ``certificate_``, ``diagnosis_``, ``trace_``. A fit that fails leaves the estimator as it was.
    """

    accepts: ClassVar[Accepts] = Accepts()
    learns: ClassVar[type]
    candidate: ClassVar[Candidate | None] = None  # how the family takes part in a study, if it does
    takes_checked_rows: ClassVar[bool] = False  # whether ensembles may skip the door for its rows
    _parameter_names: ClassVar[tuple[str, ...]]

    certificate_: Certificate
    diagnosis_: Diagnosis
    trace_: Trace
    n_features_in_: int

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """scikit-learn's list, made once a class: it is asked for several times a fit."""
        if "_parameter_names" not in cls.__dict__:
            cls._parameter_names = tuple(super()._get_param_names())
        return list(cls._parameter_names)

    @abstractmethod
    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        """Learn from a source; what a family writes."""

    @abstractmethod
    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Recompute the certificate of the fitted parameters from data, by a path that calls no solver."""

    def _newton_steps(self, source: Source, engine: Engine) -> Sequence[NewtonStep] | None:
        """How far Newton steps would move the coefficients of each target; None where there are none."""
        return None

    def _accepted(self) -> Accepts:
        """What this instance can be fed; for most, what its class says."""
        return self.accepts

    def check_loaded(self) -> None:
        """Refuse, with a FormatError, what a file says that no fit can have left: kernels and loops rely on
        it. What has the wrong type was refused before.
        """

    def _iteration_limit(self) -> int | None:
        """How many outer iterations ``_learn`` may record; 0 for a closed form, None if not known."""
        return 0

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a table.

        X: rows by columns: array, sparse matrix or data frame. y: the target, one entry a row.
        sample_weight: how often each row counts.
        """
        return self._atomically(lambda: self._fit(X, y, sample_weight))

    def _source(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None, **also: Any
    ) -> Source:
        """Check the data of a fit, or of its verification, and make a source of them."""
        if also:
            raise TypeError(
                f"{type(self).__name__} takes no {', '.join(also)} beside X, y and sample_weight."
            )
        return admit(self, self._accepted(), X, y, sample_weight, reset=reset, classes=classes)

    def _fit(self, X: Any, y: Any, sample_weight: Any, **also: Any) -> None:
        validate(self)
        source = self._source(X, y, sample_weight, **also)
        watch = _CallbackWatch(self, X, y, sample_weight) if has_callbacks(self) else None
        self.trace_ = Trace(watcher=watch)
        try:
            with one_blas_thread():
                learned = self._learn_in_range(source)
            self._adopt(learned, source.schema)
        finally:
            self.trace_.close()
        if watch is not None:
            watch.finish()

    def _learn_in_range(self, source: Source) -> Learned:
        """Learn; where arithmetic left the range of floats, say so, if it is for the scale of a column."""
        try:
            learned = self._learn(source, choose_engine(source), self.trace_)
        except RangeError as error:
            refuse_extreme_columns(source, error.limits)  # which knows the columns' names
            raise
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            refuse_extreme_columns(source)
            if isinstance(error, SurefitError) or has_callbacks(self):  # whose errors are their own
                raise
            raise DataError(
                f"{type(self).__name__}: arithmetic failed ({str(error).rstrip('.')}), for numbers too "
                "large, small or few: bring columns, target and weights nearer to 1, or give more rows."
            ) from error
        except ValueError as error:
            if not isinstance(error, SurefitError):  # numpy's, of shapes and numbers that overflow led to
                refuse_extreme_columns(source)
            raise
        if not np.isfinite(learned.certificate.value):
            refuse_extreme_columns(source)
        return learned

    def _fit_admitted(self, source: Source) -> Self:
        """Learn, as a member of a model, from rows that its door has let in: they are not checked again, nor
        is what is wrong with them told once more; parameters are taken as valid.
        """
        self.n_features_in_, self.trace_ = source.schema.width, Trace()
        learned = self._learn(source, choose_engine(source), self.trace_)
        self.__dict__.update(self._attributes(learned), diagnosis_=Diagnosis())
        return self

    def _atomically(self, step: Callable[[], None]) -> Self:
        """Run a step that changes the fitted state; if it fails, nothing has changed."""
        before = dict(self.__dict__)
        try:
            step()
        except BaseException:
            # What belongs to the running callbacks is theirs to take down.
            kept = {
                name: value
                for name, value in self.__dict__.items()
                if name.startswith(("_skl_", "_callback_"))
            }
            self.__dict__ = {**before, **kept}
            raise
        return self

    def _adopt(self, learned: Learned, schema: Schema) -> None:
        """Take over what was learnt, diagnose it, and warn when its certificate does not hold."""
        self.__dict__.update(self._attributes(learned))
        evidence = {"column_names": schema.names, "trace": self.trace_, "certificate": learned.certificate}
        self.diagnosis_ = diagnose({**evidence, **learned.evidence})
        if not learned.certificate.holds:
            found = [str(finding) for finding in self.diagnosis_ if finding.severity != "note"]
            message = " ".join([self._unproved(learned.certificate), *found])
            warn(message, CertificateWarning)

    def _unproved(self, certificate: Certificate) -> str:
        """Return the sentence that warns of a certificate that does not hold."""
        return f"{type(self).__name__}: {certificate.statement}"

    @staticmethod
    def _attributes(learned: Learned) -> dict[str, Any]:
        found = {
            f"{entry.name}_": getattr(learned.parameters, entry.name) for entry in fields(learned.parameters)
        }
        return {**found, "certificate_": learned.certificate}

    def _class_names(self) -> list[str]:
        """The classes as words, for the columns of answers; none before the fit."""
        return [str(label) for label in self.__dict__.get("classes_", ())]

    def _answer(
        self,
        method: Callable[[Any], Any],
        X: Any,
        to: Any = None,
        names: Sequence[str] = (),
        *,
        infinite: bool = False,
    ) -> Any:
        """Apply ``method`` to checked rows: at once for rows in memory, batch by batch for a source.

        ``to`` is a file for the answers of a source, written as they come, under ``names``. Answers are
        finite where the rows are, unless they may be ``infinite``, as logarithms of 0.
        """
        if "certificate_" not in self.__dict__:
            check_is_fitted(self)
        rows = admit_rows(self, self._accepted(), X)
        if not isinstance(rows, MappedSource):
            try:
                answer = method(rows)
            except np.linalg.LinAlgError as error:
                raise DataError(
                    f"{type(self).__name__}: arithmetic failed ({str(error).rstrip('.')}), for numbers too "
                    "large or too small: bring the columns nearer to 1."
                ) from error
            # Few answers are looked at here, without a call: a row is to be answered for at once.
            if (
                type(answer) is not np.ndarray
                or answer.size > FEW
                or (answer.dtype.kind == "f" and not np.logical_and.reduce(np.isfinite(answer), axis=None))
            ):
                refuse_endless_answers(type(self).__name__, rows, answer, infinite=infinite)
            if to is None:
                return answer
            write_columns(to, names, [answer])
            return None
        answers = choose_engine(rows).map(_OfRows(method, type(self).__name__, infinite), rows)
        if to is None:
            blocks = list(answers)
            if not blocks:
                raise DataError("the table has no rows.")
            return np.concatenate(blocks)
        write_columns(to, names, answers)
        return None

    def __sklearn_clone__(self) -> Self:
        """Return a copy that is not fitted; plain parameters need none of the care that others do."""
        given = self.get_params(deep=False)
        if ALSO_CLONED.isdisjoint(self.__dict__) and all(type(value) in PLAIN for value in given.values()):
            return type(self)(**given)
        return cast(Self, _clone_parametrized(self))

    def __sklearn_is_fitted__(self) -> bool:
        return "certificate_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.accepts.sparse
        tags.input_tags.pairwise = self._accepted().pairwise
        tags.target_tags.required = self.accepts.target != "none"
        tags.target_tags.multi_output = self.accepts.several_targets
        tags.target_tags.single_output = True
        return tags


def admitted(
    model: Estimator, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, **also: Any
) -> Source:
    """Check data as ``fit`` of a model does, or for ``reset=False`` as its verification, into a source."""
    if reset:
        return model._source(X, y, sample_weight, **also)
    classes = getattr(model, "classes_", None)
    return model._source(X, y, sample_weight, reset=False, classes=classes, **also)


def certify(model: Estimator, source: Source, engine: Engine | None = None) -> Certificate:
    """Recompute the certificate of a fitted model from the rows that it was fitted to, without a solver."""
    again = model._certify(source, choose_engine(source) if engine is None else engine)
    return model.certificate_.restated(again)


def certify_in_units(model: Estimator, source: Source) -> Certificate:
    """Recompute a certificate, and state beside it how far each coefficient can be from the best one."""
    engine = choose_engine(source)
    found = certify(model, source, engine)
    steps = model._newton_steps(source, engine) if found.claim in ("optimal", "stationary") else None
    if not steps:
        return found
    parts = {**found.parts, STEP: max(step.share for step in steps)}
    each = steps[0].steps if len(steps) == 1 else np.column_stack([step.steps for step in steps])
    return replace(found, parts=parts, witness={**found.witness, "steps": each})


def fit_admitted(model: Estimator, source: Source) -> Estimator:
    """Fit a member of an ensemble to rows that the ensemble has checked; its parameters count as valid."""
    return model._fit_admitted(source)


def accepted_by(model: Estimator) -> Accepts:
    """Return what a model, as its parameters are set, can be fed."""
    return model._accepted()


def has_callbacks(estimator: Any) -> bool:
    """Whether somebody is to be told how a fit goes on."""
    return bool(estimator.__dict__.get("_skl_callbacks"))


@dataclass(frozen=True, slots=True)
class _OfRows:
    method: Callable[[Any], Any]
    who: str
    infinite: bool

    def __call__(self, batch: Batch) -> Any:
        answer = self.method(batch.X)
        refuse_endless_answers(self.who, batch.X, answer, infinite=self.infinite)
        return answer


class _CallbackWatch:
    """Tell scikit-learn's callbacks of each iteration of a trace: one task for the fit, one below it for
    each iteration.
    """

    def __init__(self, estimator: Estimator, X: Any, y: Any, weight: Any) -> None:
        self._estimator = estimator
        self._data = {"X": X, "y": y, "metadata": None if weight is None else {"sample_weight": weight}}
        self._root = estimator._init_callback_context(max_subtasks=estimator._iteration_limit())
        self._root.call_on_fit_task_begin(estimator=estimator, **self._data)

    def begin(self, iteration: int) -> None:
        self._task = self._root.subcontext(task_name="iteration")
        self._task.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def end(self, trace: Trace, learned: Callable[[], Any] | None) -> bool:
        def attributes() -> dict[str, Any] | None:
            return None if learned is None else self._estimator._attributes(learned())

        data = {**self._data, "reconstruction_attributes": attributes}
        return bool(self._task.call_on_fit_task_end(estimator=self._estimator, **data))

    def finish(self) -> None:
        data = {**self._data, "reconstruction_attributes": dict}
        self._root.call_on_fit_task_end(estimator=self._estimator, **data)
