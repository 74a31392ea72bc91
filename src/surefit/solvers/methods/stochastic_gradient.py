r"""Stochastic gradient descent: :math:`x^+ = P(x - t_k \nabla f_B(x))` for a batch B of terms, drawn.

The mean over all draws is the full gradient. Its spread does not vanish at the minimum, so that the steps
must shrink: :math:`t_k = t / (1 + k/n)^{decay}` for n terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.solvers.methods.base import Method, Move
from surefit.solvers.methods.terms import Draws, has_terms, native_terms, terms_of
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs


class StochasticGradient(Method):
    """One iteration is a pass: as many draws of ``batch_size`` terms as make up all; a penalty by its prox.

    A batch of all terms is gradient descent. ``average=True`` returns the mean of the last pass's points.

    >>> from surefit.solvers.objective.function import FunctionObjective, Terms
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> mean = FunctionObjective(
    ...     lambda x: np.mean((x - y) ** 2) / 2, [0.0], terms=Terms(3, lambda x, i: x - y[i])
    ... )
    >>> StochasticGradient(step=1.0, batch_size=3, decay=0.0).solve(mean).x
    array([3.])
    """

    name = "stochastic_gradient"
    needs: ClassVar[Needs] = Needs(penalty=("prox",))
    falls: ClassVar[bool] = False

    def __init__(
        self,
        *,
        step: float = 0.1,
        decay: float = 0.75,
        batch_size: int = 1,
        average: bool = False,
        random_state: int = 0,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if not (step > 0 and decay >= 0):
            raise ParameterError("step must be positive and decay 0 or more.")
        self.step, self.decay, self.batch_size = step, decay, batch_size
        self.average, self.random_state = average, random_state

    def _refusal(self, objective: Objective) -> str | None:
        if has_terms(objective):
            return None
        return (
            f"solver {self.name!r} needs rows with a single output and no offset, or a function with terms."
        )

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        draws = Draws(terms_of(objective, self.name), self.batch_size, self.random_state)
        each = -(-draws.terms.count // draws.size)
        passes = 0
        fast = native_terms(draws.terms, objective)
        while fast is not None:
            within = np.arange(each) / each
            lengths = self.step / (1.0 + passes + within) ** self.decay
            total = np.zeros_like(x) if self.average else None
            rows = np.concatenate([draws.rows() for _ in range(each)])
            x = fast.steps(rows, lengths, x, batch=draws.size, total=total)
            passes += 1
            yield (x if total is None else total / each), float(lengths[-1])
        while True:
            step, total = self.step, np.zeros_like(x)
            for k in range(each):
                step = self.step / (1.0 + passes + k / each) ** self.decay
                x = objective.prox(x - step * draws.gradient(x), step)
                total += x
            passes += 1
            yield (total / each if self.average else x), step
