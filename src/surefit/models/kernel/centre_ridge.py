r"""Kernel ridge on a few centres, for rows that are read in passes.

With kernel values :math:`k_i = k(x_i, C)` of m centres, minimise
:math:`\sum_i s_i (y_i - k_i'b)^2 + \alpha b'K_{CC}b`. In the coordinates :math:`b = R w`, R an inverse
root of :math:`K_{CC}`, that is a ridge whose matrix :math:`R'HR + \alpha I`, with
:math:`H = \sum s_i k_i k_i'`, one pass adds up. Its eigenvectors precondition conjugate gradients whose
products are passes of their own, so that what rounding took from H does not stay in the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.config import threads
from surefit.core.errors import DataError
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.engine.thread_map import in_turn
from surefit.kernels import Kernel
from surefit.models.kernel.base import finite_gram, objects_again
from surefit.solvers.linalg.positive_solve import preconditioned

CUT = 1e-10  # of the largest eigenvalue of the centres' kernel: below, sums over many rows are rounding
CELLS = 2**21  # kernel values that are made at once
PASSES = 30
Sums = tuple[float, float, float, Matrix, Matrix]


@dataclass(frozen=True, slots=True)
class CentreProblem:
    """The kernel, the centres, and the strength of each target."""

    kernel: Kernel
    centres: Any
    alpha: Vector

    @property
    def gram(self) -> Matrix:
        """The kernel of the centres."""
        return finite_gram(np.asarray(self.kernel(objects_again(self.centres)), dtype=np.float64))

    def coordinates(self) -> tuple[Matrix, Vector]:
        """Return R of b = R w, and the eigenvalues of the centres' kernel that it keeps."""
        K = self.gram
        values, vectors = linalg.eigh((K + K.T) / 2)
        kept = values > CUT * max(float(values.max(initial=0.0)), np.finfo(np.float64).tiny)
        return vectors[:, kept] / np.sqrt(values[kept]), values[kept]

    def passed(self, source: Source, engine: Engine, b: Matrix | None, *, whole: bool = False) -> Sums:
        """One pass: rows, weight, sums of s y^2 and of s k (y - k'b), and that of s k k', or of s k k'b."""
        total: Sums | None = None
        for each in engine.map(partial(_sums, self, b, whole), source):
            total = each if total is None else _added(total, each)
        if total is None:
            raise DataError("the table has no rows.")
        rows, weight, squares, slope, H = total
        if not weight > 0:
            raise DataError(
                "every sample_weight is zero, so no row counts: give at least one row a positive weight."
            )
        return rows, weight, squares, slope, H

    def proof(self, source: Source, engine: Engine, b: Matrix, tolerance: float) -> Certificate:
        """Certify coefficients of the centres: one pass, and what it leaves of the normal equations."""
        R, _ = self.coordinates()
        _, _, _, slope, fitted = self.passed(source, engine, b)
        start = slope + fitted
        w = R.T @ (self.gram @ b)
        left = np.linalg.norm(R.T @ slope - self.alpha * w, axis=0)
        size = np.linalg.norm(R.T @ start, axis=0)
        value = float((left / np.where(size > 0, size, 1.0)).max(initial=0.0))
        outside = float(np.linalg.norm(b - R @ w) / max(float(np.linalg.norm(b)), np.finfo(np.float64).tiny))
        parts = {
            "residual": value,
            "coefficients outside the centres' space": outside,
            "centres": float(len(b)),
        }
        measure = (
            f"residual of the problem approximated by {len(b)} centres, not of the whole kernel, relative to "
            "that of 0"
        )
        return Certificate("stationary", measure, max(value, outside * 1e-3), tolerance, parts)


def solve_centres(
    problem: CentreProblem, source: Source, engine: Engine, trace: Trace, tolerance: float
) -> tuple[Matrix, int]:
    """Return coefficients of the centres, and how many rows there were."""
    R, _ = problem.coordinates()
    m = problem.centres.shape[0]
    rows, _, _, start, H = problem.passed(source, engine, None, whole=True)
    values, V = linalg.eigh(_symmetric(R.T @ H @ R))
    del H
    values = np.maximum(values, 0.0)
    found = np.zeros((m, start.shape[1]))
    for alpha in np.unique(problem.alpha):
        mine = problem.alpha == alpha
        floor = max(alpha, float(values.max(initial=0.0)) * 1e-15, np.finfo(np.float64).tiny)

        def product(w: Matrix, alpha: float = alpha) -> Matrix:
            image = problem.passed(source, engine, R @ w)[4]
            return np.asarray(R.T @ image + alpha * w)

        def precondition(g: Matrix, floor: float = floor) -> Matrix:
            return np.asarray(V @ ((V.T @ g) / (values + floor)[:, None]))

        w, _ = preconditioned(
            product,
            precondition,
            R.T @ start[:, mine],
            tolerance=tolerance / 10,
            limit=PASSES,
            record=partial(_recorded, trace),
        )
        found[:, mine] = R @ w
    return found, int(rows)


def _recorded(trace: Trace, worst: float) -> bool:
    for _ in trace.iterations(1):
        trace.record(objective=worst, gap=worst)
    return trace.asked_to_stop


def _added(one: Sums, two: Sums) -> Sums:
    return one[0] + two[0], one[1] + two[1], one[2] + two[2], one[3] + two[3], one[4] + two[4]


def _symmetric(A: Matrix) -> Matrix:
    return np.asarray((A + A.T) / 2)


def _sums(problem: CentreProblem, b: Matrix | None, whole: bool, batch: Batch) -> Sums:
    """The sums of one batch, in bands of rows; for given b the last is sum of s k k'b."""
    m, X = problem.centres.shape[0], cast(Any, batch.X)
    size = max(1, CELLS // max(m, 1))
    centres = objects_again(problem.centres)
    bands = [slice(row, row + size) for row in range(0, len(batch), size)]

    def band(rows: slice) -> tuple[Matrix, Matrix]:
        K = np.array(problem.kernel(X[rows], centres), dtype=np.float64, copy=None)
        Y = _columns(batch.y)[rows]
        weight = np.ones(len(Y)) if batch.weight is None else batch.weight[rows]
        if whole:
            slope = K.T @ (weight[:, None] * Y)
            if batch.weight is not None:
                K *= np.sqrt(weight)[:, None]
            return slope, K.T @ K  # of one matrix, so that numpy computes one triangle
        assert b is not None
        fitted = K @ b
        return K.T @ (weight[:, None] * (Y - fitted)), K.T @ (weight[:, None] * fitted)

    made = in_turn(band, bands, threads())
    slope, H = next(made)
    for more_slope, more in made:  # one by one, as each H takes m^2 numbers
        slope, H = slope + more_slope, H + more
    Y = _columns(batch.y)
    weight = np.ones(len(Y)) if batch.weight is None else batch.weight
    return float(len(Y)), float(weight.sum()), float((weight[:, None] * Y**2).sum()), slope, H


def _columns(y: Any) -> Matrix:
    Y = np.asarray(y, dtype=np.float64)
    return Y[:, None] if Y.ndim == 1 else Y
