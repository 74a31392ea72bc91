"""The answers of a study for rows that the fit had not seen: a Parquet file beside the record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, FormatError
from surefit.core.files import atomic

_PROBABILITY = "probability of "


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """One line for each row answered: its number in the table, the fold, the truth and the answer.

    probabilities: of ``classes``, a column each, where the model has them. weight: of the rows, if they had.
    """

    row: NDArray[np.int64]
    fold: NDArray[np.int64]
    truth: NDArray[Any]
    prediction: NDArray[Any]
    probabilities: NDArray[np.float64] | None = None
    classes: tuple[str, ...] = ()
    weight: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        lengths = {len(self.row), len(self.fold), len(self.truth), len(self.prediction)}
        if self.probabilities is not None:
            lengths.add(len(self.probabilities))
            if self.probabilities.shape[1:] != (len(self.classes),):
                raise DataError(
                    f"probabilities are {self.probabilities.shape} and {len(self.classes)} classes are "
                    "named: give a column for each class."
                )
        if self.weight is not None:
            lengths.add(len(self.weight))
        if len(lengths) > 1:
            raise DataError(f"predictions of {sorted(lengths)} rows do not belong together.")

    def __len__(self) -> int:
        return len(self.row)

    def save(self, path: str | Path) -> None:
        """Write the predictions as a Parquet file, whole or not at all.

        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "predictions.parquet"
        >>> rows = np.arange(2)
        >>> Predictions(rows, rows, np.array(["a", "b"]), np.array(["a", "a"])).save(file)
        >>> Predictions.load(file).truth.tolist()
        ['a', 'b']
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns: dict[str, Any] = {
            "row": self.row,
            "fold": self.fold,
            "truth": self.truth,
            "prediction": self.prediction,
        }
        if self.weight is not None:
            columns["weight"] = self.weight
        if self.probabilities is not None:
            for k, label in enumerate(self.classes):
                columns[f"{_PROBABILITY}{label}"] = self.probabilities[:, k]
        with atomic(path) as file:
            pq.write_table(
                pa.table({name: pa.array(_column(values)) for name, values in columns.items()}), file
            )

    @classmethod
    def load(cls, path: str | Path) -> Predictions:
        """Read what ``save`` wrote."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with Path(path).open("rb") as file:  # so that a missing file is the system's own error
                table = pq.read_table(file)
        except pa.ArrowException as error:
            raise FormatError(f"{path} holds no predictions: {error}.") from None
        lacking = {"row", "fold", "truth", "prediction"} - set(table.column_names)
        if lacking:
            raise FormatError(f"{path} holds no predictions: the column {min(lacking)!r} is missing.")
        found = {name: table[name].to_numpy() for name in table.column_names}
        names = [name for name in table.column_names if name.startswith(_PROBABILITY)]
        return cls(
            row=found["row"],
            fold=found["fold"],
            truth=found["truth"],
            prediction=found["prediction"],
            probabilities=np.stack([found[name] for name in names], axis=1) if names else None,
            classes=tuple(name.removeprefix(_PROBABILITY) for name in names),
            weight=found.get("weight"),
        )


def _column(values: NDArray[Any]) -> Any:
    """Text as Python's own, for Arrow would end a numpy string at its first zero."""
    return values.tolist() if values.dtype.kind in "UO" else values
