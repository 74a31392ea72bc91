"""What trees and forests share before they grow: rows become a matrix, parameters become rules."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import ceil, log2, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.core.native.trees.tree_grow import Rules
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts, admit, is_streamed
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.models.base import Estimator, admitted
from surefit.models.tree.nodes.parameters import Target
from surefit.models.tree.rows.matrix import Levels, category_mask, matrix_of, typed_columns, whole


class TreeRows(Estimator, abstract=True):
    """An estimator that grows trees from a matrix of numbers and codes of levels."""

    criterion: str
    splitter: str
    max_depth: int | None
    min_samples_split: Any
    min_samples_leaf: Any
    min_weight_fraction_leaf: float
    max_features: Any
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    monotonic_cst: Any
    categorical_features: Any
    min_impurity: float
    min_gain: float

    kernel_criteria: ClassVar[dict[str, str]]
    levels_: Levels

    @abstractmethod
    def _target(self, batch: Batch, weight: Vector | None) -> Target:
        """Return the target of a batch as the kernel takes it."""

    @abstractmethod
    def _weights(self, batch: Batch) -> Vector | None:
        """Return the weights of rows, those of classes included."""

    def _accepted(self) -> Accepts:
        return replace(self.accepts, cells=True) if self.__dict__.get("levels_") else self.accepts

    def _source(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None, **also: Any
    ) -> Source:
        if also:
            raise TypeError(
                f"{type(self).__name__} takes no {', '.join(also)} beside X, y and sample_weight."
            )
        accepts = self._accepted()
        if reset:
            self.__dict__.pop("_by_type", None)
            streamed = is_streamed(X, y, sample_weight)
            by_type = None if streamed or self.categorical_features is None else typed_columns(X)
            accepts = self.accepts if by_type is None else replace(self.accepts, cells=True)
            self._by_type = by_type
        return self._admitted(accepts, X, y, sample_weight, reset, classes)

    def _admitted(self, accepts: Accepts, X: Any, y: Any, weight: Any, reset: bool, classes: Any) -> Source:
        return admit(self, accepts, X, y, weight, reset=reset, classes=classes)

    def _category_mask(self, schema: Schema) -> NDArray[np.bool_] | None:
        """Which columns are split by levels; what their types say counts for one fit alone."""
        by_type = self.__dict__.pop("_by_type", None)
        return category_mask(self.categorical_features, schema, by_type, type(self).__name__)

    def _monotone(self, width: int, target: Target) -> tuple[int, ...]:
        if self.monotonic_cst is None:
            return ()
        from sklearn.utils.validation import _check_monotonic_cst

        who = type(self).__name__
        if target.Y.shape[1] > 1:
            raise ParameterError(
                f"{who}: Monotonicity constraints are not supported with multiple outputs; fit one at a time."
            )
        if target.classes and target.classes[0] > 2:
            raise ParameterError(
                f"{who}: Monotonicity constraints are not supported with multiclass classification; "
                "use two classes."
            )
        signs = np.asarray(_check_monotonic_cst(self, self.monotonic_cst))
        return tuple(int(sign) for sign in signs) if signs.any() else ()


def columns_searched(max_features: Any, width: int) -> int:
    """Return among how many of ``width`` columns each split is chosen.

    >>> [columns_searched(asked, 10) for asked in (None, "sqrt", "log2", 0.5, 4)]
    [10, 3, 3, 5, 4]
    """
    if max_features is None:
        return width
    if max_features == "sqrt":
        return max(1, int(sqrt(width)))
    if max_features == "log2":
        return max(1, int(log2(width)))
    if isinstance(max_features, float | np.floating) and not isinstance(max_features, int | np.integer):
        return max(1, int(max_features * width))
    return int(max_features)


def growth_rules(
    model: TreeRows, shape: tuple[int, ...], weight: Vector | None, target: Target, columns: int, seed: int
) -> Rules:
    """Return what the parameters of a model mean for a matrix of this shape, as the growers take it."""
    rows, width = shape
    total = float(rows)
    if weight is not None:
        rows, total = int(np.count_nonzero(weight)), float(weight.sum())
    scale = target.factor**target.power
    return Rules(
        max_depth=model.max_depth or 0,
        min_rows_split=max(_share_of(model.min_samples_split, rows), 2),
        min_rows_leaf=_share_of(model.min_samples_leaf, rows),
        min_weight_leaf=model.min_weight_fraction_leaf * total,
        min_decrease=model.min_impurity_decrease * scale,
        max_leaves=model.max_leaf_nodes or 0,
        max_columns=0 if columns >= width else columns,
        random_threshold=model.splitter == "random",
        monotone=model._monotone(width, target),
        seed=seed,
        pure_below=model.min_impurity * scale,
        min_gain=model.min_gain * scale,
    )


@dataclass(frozen=True, slots=True, eq=False)
class FittedRows:
    """The rows that a model was fitted to, given again: as they came, as a matrix, and their target."""

    batch: Batch
    X: NDArray[Any]
    weight: Vector | None
    target: Target


def fitted_rows(model: TreeRows, X: Any, y: Any, sample_weight: Any) -> FittedRows:
    """Check the rows of a fit once more, and return them as the growers took them."""
    batch = whole(admitted(model, X, y, sample_weight, reset=False), type(model).__name__)
    weight = model._weights(batch)
    return FittedRows(batch, matrix_of(batch.X, model.levels_), weight, model._target(batch, weight))


def _share_of(asked: Any, rows: int) -> int:
    if isinstance(asked, int | np.integer):
        return int(asked)
    return max(1, ceil(asked * rows))
