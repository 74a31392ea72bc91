r"""SVRG: stochastic steps whose spread vanishes, from the full gradient at a point of reference.

.. math:: x^+ = P\left( x - t \, (\nabla f_i(x) - \nabla f_i(r) + \nabla f(r)) \right)

Where SAGA keeps a gradient of each term, this keeps one point r, renewed after each pass.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from surefit.core.arrays import Vector
from surefit.solvers.methods.base import Move
from surefit.solvers.methods.lipschitz import greatest_smoothness
from surefit.solvers.methods.saga import Saga
from surefit.solvers.methods.terms import NativeTerms, RowTerms, native_terms, terms_of
from surefit.solvers.objective.base import Objective


class Svrg(Saga):
    """One iteration is a full gradient and as many draws as there are terms; a penalty by its prox.

    >>> from surefit.solvers.objective.function import FunctionObjective, Terms
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> mean = FunctionObjective(
    ...     lambda x: np.mean((x - y) ** 2) / 2, [0.0], terms=Terms(3, lambda x, i: x - y[i])
    ... )
    >>> Svrg(tolerance=1e-9).solve(mean).x.round(6)
    array([3.])
    """

    name = "svrg"

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        terms = terms_of(objective, self.name)
        rng = np.random.default_rng(self.random_state)
        step = 1.0 / (3.0 * greatest_smoothness(terms, objective, x)) if self.step is None else self.step
        fast = native_terms(terms, objective)
        if fast is not None and isinstance(terms, RowTerms):
            yield from self._native(terms, fast, x, step)
        while True:
            at_reference = terms.gradients(x, np.arange(terms.count))
            full = at_reference.mean(axis=0)
            for i in rng.integers(terms.count, size=terms.count):
                new = terms.gradients(x, np.array([i]))[0]
                x = objective.prox(x - step * (new - at_reference[i] + full), step)
            yield x, step

    def _native(self, terms: RowTerms, fast: NativeTerms, x: Vector, step: float) -> Iterator[Move]:
        rng = np.random.default_rng(self.random_state)
        lengths = np.full(terms.count, step)
        while True:
            memory = terms.slopes(x)
            draws = rng.integers(terms.count, size=terms.count)
            x = fast.steps(draws, lengths, x, memory=memory, mean=terms.mean_of(memory))
            yield x, step
