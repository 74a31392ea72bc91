r"""Proofs about a programme, recomputed from (data, primal, dual) alone.

For x feasible and multipliers with :math:`Qx + c + A_{ub}'\lambda + A_{eq}'\nu - z_l + z_u = 0`, no feasible
point is better by more than :math:`\lambda'(b_{ub} - A_{ub}x) + z_l'(x - l) + z_u'(u - x)`, the sum of price
times slack: the duality gap. Rounding leaves each condition a little open, and the certificate's value is the
largest opening, relative to the numbers that it is the difference of.
"""

from __future__ import annotations

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.solvers.program.data import DenseOrSparse, Multipliers, Program


def optimality_certificate(
    program: Program,
    x: Vector,
    multipliers: Multipliers,
    tolerance: float = 1e-8,
    curvature: float | None = None,
) -> Certificate:
    """Recompute how far x can be from the minimum; ``curvature`` is looked for where it is not given.

    >>> program = Program.of([[2.0]], [-2.0])
    >>> nothing = Multipliers(np.zeros(0), np.zeros(0), np.zeros(1), np.zeros(1))
    >>> optimality_certificate(program, np.array([1.0]), nothing).value
    0.0
    """
    from surefit.solvers.program.definiteness import smallest_curvature

    residual = program.gradient(x) + multipliers.force(program)
    gap, terms = _gap(program, x, multipliers)
    primal = _violation(program, x)
    size = _gradient_size(program, x, multipliers)
    dual = max(float(np.abs(residual).max()), _wrong_signs(program, multipliers)) / size if size > 0 else 0.0
    least = smallest_curvature(program) if curvature is None else curvature
    objective = program.objective(x)
    parts = {
        "objective": objective,
        "duality gap": gap,
        "relative gap": abs(gap) / terms if terms > 0 else 0.0,
        "primal infeasibility": primal,
        "dual infeasibility": dual,
        "smallest curvature": least,
    }
    value = max(parts["relative gap"], primal, dual) if least >= 0 else np.inf
    return Certificate(
        "optimal",
        "largest of gap and infeasibilities, relative",
        value,
        tolerance,
        parts,
        {"x": x, "ub": multipliers.ub, "eq": multipliers.eq}
        | {"lower": multipliers.lower, "upper": multipliers.upper},
    )


def infeasibility_certificate(
    program: Program, multipliers: Multipliers, tolerance: float = 1e-8
) -> Certificate:
    """Recompute whether multipliers of the constraints prove 0 ≤ a negative number, as in Farkas' lemma.

    >>> program = Program.of(None, [0.0], A_ub=[[1.0], [-1.0]], b_ub=[0.0, -1.0])
    >>> mixture = Multipliers(np.ones(2), np.zeros(0), np.zeros(1), np.zeros(1))
    >>> infeasibility_certificate(program, mixture).holds
    True
    """
    low, high = np.isfinite(program.lower), np.isfinite(program.upper)
    left = np.abs(multipliers.force(program))
    right = float(
        program.b_ub @ multipliers.ub
        + program.b_eq @ multipliers.eq
        - program.lower[low] @ multipliers.lower[low]
        + program.upper[high] @ multipliers.upper[high]
    )
    size = (
        abs(program.A_ub).T @ np.abs(multipliers.ub)
        + abs(program.A_eq).T @ np.abs(multipliers.eq)
        + np.abs(multipliers.lower)
        + np.abs(multipliers.upper)
    )
    wrong = _wrong_signs(program, multipliers) + float(left.max())
    value = wrong / float(size.max()) if right < 0 and size.max() > 0 else np.inf
    parts = {"contradiction": right, "left over": float(left.max())}
    return Certificate(
        "infeasible",
        "relative error of the Farkas certificate",
        value,
        tolerance,
        parts,
        {"mixture": multipliers},
    )


def unboundedness_certificate(
    program: Program, x: Vector, ray: Vector, tolerance: float = 1e-8
) -> Certificate:
    """Recompute whether the objective is unbounded along a ray from x that stays feasible."""
    fall = float(program.c @ ray)
    leaving = [
        np.maximum(_relative(program.A_ub, ray), 0.0),
        np.abs(_relative(program.A_eq, ray)),
        np.abs(_relative(program.Q, ray)),
        np.where(ray > 0, 1.0, 0.0)[np.isfinite(program.upper)],
        np.where(ray < 0, 1.0, 0.0)[np.isfinite(program.lower)],
    ]
    worst = max(float(part.max(initial=0.0)) for part in leaving)
    start = _violation(program, x)
    parts = {"fall": fall, "leaving": worst, "infeasibility of the start": start}
    value = max(worst, start) if fall < 0 else np.inf
    return Certificate("unbounded", "relative violation", value, tolerance, parts, {"ray": ray, "x": x})


