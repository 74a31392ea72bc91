"""Linear programmes, through HiGHS, with primal, dual and proof."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog

from surefit.core.blas_threads import one_blas_thread
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import warn
from surefit.core.trace import Trace
from surefit.solvers.program.certificate import optimality_certificate
from surefit.solvers.program.data import Program
from surefit.solvers.program.phase_one import require_answer
from surefit.solvers.program.polish import unscaled
from surefit.solvers.program.scaling import ScaledProgram
from surefit.solvers.program.solution import ProgramSolution

EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@one_blas_thread()
def linear_program(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = None,
    *,
    tol: float = 1e-8,
    trace: Trace | None = None,
) -> ProgramSolution:
    """Minimise c'x with A_ub x ≤ b_ub, A_eq x = b_eq and low ≤ x ≤ high; x is free unless bounded.

    Where there is no minimum, the error proves it: ``error.certificate``.

    >>> best = linear_program([-1.0, -2.0], A_eq=[[1.0, 1.0]], b_eq=[42.0], bounds=(0, None))
    >>> best.x, best.value, best.certificate.holds
    (array([ 0., 42.]), -84.0, True)
    """
    program = Program.of(None, c, A_ub, b_ub, A_eq, b_eq, bounds)
    problem = ScaledProgram.of(program)
    trace = Trace() if trace is None else trace
    upper = (problem.G, problem.h) if len(problem.h) else (None, None)
    equal = (problem.A, problem.b) if len(problem.b) else (None, None)
    box = [*zip(problem.lower, problem.upper, strict=True)]
    best: ProgramSolution | None = None
    methods = ("highs", "highs-ds", "highs-ipm")  # the first answers nearly always
    for number in trace.iterations(len(methods)):
        found = linprog(problem.c, *upper, *equal, box, method=methods[number % 3], options=EXACT)
        if found.x is None or found.status != 0:
            trace.record()
            require_answer(program)
            continue
        g = -found.ineqlin.marginals if len(problem.h) else np.zeros(0)
        a = -found.eqlin.marginals if len(problem.b) else np.zeros(0)
        x, prices = unscaled(problem, found.x, g, a, found.lower.marginals, -found.upper.marginals)
        certificate = optimality_certificate(program, x, prices, tol, 0.0)
        trace.record(objective=program.objective(x), gap=certificate.parts["duality gap"], pivots=found.nit)
        if best is None or certificate.value < best.certificate.value:
            best = ProgramSolution(x, program.objective(x), prices, certificate, trace, program)
        if certificate.holds:
            break
    if best is None:
        raise RuntimeError(
            "linear_program: HiGHS returned no solution; scale the constraints to similar sizes."
        )
    if not best.certificate.holds:
        warn(f"linear_program: {best.certificate.statement}", CertificateWarning)
    return best
