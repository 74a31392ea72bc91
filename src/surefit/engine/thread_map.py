"""Independent pieces of work on several threads, answered in order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable
from functools import lru_cache
from typing import Any, TypeVar

from surefit.core.blas_threads import one_blas_thread
from surefit.engine.threads import OrderedWorkers

Answer = TypeVar("Answer")


@lru_cache(maxsize=1)
def _openmp(modules: int) -> Any:
    """Return a handle on the OpenMP libraries, made anew where more modules have been imported since."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="openmp")


def in_turn(work: Callable[[Any], Answer], items: Iterable[Any], jobs: int) -> Generator[Answer, None, None]:
    """Yield what ``work`` makes of each item, in order, on so many threads that run their kernels alone.

    >>> list(in_turn(lambda item: item + 1, [1, 2, 3], jobs=2))
    [2, 3, 4]
    """
    if jobs == 1:
        yield from map(work, items)
        return
    openmp = _openmp(len(sys.modules))

    def alone(item: Any) -> Answer:
        with openmp.limit(limits=1):  # a setting of each thread, unlike that of BLAS
            return work(item)

    with one_blas_thread():
        yield from OrderedWorkers(alone, iter(items), jobs)
