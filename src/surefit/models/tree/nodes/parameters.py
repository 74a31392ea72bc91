"""What a tree keeps of itself, and the target that it is grown for, in the units of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.tree_grow import Grown
from surefit.core.parameters import Interval
from surefit.models.tree.nodes.compact_tree import compact_tree
from surefit.models.tree.nodes.node_arrays import Nodes
from surefit.models.tree.nodes.surrogate_arrays import Surrogates
from surefit.models.tree.rows.matrix import Levels

# Types of parameters that both trees have.
Depth = Annotated[int, Interval(1, None)] | None
Leaves = Annotated[int, Interval(2, None)] | None
SplitRows = Annotated[int, Interval(2, None)] | Annotated[float, Interval(0, 1, open_low=True)]
LeafRows = Annotated[int, Interval(1, None)] | Annotated[float, Interval(0, 1, open_low=True, open_high=True)]
ColumnsLookedAt = (
    Annotated[int, Interval(1, None)]
    | Annotated[float, Interval(0, 1, open_low=True)]
    | Literal["sqrt", "log2"]
    | None
)
LeafWeight = Annotated[float, Interval(0, 0.5)]
Categories = Literal["from_dtype"] | list[Any] | tuple[Any, ...] | NDArray[Any] | None
Missing = Literal["learned", "category", "surrogate", "fractional"]
SplitSearch = Literal["auto", "exact", "histogram"]
Monotone = list[Any] | tuple[Any, ...] | dict[str, Any] | NDArray[Any] | None


@dataclass(frozen=True, slots=True)
class TreeParameters:
    """A tree as ``CompactTree`` has it.

    importance: of columns, where what is kept of nodes has too few digits to tell it; else empty.
    levels: of each column, those its codes stand for; () where all are numbers. seed: of what was drawn.
    max_features: how many columns were looked at in each node. n_outputs: how many targets there were.
    What stands in for missing values follows, as ``Surrogates`` has it; empty where there are none.
    """

    node_threshold: Vector
    node_feature: NDArray[np.int32]
    node_right: NDArray[np.int32]
    node_level_bits: NDArray[np.uint64]
    leaf_value: Matrix
    leaf_weight: NDArray[Any]
    leaf_impurity: NDArray[Any]
    inner_value: Matrix
    inner_decrease: NDArray[Any]
    importance: Vector
    levels: Levels
    seed: int
    max_features: int
    n_outputs: int
    surrogate_node: NDArray[np.int32]
    surrogate_column: NDArray[np.int32]
    surrogate_threshold: Vector
    surrogate_turned: NDArray[np.uint8]
    surrogate_agreement: Vector


@dataclass(frozen=True, slots=True)
class Target:
    """What a tree is grown for, as the kernel takes it: (n, outputs), codes if ``classes`` counts them.

    centre: what was taken off numbers. factor: by what they were multiplied, and so their impurity by some
    ``power`` of it.
    """

    Y: NDArray[Any]
    classes: tuple[int, ...] = ()
    centre: Vector | None = None
    factor: float = 1.0
    power: int = 0

    @property
    def grain(self) -> Vector | float:
        """The last digit of an answer in units of Y: far from zero, leaves cannot say more of their rows."""
        return 0.0 if self.centre is None else np.finfo(np.float64).eps * np.abs(self.centre) * self.factor


def in_units(grown: Grown, target: Target, value: Matrix | None = None) -> Nodes:
    """The tree of the scaled target, in the units of the target as it came."""
    weight = grown.weight[:, None]
    if target.classes:
        return Nodes(grown, grown.sums / weight if value is None else value, target.classes)
    outputs = target.Y.shape[1]
    centre = np.zeros(outputs) if target.centre is None else target.centre
    if value is None:
        value = grown.sums[:, :outputs] / weight
        value = _as_in(target.Y, value) if target.power == 1 else value
    value = value / target.factor + centre
    scaled = replace(grown, impurity=grown.impurity / target.factor**target.power)
    return Nodes(scaled, value)


def _as_in(Y: NDArray[Any], medians: Vector) -> Vector:
    """Medians that are one of the numbers but for a rounding, as those numbers."""
    found = medians.copy()
    for o in range(Y.shape[1]):
        known = np.unique(Y[:, o])
        for side in (0, 1):
            near = known[np.clip(np.searchsorted(known, medians[:, o]) - side, 0, len(known) - 1)]
            close = np.abs(near - medians[:, o]) <= 4 * np.finfo(np.float64).eps * np.abs(near)
            found[close, o] = near[close]
    return found


def scaled_by(nodes: Nodes, target: Target) -> Nodes:
    """The same backwards: values and impurities of a tree in the units of the scaled target."""
    if target.classes:
        return nodes
    centre = np.zeros(target.Y.shape[1]) if target.centre is None else target.centre
    grown = replace(nodes.grown, impurity=nodes.grown.impurity * target.factor**target.power)
    return Nodes(grown, (nodes.value - centre) * target.factor)


def as_parameters(
    nodes: Nodes,
    kind: str,
    levels: Levels,
    seed: int,
    columns: int,
    outputs: int,
    others: Surrogates | None = None,
) -> TreeParameters:
    """The arrays of a tree under the names that a model keeps them by; kind: the kernel's criterion."""
    kept, others = compact_tree(nodes, kind), Surrogates.none() if others is None else others
    return TreeParameters(
        kept.threshold,
        kept.feature,
        kept.right,
        kept.level_bits,
        kept.leaf_value,
        kept.leaf_weight,
        kept.leaf_impurity,
        kept.inner_value,
        kept.inner_decrease,
        nodes.importances() if len(kept.inner_value) else np.empty(0),
        levels,
        seed,
        columns,
        outputs,
        others.node,
        others.column,
        others.threshold,
        others.turned,
        others.agreement,
    )
