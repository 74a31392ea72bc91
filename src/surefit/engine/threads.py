"""A few threads: while one computes, another reads.

Readers and kernels release Python's lock, so both cores work. Each thread holds one batch and runs its
kernels alone; together they are as many as :func:`surefit.config` allows. Answers wait for their turn: at
most two for each thread are begun ahead of the one that is due.

Mostly each thread reads a part by itself. Where an open part takes much memory, as a row group of Parquet
does with a page and a dictionary for each column, all read from one: they take turns at fetching, which may
use all of them, and make and add up what they fetched side by side.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from itertools import chain, islice, takewhile
from typing import Any, Generic, TypeVar

from surefit.core.blas_threads import one_blas_thread
from surefit.core.config import config, threads
from surefit.data.batches.batch import Batch
from surefit.data.source import Source, deferred
from surefit.engine.base import Engine, Step, declared
from surefit.engine.running_sum import S, Tally, part_sum
from surefit.engine.serial import Serial

Item = TypeVar("Item")
Answer = TypeVar("Answer")

GRACE = 0.5  # seconds that an interrupted caller waits for the batches under way


class Threads(Engine):
    """Read and compute in threads; the caller adds up in row order."""

    name = "threads"

    def _steps(
        self, of: Callable[[Batch], Tally[S]], parts: Sequence[Source], first: int = 0
    ) -> Iterator[Step[S]]:
        crew = threads()
        if crew > 1 and len(parts) >= crew and not declared(parts[0], "one_at_a_time"):
            yield from self._whole_parts(of, parts, crew)
            return
        batches = _with_ends(parts)
        head = list(islice(batches, 2))
        alone = len(parts) == 1 and head[-1] is None  # one batch: its kernel had better have all the threads
        if crew == 1 or alone:
            yield from (_step(of, make) for make in chain(_emptied(head), batches))
            return
        with one_blas_thread():
            yield from OrderedWorkers(lambda make: _step(of, make), chain(_emptied(head), batches), crew)

    @staticmethod
    def _whole_parts(
        of: Callable[[Batch], Tally[S]], parts: Sequence[Source], size: int
    ) -> Iterator[Step[S]]:
        def whole(part: Source) -> Step[S]:
            return part_sum(of, takewhile(lambda batch: not crew.abandoned, part)), 1

        crew = OrderedWorkers(whole, iter(parts), size)
        with one_blas_thread():
            yield from crew

    def _answers(self, f: Callable[[Batch], Any], parts: Sequence[Source]) -> Iterator[Any]:
        crew = threads()
        if crew == 1:
            return Serial()._answers(f, parts)
        batches = chain.from_iterable(map(deferred, parts))
        head = list(islice(batches, 2))
        if len(head) < 2:
            return (f(make()) for make in head)
        return _holding_blas(OrderedWorkers(lambda make: f(make()), chain(_emptied(head), batches), crew))


def _holding_blas(answers: Iterator[Any] | OrderedWorkers[Any, Any]) -> Iterator[Any]:
    with one_blas_thread():
        yield from answers


def _step(of: Callable[[Batch], Tally[S]], make: Callable[[], Batch] | None) -> Step[S]:
    return (None, 1) if make is None else (of(make()), 0)


def _with_ends(parts: Sequence[Source]) -> Iterator[Callable[[], Batch] | None]:
    """All batches, still to be made, with None after each part."""
    for part in parts:
        yield from deferred(part)
        yield None


def _emptied(items: list[Item]) -> Iterator[Item]:
    """Give the items away one by one, so that none is held longer than it is needed."""
    items.reverse()
    while items:
        yield items.pop()


class OrderedWorkers(Generic[Item, Answer]):
    """Answers to items, in order, worked out by threads that fetch the items themselves.

    An error surfaces in its place in that order, as it is, and nothing is begun after it.

    >>> list(OrderedWorkers(lambda item: item * item, iter(range(5)), 2))
    [0, 1, 4, 9, 16]
    """

    def __init__(self, work: Callable[[Item], Answer], items: Iterator[Item], size: int) -> None:
        self._work = work
        self._items = items
        self._size = size
        self._fetching = threading.Lock()
        self._changed = threading.Condition()
        self._begun = 0
        self._given = 0
        self._end: int | None = None
        self._ready: dict[int, tuple[Answer | None, BaseException | None]] = {}
        self._closed = False  # nothing more is begun
        self.abandoned = False  # nobody waits for the answers any more

    def __iter__(self) -> Iterator[Answer]:
        # Each thread sees the caller's settings, in a copy of its own.
        members = [
            threading.Thread(target=copy_context().run, args=(self._serve,), name="surefit", daemon=True)
            for _ in range(self._size)
        ]
        for member in members:
            member.start()
        try:
            while (due := self._await()) is not None:
                answer, error = due
                if error is not None:
                    raise error
                yield answer  # type: ignore[misc]
        finally:
            self.abandoned = True
            self._close()
            deadline = time.monotonic() + GRACE
            for member in members:
                member.join(max(0.0, deadline - time.monotonic()))

    def _await(self) -> tuple[Answer | None, BaseException | None] | None:
        """The answer that is due, or None after the last."""
        with self._changed:
            self._changed.wait_for(lambda: self._given in self._ready or self._given == self._end)
            if self._given == self._end:
                return None
            due = self._ready.pop(self._given)
            self._given += 1
            self._changed.notify_all()
            return due

    def _serve(self) -> None:
        with config(n_threads=1):
            while self._one():
                pass

    def _one(self) -> bool:
        """Fetch an item and work on it; False when there are no more."""
        with self._fetching:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._begun - self._given < 2 * self._size)
                if self._closed:
                    return False
                turn = self._begun
                self._begun += 1
            try:
                with config(n_threads=self._size):  # one thread fetches, with the help of all
                    item = next(self._items)
            except StopIteration:
                self._close(end=turn)
                return False
            except BaseException as error:
                self._fail(turn, error)
                return False
        try:
            answer = self._work(item)
        except BaseException as error:
            self._fail(turn, error)
            return False
        with self._changed:
            self._ready[turn] = (answer, None)
            self._changed.notify_all()
        return True

    def _fail(self, turn: int, error: BaseException) -> None:
        with self._changed:
            self._ready[turn] = (None, error)
        self._close()

    def _close(self, end: int | None = None) -> None:
        with self._changed:
            self._closed = True
            self._end = end if self._end is None else self._end
            self._changed.notify_all()
