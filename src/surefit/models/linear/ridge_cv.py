"""Ridge with the penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.parameters import Has, Interval, Positive
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.linear import leave_one_out, ridge_fit, ridge_folds
from surefit.models.linear.base import LinearPrediction
from surefit.models.linear.classification import LinearClassification
from surefit.models.linear.leave_one_out import LeftOut
from surefit.models.linear.passes import in_memory
from surefit.models.linear.ridge import NoInference, certify_ridge, ridge_shaped
from surefit.models.linear.ridge_classifier import ClassWeight, class_evidence, signed_source
from surefit.models.linear.ridge_fit import Fitted, Problem
from surefit.models.linear.ridge_scores import Scores, scores_of
from surefit.models.linear.rows import gathered
from surefit.stats.moments import Moments

Alphas = np.ndarray | list | tuple | Positive
Folds = Annotated[int, Interval(2, None)] | Annotated[object, Has("split", "__iter__")] | None
Scoring = str | Callable[..., Any] | None


@dataclass(frozen=True, slots=True)
class RidgeCVParameters:
    """A ridge fit, the penalty chosen and its score; what each row scored, if that was asked for."""

    coef: NDArray[np.float64]
    intercept: Any
    alpha: Any
    best_score: Any
    effective_dof: Any
    cv_results: NDArray[np.float64] | None


class RidgeCVBase(NoInference, Estimator, abstract=True):
    """What choosing the penalty shares for numbers and for classes."""

    alphas: Any
    fit_intercept: bool
    scoring: Any
    cv: Any
    store_cv_results: bool
    alpha_per_target: bool = False
    alpha_: Any
    coef_: NDArray[np.float64]
    intercept_: Any

    def _chosen(
        self, source: Source, engine: Engine, trace: Trace, classes: NDArray[Any] | None = None
    ) -> Learned:
        """Choose from a source of numbers, and fit with what was chosen."""
        schema, alphas = source.schema, self._candidates()
        flat = schema.target_is_flat and schema.classes is None
        judge = scores_of(self.scoring, flat, classes, self.alpha_per_target and not flat)
        short = schema.rows is not None and schema.rows < schema.width
        moments = None if short else engine.accumulate(Moments.of, source)
        if self.cv is None:
            scores, results = self._leaving_one_out(source, engine, moments, alphas, judge)
        else:
            scores, results = self._by_folds(source, engine, alphas, judge), None
        best = np.argmax(scores, axis=0)  # the first of equals
        strength = np.array(np.broadcast_to(alphas[best], schema.targets))
        problem = Problem(strength, self.fit_intercept)
        each = np.ndim(best) > 0 and len(best) > 1
        chosen: Any = alphas[best] if each else float(alphas[np.ravel(best)[0]])
        score: Any = (
            np.take_along_axis(scores, best[None], axis=0)[0] if np.ndim(best) else float(scores[best])
        )

        def learned(found: Fitted) -> Learned:
            dof = None if found.dof is None else (found.dof if each else float(found.dof[0]))
            coef, intercept = ridge_shaped(found, flat, self.fit_intercept)
            parameters = RidgeCVParameters(coef, intercept, chosen, score, dof, results)
            return self._told(Learned(parameters, found.certificate, found.evidence), classes)

        if moments is None:
            return learned(ridge_fit.fit(source, engine, trace, problem, learned))
        return learned(ridge_fit.from_sums(source, engine, moments, problem))

    def _told(self, learned: Learned, classes: NDArray[Any] | None) -> Learned:
        """What is learnt of numbers, as what this class learns."""
        return learned

    def _candidates(self) -> NDArray[np.float64]:
        who = type(self).__name__
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64)).ravel()
        least = "above 0" if self.cv is None else "of at least 0"
        allowed = np.isfinite(alphas) & ((alphas > 0) if self.cv is None else (alphas >= 0))
        if len(alphas) == 0 or not allowed.all():
            raise ParameterError(
                f"{who}: alphas={self.alphas!r} must be finite numbers {least}, at least one."
            )
        for name in ("store_cv_results", "alpha_per_target"):
            if self.cv is not None and getattr(self, name):
                raise ParameterError(
                    f"{who}: cv!=None and {name}=True are incompatible: leave cv out, or {name}."
                )
        return alphas

    def _leaving_one_out(
        self,
        source: Source,
        engine: Engine,
        moments: Moments | None,
        alphas: NDArray[np.float64],
        judge: Scores,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """The score of each penalty, and of each row if that was asked for."""
        pieces: Iterator[LeftOut]
        if moments is None:
            batch = gathered(source)
            rows = len(batch) if batch.weight is None else int(np.count_nonzero(batch.weight))
            pieces = (
                iter(()) if rows < 2 else iter([leave_one_out.from_rows(batch, alphas, self.fit_intercept)])
            )
        else:
            rows = moments.rows
            pieces = leave_one_out.from_moments(source, engine, moments, alphas, self.fit_intercept)
        if rows < 2:
            raise DataError(
                f"{type(self).__name__} leaves one row out at a time, which n_samples={rows} does not allow: "
                "give more rows, or use Ridge."
            )
        return judge.leaving_one_out(pieces, store=self.store_cv_results)

    def _by_folds(
        self, source: Source, engine: Engine, alphas: NDArray[np.float64], judge: Scores
    ) -> NDArray[np.float64]:
        """The score of each penalty, a mean over folds that count alike."""
        batch = in_memory(source)
        if batch is not None:
            from sklearn.model_selection import check_cv

            labels = judge.labels(np.asarray(batch.y))
            splitter = check_cv(self.cv, labels, classifier=judge.classes is not None)
            splits = list(splitter.split(batch.X, labels))
            tested = ridge_folds.in_memory_folds(batch, splits, alphas, self.fit_intercept)
        elif isinstance(self.cv, int | np.integer):
            tested = ridge_folds.source_folds(source, engine, int(self.cv), alphas, self.fit_intercept)
        else:
            raise RefusalError(
                f"{type(self).__name__}: a source that is not in memory is cut into folds by row number: "
                "give cv as a number of folds."
            )
        return np.mean([judge.of_fold(fold) for fold in tested], axis=0)

    def _certify_numbers(self, source: Source, engine: Engine) -> Certificate:
        strength = np.array(np.broadcast_to(self.alpha_, source.schema.targets), dtype=np.float64)
        return certify_ridge(self, source, engine, Problem(strength, self.fit_intercept))


class RidgeCV(LinearPrediction, RegressorMixin, RidgeCVBase):
    r"""Ridge with the penalty that predicts best for rows left out; all penalties from one decomposition.

    alphas: the penalties to choose from. cv: None leaves out one row at a time, in closed form, :math:`(y_i -
    \hat y_i) / (1 - H_{ii})`, a weighted row left out whole; else as in scikit-learn, the moments of the
    training rows being those of all rows minus the fold's. scoring: None is the mean of weighted squared
    errors, negated (R2 with folds). store_cv_results: keep ``cv_results_``. alpha_per_target: choose for each
    target. gcv_mode: without effect.

    The certificate is that of :class:`~surefit.Ridge` at the penalty chosen.

    >>> import numpy as np
    >>> from surefit import RidgeCV
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = RidgeCV(alphas=[0.1, 1.0, 10.0]).fit(X, [1.0, 2.0, 2.0, 5.0])
    >>> model.alpha_, round(model.best_score_, 6)
    (0.1, -2.207391)
    """

    accepts = Accepts(target="number", several_targets=True)
    learns = RidgeCVParameters

    def __init__(
        self,
        alphas: Alphas = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Scoring = None,
        cv: Folds = None,
        gcv_mode: Literal["auto", "svd", "eigen"] | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        return self._chosen(source, engine, trace)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        return self._certify_numbers(source, engine)


@dataclass(frozen=True, slots=True)
class RidgeClassifierCVParameters(RidgeCVParameters):
    """The same, and the labels."""

    classes: NDArray[Any]


class RidgeClassifierCV(LinearClassification, ClassifierMixin, RidgeCVBase):
    r"""A ridge classifier with the penalty that predicts best for rows left out.

    Targets of +1 and -1 are fitted as in :class:`~surefit.RidgeClassifier`, and the penalty is chosen as in
    :class:`~surefit.RidgeCV`; with folds, by accuracy.

    >>> from surefit import RidgeClassifierCV
    >>> X = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]]
    >>> model = RidgeClassifierCV().fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.predict([[1.5], [6.5]]).tolist(), model.alpha_
    (['low', 'high'], 1.0)
    """

    accepts = Accepts(target="class")
    learns = RidgeClassifierCVParameters

    def __init__(
        self,
        alphas: Alphas = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Scoring = None,
        cv: Folds = None,
        class_weight: ClassWeight = None,
        store_cv_results: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        signed = signed_source(source, engine, self.class_weight)
        return self._chosen(signed, engine, trace, source.schema.classes)

    def _told(self, learned: Learned, classes: NDArray[Any] | None) -> Learned:
        assert classes is not None
        values = {entry.name: getattr(learned.parameters, entry.name) for entry in fields(RidgeCVParameters)}
        parameters = RidgeClassifierCVParameters(**values, classes=classes)
        return Learned(parameters, learned.certificate, class_evidence(learned.evidence, classes))

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        return self._certify_numbers(signed_source(source, engine, self.class_weight), engine)
