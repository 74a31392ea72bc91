"""Finished folds kept in files, so that a cross-validation that was killed goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from surefit.core.errors import EngineError, FormatError, RefusalError
from surefit.core.files import atomic
from surefit.engine.fingerprint import LAYOUT, fingerprint, refuse_older
from surefit.evaluate.scoring.fold import Fold
from surefit.stats.values import Arrays, decode, encode

_KEY = "surefit-fold"


@dataclass(frozen=True, slots=True)
class FoldStore:
    """A folder with one file for each finished fold, named by all that decides what is in it."""

    folder: Path
    key: str

    def __post_init__(self) -> None:
        refuse_older(self.folder)

    @classmethod
    def of(cls, folder: str | Path, model: Any, *what: Any) -> FoldStore:
        """The store of one model and its data: others in the same folder have other names."""
        return cls(Path(folder), fingerprint([clone(model), *map(_content, what)]))

    def place(self, fold: Any) -> Path:
        """The file of a fold, by its rows."""
        return self.folder / f"fold-{self.key}-{fingerprint(fold)}.safetensors"

    def load(self, fold: Any) -> Fold | None:
        """A finished fold, or None."""
        from safetensors import SafetensorError, safe_open

        place = self.place(fold)
        if not place.exists():
            return None
        try:
            with safe_open(place, framework="numpy") as file:
                state = json.loads(file.metadata()[_KEY])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
            return Fold(*decode(state, arrays))
        except (SafetensorError, FormatError, ValueError, KeyError, TypeError) as error:
            raise FormatError(
                f"the checkpoint {place} is damaged ({error}): delete it to begin that fold anew."
            ) from error

    def keep(self, fold: Any, done: Fold) -> None:
        """Write a finished fold, atomically."""
        from safetensors.numpy import save

        arrays: Arrays = {}
        answers = {name: np.asarray(values) for name, values in done.answers.items()}
        state = [dict(done.scores), dict(done.train_scores), answers, done.fit_seconds, done.score_seconds]
        try:
            written = json.dumps(encode(state, arrays, "the fold"))
        except FormatError as error:
            raise RefusalError(f"a fold cannot be stored in a checkpoint: {error}") from error
        place = self.place(fold)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with atomic(place) as file:
                file.write(save(arrays, metadata={_KEY: written, **LAYOUT}))
        except OSError as error:
            raise EngineError(
                f"the checkpoint {place} could not be written ({error.strerror}): "
                "make room for it, or choose another folder."
            ) from error


def _content(value: Any) -> Any:
    """Frames by their cells, as Arrow holds them; metrics by name and options; the rest as it is."""
    if isinstance(value, Mapping):
        return {name: _content(item) for name, item in value.items()}
    if hasattr(value, "options") and hasattr(value, "finish"):
        return [value.name, value.options]
    if hasattr(value, "__dataframe__") or type(value).__module__.startswith(("pandas", "polars")):
        import narwhals as nw

        native = nw.from_native(value, allow_series=True)
        return native.to_frame().to_arrow() if isinstance(native, nw.Series) else native.to_arrow()
    return value
