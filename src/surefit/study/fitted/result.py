"""What ``surefit.learn`` returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from surefit.core.errors import DataError
from surefit.core.files import atomic
from surefit.evaluate.compare.leaderboard import Comparison
from surefit.io.save import save
from surefit.study.predictions import Predictions
from surefit.study.record import Record
from surefit.study.table.typed import typed

MODEL, RECORD, PREDICTIONS, SCRIPT = "model.safetensors", "report.json", "predictions.parquet", "script.py"
SAMPLE = "sample.parquet"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Study:
    """A model, how it was chosen, and all that was found on the way.

    model: a pipeline from the table's columns to the answer, fitted on all rows. record: every number of
    the report. comparison: the leaderboard as ``surefit.compare`` makes it. predictions: for each row, by a
    model that had not seen it; None where the table is larger than memory. sample: the rows that the model
    was fitted to, where these are not all.
    """

    record: Record
    model: Any
    comparison: Comparison
    predictions: Predictions | None
    sample: Any = None

    def predict(self, X: Any) -> Any:
        """Answer for rows of a table that has the columns, and may have others; text is read as then."""
        return self.model.predict(typed(X, self._kinds()))

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes, for rows of such a table."""
        return self.model.predict_proba(typed(X, self._kinds()))

    def _kinds(self) -> dict[str, str]:
        return {column.name: column.kind for column in self.record.columns if column.used}

    def save(self, folder: str | Path) -> Path:
        """Write the model, the record, the predictions and the script, each whole or not at all."""
        place = Path(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"the folder {place} cannot be made: {error.strerror}.") from error
        save(self.model, place / MODEL)
        if self.predictions is not None:
            self.predictions.save(place / PREDICTIONS)
        if self.sample is not None:
            import pyarrow.parquet as pq

            with atomic(place / SAMPLE) as file:
                pq.write_table(self.sample, file)
        with atomic(place / SCRIPT) as file:
            file.write(self.record.environment.script.encode())
        record_with_files(self).save(place / RECORD)
        return place

    def report(self, path: str | Path) -> Path:
        """Write the report, one HTML page; what is written to the folder of the study belongs beside it."""
        from surefit.report import write

        return write(self.record, self.predictions, path)

    def __repr__(self) -> str:
        record = self.record
        lines = [*record.answer, ""]
        head = ("", "model", record.metric, f"{100 * record.level:g} % interval", "group", "rows")
        rows = [head]
        for place, entry in enumerate(record.leaderboard, 1):
            if entry.failed is not None:
                rows.append(("-", entry.title, "", f"left out: {entry.failed}"[:60], "", ""))
                continue
            mark = "*" if entry.name == record.chosen.name else ""
            ends = f"[{entry.low:.4g}, {entry.high:.4g}]"
            rows.append(
                (f"{place}{mark}", entry.title, f"{entry.score:.4g}", ends, entry.group, f"{entry.rows:,}")
            )
        widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
        lines += ["  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, "", record.resampling])


def record_with_files(study: Study) -> Record:
    """The record as ``save`` writes it, which names the files beside it."""
    files = {"model": MODEL, "record": RECORD, "script": SCRIPT}
    files |= {} if study.predictions is None else {"predictions": PREDICTIONS}
    files |= {} if study.sample is None else {"sample": SAMPLE}
    return replace(study.record, files={**study.record.files, **files})
