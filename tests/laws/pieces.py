"""Sources in pieces, for the tests of engines: some sound, some that fail, stall or kill."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import MappedSource, Source


@dataclass(frozen=True, slots=True)
class Pieces:
    """Parts, each of some batches, all in memory."""

    schema: Schema
    members: tuple[tuple[Batch, ...], ...]

    def __iter__(self) -> Iterator[Batch]:
        for member in self.members:
            yield from member

    def parts(self) -> Sequence[Source]:
        return [Pieces(self.schema, (member,)) for member in self.members]


def pieces(X: Any, y: Any = None, cuts: Sequence[Sequence[int]] = ((20, 20), (), (0, 7), (13,))) -> Pieces:
    """Cut rows into parts of batches; ``cuts`` says how many rows each batch has."""
    bounds = np.cumsum([0, *(size for part in cuts for size in part)])
    assert bounds[-1] == len(X)
    batches = iter([Batch(X[a:b], None if y is None else y[a:b], start=int(a)) for a, b in pairwise(bounds)])
    members = tuple(tuple(next(batches) for _ in part) for part in cuts)
    return Pieces(Schema(X.shape[1], rows=len(X), targets=0 if y is None else 1), members)


def numbers(parts: int = 6, batches: int = 3, rows: int = 50, columns: int = 3) -> Pieces:
    """Random rows in parts of equal size."""
    X = np.random.default_rng(0).normal(size=(parts * batches * rows, columns)) * 1e3
    return pieces(X, cuts=[[rows] * batches] * parts)


def mapped(source: Source, function: Callable[[Batch], Batch]) -> Source:
    return MappedSource(source, source.schema, function)


@dataclass(frozen=True, slots=True)
class KillWorker:
    """Kill the process that reads the batch at ``start``: once, if there is a file to leave a mark in."""

    start: int
    mark: Path | None = None

    def __call__(self, batch: Batch) -> Batch:
        if batch.start == self.start and not (self.mark is not None and self.mark.exists()):
            if self.mark is not None:
                self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return batch


@dataclass(frozen=True, slots=True)
class Fail:
    """Raise an error of the caller's own at one row."""

    start: int
    error: Exception

    def __call__(self, batch: Batch) -> Batch:
        if batch.start == self.start:
            raise self.error
        return batch


class Counter:
    """How many things are going on, and the most there ever were at a time."""

    def __init__(self) -> None:
        self.now = self.most = self.total = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self.now += 1
            self.total += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self.now -= 1
