"""Quadratic programmes, by an interior point, with primal, dual and proof."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from surefit.core.arrays import Vector
from surefit.core.blas_threads import one_blas_thread
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import warn
from surefit.core.trace import Trace
from surefit.solvers.program.certificate import optimality_certificate
from surefit.solvers.program.data import Multipliers, Program
from surefit.solvers.program.definiteness import Curvature, equations_of, opposite_rows, require_convex
from surefit.solvers.program.interior_point import interior_point
from surefit.solvers.program.phase_one import require_answer
from surefit.solvers.program.polish import as_found, polished
from surefit.solvers.program.scaling import ScaledProgram
from surefit.solvers.program.solution import ProgramSolution


@one_blas_thread()
def quadratic_program(
    Q: Any,
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = None,
    *,
    tol: float = 1e-8,
    max_iter: int = 200,
    trace: Trace | None = None,
) -> ProgramSolution:
    """Minimise ½x'Qx + c'x with A_ub x ≤ b_ub, A_eq x = b_eq and low ≤ x ≤ high; x is free unless bounded.

    Q must be positive semidefinite, at least along the directions that the equations allow. Where there is
    no minimum, the error proves it: ``error.certificate``.

    >>> nearest = quadratic_program([[2.0, 0.0], [0.0, 2.0]], [0.0, 0.0], [[-2.0, -2.0]], [-4.0])
    >>> nearest.x.round(9), nearest.multipliers.ub.round(9), round(nearest.value, 9)
    (array([1., 1.]), array([1.]), 2.0)
    >>> nearest.certificate.holds
    True
    """
    program = Program.of(Q, c, A_ub, b_ub, A_eq, b_eq, bounds)
    curvature = require_convex(program)
    solved = _where_equations_hold(program, curvature) if curvature.free is not None else program
    trace = Trace() if trace is None else trace
    problem = ScaledProgram.of(solved)
    with np.errstate(all="ignore"):  # what overflows on the way to nowhere is looked at below
        inside = interior_point(problem, trace, max_iter)
        candidates = [as_found(problem, inside), polished(problem, inside)]
    best: ProgramSolution | None = None
    for x, prices in candidates:
        if not all(np.isfinite(part).all() for part in (x, prices.ub, prices.eq, prices.lower, prices.upper)):
            continue
        if curvature.free is not None:
            prices = _prices_of(program, x, prices)
        certificate = optimality_certificate(program, x, prices, tol, curvature.within)
        if best is None or certificate.value < best.certificate.value:
            best = ProgramSolution(x, program.objective(x), prices, certificate, trace, program)
    if best is None or not best.certificate.holds:
        require_answer(solved)
    assert best is not None
    if not best.certificate.holds:
        warn(f"quadratic_program: {best.certificate.statement}", CertificateWarning)
    return best


def _where_equations_hold(program: Program, curvature: Curvature) -> Program:
    """Return a convex objective that differs from the given one by a constant where the equations hold."""
    free = curvature.free
    assert free is not None
    Q = program.Q.toarray() if hasattr(program.Q, "toarray") else program.Q
    equations = equations_of(program)
    fixed = program.lower == program.upper
    right = np.concatenate([program.b_eq, program.b_ub[opposite_rows(program)[0]], program.lower[fixed]])
    start = linalg.lstsq(equations, right)[0]
    bent = free @ (free.T @ Q @ free) @ free.T
    return replace(program, Q=0.5 * (bent + bent.T), c=free @ (free.T @ (program.c + Q @ start)))


def _prices_of(program: Program, x: Vector, prices: Multipliers) -> Multipliers:
    """Return the prices with those of the equations moved, such that the given objective is stationary."""
    equations = equations_of(program)
    left = -(program.gradient(x) + prices.force(program))
    moved = linalg.lstsq(equations.T, left)[0]
    first, second = opposite_rows(program)
    eq, paired, held = np.split(moved, [len(program.b_eq), len(program.b_eq) + len(first)])
    ub, lower, upper = prices.ub.copy(), prices.lower.copy(), prices.upper.copy()
    total = ub[first] - ub[second] + paired
    ub[first], ub[second] = np.maximum(total, 0.0), np.maximum(-total, 0.0)
    fixed = np.flatnonzero(program.lower == program.upper)
    total = upper[fixed] - lower[fixed] + held
    upper[fixed], lower[fixed] = np.maximum(total, 0.0), np.maximum(-total, 0.0)
    return Multipliers(ub, prices.eq + eq, lower, upper)
