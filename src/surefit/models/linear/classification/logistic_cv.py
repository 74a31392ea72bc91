"""Logistic regression with the strength, and the mix of penalties, chosen by rows left out."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from inspect import signature
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.parameters import Count, Has, Interval, Positive, RandomState, Tolerance
from surefit.core.trace import Trace
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.candidate import Candidate
from surefit.models.class_weight import ClassWeight
from surefit.models.linear.classification.logistic import (
    LogisticBase,
    LogisticParameters,
    OldPenalty,
    SolverName,
    old_penalty,
)
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.sparse.cross_validation import Choice
from surefit.models.linear.squares.folds import Fold, FoldSplitter
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solution, Solver


@dataclass(frozen=True, slots=True)
class PathOfFold:
    """For each ratio and strength: the score of the rows left out, packed points, shaped ones, iterations."""

    scores: Vector
    packed: Vector
    shaped: Vector
    n_iter: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The strength and ratio chosen, where to start from, and all that was measured."""

    C: float
    l1_ratio: float
    start: Vector
    Cs: Vector
    l1_ratios: Vector
    scores: Vector
    paths: Vector
    n_iter: NDArray[np.int32]


def _of_all_classes(judge: Any, classes: NDArray[Any]) -> Any:
    """Return a scorer that knows all classes: the rows left out may lack some."""
    from sklearn.metrics import make_scorer

    measure = getattr(judge, "_score_func", None)
    takes = signature(measure).parameters if measure is not None else {}
    if measure is None or "labels" not in takes:
        return judge
    told: dict[str, Any] = {"labels": classes}
    if len(classes) == 2 and "pos_label" in takes:
        told["pos_label"] = classes[-1]
    told |= getattr(judge, "_kwargs", {})
    better = getattr(judge, "_sign", 1) == 1
    return make_scorer(measure, greater_is_better=better, response_method=judge._response_method, **told)


def choose(Cs: Vector, ratios: Vector, found: list[PathOfFold], rule: Choice) -> Chosen:
    """Choose the best mean score, or the smallest C within one standard error of it.

    Folds count alike; the standard error is that of their mean, at the best point.
    """
    scores = np.array([path.scores for path in found])
    mean = np.nan_to_num(scores.mean(axis=0), nan=-np.inf)
    C, ratio = (int(k) for k in np.unravel_index(np.argmax(mean.T), mean.T.shape))
    if rule == "one_standard_error" and len(scores) > 1:
        error = scores[:, ratio, C].std(ddof=1) / np.sqrt(len(scores))
        near = np.flatnonzero(mean[ratio] >= mean[ratio, C] - error)
        C = int(near[np.argmin(Cs[near])])
    return Chosen(
        float(Cs[C]),
        float(ratios[ratio]),
        np.mean([path.packed[ratio, C] for path in found], axis=0),
        Cs,
        ratios,
        scores,
        np.array([path.shaped for path in found]),
        np.array([path.n_iter for path in found]),
    )


Folds = Annotated[int, Interval(2, None)] | Annotated[object, Has("split", "__iter__")] | None
Numbers = np.ndarray | list | tuple
Scoring = str | Annotated[object, Has("__call__")] | None


@dataclass(frozen=True, slots=True)
class LogisticCVParameters(LogisticParameters):
    """A fit, the strength and ratio chosen, and what was measured for all of them.

    scores and n_iter: (folds, ratios, strengths). coefs_paths: the same, then one row a class with the
    intercept last.
    """

    C: Any
    l1_ratio: Any
    Cs: NDArray[np.float64]
    l1_ratios: NDArray[np.float64]
    scores: Any
    coefs_paths: Any


