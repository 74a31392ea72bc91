"""The losses that are boosted: where scores start, what a leaf says, and what scores mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.core.native.trees.boost_gradients import Gradients, boost_gradients
from surefit.core.native.trees.boost_grow import BoostTree, BoostWork
from surefit.models.tree.boosting.exact_quantiles import quantile_of, weight_unit, whole_weights
from surefit.models.tree.targets.exact_sums import ExactSums

KINDS = {
    "squared_error": "squared",
    "absolute_error": "absolute",
    "quantile": "quantile",
    "poisson": "poisson",
    "gamma": "gamma",
}


@dataclass(frozen=True, slots=True)
class BoostLoss:
    """A loss of scores (outputs, n): ``kind`` is the kernel's name of it, ``quantile`` that of its kink.

    >>> BoostLoss("poisson").start(np.array([1.0, 3.0]), None).round(3)
    array([0.693])
    """

    kind: str
    outputs: int = 1
    quantile: float = 0.5

    def check(self, y: Vector, who: str) -> None:
        """Refuse targets that the loss is not made for."""
        if self.kind == "gamma" and not (y > 0).all():
            raise DataError(f"{who}: loss='gamma' requires strictly positive y; use another loss.")
        if self.kind == "poisson" and not ((y >= 0).all() and y.sum() > 0):
            raise DataError(
                f"{who}: loss='poisson' requires non-negative y and sum(y) > 0; use another loss."
            )

    def at(self, y: Vector, score: Matrix, weight: Vector | None, only_loss: bool = False) -> Gradients:
        """Return the loss and its slopes, of the shape of the scores."""
        if self.outputs > 1:
            return boost_gradients("softmax", y, score, weight, only_loss=only_loss)
        found = boost_gradients(self.kind, y, score[0], weight, parameter=self.quantile, only_loss=only_loss)
        return found

    def start(self, y: Vector, weight: Vector | None) -> Vector:
        """Return the best constant score of each output."""
        if self.by_rank:
            return np.array([self._middle(y, *_whole(weight))])
        return self.start_of(ExactSums.of_rows(y, weight, self.outputs if self.outputs > 1 else 0))

    @property
    def by_rank(self) -> bool:
        """Whether leaves say a median or a quantile of the errors in them."""
        return self.kind in ("absolute", "quantile")

    def start_of(self, target: ExactSums) -> Vector:
        """Return the same from the sums of the target."""
        if self.outputs > 1:
            logs = np.log(np.clip(target.means, np.finfo(float).eps, 1 - np.finfo(float).eps))
            return np.asarray(logs - logs.mean())
        mean, eps = float(target.means[0]), 10 * np.finfo(float).eps
        if self.kind == "logistic":
            return np.array([logit(np.clip(mean, eps, 1 - eps))])
        return np.array([mean if self.kind == "squared" else np.log(max(mean, eps))])

    def _middle(self, values: Vector, whole: NDArray[np.int64] | None, unit: float) -> float:
        """Return the median of values, or the quantile asked for; weights count as repetitions."""
        if whole is None:
            return float(np.quantile(values, self.quantile))
        return quantile_of(values, whole, unit, self.quantile)

    def leaf_values(
        self, tree: BoostTree, work: BoostWork, y: Vector, score: Matrix, weight: Vector | None
    ) -> Vector:
        """Return what each node says: a Newton step, or the median of the errors where curvature lies."""
        if not self.by_rank:
            return tree.value
        found = tree.value.copy()
        whole, unit = _whole(weight)
        for node in np.flatnonzero(tree.column < 0):
            rows = work.rows[tree.begin[node] : tree.end[node]]
            own = None if whole is None else whole[rows]
            found[node] = self._middle(y[rows] - score[rows], own, unit)
        return found

    def mean(self, score: Matrix) -> Matrix:
        """Return what scores mean: numbers (n,), or shares (n, classes)."""
        if self.outputs > 1:
            return np.asarray(softmax(score, axis=0).T)
        if self.kind == "logistic":
            share = expit(score[0])
            return np.column_stack([1 - share, share])
        return np.exp(score[0]) if self.kind in ("poisson", "gamma") else score[0]


def _whole(weight: Vector | None) -> tuple[NDArray[np.int64] | None, float]:
    if weight is None:
        return None, 1.0
    unit = weight_unit(len(weight), float(weight.max()))
    return whole_weights(weight, unit), unit


def regression_loss(name: str, quantile: Any) -> BoostLoss:
    """Return the loss of that name."""
    return BoostLoss(KINDS[name], quantile=quantile if name == "quantile" else 0.5)


def class_loss(classes: int) -> BoostLoss:
    """Return the log loss of two classes, or of several."""
    return BoostLoss("logistic") if classes <= 2 else BoostLoss("softmax", classes)
