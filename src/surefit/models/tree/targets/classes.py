"""Targets that are classes, of one output or of several, with the weights of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts, admit
from surefit.data.source import Source
from surefit.data.targets import class_codes
from surefit.models.tree.nodes.parameters import Target
from surefit.models.tree.targets.base import TreeRows
from surefit.models.tree.targets.exact_sums import ExactSums, as_float


class ClassTargets(TreeRows, abstract=True):
    """Trees and forests that tell classes."""

    class_weight: Any
    classes_: Any

    def _admitted(self, accepts: Accepts, X: Any, y: Any, weight: Any, reset: bool, classes: Any) -> Source:
        several = isinstance(classes, list) or _is_several(y)
        if not several:
            return super()._admitted(accepts, X, y, weight, reset, classes)
        columns = _columns_of(y)
        if classes is not None and len(classes) != len(columns):
            raise DataError(f"y has {len(columns)} targets, but the model was fitted to {len(classes)}.")
        coded = [class_codes(c, None if classes is None else classes[o]) for o, c in enumerate(columns)]
        Y = np.column_stack([codes for codes, _ in coded]).astype(np.float64)
        source = admit(self, replace(accepts, target="number"), X, Y, weight, reset=reset)
        self._several_classes = [labels for _, labels in coded]
        return source

    def _labels_of(self) -> list[NDArray[Any]]:
        found = self.__dict__.get("_several_classes")
        if found is None:
            found = self.classes_ if isinstance(self.classes_, list) else [self.classes_]
        return list(found)

    def _target(self, batch: Batch, weight: Vector | None) -> Target:
        codes = np.asarray(batch.y).reshape(len(batch), -1)
        return Target(codes.astype(np.int32), tuple(len(labels) for labels in self._labels_of()))

    def _weights(self, batch: Batch) -> Vector | None:
        if self.class_weight is None:
            return batch.weight
        codes = np.asarray(batch.y).reshape(len(batch), -1).astype(np.intp)
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight.copy()
        asked = self.class_weight
        each = asked if isinstance(asked, list) else [asked] * codes.shape[1]
        if len(each) != codes.shape[1]:
            raise DataError(
                "number of elements in class_weight should match number of outputs: "
                f"give {codes.shape[1]} of them, not {len(each)}."
            )
        base = weight.copy()
        for o, labels in enumerate(self._labels_of()):
            weight *= class_factors(each[o], labels, codes[:, o], base)[codes[:, o]]
        return weight

    def _evidence(self, batch: Batch, weight: Vector | None) -> dict[str, Any]:
        codes = np.asarray(batch.y).reshape(len(batch), -1)
        if codes.shape[1] > 1:
            return {"rows": len(batch)}
        (labels,) = self._labels_of()
        return {
            "rows": len(batch),
            "class_weights": (labels, np.bincount(codes[:, 0].astype(np.intp), batch.weight, len(labels))),
        }

    @property
    def _class_counts(self) -> tuple[int, ...]:
        return tuple(len(labels) for labels in self._labels_of())

    @property
    def n_classes_(self) -> Any:
        """How many classes there are; a list of them for several outputs."""
        counts = self._class_counts
        return counts[0] if len(counts) == 1 else list(counts)

    def _by_output(self, shares: Matrix) -> list[Matrix]:
        return np.split(shares, np.cumsum(self._class_counts)[:-1], axis=1)

    def _output_names(self) -> Sequence[str]:
        several = len(getattr(self, "classes_", ())) if isinstance(getattr(self, "classes_", 0), list) else 0
        return [f"prediction{o}" for o in range(several)] if several else ["prediction"]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _is_several(y: Any) -> bool:
    if isinstance(y, str) or y is None:
        return False
    shape = getattr(y, "shape", None)
    if shape is None:
        shape = np.shape(np.asarray(y, dtype=object)) if isinstance(y, list | tuple) else ()
    return len(shape) == 2 and shape[1] > 1


def _columns_of(y: Any) -> list[NDArray[Any]]:
    from sklearn.utils import check_array

    table = check_array(y, ensure_2d=True, dtype=None, input_name="y")
    return [table[:, o] for o in range(table.shape[1])]


def class_factors(asked: Any, labels: NDArray[Any], codes: NDArray[np.intp], weight: Vector) -> Vector:
    """Return by how much each class multiplies the weights of its rows."""
    if asked is None:
        return np.ones(len(labels))
    if isinstance(asked, str):
        total = class_totals(codes, weight, len(labels))
        present = total > 0
        share = total.sum() / np.count_nonzero(present)
        return np.asarray(np.divide(share, total, out=np.zeros_like(total), where=present))
    from sklearn.utils.class_weight import compute_class_weight

    return np.asarray(compute_class_weight(asked, classes=labels, y=labels), dtype=np.float64)


def class_totals(codes: NDArray[np.intp], weight: Vector, classes: int) -> Vector:
    """Return the weight of each class, rounded once, so that no order of the rows changes it."""
    total = np.asarray(np.bincount(codes, weight, classes), dtype=np.float64)
    if (weight == np.rint(weight)).all() and total.sum() < 2**53:
        return total
    exact = ExactSums.of_rows(codes.astype(np.float64), weight, classes)
    return np.array([as_float(own) for own in exact.sums])
