"""A function to minimise, with constraints g(x) ≤ 0 and h(x) = 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.solvers.conditions.differences import Function, numerical_gradient, numerical_jacobian
from surefit.solvers.program.data import Multipliers, Program


@dataclass(frozen=True, slots=True)
class ConstrainedProblem:
    """Minimise objective(x) with inequalities(x) ≤ 0 and equalities(x) = 0, each a number or a vector.

    Derivatives are optional: ``gradient`` of the objective, and one Jacobian, with a row a constraint, each.

    >>> nearest = ConstrainedProblem(lambda x: x @ x, lambda x: 4 - 2 * x[0] - 2 * x[1])
    >>> nearest.above(np.array([1.0, 1.0]))
    array([0.])
    """

    objective: Function
    inequalities: Function | None = None
    equalities: Function | None = None
    gradient: Function | None = None
    inequality_jacobian: Function | None = None
    equality_jacobian: Function | None = None

    def value(self, x: Vector) -> float:
        """Return the objective."""
        return float(np.asarray(self.objective(x), dtype=np.float64).sum())

    def above(self, x: Vector) -> Vector:
        """Return the inequalities' values: feasible where none is positive."""
        return _vector(self.inequalities, x)

    def off(self, x: Vector) -> Vector:
        """Return the equalities' values: feasible where all vanish."""
        return _vector(self.equalities, x)

    def slope(self, x: Vector) -> Vector:
        """Return the objective's gradient."""
        if self.gradient is None:
            return numerical_gradient(self.objective, x)
        return np.asarray(self.gradient(x), dtype=np.float64)

    def inequality_slopes(self, x: Vector) -> Matrix:
        """Return the inequalities' Jacobian."""
        return _jacobian(self.inequalities, self.inequality_jacobian, x)

    def equality_slopes(self, x: Vector) -> Matrix:
        """Return the equalities' Jacobian."""
        return _jacobian(self.equalities, self.equality_jacobian, x)

    def prices(self, u: object, v: object, x: Vector) -> tuple[Vector, Vector]:
        """Return multipliers as vectors with one entry a constraint; None stands for zeros."""
        pair = []
        for name, given, values in (("u", u, self.above(x)), ("v", v, self.off(x))):
            prices = np.zeros(0) if given is None else np.atleast_1d(np.array(given, dtype=np.float64))
            if prices.shape != values.shape:
                raise DataError(
                    f"{name} has {prices.size} entries for {values.size} constraints; give one each."
                )
            pair.append(prices)
        return pair[0], pair[1]

    @classmethod
    def of_program(cls, program: Program) -> ConstrainedProblem:
        """Return a linear or quadratic programme as functions: A_ub, then lower, then upper bounds; A_eq."""
        low, high = np.isfinite(program.lower), np.isfinite(program.upper)
        rows = np.eye(len(program.c))
        slopes = np.vstack([_full(program.A_ub), -rows[low], rows[high]])
        right = np.concatenate([program.b_ub, -program.lower[low], program.upper[high]])
        return cls(
            program.objective,
            (lambda x: slopes @ x - right) if len(right) else None,
            (lambda x: program.A_eq @ x - program.b_eq) if len(program.b_eq) else None,
            program.gradient,
            lambda x: slopes,
            lambda x: _full(program.A_eq),
        )


def prices_of_program(program: Program, multipliers: Multipliers) -> tuple[Vector, Vector]:
    """Return the multipliers of a programme in the order of :meth:`ConstrainedProblem.of_program`."""
    low, high = np.isfinite(program.lower), np.isfinite(program.upper)
    return np.concatenate([multipliers.ub, multipliers.lower[low], multipliers.upper[high]]), multipliers.eq


def _vector(function: Function | None, x: Vector) -> Vector:
    return (
        np.zeros(0) if function is None else np.atleast_1d(np.asarray(function(x), dtype=np.float64)).ravel()
    )


def _jacobian(function: Function | None, given: Function | None, x: Vector) -> Matrix:
    if function is None:
        return np.zeros((0, len(x)))
    if given is None:
        return numerical_jacobian(function, x)
    return np.atleast_2d(np.asarray(given(x), dtype=np.float64))


def _full(matrix: object) -> Matrix:
    dense: Vector = matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
    return dense
