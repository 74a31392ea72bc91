"""Classes in order: cumulative logit and probit, with the thresholds between classes estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError
from surefit.core.parameters import Count, Strength, Tolerance
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import ArraySource, MappedSource, Source
from surefit.engine.base import Engine
from surefit.losses.joint import CumulativeLink
from surefit.losses.links import link_named
from surefit.models.base import Estimator, Learned
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.glm.likelihood_constraints import (
    at_bounds,
    hold,
    newton_for,
    ordered_groups,
    proof_of,
)
from surefit.models.linear.inference.class_likelihood import OrderedInference
from surefit.solvers.likelihood.ancillary_parameters import JointObjective
from surefit.stats.class_weights import ClassWeights


@dataclass(frozen=True, slots=True)
class OrdinalParameters:
    """Coefficients, the thresholds between neighbouring classes, and the labels from lowest to highest."""

    coef: Vector
    thresholds: Vector
    n_iter: int
    classes: NDArray[Any]


@dataclass(frozen=True, slots=True)
class RankedTargets:
    """Turn class codes into ranks."""

    ranks: NDArray[np.int64]

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such a target."""
        return replace(batch, y=self.ranks[np.asarray(batch.y)])

    def source(self, source: Source) -> Source:
        """The same for a source."""
        if isinstance(source, ArraySource):
            return ArraySource(source.schema, self(source.batch))
        return MappedSource(source, source.schema, self)


class OrdinalClassifier(OrderedInference, ClassifierMixin, Estimator):
    r"""Fit :math:`P(y \le k) = F(t_k - w'x)` with increasing thresholds t, by maximum likelihood.

    link: F is logistic for "logit" (proportional odds) and normal for "probit". order: the labels from lowest
    to highest; None takes them sorted. alpha: strength of the penalty :math:`|w|^2 / 2` of the mean loss; the
    thresholds are free. tol: what a step of Newton's method may still promise to gain, relative to the loss
    of a constant. constraints: as in :class:`~surefit.LinearModel`. The likelihood is concave in w and t
    together, so that a stationary point is the best one.

    >>> from surefit import OrdinalClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["low", "low", "mid", "low", "high", "mid"]
    >>> model = OrdinalClassifier(order=["low", "mid", "high"]).fit(X, y)
    >>> model.coef_.round(3), model.thresholds_.round(3)
    (array([0.953]), array([2.383, 4.816]))
    >>> model.predict([[5.0]]), model.predict_proba([[5.0]]).round(2)
    (array(['high'], dtype='<U4'), array([[0.08, 0.43, 0.49]]))
    """

    accepts = Accepts(target="class")
    learns = OrdinalParameters

    coef_: Vector
    thresholds_: Vector
    n_iter_: int
    classes_: NDArray[Any]

    def __init__(
        self,
        link: Literal["logit", "probit"] = "logit",
        *,
        order: list[Any] | None = None,
        alpha: Strength = 0.0,
        max_iter: Count = 100,
        tol: Tolerance = 1e-12,
        warm_start: bool = False,
        constraints: Constraints = None,
    ) -> None:
        self.link = link
        self.order = order
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.constraints = constraints

    def _iteration_limit(self) -> int:
        return self.max_iter

    def _labels(self, found: NDArray[Any]) -> NDArray[Any]:
        """Return the labels in order; refuse an order that is not one of them all."""
        if self.order is None:
            return found
        if sorted(map(str, self.order)) != sorted(map(str, found.tolist())):
            raise ParameterError(
                f"OrdinalClassifier: order={self.order!r} does not list the classes of y, "
                f"{found.tolist()}, each once."
            )
        by_text = {str(label): label for label in found.tolist()}
        return np.array([by_text[str(label)] for label in self.order], dtype=found.dtype)

    def _ranked(self, source: Source) -> Source:
        """Return the source with ranks for class codes."""
        found = source.schema.classes
        assert found is not None
        labels = self._labels(found)
        ranks = np.array([int(np.flatnonzero(labels == label)[0]) for label in found], dtype=np.int64)
        return RankedTargets(ranks).source(source)

    def _objective(
        self, source: Source, engine: Engine
    ) -> tuple[JointObjective, NDArray[Any], NDArray[np.float64]]:
        found = source.schema.classes
        assert found is not None
        if len(found) < 2:
            raise DataError(
                f"y holds one class, {found.tolist()[0]!r}, and a classifier needs at least two: add rows of "
                "another."
            )
        labels, ranked = self._labels(found), self._ranked(source)
        weights = engine.accumulate(partial(ClassWeights.of, classes=len(found)), ranked).weights
        if not (weights > 0).all():
            empty = labels[int(np.argmin(weights))]
            raise DataError(f"no row of positive weight has class {empty!r}: leave its rows out.")
        share = np.cumsum(weights)[:-1] / weights.sum()
        start = np.asarray(link_named(self.link).forward(share), dtype=np.float64)
        objective = JointObjective(
            ranked,
            engine,
            CumulativeLink(self.link),
            start,
            fit_intercept=False,
            shifted="thresholds",
            alpha=self.alpha,
            alike=ordered_groups(self.constraints),
        )
        if self.constraints is not None:
            hold(objective, type(self).__name__, self.constraints)
        return objective, labels, weights

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        objective, labels, weights = self._objective(source, engine)
        start = None
        if self.warm_start and "certificate_" in self.__dict__:
            packed = self._packed()
            start = objective.inner(packed) if packed.shape == objective.shape else None
        solver = newton_for(self.constraints, tolerance=self.tol, max_iter=self.max_iter)
        solution = solver.solve(objective, start, trace)
        self._schema = source.schema
        packed = objective.outer(solution.x)
        p = objective.columns
        coef = at_bounds(packed[:p], self.constraints)
        parameters = OrdinalParameters(coef, packed[p:], max(solution.iterations, 1), labels)
        spread = objective.spread
        evidence = {
            "column_moments": spread.moments,
            "rows": spread.rows,
            "class_rows": (labels, weights, p),
            "separation": (solution.value - objective.penalised(solution.x), objective.scale),
        }
        return Learned(parameters, proof_of(objective, solution, self.constraints), evidence)

    def _packed(self) -> Vector:
        return np.concatenate([self.coef_, self.thresholds_])

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        objective, _, _ = self._objective(source, engine)
        return objective.certificate(objective.inner(self._packed()), self.certificate_.tolerance)

    def _linear(self, X: Any) -> Any:
        return X @ self.coef_

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the probability of each class, or write them ``to`` a file."""
        labels = self._class_names()
        return self._answer(self._chances, X, to, labels)

    def _chances(self, X: Any) -> NDArray[np.float64]:
        z = self._linear(X)[:, None]
        edges = np.concatenate([[-np.inf], self.thresholds_, [np.inf]])
        return np.asarray(CumulativeLink(self.link).chance(edges[:-1] - z, edges[1:] - z))

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the most probable class of each row, or write it ``to`` a file."""
        return self._answer(self._label, X, to, ["prediction"])

    def _label(self, X: Any) -> NDArray[Any]:
        return self.classes_[np.argmax(self._chances(X), axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on classes that have no order
        return tags
