r"""What members say of rows that they were not given: the loss of their average, and how alike they err.

With the errors :math:`e_b` of members, :math:`s^2` their mean square and :math:`\rho s^2` the mean product of
those of two members for the same row, the average of B members has the mean squared error

.. math:: \rho s^2 + \frac{1 - \rho}{B} s^2

so that :math:`\rho` is what no number of members gets below.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector


@dataclass(slots=True)
class MemberErrors:
    """Sums over members, one entry a row; ``truth`` is (n, k), one column a class or a target.

    by_class: whether a row counts as lost where the largest answer is not that of its class; otherwise by
    the square of its error. unanswered: how many members cannot answer.
    """

    truth: Matrix
    weight: Vector
    by_class: bool
    sums: Matrix = field(init=False)
    errors: Vector = field(init=False)
    squares: Vector = field(init=False)
    counts: NDArray[np.int64] = field(init=False)
    curve: list[float] = field(init=False)
    unanswered: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.sums = np.zeros_like(self.truth)
        self.errors = np.zeros_like(self.truth)
        self.squares = np.zeros(len(self.truth))
        self.counts = np.zeros(len(self.truth), dtype=np.int64)
        self.curve = []

    def add(self, rows: NDArray[np.bool_], answers: Matrix | None) -> float:
        """Add what a member answers for some rows; return the loss of the average of all so far."""
        if answers is None:
            self.unanswered += 1
        else:
            error = answers - self.truth[rows]
            self.sums[rows] += answers
            self.errors[rows] += error
            self.squares[rows] += (error**2).sum(axis=1)
            self.counts[rows] += 1
        self.curve.append(self.loss()[0])
        return self.curve[-1]

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which rows have an answer, and weight."""
        return np.asarray((self.counts > 0) & (self.weight > 0))

    def averages(self) -> Matrix:
        """The mean answer for each row; NaN where there is none."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.sums / self.counts[:, None])

    def row_losses(self) -> Vector:
        """The loss of each row that has an answer."""
        rows = self.seen
        if self.by_class:
            wrong = self.sums[rows].argmax(axis=1) != self.truth[rows].argmax(axis=1)
            return wrong.astype(np.float64)
        return np.asarray(((self.errors[rows] / self.counts[rows, None]) ** 2).mean(axis=1))

    def loss(self) -> tuple[float, float]:
        """The mean loss and its standard error; NaN without a row."""
        weight = self.weight[self.seen]
        if len(weight) == 0:
            return float("nan"), float("nan")
        losses = self.row_losses()
        mean = float(np.average(losses, weights=weight))
        spread = float(np.sqrt((weight**2 * (losses - mean) ** 2).sum()))
        return mean, spread / float(weight.sum())

    def decomposition(self) -> tuple[float, float]:
        """The mean squared error of one member, and the correlation of the errors of two.

        The latter is NaN without a row that two have answered, and 0 where none errs.
        """
        outputs = 1 if self.by_class else self.truth.shape[1]
        rows = self.seen & (self.counts > 1)  # all of them count alike, so that no correlation is above 1
        if not rows.any():
            rows = self.seen
        if not rows.any():
            return float("nan"), float("nan")
        weight, counts = self.weight[rows], self.counts[rows]
        alone = float(np.average(self.squares[rows] / counts, weights=weight)) / outputs
        if counts.max() < 2:
            return alone, float("nan")
        if alone == 0:
            return 0.0, 0.0
        products = (self.errors[rows] ** 2).sum(axis=1) - self.squares[rows]
        both = float(np.average(products / (counts * (counts - 1)), weights=weight)) / outputs
        return alone, both / alone

    def constant_loss(self) -> float:
        """The loss of the best constant answer."""
        middle = np.average(self.truth, axis=0, weights=self.weight)
        if self.by_class:
            return float(1.0 - middle.max())
        return float(np.average(((self.truth - middle) ** 2).mean(axis=1), weights=self.weight))
