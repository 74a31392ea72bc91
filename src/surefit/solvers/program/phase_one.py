"""Why a programme has no answer: a mixture of constraints that contradicts itself, or a ray down for ever."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import RefusalError
from surefit.solvers.program.certificate import infeasibility_certificate, unboundedness_certificate
from surefit.solvers.program.data import Multipliers, Program
from surefit.solvers.program.scaling import ScaledProgram

SEEN = 1e-9  # in balanced units, where the numbers are about 1: less than this is rounding


class NoAnswerError(RefusalError):
    """There is no minimum; ``certificate`` is the proof, and its witness the multipliers or the ray."""

    def __init__(self, message: str, certificate: Certificate) -> None:
        super().__init__(message)
        self.certificate = certificate


class InfeasibleError(NoAnswerError):
    """No point satisfies all constraints."""


class UnboundedError(NoAnswerError):
    """The objective is unbounded below."""


def require_answer(program: Program) -> None:
    """Raise the proof that there is no minimum, where one is found."""
    problem = ScaledProgram.of(program)
    start = _feasible(program, problem)
    ray = _ray(problem)
    if ray is not None:
        down = problem.columns * ray
        certificate = unboundedness_certificate(program, start, down)
        if certificate.holds:
            shown = np.array2string(down / np.abs(down).max(), precision=4, threshold=6, max_line_width=200)
            raise UnboundedError(
                f"the problem is unbounded: the objective decreases without limit along the direction {shown}"
                "; add a constraint or a bound against it.",
                certificate,
            )


def _feasible(program: Program, problem: ScaledProgram) -> Vector:
    """Return a point of least total violation; raise where that is not zero."""
    n, g, m = len(problem.c), len(problem.h), len(problem.b)
    up = sparse.hstack([sparse.csr_matrix(problem.G), -sparse.eye(g), sparse.csr_matrix((g, 2 * m))])
    eq = sparse.hstack(
        [sparse.csr_matrix(problem.A), sparse.csr_matrix((m, g)), sparse.eye(m), -sparse.eye(m)]
    )
    bounds = [*zip(problem.lower, problem.upper, strict=True), *[(0, None)] * (g + 2 * m)]
    cost = np.concatenate([np.zeros(n), np.ones(g + 2 * m)])
    found = linprog(
        cost, up if g else None, problem.h if g else None, eq if m else None, problem.b if m else None, bounds
    )
    if found.x is None:
        return np.clip(np.zeros(n), program.lower, program.upper)
    if found.fun > SEEN:
        of_g = np.maximum(-found.ineqlin.marginals, 0.0) if g else np.zeros(0)
        of_a = -found.eqlin.marginals if m else np.zeros(0)
        low, high = np.maximum(found.lower.marginals[:n], 0.0), np.maximum(-found.upper.marginals[:n], 0.0)
        mixture = problem.multipliers(of_g, of_a, low, high)
        certificate = infeasibility_certificate(program, mixture)
        if certificate.holds:
            raise InfeasibleError(
                f"no point satisfies all constraints: {_told(mixture)} contradict each other; "
                "loosen one of them.",
                certificate,
            )
    return problem.point(found.x[:n])


def _told(mixture: Multipliers) -> str:
    """Name the constraints that have a share in the contradiction."""
    shares = {"A_ub": mixture.ub, "A_eq": np.abs(mixture.eq), "bounds": mixture.lower + mixture.upper}
    largest = max(float(share.max(initial=0.0)) for share in shares.values())
    parts = []
    for name, share in shares.items():
        rows = np.flatnonzero(share > 1e-9 * largest)
        if len(rows):
            listed = ", ".join(str(row) for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
            parts.append(f"{name}[{listed}]")
    return " and ".join(parts)


def _ray(problem: ScaledProgram) -> Vector | None:
    """Return a direction of no curvature along which costs fall and every constraint stays met."""
    up = sparse.csr_matrix(problem.G)
    eq = sparse.vstack([sparse.csr_matrix(problem.A), sparse.csr_matrix(problem.Q)])
    low = np.where(np.isfinite(problem.lower), 0.0, -1.0)
    high = np.where(np.isfinite(problem.upper), 0.0, 1.0)
    given = (up, np.zeros(up.shape[0])) if up.shape[0] else (None, None)
    found = linprog(problem.c, *given, eq, np.zeros(eq.shape[0]), [*zip(low, high, strict=True)])
    if found.x is None or found.fun >= -SEEN:
        return None
    ray: Vector = np.where(np.abs(found.x) < SEEN, 0.0, found.x)
    return np.clip(ray, low, high)
