"""A table as it comes from a file: categories, numbers, missing cells, and a target with known effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import narwhals as nw
import numpy as np
import pyarrow as pa

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Count, Interval, Positive, RandomState, WholeNumber
from surefit.data.datasets.frames import FrameKind, category, frame_of
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.base import Codes, Generated, checked, stream

Missing = Annotated[float, Interval(0, 1, open_high=True)]


@dataclass(frozen=True, eq=False)
class CategoricalTable(Generated):
    """``y = Σ effect[level] + Σ coefficient · number + e``, with cells of X missing at random.

    X is a frame with the columns ``category_0``, ... (levels ``a0``, ``a1``, ..., the first ones the most
    frequent) and ``number_0``, ...; ``codes`` and ``values`` are the same cells before any was lost.

    >>> drawn = CategoricalTable.draw(rows=100, levels=3, as_="arrow", random_state=0)
    >>> drawn.X.column_names
    ['category_0', 'category_1', 'number_0', 'number_1']
    >>> drawn.effects.shape, drawn.X["category_0"].null_count > 0
    ((2, 3), True)
    """

    name = "categorical_table"
    X: Any
    y: Vector
    codes: Codes
    values: Matrix
    effects: Matrix
    frequencies: Vector
    coefficients: Vector
    noise: float
    missing: float

    @property
    def optimal_risk(self) -> float:
        """Expected squared error of the truth on a row with no cell missing."""
        return self.noise**2

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 500,
        *,
        categories: WholeNumber = 2,
        levels: Annotated[int, Interval(2, None)] = 5,
        numeric: WholeNumber = 2,
        missing: Missing = 0.1,
        noise: Positive = 0.5,
        as_: FrameKind = "auto",
        random_state: RandomState = 0,
    ) -> Self:
        """Draw levels with frequencies that fall as 1, 1/2, 1/3, ..., then lose cells."""
        random = stream(random_state)
        frequencies = 1.0 / np.arange(1.0, levels + 1.0)
        frequencies /= frequencies.sum()
        codes = random.choice(levels, size=(rows, categories), p=frequencies)
        values = random.standard_normal((rows, numeric))
        effects = random.standard_normal((categories, levels))
        coefficients = random.standard_normal(numeric)
        y = values @ coefficients + noise * random.standard_normal(rows)
        y += np.take_along_axis(effects.T, codes, axis=0).sum(axis=1)
        lost = random.random((rows, categories + numeric)) < missing
        columns: dict[str, Any] = {}
        for column in range(categories):
            seen = np.where(lost[:, column], -1, codes[:, column])
            columns[f"category_{column}"] = category(
                seen, [f"{chr(97 + column % 26)}{k}" for k in range(levels)]
            )
        for column in range(numeric):
            columns[f"number_{column}"] = pa.array(values[:, column], mask=lost[:, categories + column])
        X = frame_of(columns, as_)
        return cls(X, y, codes, values, effects, frequencies, coefficients, float(noise), float(missing))

    def surprise(self) -> dict[str, float]:
        """Levels as frequent as stated, noise of the right size and unrelated to every level and number,
        and as many cells lost.
        """
        effect = np.take_along_axis(self.effects.T, self.codes, axis=0).sum(axis=1)
        residual = self.y - effect - self.values @ self.coefficients
        prior = np.broadcast_to(self.frequencies, (len(self.y), len(self.frequencies)))
        inside = (self.codes[:, :, None] == np.arange(len(self.frequencies))).reshape(len(self.y), -1)
        design = np.column_stack([inside[:, inside.any(axis=0)], self.values])
        lost = np.column_stack(
            [column.is_null().to_numpy() for column in nw.from_native(self.X).iter_columns()]
            or [np.zeros(0, dtype=bool)]
        )
        return {
            "frequencies": max([surprise.labels(column, prior) for column in self.codes.T], default=0.0),
            "effects": surprise.score(design, residual, self.noise),
            "noise": surprise.noise(residual, self.noise),
            "missing": surprise.total(lost.ravel(), self.missing, self.missing * (1.0 - self.missing)),
        }
