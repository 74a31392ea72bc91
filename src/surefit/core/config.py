"""Settings that are not parameters of an estimator: engine, threads, progress, checkpoints.

They live in a context variable, so that two threads or two coroutines can differ::

    >>> import surefit
    >>> with surefit.config(n_threads=1):
    ...     surefit.current_config().n_threads
    1
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args

from surefit.core.errors import ParameterError
from surefit.core.public import public
from surefit.core.threads import available_threads

Progress = Literal["auto", "on", "off"]


@dataclass(frozen=True, slots=True)
class Config:
    """The settings in force.

    engine: what accumulates statistics ("auto" follows the data: Dask input chooses Dask). n_threads: threads
    for native kernels; None takes all that this process may use. progress: bars on anything over two seconds:
    "auto" shows them on a terminal only. checkpoint: a folder where passes over the data are stored as they
    go, so that a fit that was killed resumes when it is run again; None stores nothing.
    """

    engine: str = "auto"
    n_threads: int | None = None
    progress: Progress = "auto"
    checkpoint: str | Path | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.engine, str):
            raise ParameterError(
                f"config: engine={self.engine!r} must be the name of an engine, such as 'auto' or 'serial'."
            )
        threads = self.n_threads
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise ParameterError(
                f"config: n_threads={threads!r} must be None or a whole number of at least 1."
            )
        if self.progress not in get_args(Progress):
            raise ParameterError(f"config: progress={self.progress!r} must be one of 'auto', 'on' and 'off'.")
        if self.checkpoint is not None and not isinstance(self.checkpoint, str | Path):
            raise ParameterError(f"config: checkpoint={self.checkpoint!r} must be a folder, or None.")


_config: ContextVar[Config] = ContextVar("surefit_config", default=Config())  # noqa: B039 (frozen)


@public
def current_config() -> Config:
    """Return the settings in force here."""
    return _config.get()


@public
@contextmanager
def config(**settings: Any) -> Iterator[Config]:
    """Change settings for the body of a ``with`` statement: ``with surefit.config(n_threads=2): ...``."""
    known = [f.name for f in fields(Config)]
    for name in settings:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(known)}."
            raise ParameterError(f"config has no setting {name!r}: {hint}")
    token = _config.set(replace(_config.get(), **settings))
    try:
        yield _config.get()
    finally:
        _config.reset(token)


def threads() -> int:
    """How many threads a native kernel may use now: the setting, never more than this process may use."""
    wanted = _config.get().n_threads
    if wanted == 1:
        return 1
    allowed = available_threads()
    return allowed if wanted is None else min(wanted, allowed)
