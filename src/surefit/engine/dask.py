"""Dask: every part is read and added up where it lies, and only the sum comes back.

Works on the ``distributed`` client in force, if there is one, and on Dask's local scheduler otherwise. A part
is one task that returns its statistic; neighbours are joined in pairs on the workers. Trees of some dozens of
parts are under way at a time, so that neither the graph nor the client grows with the data. A task whose
worker dies is run again elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from surefit.core.blas_threads import one_blas_thread
from surefit.core.config import config, current_config, threads
from surefit.core.errors import EngineError
from surefit.data.batches.batch import Batch
from surefit.data.readers.dask import plain_errors
from surefit.data.source import Source
from surefit.engine.base import Engine, Step
from surefit.engine.running_sum import S, Tally, join, part_sum, tree_sizes

SMALLEST_TREE = 64  # parts; a power of two
PATIENCE = 10  # seconds to wait for a scheduler


class Dask(Engine):
    """One task a part, on a cluster or on this machine."""

    name = "dask"

    def _steps(
        self, of: Callable[[Batch], Tally[S]], parts: Sequence[Source], first: int = 0
    ) -> Iterator[Step[S]]:
        scheduler = _scheduler()
        # Two tasks for each thread of the cluster in a tree, and two trees under way, keep it busy.
        largest = max(SMALLEST_TREE, 1 << (2 * scheduler.width - 1).bit_length())
        shared = scheduler.delayed(_Once(of))
        sizes = list(tree_sizes(first, len(parts), largest))
        rest = iter(parts)
        trees = (self._tree(scheduler, shared, list(islice(rest, size))) for size in sizes)
        yield from zip(scheduler.results(trees, 2), sizes, strict=True)

    @staticmethod
    def _tree(scheduler: _Scheduler, of: Any, parts: Iterable[Source]) -> Any:
        """The sum of neighbouring parts, joined in pairs."""
        level = [scheduler.delayed(_sum_part)(of, part, scheduler.n_threads) for part in parts]
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=False)
            odd = level[-1:] if len(level) % 2 else []
            level = [scheduler.delayed(join)(left, right) for left, right in pairs] + odd
        return level[0]

    def _answers(self, f: Callable[[Batch], Any], parts: Sequence[Source]) -> Iterator[Any]:
        scheduler = _scheduler()
        shared = scheduler.delayed(_Once(f))
        tasks = (scheduler.delayed(_map_part)(shared, part, scheduler.n_threads) for part in parts)
        for answers in scheduler.results(tasks, 2 * scheduler.width):
            yield from answers


class _Once:
    """A function as a value: it travels to a worker once, not with every task."""

    def __init__(self, function: Callable[[Batch], Any]) -> None:
        self.function = function


def _sum_part(of: _Once, part: Source, n_threads: int | None) -> Tally[Any] | None:
    with config(n_threads=n_threads, progress="off"), one_blas_thread():
        return part_sum(of.function, part)


def _map_part(f: _Once, part: Source, n_threads: int | None) -> list[Any]:
    with config(n_threads=n_threads, progress="off"), one_blas_thread():
        return [f.function(batch) for batch in part]


class _Scheduler:
    """What runs the tasks: a cluster's client, or Dask's own threads with kernels of one thread each."""

    def __init__(self, delayed: Any, client: Any) -> None:
        self._delayed = delayed
        self._client = client
        self.width = threads() if client is None else max(1, sum(client.nthreads().values()))
        # On a cluster a worker knows its share of the machine.
        self.n_threads = 1 if client is None else current_config().n_threads

    def delayed(self, value: Any) -> Any:
        """A task, or a value for tasks to share."""
        return (
            self._delayed(value, pure=False, traverse=False)
            if isinstance(value, _Once)
            else self._delayed(value, pure=False)
        )

    def results(self, tasks: Iterator[Any], ahead: int) -> Iterator[Any]:
        """Yield the results in order, with ``ahead`` tasks under way at the most."""
        return self._local(tasks, ahead) if self._client is None else self._remote(tasks, ahead)

    def _local(self, tasks: Iterator[Any], ahead: int) -> Iterator[Any]:
        import dask

        while chunk := list(islice(tasks, ahead)):
            yield from dask.compute(*chunk, num_workers=self.width)

    def _remote(self, tasks: Iterator[Any], ahead: int) -> Iterator[Any]:
        begun = deque(self._client.compute(task) for task in islice(tasks, ahead))
        try:
            with plain_errors():
                while begun:
                    yield begun[0].result()
                    begun.popleft()
                    begun.extend(self._client.compute(task) for task in islice(tasks, 1))
        finally:
            self._client.cancel(list(begun))


def _scheduler() -> _Scheduler:
    try:
        import dask
        from dask.delayed import delayed
    except ImportError as error:
        raise EngineError("the dask engine needs dask: pip install 'surefit[dask]'.") from error
    client = None
    if dask.config.get("scheduler", None) in (None, "distributed", "dask.distributed"):
        try:
            from distributed import get_client

            client = get_client()
        except (ImportError, ValueError):  # no cluster
            client = None
    return _Scheduler(delayed, client)


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Do the work of the body on the cluster at an address, such as ``tcp://10.0.0.1:8786``."""
    try:
        from distributed import Client
    except ImportError as error:
        raise EngineError("a Dask cluster needs dask: pip install 'surefit[dask]'.") from error
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise EngineError(
            f"no Dask scheduler answers at {address}: check the address, and that the scheduler runs."
        ) from error
    with client, config(engine="dask"):
        yield
