r"""SAGA: stochastic steps whose spread vanishes, from a table of each term's last gradient.

.. math:: x^+ = P\left( x - t \, (\nabla f_i(x) - g_i + \tfrac1n \textstyle\sum_j g_j) \right)

The gradient of the drawn term replaces its old one in the table. With t = 1/(3L) the rate is linear on
strongly convex functions, at the cost of one term an iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.solvers.methods.base import Method, Move
from surefit.solvers.methods.lipschitz import greatest_smoothness
from surefit.solvers.methods.terms import NativeTerms, RowTerms, has_terms, native_terms, terms_of
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs


class Saga(Method):
    """One iteration is a pass: as many draws as there are terms; a penalty by its proximal step.

    >>> from surefit.solvers.objective.function import FunctionObjective, Terms
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> mean = FunctionObjective(
    ...     lambda x: np.mean((x - y) ** 2) / 2, [0.0], terms=Terms(3, lambda x, i: x - y[i])
    ... )
    >>> Saga(tolerance=1e-9).solve(mean).x.round(6)
    array([3.])
    """

    name = "saga"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("prox",))
    falls: ClassVar[bool] = False

    def __init__(self, *, step: float | None = None, random_state: int = 0, **options: Any) -> None:
        super().__init__(**options)
        if step is not None and not step > 0:
            raise ParameterError(
                "step must be positive, or None for 1 / (3 L), with L the largest curvature of a term."
            )
        self.step, self.random_state = step, random_state

    def _refusal(self, objective: Objective) -> str | None:
        if has_terms(objective):
            return None
        return (
            f"solver {self.name!r} needs rows with a single output and no offset, or a function with terms."
        )

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        terms = terms_of(objective, self.name)
        rng = np.random.default_rng(self.random_state)
        step = 1.0 / (3.0 * greatest_smoothness(terms, objective, x)) if self.step is None else self.step
        fast = native_terms(terms, objective)
        if fast is not None and isinstance(terms, RowTerms):
            yield from self._native(terms, fast, x, step)
        table = terms.gradients(x, np.arange(terms.count))
        mean = table.mean(axis=0)
        while True:
            for i in rng.integers(terms.count, size=terms.count):
                new = terms.gradients(x, np.array([i]))[0]
                change = new - table[i]
                x = objective.prox(x - step * (change + mean), step)
                mean = mean + change / terms.count
                table[i] = new
            mean = table.mean(axis=0)  # takes away what roundings added up
            yield x, step

    def _native(self, terms: RowTerms, fast: NativeTerms, x: Vector, step: float) -> Iterator[Move]:
        """Do the same by the kernel, which keeps the slope of each row in place of its gradient."""
        rng = np.random.default_rng(self.random_state)
        memory = terms.slopes(x)
        mean = terms.mean_of(memory)
        lengths = np.full(terms.count, step)
        while True:
            draws = rng.integers(terms.count, size=terms.count)
            x = fast.steps(draws, lengths, x, memory=memory, mean=mean, renew=True)
            mean = terms.mean_of(memory)  # takes away what roundings added up
            yield x, step
