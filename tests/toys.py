"""Small iterative estimators for the tests of what surrounds a fit."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from surefit.core.certificate import Certificate
from surefit.core.config import threads
from surefit.core.native.sums.moments import column_moments
from surefit.core.parameters import Count, NonNegative, Tolerance
from surefit.data.door import Accepts
from surefit.models.base import Estimator, Learned


@dataclass(frozen=True, slots=True)
class DescentParameters:
    center: float
    threads_seen: int
    pool_seen: int


class DescentMean(RegressorMixin, Estimator):
    """Find the mean of y by gradient descent with a small step, so that it takes many iterations."""

    accepts = Accepts(target="number")
    learns = DescentParameters

    def __init__(
        self,
        rate: NonNegative = 0.2,
        *,
        max_iter: Count = 200,
        tol: Tolerance = 1e-10,
        pause: NonNegative = 0.0,
    ) -> None:
        self.rate = rate
        self.max_iter = max_iter
        self.tol = tol
        self.pause = pause

    def _iteration_limit(self) -> int:
        return self.max_iter

    def _learn(self, source: Any, engine: Any, trace: Any) -> Learned:
        from surefit.core.native import compiled

        (batch,) = source
        column_moments(batch.X, batch.weight)
        kernels = compiled()
        seen = (threads(), kernels.pool_size() if kernels else 0)
        center = 0.0
        gradient = float(np.mean(center - batch.y))
        for _ in trace.iterations(self.max_iter):
            center -= self.rate * gradient
            gradient = float(np.mean(center - batch.y))
            time.sleep(self.pause)
            now = Learned(DescentParameters(center, *seen), self._gap(gradient))
            trace.record(
                objective=float(np.mean((batch.y - center) ** 2)),
                gap=gradient**2,
                learned=lambda now=now: now,
            )
            if gradient**2 <= self.tol:
                break
        self.n_iter_ = len(trace)
        return now

    def _gap(self, gradient: float) -> Certificate:
        return Certificate("optimal", "gap of the mean squared error", gradient**2, self.tol)

    def _certify(self, source: Any, engine: Any) -> Certificate:
        (batch,) = source
        return self._gap(float(np.mean(self.center_ - batch.y)))

    def predict(self, X: Any) -> Any:
        return self._answer(lambda rows: np.full(rows.shape[0], self.center_), X)
