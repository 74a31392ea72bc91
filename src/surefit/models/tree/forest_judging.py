"""Trees are grown, and asked at once for rows that they have not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.forest_walk import forest_sums
from surefit.models.tree.forest_errors import ForestErrors, with_squares
from surefit.models.tree.forest_growing import Grower
from surefit.models.tree.forest_samples import drawn_counts
from surefit.models.tree.forest_store import ForestStore
from surefit.models.tree.kept_forest import KeptForest, kept_forest
from surefit.models.tree.members import jobs_for

Seeds = NDArray[np.uint64]


def judge(errors: ForestErrors, trees: KeptForest, seeds: Seeds, X: Any, grower: Grower) -> None:
    """Add what trees say of rows that they have not seen, or of all where they leave none out."""
    values = with_squares(trees.value, grower.target)
    left_out = None
    if grower.sample.draws:
        left_out = np.empty((len(seeds), len(X)), dtype=np.uint8)
        for row, seed in zip(left_out, seeds.tolist(), strict=True):
            row[:] = drawn_counts(seed, grower.sample.draws, len(X), grower.sample.cumulative) > 0
    so_far = errors.totals, errors.counts
    jobs = jobs_for(grower.model.n_jobs)
    forest_sums(trees, X, values, grower.levels, left_out, more_than=so_far, _threads=jobs)


def grow_into(store: ForestStore, errors: ForestErrors, seeds: Seeds, X: Any, grower: Grower) -> None:
    """Grow trees into a store, one a thread at a time, and judge them.

    What is needed to grow a tree is several times what is kept of it, so that few are at hand at a time.
    """
    jobs = jobs_for(grower.model.n_jobs)
    for at in range(0, len(seeds), jobs):
        own = seeds[at : at + jobs]
        for t, grown in enumerate(grower.grow(own)):
            tree = kept_forest(grown, grower.target.classes)
            judge(errors, tree, own[t : t + 1], X, grower)
            store.add(tree)