class LogisticRegressionCV(LogisticBase):
    """Logistic regression whose C, and l1_ratio of several, score best for rows left out.

    Cs: which strengths, or how many between 1e-4 and 1e4. cv: folds, as in scikit-learn: 5 by default, each
    with its share of every class. scoring: a name or a scorer of scikit-learn; minus the mean logarithmic
    loss by default. choice: "best", or "one_standard_error" for the smallest C whose score is within a
    standard error of the best. folds: "order" assigns them by row number, "content" by the values of the row,
    equal rows together, so that weight 2 is the row twice. Defaults of "warn" mean what scikit-learn has
    announced: l1_ratios=(0,), the logarithmic loss, attributes without an axis of classes. The rest is as in
    :class:`~surefit.LogisticRegression`, constraints included, which every fold keeps. dual, n_jobs, verbose,
    random_state: without effect.

    Each fold is followed along one warm path. The certificate is that of the fit at ``C_``.

    >>> import numpy as np
    >>> from surefit import LogisticRegressionCV
    >>> X = np.random.default_rng(0).normal(size=(90, 3))
    >>> model = LogisticRegressionCV(cv=3, Cs=[0.1, 1.0]).fit(X, X[:, 0] + X[:, 1] ** 2 > 0.5)
    >>> model.C_, model.scores_.shape, model.certificate_.holds
    (1.0, (3, 1, 2), True)
    """

    learns = LogisticCVParameters
    warm_start = False
    candidate = Candidate(
        "Logistic regression",
        10,
        given={
            "Cs": (0.01, 0.1, 1.0, 10.0, 100.0),
            "l1_ratios": (0.0,),
            "scoring": "neg_log_loss",
            "use_legacy_attributes": False,
        },
        streams=True,
    )

    C_: Any
    l1_ratio_: Any

    def __init__(
        self,
        *,
        Cs: Count | Numbers = 10,
        l1_ratios: Numbers | Literal["warn"] | None = "warn",
        fit_intercept: bool = True,
        cv: Folds = None,
        dual: bool = False,
        penalty: OldPenalty = "deprecated",
        scoring: Scoring = "warn",
        solver: SolverName = "lbfgs",
        tol: Tolerance = 1e-4,
        max_iter: Count = 100,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: Positive = 1.0,
        random_state: RandomState = None,
        use_legacy_attributes: bool | Literal["warn"] = "warn",
        choice: Choice = "best",
        folds: Literal["order", "content"] = "order",
        constraints: Constraints = None,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes
        self.choice = choice
        self.folds = folds
        self.constraints = constraints

    def _grid(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the strengths and the ratios to try."""
        many: Any = self.Cs
        Cs = np.logspace(-4, 4, many) if np.ndim(many) == 0 else np.asarray(many, dtype=np.float64)
        given = self.l1_ratios
        ratios = [0.0] if given is None or isinstance(given, str) else given
        ratios = np.array([old_penalty(self.penalty, 1.0, float(ratio))[1] for ratio in ratios])
        for name, values, allowed in (
            ("Cs", Cs, Cs > 0),
            ("l1_ratios", ratios, (ratios >= 0) & (ratios <= 1)),
        ):
            if values.ndim != 1 or not values.size or not np.all(allowed):
                bounds = "above 0" if name == "Cs" else "between 0 and 1"
                raise ParameterError(
                    f"LogisticRegressionCV: {name} must be numbers {bounds}, not {values!r}."
                )
        return Cs, ratios

    def _strength(self) -> tuple[float, float]:
        if "_trial" in self.__dict__:
            return self._trial
        return float(np.ravel(self.C_)[0]), float(np.ravel(self.l1_ratio_)[0])

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        if not self.refit:
            raise RefusalError(
                "LogisticRegressionCV: refit=False averages the coefficients of the folds, which minimise "
                "no objective and have no certificate: keep refit=True; coefs_paths_ has the coefficients "
                "of every fold."
            )
        Cs, ratios = self._grid()
        self.trial(float(Cs[0]), float(ratios.max()))
        try:
            cut = FoldSplitter(type(self).__name__, self.cv, self.folds == "content", labels=np.asarray)
            folds = cut.folds(source, self._rows_of(source, engine))
            found = [self._path_of_fold(fold, engine, Cs, ratios) for fold in folds]
            self._chosen = choose(Cs, ratios, found, self.choice)
            self._trial = self._chosen.C, self._chosen.l1_ratio
            return super()._learn(source, engine, trace)
        finally:
            for name in ("_trial", "_chosen"):
                self.__dict__.pop(name, None)

    def _path_of_fold(self, fold: Fold, engine: Engine, Cs: Vector, ratios: Vector) -> PathOfFold:
        """Fit every ratio and strength, each from where the last one ended, and score the rows left out."""
        self.trial(float(Cs[0]), float(ratios[0]))
        objective: Objective = self._bound(fold.train, engine)
        scores, packed, shaped, steps = [], [], [], []
        for ratio in ratios:
            start = None
            for C in Cs:
                self.trial(float(C), float(ratio))
                objective.penalty = self._within_constraints(objective)
                solution = self._solver(objective).solve(objective, start, Trace())
                start = solution.x
                coef, intercept = self._shaped(objective, solution)
                scores.append(self._fold_score(fold, engine, coef, intercept))
                packed.append(start)
                shaped.append(np.column_stack([coef, intercept]) if self.fit_intercept else coef)
                steps.append(max(solution.iterations, 1))
        grid = (len(ratios), len(Cs))
        return PathOfFold(
            np.reshape(scores, grid),
            np.reshape(packed, (*grid, *packed[0].shape)),
            np.reshape(shaped, (*grid, *shaped[0].shape)),
            np.reshape(steps, grid).astype(np.int32),
        )

    def _fold_score(self, fold: Fold, engine: Engine, coef: Vector, intercept: Vector) -> float:
        """Return the score of the rows left out, the weights of their classes not counted."""
        if self.scoring in ("warn", "neg_log_loss"):
            held_out = Objective(fold.test, engine, self._loss(fold.test.schema), NoPenalty())
            held_out.outputs = None if len(coef) == 1 else len(coef)
            point = np.vstack([coef.T, intercept])
            return -held_out.at(point[:, 0] if len(coef) == 1 else point, 0).value
        if fold.rows is None:
            raise ParameterError(
                "LogisticRegressionCV: a table that is read piece by piece is scored by its log loss: "
                "leave scoring as it is, or load the table as one array."
            )
        classes = fold.test.schema.classes
        assert classes is not None
        rows = fold.rows
        weights = {} if rows.weight is None else {"sample_weight": rows.weight}
        labels = classes[np.asarray(rows.y)]
        judge = _of_all_classes(scorer(self.scoring), classes)
        return float(judge(self.scored_as(coef, intercept, classes), rows.X, labels, **weights))

    def trial(self, C: float, l1_ratio: float) -> None:
        """Set the strength and the ratio of the next objective."""
        self._trial = C, l1_ratio

    def scored_as(self, coef: NDArray[np.float64], intercept: NDArray[np.float64], classes: Any) -> Any:
        """Return a model with such coefficients, for a scorer to ask."""
        shell = copy(self)
        shell.__dict__.update(coef_=coef, intercept_=intercept, classes_=classes, certificate_=None)
        return shell

    def _start(self, objective: Objective) -> NDArray[np.float64] | None:
        return self._chosen.start.reshape(objective.shape)

    def _parameters(self, objective: Objective, solution: Solution, solver: Solver) -> LogisticCVParameters:
        coef, intercept = self._shaped(objective, solution)
        classes = objective.source.schema.classes
        assert classes is not None
        chosen = self._chosen
        C, ratio, scores, paths, steps = self._in_shape(chosen, classes)
        return LogisticCVParameters(
            coef, intercept, steps, classes, solver.name, C, ratio, chosen.Cs, chosen.l1_ratios, scores, paths
        )

    def _in_shape(self, chosen: Chosen, classes: NDArray[Any]) -> tuple[Any, Any, Any, Any, Any]:
        """Return C, ratio, scores, paths and iterations as scikit-learn has them now, or had them before."""
        if self.use_legacy_attributes is not True:
            return chosen.C, chosen.l1_ratio, chosen.scores, chosen.paths, chosen.n_iter
        labels = (classes[1:] if len(classes) == 2 else classes).tolist()
        old = [np.swapaxes(each, 1, 2) for each in (chosen.scores, chosen.paths, chosen.n_iter)]
        if self.l1_ratios is None or isinstance(self.l1_ratios, str):
            old = [each[:, :, 0] for each in old]
        scores, paths, steps = old
        return (
            np.full(len(labels), chosen.C),
            np.full(len(labels), chosen.l1_ratio),
            dict.fromkeys(labels, scores),
            {label: np.ascontiguousarray(paths[..., k, :]) for k, label in enumerate(labels)},
            steps[None],
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score by ``scoring``, weighted if weights are given."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(scorer(self.scoring)(self, X, y, **weights))


def scorer(scoring: Any) -> Any:
    """Return scikit-learn's scorer of a name; None is accuracy."""
    from sklearn.metrics import get_scorer

    name = {"warn": "neg_log_loss", None: "accuracy"}.get(scoring, scoring) if _is_name(scoring) else scoring
    return get_scorer(name)


def _is_name(scoring: Any) -> bool:
    return scoring is None or isinstance(scoring, str)
