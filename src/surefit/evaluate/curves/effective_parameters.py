r"""How many parameters a model effectively has: how far its answers follow their own targets.

.. math:: df = \sum_i \partial \hat y_i / \partial y_i

For answers that are linear in the targets, :math:`\hat y = Hy`, that is the trace of :math:`H`: the rank for
least squares, :math:`\sum_j d_j^2 / (d_j^2 + \alpha)` for ridge regression, n/k for k nearest neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.errors import DataError, ParameterError
from surefit.core.progress import progress
from surefit.core.public import public
from surefit.evaluate.rows.dataset import rows_of


@dataclass(frozen=True, slots=True)
class EffectiveParameters:
    """The number, and the standard error that chance has left in it; 0 where every row was looked at."""

    value: float
    standard_error: float
    probes: int


@public
def effective_parameters(
    model: Any, X: Any, y: Any = None, *, probes: int = 50, step: float = 0.5, random_state: int = 0
) -> EffectiveParameters:
    """Return the effective number of parameters of any regression model, by fitting it to shaken targets.

    probes: fits to make. As many as there are rows shake one row each, which is exact where answers are
    linear in the targets; fewer shake all rows by random signs. step: the size of a shake, in standard
    deviations of the target; for answers that jump, as a tree's do, it is part of the question.

    >>> from surefit import Ridge
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 5.0]
    >>> found = effective_parameters(Ridge(alpha=5.0), X, y)
    >>> round(found.value, 9)  # 1 for the intercept, 5 / (5 + 5) for the column
    1.5
    """
    table = rows_of(model, X, y)
    truth = np.asarray(table.y, dtype=np.float64)
    if truth.ndim != 1 or len(truth) < 2:
        raise DataError("y must be one column of numbers with at least two rows.")
    if probes < 1 or not step > 0:
        raise ParameterError(
            f"probes={probes!r} must be at least 1, and step={step!r} positive: fits to make, and their size."
        )
    size = step * (float(truth.std()) or 1.0)
    one_by_one = probes >= len(truth)
    if one_by_one:
        signs = np.eye(len(truth))
    else:
        signs = np.random.default_rng(random_state).choice([-1.0, 1.0], size=(probes, len(truth)))
    before = table.ask(table.fit(model, None, truth))
    found = np.empty(len(signs))
    with progress("fits to shaken targets", total=len(signs)) as bar:
        for k, sign in enumerate(signs):
            after = table.ask(table.fit(model, None, truth + size * sign))
            found[k] = sign @ (after - before) / size
            bar.advance()
    if one_by_one:
        return EffectiveParameters(float(found.sum()), 0.0, len(found))
    error = float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else float("inf")
    return EffectiveParameters(float(found.mean()), error, len(found))
