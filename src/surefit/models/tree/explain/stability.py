"""How much a tree changes when its rows are drawn again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.resample.streams import seed_of, stream


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stability:
    """What trees of resampled rows have in common.

    root_columns: how often each column is split first; the last entry counts trees without a split.
    root_thresholds: of each tree, NaN for levels and for no split. leaves: how many each tree has.
    disagreement: of each pair of trees, the share of rows that they classify differently, or the mean squared
    difference of their predictions over the variance of the target.
    """

    root_columns: NDArray[np.int64]
    root_thresholds: Vector
    leaves: NDArray[np.int64]
    disagreement: Matrix

    @property
    def mean_disagreement(self) -> float:
        """The mean over all pairs."""
        above = np.triu_indices(len(self.leaves), k=1)
        return float(self.disagreement[above].mean())

    def __repr__(self) -> str:
        order = np.argsort(-self.root_columns, kind="stable")
        roots = [
            f"{self.root_columns[j]} by {'none' if j == len(self.root_columns) - 1 else f'column {j}'}"
            for j in order
            if self.root_columns[j] > 0
        ]
        return (
            f"Stability({len(self.leaves)} trees, split first {', '.join(roots)}; {self.leaves.mean():.3g} "
            f"leaves on average; two trees disagree by {self.mean_disagreement:.3g})"
        )


def stability(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, times: int = 30, random_state: Any = None
) -> Stability:
    """Grow a tree on each of many bootstraps of the rows and compare them.

    >>> from surefit import DecisionTreeClassifier
    >>> X = np.arange(30.0)[:, None]
    >>> found = stability(DecisionTreeClassifier(max_depth=1), X, X[:, 0] > 14, times=5, random_state=0)
    >>> found.root_columns.tolist(), found.mean_disagreement < 0.1
    ([5, 0], True)
    """
    if times < 2:
        raise ParameterError(f"stability: times={times!r} must be at least 2, to compare pairs of trees.")
    y = np.asarray(y)
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    seed = seed_of(random_state)
    answers, roots, thresholds, leaves = [], [], [], []
    for task in range(times):
        drawn = stream(seed, task).integers(len(y), size=len(y))
        counts = np.bincount(drawn, minlength=len(y)) * weight
        tree = clone(model).fit(X, y, counts)
        answers.append(tree.predict(X))
        view = tree.tree_
        roots.append(max(int(view.feature[0]), -1))
        thresholds.append(view.threshold[0] if roots[-1] >= 0 else np.nan)
        leaves.append(view.n_leaves)
    spread = 1.0 if is_classifier(model) else float(np.var(y.astype(np.float64))) or 1.0
    apart = np.zeros((times, times))
    for a in range(times):
        for b in range(a):
            one, two = answers[a], answers[b]
            gap = np.mean(one != two) if is_classifier(model) else np.mean((one - two) ** 2) / spread
            apart[a, b] = apart[b, a] = gap
    columns = np.bincount(
        [root if root >= 0 else tree.n_features_in_ for root in roots], minlength=tree.n_features_in_ + 1
    )
    return Stability(columns, np.array(thresholds, dtype=np.float64), np.array(leaves), apart)
