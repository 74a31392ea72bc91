"""Tests of single columns, from the sums that they need."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from surefit.core.arrays import Vector
from surefit.core.errors import DataError


def f_of_correlations(r: Any, rows: float) -> tuple[Vector, Vector]:
    r"""The F test of a line: :math:`F = r^2 (n - 2) / (1 - r^2)`, and its p-value.

    >>> F, p = f_of_correlations([0.9], 10)
    >>> F.round(2), p.round(4)
    (array([34.11]), array([0.0004]))
    """
    left = rows - 2
    if left < 1:
        raise DataError(f"the test of a correlation needs at least three rows, and n_samples={rows:g}.")
    square = np.asarray(r, dtype=np.float64) ** 2
    with np.errstate(divide="ignore"):
        F = square * left / (1 - square)
    return F, np.asarray(special.fdtrc(1, left, F))


def f_of_groups(counts: Any, means: Any, within: Any) -> tuple[Vector, Vector]:
    """The analysis of variance from the classes' counts, their means less that of all rows, and the scatter
    within classes.

    >>> F, p = f_of_groups([2, 2], [[-2.0], [2.0]], [1.0])
    >>> F, p.round(4)
    (array([32.]), array([0.0299]))
    """
    rows, classes = float(np.sum(counts)), int(np.count_nonzero(counts))
    if classes < 2 or rows <= classes:
        raise DataError("comparing classes needs two classes, and more rows than classes.")
    between = (np.asarray(counts)[:, None] * np.asarray(means) ** 2).sum(axis=0) / (classes - 1)
    inside = np.asarray(within) / (rows - classes)
    with np.errstate(divide="ignore", invalid="ignore"):
        F = np.where(between > 0, between / inside, 0.0)
    return F, np.asarray(special.fdtrc(classes - 1, rows - classes, F))


def f_score_of_groups(counts: Any, means: Any, scatter: Any) -> Vector:
    """Chen and Lin's F-score, from the means of two classes less that of all rows, and their scatters.

    >>> f_score_of_groups([3, 3], [[-2.0], [2.0]], [[2.0], [8.0]])
    array([1.6])
    """
    size = np.asarray(counts, dtype=np.float64)
    if np.count_nonzero(size) != 2:
        raise DataError(
            f"the F-score is defined for two classes, and there are {np.count_nonzero(size)}: use f_classif."
        )
    if size.min() < 2:
        raise DataError("the F-score needs two rows of each class, for their variances.")
    apart = (np.asarray(means) ** 2).sum(axis=0)
    spread = (np.asarray(scatter) / (size - 1)[:, None]).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(apart > 0, apart / spread, 0.0)


def chi2_of_counts(seen: Any, classes: Any) -> tuple[Vector, Vector]:
    """The chi-squared test of the sums of columns in each class, (classes, columns), and its p-value.

    >>> value, p = chi2_of_counts([[2.0, 1.0], [0.0, 1.0]], [2, 2])
    >>> value, p.round(4)
    (array([2., 0.]), array([0.1573, 1.    ]))
    """
    table, size = np.asarray(seen), np.asarray(classes, dtype=np.float64)
    expected = np.outer(size / size.sum(), table.sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(expected > 0, (table - expected) ** 2 / expected, 0.0).sum(axis=0)
    return value, np.asarray(special.chdtrc(len(size) - 1, value))
