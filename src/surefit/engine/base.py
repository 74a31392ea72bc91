"""The contract of an engine, how one is chosen, and checkpoints of passes that take hours.

``with surefit.config(checkpoint="folder"): model.fit(...)`` keeps one small file for each pass: what has been
added up, and how far. Run again after a crash, the fit takes every finished pass from its file and goes on
in the middle of the one that was cut short, to the same bits. A file belongs to one source, one statistic
and one pass, by their fingerprints; those of other data are left alone.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from surefit.core.config import current_config
from surefit.core.errors import CheckpointWarning, DataError, EngineError, FormatError, RefusalError, warn
from surefit.core.files import atomic
from surefit.core.progress import Bar, progress
from surefit.core.registry import Registered, lookup
from surefit.data.batches.batch import Batch
from surefit.data.files import files_in_place
from surefit.data.source import ArraySource, Source
from surefit.engine.fingerprint import LAYOUT, fingerprint, refuse_older
from surefit.engine.running_sum import Running, S, Tallied, Tally
from surefit.stats.values import Arrays, decode, encode

Step: TypeAlias = tuple[Tally[S] | None, int]


class Engine(Registered, kind="engine", folder="surefit.engine"):
    """Reads sources and adds up statistics; the same bits whichever engine it is."""

    def accumulate(self, of: Callable[[Batch], S], source: Source) -> S:
        """Return the sum of ``of(batch)`` over one pass; no rows, or no weight at all, is an error."""
        with files_in_place():
            total = self._sum(Tallied(of), source)
        if total is None or total.rows == 0:
            raise DataError("the table has no rows.")
        if total.weight == 0:
            raise DataError(
                "every sample_weight is zero, so no row counts: give at least one row a positive weight."
            )
        return total.statistic

    def map(self, f: Callable[[Batch], Any], source: Source) -> Iterator[Any]:
        """Yield ``f(batch)`` for each batch, in row order, a few batches ahead of the caller at the most."""
        with files_in_place(), _reading(source) as bar:
            for answer in self._answers(f, source.parts()):
                yield answer
                bar.advance(*getattr(answer, "shape", ())[:1])

    def _sum(self, of: Callable[[Batch], Tally[S]], source: Source) -> Tally[S] | None:
        running: Running[S] = Running()
        for tally, ended in shown(self._steps(of, source.parts(), 0), source):
            running.take(tally, ended)
        return running.total()

    @abstractmethod
    def _steps(
        self, of: Callable[[Batch], Tally[S]], parts: Sequence[Source], first: int
    ) -> Iterator[Step[S]]:
        """Yield what ``Running.take`` takes, in row order; ``parts[0]`` is part ``first`` of the source."""

    @abstractmethod
    def _answers(self, f: Callable[[Batch], Any], parts: Sequence[Source]) -> Iterator[Any]:
        """Yield ``f(batch)`` in row order."""


def shown(steps: Iterator[Step[S]], source: Source) -> Iterator[Step[S]]:
    """Pass steps on, under a progress bar that appears when a pass takes long."""
    with _reading(source) as bar:
        for tally, ended in steps:
            yield tally, ended
            bar.advance(0 if tally is None else tally.rows)


def _reading(source: Source) -> AbstractContextManager[Bar]:
    return (
        nullcontext(Bar(None)) if isinstance(source, ArraySource) else progress("reading", source.schema.rows)
    )


def choose_engine(source: Source) -> Engine:
    """Return the engine of the settings; ``"auto"`` is the one that suits the source."""
    settings = current_config()
    found = lookup("engine", _suited(source) if settings.engine == "auto" else settings.engine)
    assert issubclass(found, Engine)
    if settings.checkpoint is None:
        return found()
    return Checkpointed(found(), settings.checkpoint)


def _suited(source: Source) -> str:
    """What the source asks for; else threads where batches are read, and the plain loop in memory."""
    return declared(source, "engine") or ("serial" if isinstance(source, ArraySource) else "threads")


def declared(origin: Any, name: str) -> Any:
    """What a source says of itself under a name, or a source or stream inside it; None for nothing."""
    named = getattr(origin, name, None)
    inside = [getattr(origin, entry.name) for entry in fields(origin)] if is_dataclass(origin) else []
    return named or next(filter(None, (declared(p, name) for p in inside if hasattr(p, "parts"))), None)


EVERY = 16  # batches between two stores: about a quarter of a gigabyte read
_KEY = "surefit-checkpoint"


class Checkpointed(Engine):
    """Another engine, whose passes are stored in a folder."""

    def __init__(self, engine: Engine, folder: str | Path, every: int = EVERY) -> None:
        self.engine = engine
        self.folder = Path(folder)
        refuse_older(self.folder)
        self.every = every
        self._passes = 0
        self._known: tuple[Source, str] | None = None
        self._warned = False

    def _sum(self, of: Callable[[Batch], Tally[S]], source: Source) -> Tally[S] | None:
        place = self._place(of, source)
        running: Running[S] = Running()
        if place.exists():
            running, finished = load_pass(place)
            if finished:
                return running.total()
        since = 0
        for tally, ended in shown(self._rest(of, source.parts(), running), source):
            running.take(tally, ended)
            since += max(1, ended)
            if since >= self.every:
                store_pass(place, running)
                since = 0
        store_pass(place, running, finished=True)
        return running.total()

    def _rest(
        self, of: Callable[[Batch], Tally[S]], parts: Sequence[Source], running: Running[S]
    ) -> Iterator[Step[S]]:
        """What is still to be read: the end of the open part, batch by batch, and all parts after it."""
        first = running.parts
        if running.batches:
            for tally in map(of, islice(parts[first], running.batches, None)):
                yield tally, 0
            yield None, 1
            first += 1
        yield from self.engine._steps(of, parts[first:], first)

    def _steps(
        self, of: Callable[[Batch], Tally[S]], parts: Sequence[Source], first: int
    ) -> Iterator[Step[S]]:
        return self.engine._steps(of, parts, first)

    def _answers(self, f: Callable[[Batch], Any], parts: Sequence[Source]) -> Iterator[Any]:
        return self.engine._answers(f, parts)

    def _place(self, of: Callable[[Batch], Tally[S]], source: Source) -> Path:
        """The file of this pass; one over other data is pointed out, once."""
        self._passes += 1
        if self._known is None or self._known[0] is not source:
            self._known = source, fingerprint(source)
        start = f"pass-{self._passes:04d}-{fingerprint(of)}"
        place = self.folder / f"{start}-{self._known[1]}.safetensors"
        if not place.exists() and not self._warned and any(self.folder.glob(f"{start}-*.safetensors")):
            self._warned = True
            warn(
                f"the checkpoints in {self.folder} are of other data, or of a file that has changed since, "
                "so this fit begins at the first row: choose another folder, or empty this one.",
                CheckpointWarning,
            )
        return place


def store_pass(place: Path, running: Running[S], *, finished: bool = False) -> None:
    """Write how far a pass has come, atomically."""
    from safetensors.numpy import save

    arrays: Arrays = {}
    state = {
        "finished": finished,
        "parts": running.parts,
        "batches": running.batches,
        "open": _encoded(running.open, arrays),
        "trees": [[size, _encoded(tree, arrays)] for size, tree in running.trees],
    }
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with atomic(place) as file:
            file.write(save(arrays, metadata={_KEY: json.dumps(state), **LAYOUT}))
    except OSError as error:
        raise EngineError(
            f"the checkpoint {place} could not be written ({error.strerror}): "
            "make room for it, or choose another folder."
        ) from error


def load_pass(place: Path) -> tuple[Running[Any], bool]:
    """Read how far a pass had come, and whether it was finished."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(place, framework="numpy") as file:
            state = json.loads(file.metadata()[_KEY])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        trees = [(size, _decoded(tree, arrays)) for size, tree in state["trees"]]
        running = Running(state["parts"], state["batches"], _decoded(state["open"], arrays), trees)
        return running, state["finished"]
    except (SafetensorError, FormatError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"the checkpoint {place} is damaged ({error}): delete it to begin anew.") from error


def _encoded(tally: Tally[S] | None, arrays: Arrays) -> Any:
    if tally is None:
        return None
    try:
        kept = encode(tally.statistic, arrays, "the statistic")
    except (FormatError, AttributeError) as error:
        raise RefusalError(
            f"a {type(tally.statistic).__name__} cannot be stored in a checkpoint: {error}"
        ) from error
    return [tally.rows, encode(tally.weight, arrays, "the weight"), kept]


def _decoded(value: Any, arrays: Arrays) -> Tally[Any] | None:
    if value is None:
        return None
    rows, weight, kept = value
    return Tally(rows, decode(weight, arrays), decode(kept, arrays))
