"""A study that was interrupted: its folds lie in a folder, and the next run goes on from them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefit.core.errors import DataError, FormatError
from surefit.core.files import atomic
from surefit.engine.fingerprint import fingerprint
from surefit.evaluate.cross_validation.fold_store import FoldStore
from surefit.study.race.race import Standing

FOLDER, PLAN = "unfinished", "plan.json"


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Where the folds of a study are kept until it ends; key: all that decides what they hold."""

    place: Path
    key: str

    @classmethod
    def at(cls, folder: str | Path, key: Any, resume: bool) -> Unfinished:
        """Begin anew, or go on with what is there."""
        place = Path(folder) / FOLDER
        if not resume:
            shutil.rmtree(place, ignore_errors=True)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"the folder {place} cannot be made: {error.strerror}.") from error
        return cls(place, fingerprint(key))

    def planned(self, entered: Sequence[Standing]) -> bool:
        """Take over how many rows each family learns from; False if the study that did it was another."""
        try:
            told = json.loads((self.place / PLAN).read_text())
        except FileNotFoundError:
            return False
        except ValueError as error:
            raise FormatError(
                f"{self.place / PLAN} is damaged ({error}): begin anew, without resume."
            ) from None
        if told.get("key") != self.key or set(told["rows"]) != {entry.entrant.name for entry in entered}:
            return False
        for entry in entered:
            entry.rows, entry.failed = told["rows"][entry.entrant.name]
        return True

    def keep_plan(self, entered: Sequence[Standing]) -> None:
        """Write down how many rows each family learns from."""
        rows = {entry.entrant.name: (entry.rows, entry.failed) for entry in entered}
        with atomic(self.place / PLAN) as file:
            file.write(json.dumps({"key": self.key, "rows": rows}).encode())

    def stores(self, entered: Sequence[Standing]) -> dict[str, FoldStore]:
        """A store of folds for each family."""
        return {
            entry.entrant.name: FoldStore(
                self.place,
                fingerprint(
                    [
                        self.key,
                        entry.entrant.name,
                        repr(dict(entry.entrant.candidate.given)),
                        repr(dict(entry.entrant.candidate.settings)),
                        entry.rows,
                    ]
                ),
            )
            for entry in entered
        }

    def clear(self) -> None:
        """Remove what the study no longer needs."""
        shutil.rmtree(self.place, ignore_errors=True)
