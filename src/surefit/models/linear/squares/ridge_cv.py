"""Ridge with the penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.parameters import Has, Interval, Positive
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.candidate import Candidate
from surefit.models.class_weight import ClassWeight
from surefit.models.linear.common.base import LinearPrediction
from surefit.models.linear.common.candidate_strengths import candidate_strengths
from surefit.models.linear.common.class_scores import LinearClassification
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.common.label_columns import TakesLabelColumns
from surefit.models.linear.squares import content_folds, leave_one_out, ridge_fit, ridge_folds
from surefit.models.linear.squares.constrained_cv import scores as constrained_scores
from surefit.models.linear.squares.constrained_squares import NOTHING_KEPT, ConstrainedSquares
from surefit.models.linear.squares.leave_one_out import LeftOut
from surefit.models.linear.squares.ridge import (
    NoInference,
    certify_ridge,
    constrained_ridge,
    fit_within,
    ridge_shaped,
)
from surefit.models.linear.squares.ridge_classifier import class_evidence, labels_of, signed_source
from surefit.models.linear.squares.ridge_fit import Fitted, Problem
from surefit.models.linear.squares.ridge_scores import Scores, scores_of
from surefit.models.rows_in_memory import gathered
from surefit.models.updating import ConditionalMethod, OneStatistic
from surefit.stats.base import Joint
from surefit.stats.moments import Moments

Alphas = np.ndarray | list | tuple | Positive
Folds = Annotated[int, Interval(2, None)] | Annotated[object, Has("split", "__iter__")] | None
Scoring = str | Callable[..., Any] | None
Solve = Callable[[Problem, Callable[[Fitted], Any]], Fitted]


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
    folds: str = "order"
    constraints: Any = None
    alpha_: Any
    coef_: NDArray[np.float64]
    intercept_: Any

    def _chosen(
        self, source: Source, engine: Engine, trace: Trace, classes: NDArray[Any] | None = None
    ) -> Learned:
        """Choose from a source of numbers, and fit with what was chosen."""
        schema, alphas = source.schema, self._candidates()
        flat = schema.target_is_flat and schema.classes is None
        columns = classes is None and isinstance(self, TakesLabelColumns)
        judge = scores_of(self.scoring, flat, classes, self.alpha_per_target and not flat, columns)
        if self.constraints is not None:
            strength = np.zeros(schema.targets)  # each candidate brings its own
            scores, results = constrained_scores(
                self._constrained(Problem(strength, self.fit_intercept)),
                source,
                engine,
                alphas,
                judge,
                self.cv,
                by_content=self.folds == "content",
                store=self.store_cv_results,
            )
            within: Solve = partial(self._solve_within, source, engine, trace)
            return self._with_best(alphas, scores, schema, within, results, classes)
        short = schema.rows is not None and schema.rows < schema.width
        moments = None if short else engine.accumulate(Moments.of, source)
        if self.cv is None:
            scores, results = self._leaving_one_out(source, engine, moments, alphas, judge)
        else:
            scores, results = self._by_folds(source, engine, alphas, judge), None
        solve: Solve = partial(ridge_fit.fit, source, engine, trace)
        if moments is not None:
            solve = self._solver(moments, source, engine)
        return self._with_best(alphas, scores, schema, solve, results, classes)

    @staticmethod
    def _solver(moments: Moments, source: Source | None = None, engine: Engine | None = None) -> Solve:
        """Solve from moments; with the data at hand, these take over where moments do not do."""
        if source is None or engine is None:
            return lambda problem, told: ridge_fit.by_moments(moments, problem)
        return lambda problem, told: ridge_fit.from_sums(source, engine, moments, problem)

    def _constrained(self, problem: Problem) -> ConstrainedSquares:
        return constrained_ridge(self, problem)

    def _solve_within(
        self, source: Source, engine: Engine, trace: Trace, problem: Problem, told: Any
    ) -> Fitted:
        return fit_within(self._constrained(problem), source, engine, trace)

    def _with_best(
        self,
        alphas: NDArray[np.float64],
        scores: NDArray[np.float64],
        schema: Schema,
        solve: Solve,
        results: NDArray[np.float64] | None = None,
        classes: NDArray[Any] | None = None,
    ) -> Learned:
        """Fit with the penalty that scores best; the first of equals."""
        flat = schema.target_is_flat and schema.classes is None
        best = np.argmax(scores, axis=0)
        problem = Problem(np.array(np.broadcast_to(alphas[best], schema.targets)), self.fit_intercept)
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

        return learned(solve(problem, learned))

    def _told(self, learned: Learned, classes: NDArray[Any] | None) -> Learned:
        """What is learnt of numbers, as what this class learns."""
        return learned

    def _candidates(self) -> NDArray[np.float64]:
        who = type(self).__name__
        alphas = candidate_strengths(who, self.alphas, above_zero=self.cv is None)
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
                f"{type(self).__name__}: a source that is not in memory is split into folds by row number: "
                "give cv as a number of folds."
            )
        return np.mean([judge.of_fold(fold) for fold in tested], axis=0)

    def _certify_numbers(self, source: Source, engine: Engine) -> Certificate:
        strength = np.array(np.broadcast_to(self.alpha_, source.schema.targets), dtype=np.float64)
        return certify_ridge(self, source, engine, Problem(strength, self.fit_intercept))


def _why_rows_stay(model: RidgeCV) -> str | None:
    """Why rows can neither be added nor removed, as the model is set; None if they can."""
    if model.constraints is not None:
        return f"RidgeCV: {NOTHING_KEPT}; fit all rows at once."
    if model.folds == "content" and model.cv is not None:
        return None
    if model.cv is None:
        how = "cv=None leaves out one row at a time, which needs the rows themselves"
    else:
        how = f"cv={model.cv!r} assigns folds by row number, which changes when rows are added or removed"
    return f"RidgeCV: {how}: set cv=5 and folds='content', for example, or continue with Ridge at alpha_."


class RidgeCV(LinearPrediction, RegressorMixin, RidgeCVBase, OneStatistic):
    r"""Ridge with the penalty that predicts best for rows left out; all penalties from one decomposition.

    alphas: the penalties to choose from. cv: None leaves out one row at a time, in closed form, :math:`(y_i -
    \hat y_i) / (1 - H_{ii})`, a weighted row left out whole; else as in scikit-learn, the moments of the
    training rows being those of all rows minus the fold's. scoring: None is the mean of weighted squared
    errors, negated (R2 with folds). store_cv_results: keep ``cv_results_``. alpha_per_target: choose for each
    target. gcv_mode: without effect. folds: "order" assigns ``cv`` folds by row number, as scikit-learn
    does; "content" by the values of the row, equal rows together, so that weight 2 is the row twice.
    constraints: as in :class:`~surefit.LinearModel`; every fold keeps them, at a fit each, so that cv=None is
    for few rows.

    With ``folds="content"``, R2 or squared errors come from one set of moments a fold, and ``partial_fit``,
    ``merge`` and ``forget`` are exact; else they are missing, and asking for them says why. The certificate
    is that of :class:`~surefit.Ridge` at the penalty chosen.

    >>> import numpy as np
    >>> from surefit import RidgeCV
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = RidgeCV(alphas=[0.1, 1.0, 10.0]).fit(X, [1.0, 2.0, 2.0, 5.0])
    >>> model.alpha_, round(model.best_score_, 6)
    (0.1, -2.207391)
    """

    accepts = Accepts(target="number", several_targets=True)
    learns = RidgeCVParameters
    shaping = ("cv", "folds")
    candidate = Candidate("Ridge regression", 11, streams=True)

    partial_fit = ConditionalMethod(_why_rows_stay, OneStatistic.partial_fit)
    merge = ConditionalMethod(_why_rows_stay, OneStatistic.merge)
    forget = ConditionalMethod(_why_rows_stay, OneStatistic.forget)

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
        folds: Literal["order", "content"] = "order",
        constraints: Constraints = None,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.folds = folds
        self.constraints = constraints

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        self._schema = source.schema
        self.__dict__.pop("statistic_", None)
        if self.folds == "order" or self.constraints is not None:
            return self._chosen(source, engine, trace)
        self.statistic_ = parts = engine.accumulate(self._of(source.schema), source)
        solve = self._solver(content_folds.whole(parts), source, engine)
        return self._with_best(*self._scored(parts), source.schema, solve)

    def _of(self, schema: Schema) -> Callable[[Batch], Joint]:
        if not isinstance(self.cv, int | np.integer):
            raise ParameterError(f"RidgeCV: folds='content' needs a number of folds, not cv={self.cv!r}.")
        if callable(self.scoring) or self.scoring not in content_folds.SCORES:
            names = [name for name in content_folds.SCORES if name]
            raise ParameterError(
                f"RidgeCV: folds='content' keeps sums, from which scoring={self.scoring!r} cannot be "
                f"computed: use one of {names}, or folds='order'."
            )
        if schema.width > ridge_fit.LARGEST_GRAM:
            raise RefusalError(
                f"RidgeCV: folds='content' would keep the Gram matrix of {schema.width} columns for each "
                f"fold, and works up to {ridge_fit.LARGEST_GRAM} columns: use folds='order'."
            )
        return partial(content_folds.moments_by_content, folds=int(self.cv))

    def _scored(self, parts: Joint) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        alphas = self._candidates()
        return alphas, content_folds.scores(parts, alphas, self.fit_intercept, self.scoring)

    def _finish(self, parts: Joint, schema: Schema) -> Learned:
        return self._with_best(*self._scored(parts), schema, self._solver(content_folds.whole(parts)))

    def _why_nothing_kept(self) -> str:
        return "it was fitted with folds='order'" if self.constraints is None else NOTHING_KEPT

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        return self._certify_numbers(source, engine)


@dataclass(frozen=True, slots=True)
class RidgeClassifierCVParameters(RidgeCVParameters):
    """The same, and the labels."""

    classes: NDArray[Any]


def _why_labels_stay(model: RidgeClassifierCV) -> str:
    """Why rows can neither be added nor removed, whatever the settings."""
    return (
        "RidgeClassifierCV scores its penalties row by row, by accuracy or leave-one-out, which cannot be "
        "computed from sums, so rows can neither be added nor removed: fit all rows, or continue with "
        "RidgeClassifier at alpha_."
    )


class RidgeClassifierCV(TakesLabelColumns, LinearClassification, ClassifierMixin, RidgeCVBase):
    r"""A ridge classifier with the penalty that predicts best for rows left out.

    Targets of +1 and -1 are fitted as in :class:`~surefit.RidgeClassifier`, and the penalty is chosen as in
    :class:`~surefit.RidgeCV`; with folds, by accuracy. Rows can neither be added nor removed later: continue
    with :class:`~surefit.RidgeClassifier` at ``alpha_`` for that.

    >>> from surefit import RidgeClassifierCV
    >>> X = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]]
    >>> model = RidgeClassifierCV().fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.predict([[1.5], [6.5]]).tolist(), model.alpha_
    (['low', 'high'], 1.0)
    """

    accepts = Accepts(target="class")
    learns = RidgeClassifierCVParameters

    partial_fit = merge = forget = ConditionalMethod(_why_labels_stay)

    def __init__(
        self,
        alphas: Alphas = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Scoring = None,
        cv: Folds = None,
        class_weight: ClassWeight = None,
        store_cv_results: bool = False,
        constraints: Constraints = None,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results
        self.constraints = constraints

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        self._schema = source.schema
        signed = signed_source(source, engine, self.class_weight)
        return self._chosen(signed, engine, trace, source.schema.classes)

    def _told(self, learned: Learned, classes: NDArray[Any] | None) -> Learned:
        values = {entry.name: getattr(learned.parameters, entry.name) for entry in fields(RidgeCVParameters)}
        parameters = RidgeClassifierCVParameters(**values, classes=labels_of(self._schema))
        return Learned(parameters, learned.certificate, class_evidence(learned.evidence, classes))

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        return self._certify_numbers(signed_source(source, engine, self.class_weight), engine)
