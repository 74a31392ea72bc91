r"""The subgradient method: :math:`x^+ = P(x - t_k g)` for any g of the subdifferential.

It need not descend, so the best point is kept. With a constant step it only comes near; the steps must
shrink, but not so fast that they add up to a finite length: :math:`t_k = t / \sqrt k`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.solvers.methods.base import Method, Move
from surefit.solvers.methods.terms import Draws, terms_of
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs

Decay = Literal["root", "harmonic", "none"]


class Subgradient(Method):
    r"""Steps along minus a subgradient, divided by its length where ``normalize`` says so.

    decay: ``root`` for :math:`1/\sqrt k`, ``harmonic`` for 1/k (for strongly convex functions), ``none``.
    Without a ``step`` the first one is as long as the start is from the origin. ``batch_size`` takes the
    subgradient of that many terms, drawn at random: the stochastic subgradient method.

    >>> from surefit.solvers.objective.function import FunctionObjective, Shape
    >>> kinked = FunctionObjective(
    ...     lambda x: abs(x[0] - 1), [3.0], gradient=lambda x: np.sign(x - 1), shape=Shape(smooth=False)
    ... )
    >>> Subgradient(max_iter=1000).solve(kinked).value < 0.1
    True
    """

    name = "subgradient"
    falls: ClassVar[bool] = False
    needs: ClassVar[Needs] = Needs(penalty=("prox",))

    def __init__(
        self,
        *,
        step: float | None = None,
        decay: Decay = "root",
        normalize: bool = True,
        batch_size: int | None = None,
        random_state: int = 0,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if decay not in ("root", "harmonic", "none") or (step is not None and not step > 0):
            raise ParameterError("step must be positive and decay 'root', 'harmonic' or 'none'.")
        self.step, self.decay, self.normalize = step, decay, normalize
        self.batch_size, self.random_state = batch_size, random_state

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        first = max(float(np.linalg.norm(x)), 1.0) if self.step is None else self.step
        draws = None
        if self.batch_size is not None:
            draws = Draws(terms_of(objective, self.name), self.batch_size, self.random_state)
        count = 0
        while True:
            count += 1
            g = objective.at(x, 1).gradient if draws is None else draws.gradient(x)
            length = float(np.linalg.norm(g))
            if length == 0 and draws is None:
                yield x, 0.0
                continue
            shrink = {"root": count**0.5, "harmonic": float(count), "none": 1.0}[self.decay]
            step = first / shrink / (length if self.normalize and length > 0 else 1.0)
            x = objective.prox(x - step * g, step)
            yield x, step
