r"""What trees say of rows that they were not grown from: the loss of their average, and how alike they err.

With :math:`s^2` the mean squared error of one tree and :math:`\rho` the correlation of the errors of two, the
average of B trees has the mean squared error

.. math:: \rho s^2 + \frac{1 - \rho}{B} s^2
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.forest_grow import ForestArrays
from surefit.core.native.trees.forest_walk import forest_sums
from surefit.models.tree.growing.forest_grower import Grower
from surefit.models.tree.growing.forest_samples import drawn_counts
from surefit.models.tree.nodes.compact_forest import compact_forest
from surefit.models.tree.nodes.forest_store import ForestStore
from surefit.models.tree.nodes.leaf_values import as_said
from surefit.models.tree.nodes.parameters import Target

Seeds = NDArray[np.uint64]


@dataclass(slots=True, eq=False)
class ForestErrors:
    """Sums over trees, one entry a row; ``truth`` is (n, width) as leaves have it: shares, or numbers.

    classes: how many each output has; empty for numbers. totals: (n, width + 1), the sums of the answers of
    trees, and last of the squares of each tree's; counts: how many trees there were. Whoever asks trees adds
    to both. Answers are taken about the truth's mean, which keeps the digits of squares.
    """

    truth: Matrix
    weight: Vector
    classes: tuple[int, ...] = ()
    totals: Matrix = field(init=False)
    counts: NDArray[np.int64] = field(init=False)
    curve: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.totals = np.zeros((len(self.truth), self.truth.shape[1] + 1))
        self.counts = np.zeros(len(self.truth), dtype=np.int64)
        self.curve = []

    @property
    def sums(self) -> Matrix:
        """The sums of answers."""
        return self.totals[:, :-1]

    @property
    def squares(self) -> Vector:
        """The sums of their squares."""
        return self.totals[:, -1]

    def record(self) -> float:
        """Return the loss of the trees so far, and put it down."""
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

    def row_losses(self, rows: NDArray[np.bool_]) -> Vector:
        """The loss of rows that have an answer: the share of outputs that are wrong, or the mean square."""
        if not self.classes:
            gaps = self.sums[rows] / self.counts[rows, None] - self.truth[rows]
            return np.asarray((gaps**2).mean(axis=1))
        edges = np.cumsum(self.classes)[:-1]
        answers = np.split(self.sums[rows], edges, axis=1)
        right = np.split(self.truth[rows], edges, axis=1)
        wrong = [a.argmax(axis=1) != t.argmax(axis=1) for a, t in zip(answers, right, strict=True)]
        return np.mean(wrong, axis=0)

    def loss(self) -> tuple[float, float]:
        """The mean loss and its standard error; NaN without a row."""
        rows = self.seen
        weight = self.weight[rows]
        if len(weight) == 0:
            return float("nan"), float("nan")
        losses = self.row_losses(rows)
        mean = float(np.average(losses, weights=weight))
        spread = float(np.sqrt((weight**2 * (losses - mean) ** 2).sum()))
        return mean, spread / float(weight.sum())

    def decomposition(self) -> tuple[float, float]:
        """The mean squared error of one tree, and the correlation of the errors of two; NaN if unknown."""
        rows = self.seen & (self.counts > 1)
        if not rows.any():
            rows = self.seen
        if not rows.any():
            return float("nan"), float("nan")
        outputs = len(self.classes) or self.truth.shape[1]
        weight, counts, truth = self.weight[rows], self.counts[rows], self.truth[rows]
        cross = (self.sums[rows] * truth).sum(axis=1)
        squares = self.squares[rows] - 2.0 * cross + counts * (truth**2).sum(axis=1)
        squares = np.maximum(squares, 0.0)
        alone = float(np.average(squares / counts, weights=weight)) / outputs
        if counts.max() < 2:
            return alone, float("nan")
        if alone == 0:
            return 0.0, 0.0
        errors = self.sums[rows] - counts[:, None] * truth
        products = (errors**2).sum(axis=1) - squares
        both = float(np.average(products / (counts * (counts - 1)), weights=weight)) / outputs
        return alone, min(both / alone, 1.0)

    def constant_loss(self) -> float:
        """The loss of the best constant answer."""
        middle = np.average(self.truth, axis=0, weights=self.weight)
        if self.classes:
            best = [share.max() for share in np.split(middle, np.cumsum(self.classes)[:-1])]
            return float(1.0 - np.mean(best))
        return float(np.average(((self.truth - middle) ** 2).mean(axis=1), weights=self.weight))


def with_squares(value: Matrix, target: Target) -> Matrix:
    """What leaves say, about the centre of the target, and the sum of its squares."""
    if not target.classes and target.centre is not None:
        value = (value - target.centre) * target.factor
    return np.column_stack([value, (value**2).sum(axis=1)])


def judge(errors: ForestErrors, trees: ForestArrays, value: Matrix, seeds: Seeds, grower: Grower) -> None:
    """Add what trees say of rows that they have not seen, or of all where they leave none out.

    value: what the leaves of the trees say, (leaves, width).
    """
    X, sample = grower.X, grower.sample
    left_out = None
    if sample.draws:
        left_out = np.empty((len(seeds), len(X)), dtype=np.uint8)
        for row, seed in zip(left_out, seeds.tolist(), strict=True):
            row[:] = drawn_counts(seed, sample.draws, len(X), sample.cumulative) > 0
    so_far = errors.totals, errors.counts
    values = with_squares(value, grower.target)
    forest_sums(trees, X, values, grower.levels, left_out, more_than=so_far, _threads=grower.jobs)


def grow_into(store: ForestStore, errors: ForestErrors, seeds: Seeds, grower: Grower) -> None:
    """Grow trees into a store, one a thread at a time, and judge them as they were grown.

    What is needed to grow a tree is several times what is kept of it, so that few are at hand at a time.
    """
    classes = grower.target.classes
    for at in range(0, len(seeds), grower.jobs):
        own = seeds[at : at + grower.jobs]
        for t, grown in enumerate(grower.grow(own)):
            judge(errors, grown, as_said(grown.value, classes), own[t : t + 1], grower)
            store.add(compact_forest(grown, classes))
