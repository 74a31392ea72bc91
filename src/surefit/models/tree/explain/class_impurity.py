"""How mixed the classes of a node are, and how much a split sorts them, from counts."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError, ParameterError
from surefit.models.tree.nodes import criteria

Impurity = Literal["gini", "entropy", "misclassification"]
NAMES: tuple[str, ...] = ("gini", "entropy", "misclassification")


def impurity(counts: ArrayLike, criterion: Impurity = "gini") -> float:
    r"""The impurity of a node from the count, weight or share of each class; 0 if it holds one class only.

    "gini" is :math:`1 - \sum_k p_k^2`, "entropy" :math:`-\sum_k p_k \log_2 p_k` in bits, "misclassification"
    :math:`1 - \max_k p_k`.

    >>> impurity([1, 3]), round(impurity([1, 3], "entropy"), 10), impurity([1, 3], "misclassification")
    (0.375, 0.8112781245, 0.25)
    """
    return float(_impurities(_counts(counts, "counts", 1)[None], criterion)[0])


def impurity_decrease(parts: ArrayLike, criterion: Impurity = "gini") -> float:
    """By how much a split into parts lowers the impurity: the node's, less the mean of its parts by weight.

    parts: one row a part, one column a class. With "entropy" it is the information gain, in bits.

    >>> round(impurity_decrease([[2, 3], [4, 0], [3, 2]], "entropy"), 10)
    0.2467498198
    """
    table = _counts(parts, "parts", 2)
    weight = table.sum(axis=1)
    table, weight = table[weight > 0], weight[weight > 0]
    whole = impurity(table.sum(axis=0), criterion)
    return whole - float(weight @ _impurities(table, criterion) / weight.sum())


def _impurities(table: Matrix, criterion: str) -> Matrix:
    if criterion not in NAMES:
        raise ParameterError(f"criterion={criterion!r} must be one of {', '.join(NAMES)}.")
    return criteria.impurity(table, table.sum(axis=1), criterion, (table.shape[1],))


def _counts(given: ArrayLike, name: str, dimensions: int) -> Matrix:
    table = np.asarray(given, dtype=np.float64)
    if table.ndim != dimensions:
        wanted = "one number a class" if dimensions == 1 else "one row a part and one column a class"
        raise DataError(f"{name} has {table.ndim} dimensions; give {wanted}.")
    if not np.isfinite(table).all() or (table < 0).any() or not table.sum() > 0:
        raise DataError(f"{name} must hold counts or weights of at least 0, of which one is above 0.")
    return table