def _relative(matrix: DenseOrSparse, ray: Vector) -> Vector:
    """Return the product, each entry relative to what it is a sum of."""
    image, size = np.asarray(matrix @ ray, dtype=np.float64), abs(matrix) @ np.abs(ray)
    relative: Vector = np.divide(image, size, out=np.zeros_like(image), where=size > 0)
    return relative


def _gap(program: Program, x: Vector, multipliers: Multipliers) -> tuple[float, float]:
    """Return the sum of price times slack, and the size of the terms of the objective and its dual."""
    low, high = np.isfinite(program.lower), np.isfinite(program.upper)
    above, below = x[low] - program.lower[low], program.upper[high] - x[high]
    gap = float(
        multipliers.ub @ (program.b_ub - program.A_ub @ x)
        + multipliers.eq @ (program.b_eq - program.A_eq @ x)
        + multipliers.lower[low] @ above
        + multipliers.upper[high] @ below
    )
    terms = float(
        0.5 * abs(x @ (program.Q @ x))
        + np.abs(program.c) @ np.abs(x)
        + np.abs(program.b_ub) @ np.abs(multipliers.ub)
        + np.abs(program.b_eq) @ np.abs(multipliers.eq)
        + np.abs(program.lower[low]) @ multipliers.lower[low]
        + np.abs(program.upper[high]) @ multipliers.upper[high]
    )
    return gap, max(terms, float(np.abs(program.c).max()) * _length(program, x))


def _length(program: Program, x: Vector) -> float:
    """Return the size of x; where it vanishes, the smallest length that the data speak of."""
    found = []
    for matrix, right in ((program.A_ub, program.b_ub), (program.A_eq, program.b_eq), (program.Q, program.c)):
        size = np.asarray(abs(matrix).sum(axis=1), dtype=np.float64).ravel()
        told = (right != 0) & (size > 0)
        found.append(np.abs(right[told]) / size[told])
    bounds = np.concatenate([program.lower, program.upper])
    lengths = np.concatenate([*found, np.abs(bounds[np.isfinite(bounds) & (bounds != 0)])])
    return max(float(np.abs(x).max()), float(lengths.min(initial=np.inf)) if len(lengths) else 0.0)


def _violation(program: Program, x: Vector) -> float:
    """Return by how much x leaves a constraint at most, relative to the numbers that it compares."""
    length = _length(program, x)
    worst = 0.0
    for matrix, right, two_sided in (
        (program.A_ub, program.b_ub, False),
        (program.A_eq, program.b_eq, True),
    ):
        over = matrix @ x - right
        size = np.asarray(abs(matrix).sum(axis=1), dtype=np.float64).ravel() * length + np.abs(right)
        left = np.abs(over) if two_sided else np.maximum(over, 0.0)
        worst = max(worst, float(np.divide(left, size, out=left.copy(), where=size > 0).max(initial=0.0)))
    for out, bound in ((program.lower - x, program.lower), (x - program.upper, program.upper)):
        finite = np.isfinite(bound)
        size = np.abs(bound[finite]) + length
        left = np.maximum(out[finite], 0.0)
        worst = max(worst, float(np.divide(left, size, out=left.copy(), where=size > 0).max(initial=0.0)))
    return worst


def _gradient_size(program: Program, x: Vector, multipliers: Multipliers) -> float:
    """Return the largest of the numbers that add up to zero at an optimum.

    They are taken after their own sums: far out along a ray, x is so large that any error is small beside it.
    """
    terms = [program.c, program.Q @ x, program.A_ub.T @ multipliers.ub, program.A_eq.T @ multipliers.eq]
    return max(float(np.abs(term).max()) for term in [*terms, multipliers.lower, multipliers.upper])


def _wrong_signs(program: Program, multipliers: Multipliers) -> float:
    """Return the largest price below zero, or put on a bound that does not exist."""
    prices = np.concatenate([multipliers.ub, multipliers.lower, multipliers.upper])
    nowhere = np.concatenate(
        [multipliers.lower[~np.isfinite(program.lower)], multipliers.upper[~np.isfinite(program.upper)]]
    )
    return max(float(-prices.min(initial=0.0)), float(np.abs(nowhere).max(initial=0.0)))
