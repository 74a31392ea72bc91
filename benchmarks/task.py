"""The contract of a benchmark: Task, Case, Contender and Quality, and how task files are found."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

Data = Mapping[str, np.ndarray]
TASKS = Path(__file__).parent / "tasks"


@dataclass(frozen=True)
class Case:
    """One data set of a task; ``flops`` and ``bytes`` are what no algorithm can do without, for the limit."""

    name: str
    make: Callable[[], Data]
    flops: float = 0.0
    bytes: float = 0.0


@dataclass(frozen=True)
class Contender:
    """One way to do the task: ``call`` is timed, apart from ``prepare`` and the import of ``requires``."""

    name: str
    call: Callable[[Any], Any]
    requires: Sequence[str]
    ours: bool = False
    prepare: Callable[[Data], Any] | None = None


@dataclass(frozen=True)
class Quality:
    """The figure that keeps the race honest: ``of(data, result)``, one function for all contenders.

    A contender equals the best when it falls short of it by at most ``absolute + relative * |best|``.
    """

    name: str
    of: Callable[[Data, Any], float]
    better: Literal["lower", "higher"]
    absolute: float = 0.0
    relative: float = 0.0


@dataclass(frozen=True)
class Task:
    """What is raced; ``timeout`` bounds a call, ``budget`` all calls of a contender in a case, in seconds."""

    title: str
    cases: Sequence[Case]
    quick: Case
    contenders: Sequence[Contender]
    quality: Quality
    timeout: float = 60.0
    budget: float = 30.0

    def __post_init__(self) -> None:
        names = [contender.name for contender in self.contenders]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f"The task {self.title!r} has two contenders named {twice!r}: give each its own name."
            )


def find_tasks(folder: Path = TASKS) -> dict[str, Path]:
    """Return the task files of a folder by name."""
    return {path.stem: path for path in sorted(folder.glob("*.py")) if not path.stem.startswith("_")}


def load_task(path: Path) -> Task:
    """Return the ``TASK`` that a task file defines."""
    spec = importlib.util.spec_from_file_location(f"benchmark_task_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file: a task is one .py file that defines TASK.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    task = getattr(module, "TASK", None)
    if not isinstance(task, Task):
        raise ValueError(f"{path} defines no TASK: end it with `TASK = Task(...)`.")
    return task
