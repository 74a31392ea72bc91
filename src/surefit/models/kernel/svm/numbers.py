"""Machines with one answer a row: the regressions, and the outline of one class."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.kernel.smo import DualProblem, DualSolution
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.kernel.svm.duality import KKTReport, Machine, certificate, kkt_report
from surefit.models.kernel.svm.machine import KernelMachine
from surefit.models.rows_in_memory import gathered

Floats = NDArray[np.float64]


class SingleMachine(KernelMachine, abstract=True):
    """One sum of kernel values and an intercept."""

    @abstractmethod
    def _machine(self, y: Floats, weight: Floats, beta: Floats, f: Floats, intercept: float) -> Machine:
        """The problem and a point of it."""

    @abstractmethod
    def _solved(
        self, points: Any, y: Floats, weight: Floats
    ) -> tuple[DualProblem, DualSolution, Floats, float]:
        """Solve the dual: its problem and solution, the signed coefficients and the intercept."""

    @staticmethod
    def _columns(batch: Batch) -> tuple[Floats, Floats]:
        """Targets and weights; machines for one class have no targets."""
        n = len(batch)
        y = np.zeros(n) if batch.y is None else np.asarray(batch.y, dtype=np.float64)
        return y, np.ones(n) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        batch = gathered(source)
        batch, rows = self._kept(batch)
        gamma = self._gamma_of(batch)
        values = self._values(gamma, source.schema.width)
        y, weight = self._columns(batch)
        X: Any = batch.X
        if len(rows) < len(batch):
            X = X[np.ix_(rows, rows)] if values.given else X[rows]
        points = values.solvable(X)
        _, solution, beta, intercept = self._solved(points, y[rows], weight[rows])
        found = self._machine(y[rows], weight[rows], beta, self._row_sums(solution), intercept)
        proof = certificate([found], self._allowed(), values.is_positive(points[1], points[0]))
        mine = np.flatnonzero(beta)
        return self._learned(
            batch,
            gamma,
            beta[None, mine],
            np.array([intercept]),
            rows[mine],
            [solution],
            solution.steps,
            trace,
            proof,
            self._evidence(source, engine),
            self._more(intercept),
        )

    def _allowed(self) -> float:
        return self.tol

    @staticmethod
    def _row_sums(solution: DualSolution) -> Floats:
        return solution.gradient

    def _more(self, intercept: float) -> dict[str, Any]:
        return {}

    def _machines(self, batch: Batch, f: Floats) -> list[Machine]:
        y, weight = self._columns(batch)
        beta = np.zeros(len(batch))
        beta[self.support_] = self.signed_[0]
        return [self._machine(y, weight, beta, f[:, 0], float(self.intercept_[0]))]

    def _decide(self, X: Any) -> Floats:
        return self._scores(X, self.signed_)[:, 0] + float(self.intercept_[0])

    def kkt_report(self, X: Any, y: Any = None, sample_weight: Any = None) -> KKTReport:
        """Return, for the rows of the fit, multipliers, slacks, and how far each KKT condition is from
        holding.
        """
        batch = gathered(self._source(X, y, sample_weight, reset=False))
        (machine,) = self._checked_machines(batch, self._values(self.gamma_, self.n_features_in_))
        return kkt_report(machine)


class NumberMachine(SingleMachine, abstract=True):
    """A regression."""

    def predict(self, X: Any, *, to: str | Path | None = None) -> Any:
        """Return the prediction for each row, or write it ``to`` a file."""
        return self._answer(self._decide, X, to, ["prediction"])
