"""BLAS held to one thread for the length of a fit: the kernels bring their own threads, and two pools fight
for the cores.

The limit is the process's, not the calling thread's, so it is counted: the first to enter sets it, the last
to leave gives back what was there before. Entering costs tens of microseconds, entering again inside almost
nothing; a predict path never enters.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
_depth = 0
_before: list[tuple[Any, int]] = []  # the libraries that had more than one thread, and how many


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold every BLAS of this process to one thread in the body of a ``with`` statement.

    >>> with one_blas_thread():
    ...     with one_blas_thread():
    ...         {library["num_threads"] for library in controller().info()}
    {1}
    """
    _enter()
    try:
        yield
    finally:
        _leave()


@cache
def controller() -> Any:
    """Return the kept handle on the BLAS libraries of numpy and scipy; making one costs milliseconds."""
    # Only libraries already loaded are seen, and scipy brings one of its own beside numpy's.
    import scipy.linalg.cython_blas  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def _enter() -> None:
    global _depth, _before
    with _lock:
        if _depth == 0:
            counted = [(library, library.get_num_threads()) for library in controller().lib_controllers]
            _before = [(library, count) for library, count in counted if count is not None and count > 1]
            _set([(library, 1) for library, _ in _before])
        _depth += 1


def _leave() -> None:
    global _depth
    with _lock:
        _depth -= 1
        if _depth == 0:
            _set(_before)


def _set(limits: list[tuple[Any, int]]) -> None:
    # threadpoolctl lets the first thread that sets OpenBLAS's limit own it, and ignores all others without a
    # word; here the one who restores it need not be the one who set it. The owner is one for all libraries.
    clear = next((library.clear_controlling_thread for library, _ in limits if _has_owner(library)), None)
    if clear is not None:
        clear(force=True)
    for library, count in limits:
        library.set_num_threads(count)
    if clear is not None:
        clear(force=True)


def _has_owner(library: Any) -> bool:
    return hasattr(library, "clear_controlling_thread")


def _fresh_lock() -> None:
    # A child forked while another thread was in here would wait for that thread for ever.
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_fresh_lock)
