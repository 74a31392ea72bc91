"""How many components: four rules at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.core.public import public
from surefit.resample.streams import seed_of, stream


@public
@dataclass(frozen=True, slots=True)
class ComponentCount:
    """The variances along the axes, what each rule compares them with, and how many it keeps.

    scree: the last before the sharpest bend. broken_stick: those above what a stick broken at random would
    give. parallel: those above the 95 % point of tables of noise. held_out: the number with the greatest
    likelihood on rows left out.
    """

    variances: Vector
    stick: Vector
    noise: Vector
    likelihood: Vector  # of rows left out, for 0, 1, ... axes
    scree: int
    broken_stick: int
    parallel: int
    held_out: int

    @property
    def agreed(self) -> int:
        """The median of the four, the smaller of the two in the middle."""
        return sorted([self.scree, self.broken_stick, self.parallel, self.held_out])[1]

    def __str__(self) -> str:
        return (
            f"{self.agreed} components (scree {self.scree}, broken stick {self.broken_stick}, parallel "
            f"analysis {self.parallel}, cross-validation {self.held_out})"
        )


@public
def component_count(
    X: Any, *, scale: bool = True, folds: int = 5, repeats: int = 100, random_state: Any = 0
) -> ComponentCount:
    r"""Say how many principal components a table has, by four rules.

    scale: give all columns variance 1 first. folds: of the cross-validation, which fits the normal
    distribution of k axes in equal noise (:class:`ProbabilisticPCA`) to the other folds. repeats: how many
    tables of noise, each column shuffled by itself, the parallel analysis takes.
    See :func:`surefit.plots.plot_component_count`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 8)) * 3 + rng.normal(size=(300, 8))
    >>> print(component_count(X, scale=False))
    2 components (scree 2, broken stick 2, parallel analysis 1, cross-validation 2)
    """
    table = np.array(X, dtype=np.float64)
    if table.ndim != 2 or len(table) < max(3, folds) or table.shape[1] < 2:
        raise DataError("component_count takes a table of at least 2 columns, and more rows than folds.")
    if not np.isfinite(table).all():
        raise DataError(
            "component_count takes finite numbers: ProbabilisticPCA fits rows with missing cells."
        )
    table = table - table.mean(axis=0)
    deviation = table.std(axis=0)
    if (deviation == 0).any():
        raise DataError(f"column {int(np.argmin(deviation))} is constant: drop it.")
    if scale:
        table = table / deviation
    rng = stream(seed_of(random_state), 0)
    variances = _variances(table)
    p = len(variances)
    stick = np.array([(1 / np.arange(k, p + 1)).sum() / p for k in range(1, p + 1)]) * variances.sum()
    noise = np.quantile([_variances(rng.permuted(table, axis=0)) for _ in range(repeats)], 0.95, axis=0)
    likelihood = _held_out(table, folds, rng)
    return ComponentCount(
        variances,
        stick,
        noise,
        likelihood,
        _bend(variances),
        _run(variances > stick),
        _run(variances > noise),
        int(np.argmax(likelihood)),
    )


def _variances(table: Matrix) -> Vector:
    values = np.linalg.eigvalsh(table.T @ table / len(table))[::-1]
    return np.maximum(values, 0.0)


def _run(above: NDArray[np.bool_]) -> int:
    """How many at the beginning."""
    return len(above) if above.all() else int(np.argmin(above))


def _bend(variances: Vector) -> int:
    """How many lie before the point farthest below the line from the first variance to the last."""
    if len(variances) < 3:
        return 1
    line = np.linspace(variances[0], variances[-1], len(variances))
    return max(1, int(np.argmax(line - variances)))


def _held_out(table: Matrix, folds: int, rng: Any) -> Vector:
    """The mean log-likelihood of left-out rows for every number of axes but all."""
    fold = rng.permutation(np.arange(len(table)) % folds)
    p = table.shape[1]
    found = np.zeros(p)
    for f in range(folds):
        known, left = table[fold != f], table[fold == f]
        mean = known.mean(axis=0)
        S = (known - mean).T @ (known - mean) / len(known)
        values, vectors = linalg.eigh(S)
        values, codes = values[::-1], (left - mean) @ vectors[:, ::-1]
        floor = 1e-9 * values.mean()
        for k in range(p):
            noise = max(float(values[k:].mean()), floor)
            along = np.concatenate([np.maximum(values[:k], noise), np.full(p - k, noise)])
            logs = -0.5 * (np.log(2 * np.pi * along).sum() + (codes**2 / along).sum(axis=1))
            found[k] += logs.sum() / len(table)
    return found
