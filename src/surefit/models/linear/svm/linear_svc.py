"""Linear support vector classification."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, RefusalError
from surefit.core.parameters import Count, Positive, RandomState, Tolerance, WholeNumber
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.losses.base import Loss
from surefit.losses.hinge import Hinge
from surefit.losses.squared_hinge import SquaredHinge
from surefit.models.base import Learned
from surefit.models.candidate import Candidate
from surefit.models.class_weight import ClassWeight, with_class_weight
from surefit.models.linear.common.class_scores import LinearClassification, SignedTargets
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.common.nonsmooth_loss import all_in_memory
from surefit.models.linear.common.penalised_intercept import with_constant_column
from surefit.models.linear.common.sparse_coefficients import SparseCoefficients
from surefit.models.linear.svm.base import GAP, LinearSVM, changed_rows
from surefit.models.rows_in_memory import gathered
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solution, Solver
from surefit.solvers.svm.class_margins import ClassMargins


@dataclass(frozen=True, slots=True)
class LinearSVCParameters:
    """Coefficients (k, p) and intercepts (k,), one for two classes, how many iterations, and the labels."""

    coef: NDArray[np.float64]
    intercept: Any
    n_iter: int
    classes: NDArray[Any]


class LinearSVC(SparseCoefficients, LinearClassification, ClassifierMixin, LinearSVM):
    r"""Minimise :math:`\tfrac12 |w|^2 + C \sum_i s_i (1 - y_i w'x_i)_+^2`, with y of minus and plus one.

    penalty: "l2" as above, or "l1" for :math:`\|w\|_1`. loss: "squared_hinge" as above, or "hinge" without
    the square. More than two classes are each told from all others, or all at once by
    multi_class="crammer_singer", whose hinge is :math:`\max_k (w_k'x - w_y'x + [k \ne y])` with squared
    coefficients, whatever loss and penalty say. The intercept is the coefficient of a
    column of intercept_scaling, and penalised like the others. class_weight: what the weight of a row is
    multiplied by, one number a class, or "balanced" (liblinear leaves the rest that a class is told from
    without). tol: a hundredth of it is the duality gap allowed,
    relative to the loss of a constant. dual, verbose, random_state: without effect; the solver is chosen by
    the shape of the table. The squared hinge streams; with the hinge, rows are held in memory. Of scores of
    exactly 0, the first class wins. warm_start: begin at the fit before. constraints: as in
    :class:`~surefit.LinearModel`, for the coefficients of each class; the intercept is free of them.

    >>> from surefit import LinearSVC
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 3.0], [4.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> model = LinearSVC(loss="hinge", C=10.0).fit(X, y)
    >>> model.predict([[2.0, 3.0]]).tolist(), model.certificate_.holds
    (['yes'], True)
    """

    accepts = Accepts(target="class")
    learns = LinearSVCParameters
    candidate = Candidate(
        "Linear support vector machine", 11, settings={"C": (0.01, 0.1, 1.0)}, most_rows=100_000
    )

    n_iter_: int

    def __init__(
        self,
        penalty: Literal["l1", "l2"] = "l2",
        loss: Literal["hinge", "squared_hinge"] = "squared_hinge",
        *,
        dual: Literal["auto"] | bool = "auto",
        tol: Tolerance = 1e-4,
        C: Positive = 1.0,
        multi_class: Literal["ovr", "crammer_singer"] = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: Positive = 1,
        class_weight: ClassWeight = None,
        verbose: WholeNumber | bool = 0,
        random_state: RandomState = None,
        max_iter: Count = 1000,
        warm_start: bool = False,
        constraints: Constraints = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.constraints = constraints

    def _kinked(self) -> bool:
        return self.loss == "hinge"

    def _squares(self) -> bool:
        return self.penalty == "l2"

    def _loss(self, schema: Schema) -> Loss:
        return Hinge() if self._kinked() else SquaredHinge()

    def _rows_of(self, source: Source, engine: Engine) -> Source:
        classes = self._several(source)
        source = with_class_weight(source, engine, self.class_weight)
        two = len(classes) == 2
        schema = replace(source.schema, classes=None, targets=1 if two else len(classes), target_is_flat=two)
        return self._with_intercept(changed_rows(source, engine, OneVsRestSigns(len(classes)), schema))

    @staticmethod
    def _several(source: Source) -> NDArray[Any]:
        classes = source.schema.classes
        assert classes is not None
        if len(classes) < 2:
            raise DataError(
                "The number of classes has to be greater than one; y holds one class, "
                f"{classes.tolist()[0]!r}: add rows of another."
            )
        return classes

    def _all_at_once(self, source: Source, engine: Engine) -> ClassMargins:
        classes = self._several(source)
        weighted = all_in_memory(with_class_weight(source, engine, self.class_weight))
        batch = gathered(
            with_constant_column(weighted, self.intercept_scaling) if self.fit_intercept else weighted
        )
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        return ClassMargins(batch.X, np.asarray(batch.y, dtype=np.int64), len(classes), weight, self.C)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        if self.multi_class == "ovr":
            return super()._learn(source, engine, trace)
        if self.constraints is not None:
            raise RefusalError(
                "LinearSVC: multi_class='crammer_singer' does not support constraints: choose "
                "multi_class='ovr'."
            )
        problem = self._all_at_once(source, engine)
        w, proof = problem.solve(GAP * self.tol, self.max_iter, trace)
        self._schema = source.schema
        coef, intercept = self._split(w.T)
        if len(coef) == 2:  # the difference of both is what tells them apart
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        kept: Any = intercept if self.fit_intercept else 0.0
        classes = source.schema.classes
        assert classes is not None
        parameters = LinearSVCParameters(coef, kept, max(len(trace), 1), classes)
        return Learned(parameters, proof, {"rows": len(problem.codes)})

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        if self.multi_class == "ovr":
            return super()._certify(source, engine)
        problem, slopes = self._all_at_once(source, engine), self.certificate_.witness.get("slopes")
        if slopes is None or slopes.shape != (len(problem.codes), problem.classes):
            raise DataError(
                f"{type(self).__name__}: the stored certificate belongs to other rows than these: pass the "
                "rows that were fitted."
            )
        packed = self._packed()
        # Of two classes, both halves of their difference have the least squares.
        w = np.array([-packed / 2, packed / 2]) if packed.ndim == 1 else packed.T
        return problem.proof(np.ascontiguousarray(w), slopes, self.certificate_.tolerance)

    def _parameters(self, objective: Objective, solution: Solution, solver: Solver) -> LinearSVCParameters:
        coef, intercept = self._split(solution.x)
        classes = self._schema.classes
        assert classes is not None
        kept: Any = intercept if self.fit_intercept else 0.0
        return LinearSVCParameters(coef, kept, max(solution.iterations, 1), classes)

    def _packed(self) -> NDArray[np.float64]:
        return self._joined(self._dense_coef(), self.intercept_, len(self.classes_) == 2)

    def _linear(self, X: Any) -> Any:
        scores = self._sparse_scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores


@dataclass(frozen=True, slots=True)
class OneVsRestSigns:
    """Turn class codes into plus and minus one: one column a class, a flat one for two classes."""

    classes: int

    def __call__(self, batch: Any) -> Any:
        """Return the batch with such a target."""
        signed = SignedTargets(self.classes)(batch)
        return replace(signed, y=np.asarray(signed.y)[:, 0]) if self.classes == 2 else signed
