"""The trees of a forest as fitted trees by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.certificate import Certificate
from surefit.core.diagnosis import Diagnosis
from surefit.core.trace import Trace
from surefit.models.tree.arrays import as_parameters


def tree_views(forest: Any) -> list[Any]:
    """Return a fitted tree for each of the forest's; its classes are the numbers of the forest's."""
    counts = forest._class_counts
    classes: Any = [np.arange(count, dtype=np.float64) for count in counts]
    found = []
    for t, seed in enumerate(forest.tree_seeds_.tolist()):
        view = forest._tree(int(seed))
        arrays = as_parameters(
            forest._nodes_of(t),
            forest.kernel_criteria[forest.criterion],
            forest.levels_,
            int(seed),
            forest.max_features_,
            forest.n_outputs_,
        )
        for name in type(arrays).__dataclass_fields__:
            setattr(view, f"{name}_", getattr(arrays, name))
        if counts:
            view.classes_ = classes[0] if len(classes) == 1 else list(classes)
        view.n_features_in_ = forest.n_features_in_
        view._schema = forest._schema
        words = "share of the forest's certificate; it has none by itself"
        view.certificate_ = Certificate("measured", words, 0.0, 1.0)
        view.diagnosis_, view.trace_ = Diagnosis(), Trace()
        found.append(view)
    return found
