"""What columns are worth to a forest, by rows out of bag, and where impurity says otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.tree_apply import tree_apply
from surefit.core.native.tree_shuffle import tree_shuffle
from surefit.models.tree.forest_samples import drawn_by, drawn_counts
from surefit.resample.streams import stream

Floats = NDArray[np.float64]
SURE = 2.0  # standard errors above 0 from which on a column is worth something


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OutOfBagImportance:
    """By how much the loss of a tree rises when a column is shuffled among the rows that it has not seen.

    each: (trees, columns). impurity: the shares of ``feature_importances_``, for comparison.
    """

    each: Floats
    impurity: Floats

    @property
    def mean(self) -> Floats:
        """The mean over trees."""
        return self.each.mean(axis=0)

    @property
    def standard_error(self) -> Floats:
        """That of the mean over trees; NaN for one tree."""
        trees = len(self.each)
        if trees < 2:
            return np.full(self.each.shape[1], np.nan)
        return np.asarray(self.each.std(axis=0, ddof=1) / np.sqrt(trees))

    @property
    def relevance(self) -> Floats:
        """The mean of absolute changes over the root of their squared deviations; 0 where nothing changes."""
        size = np.abs(self.each)
        middle = size.mean(axis=0)
        spread = np.sqrt(((size - middle) ** 2).sum(axis=0))
        return np.divide(middle, spread, out=np.zeros_like(middle), where=spread > 0)

    @property
    def overrated(self) -> NDArray[np.intp]:
        """Columns that impurity gives a share, though shuffling them costs nothing that is sure.

        Impurity is lowered on the rows that a split was chosen by: columns with many values look useful by
        chance. Named are those with more than half of an equal share.
        """
        sure = self.mean > SURE * np.nan_to_num(self.standard_error, nan=np.inf)
        return np.flatnonzero(~sure & (self.impurity > 0.5 / len(self.impurity)))

    def __repr__(self) -> str:
        mean, error = self.mean, self.standard_error
        best = [f"column {j} {mean[j]:.3g} +- {error[j]:.2g}" for j in np.argsort(-mean)[:3]]
        overrated = ", ".join(map(str, self.overrated.tolist())) or "none"
        return f"OutOfBagImportance({len(self.each)} trees; {', '.join(best)}; overrated: {overrated})"


def out_of_bag_importance(forest: Any, X: Any, target: Any, n_repeats: int) -> OutOfBagImportance:
    """Shuffle each column among the rows that a tree has not seen, tree by tree."""
    cumulative = drawn_by(forest)
    found = []
    for t, seed in enumerate(forest.tree_seeds_.tolist()):
        rows = np.flatnonzero(drawn_counts(seed, forest.draws_, len(X), cumulative) == 0)
        if len(rows):
            generator = stream(forest.seed_, t)
            order = np.stack([generator.permutation(len(rows)) for _ in range(n_repeats)])
            found.append(_of_tree(forest, t, np.ascontiguousarray(X[rows]), target.Y[rows], order))
    return OutOfBagImportance(np.array(found), forest.feature_importances_)


def _of_tree(forest: Any, t: int, X: NDArray[Any], Y: NDArray[Any], order: NDArray[np.int64]) -> Floats:
    nodes = forest._nodes_of(t)
    change = np.zeros((X.shape[1], len(order), len(X), nodes.value.shape[1]))
    tree_shuffle(nodes.grown, nodes.value, X, order, change)
    said = nodes.value[tree_apply(nodes.grown, X)]
    before = _losses(said, Y, nodes.classes)
    after = _losses(said + change, Y, nodes.classes)
    return np.asarray((after - before).mean(axis=(1, 2)))


def _losses(said: Floats, Y: NDArray[Any], classes: tuple[int, ...]) -> Floats:
    """The loss of each row: the share of outputs that are wrong, or the mean square."""
    if not classes:
        return np.asarray(((said - Y) ** 2).mean(axis=-1))
    parts = np.split(said, np.cumsum(classes)[:-1], axis=-1)
    return np.mean([part.argmax(axis=-1) != Y[:, o] for o, part in enumerate(parts)], axis=0)
