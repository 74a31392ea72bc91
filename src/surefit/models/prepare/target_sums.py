"""Sums of the target within each value of each column, plain and exactly rounded, for certificates."""

from __future__ import annotations

from functools import partial
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.prepare.encoder import key, plain_cells

Sums = list[dict[Any, list[float]]]  # a column, a value: the weight of its rows, then a sum for each output


def gathered(source: Source, engine: Engine, columns: int, outputs: int, means: Sums | None = None) -> Sums:
    """Sum the targets of each value; with ``means``, their squared distances from those."""
    parts: list[dict[Any, list[list[float]]]] = [{} for _ in range(columns)]
    of = partial(_of_batch, columns=columns, outputs=outputs, means=means)
    for found in engine.map(of, source):
        for column, sums in zip(parts, found, strict=True):
            for value, entry in sums.items():
                column.setdefault(value, []).append(entry)
    return [{value: _added(entries) for value, entries in column.items()} for column in parts]


def _of_batch(batch: Batch, columns: int, outputs: int, means: Sums | None) -> Sums:
    assert batch.y is not None
    y = np.eye(outputs)[batch.y] if outputs > 1 else np.asarray(batch.y, dtype=float)[:, None]
    weight = (np.ones(len(batch)) if batch.weight is None else batch.weight).tolist()
    found: Sums = []
    for j in range(columns):
        rows: dict[Any, list[list[float]]] = {}
        for cell, s, target in zip(plain_cells(batch.X, j), weight, y.tolist(), strict=True):
            if s > 0:
                value = key(cell)
                terms = target if means is None else _squares(target, means[j][value])
                rows.setdefault(value, []).append([s, *(s * term for term in terms)])
        found.append({value: _added(entries) for value, entries in rows.items()})
    return found


def _squares(target: list[float], mean: list[float]) -> list[float]:
    return [(a - b) ** 2 for a, b in zip(target, mean, strict=True)]


def _added(entries: list[list[float]]) -> list[float]:
    return [fsum(terms) for terms in zip(*entries, strict=True)]


def level_mean(entry: list[float]) -> list[float]:
    """The means of a value's targets."""
    return [term / entry[0] for term in entry[1:]]


def overall_scatter(
    sums: dict[Any, list[float]],
    means: dict[Any, list[float]],
    scatters: dict[Any, list[float]],
    mean: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The squared distances of all targets from their mean: those within each value, and between them."""
    return np.array(
        [
            fsum(
                scatters[value][1 + k] + entry[0] * (means[value][k] - mean[k]) ** 2
                for value, entry in sums.items()
            )
            for k in range(len(mean))
        ]
    )
