"""Runs one case: makes its data once, then goes round the contenders, each time in a fresh process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Task
from benchmarks.worker import Order

ROOT = Path(__file__).parent.parent
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds over the contenders, and the least warm calls and seconds in each."""

    threads: int
    rounds: int = 3
    calls: int = 3
    seconds: float = 0.3


@dataclass
class Measurement:
    """Everything that the processes of one contender reported; times in seconds, memory in bytes."""

    contender: str
    ours: bool
    imports: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    quality: list[float] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    missing: str | None = None
    failed: str | None = None

    @property
    def over(self) -> bool:
        """Whether there is no point in asking again."""
        return self.missing is not None or self.failed is not None


@dataclass
class Race:
    """The measurements of one case, and the order in which the processes ran."""

    case: Case
    measurements: list[Measurement]
    order: list[str]


def race(path: Path, task: Task, case: Case, effort: Effort, say: Callable[[str], None]) -> Race:
    """Measure every contender on a case; every other round goes backwards, so that a drift favours nobody."""
    field_of = {c.name: Measurement(c.name, c.ours) for c in task.contenders}
    order: list[str] = []
    with tempfile.TemporaryDirectory(prefix="surefit-bench-") as name:
        folder = Path(name)
        (folder / "data").mkdir()
        for key, array in case.make().items():
            np.save(folder / "data" / f"{key}.npy", array, allow_pickle=False)
        for round_ in range(effort.rounds):
            for contender in task.contenders[:: -1 if round_ % 2 else 1]:
                measured = field_of[contender.name]
                if measured.over or sum(measured.cold + measured.warm) > task.budget:
                    continue
                say(f"{case.name}: round {round_ + 1} of {effort.rounds}, {contender.name}")
                order.append(contender.name)
                run_worker(path, task, contender, effort, folder, measured)
    return Race(case, list(field_of.values()), order)


def run_worker(
    path: Path, task: Task, contender: Contender, effort: Effort, folder: Path, into: Measurement
) -> None:
    """Run one contender in one process and add what it reports."""
    events, log = folder / "events", folder / "log"
    order = Order(
        task=str(path.resolve()),
        contender=contender.name,
        requires=list(contender.requires),
        data=str(folder / "data"),
        events=str(events),
        timeout=task.timeout,
        calls=effort.calls,
        seconds=effort.seconds,
        share=task.budget / effort.rounds,
    )
    events.write_text("")
    code = run_module("benchmarks.worker", json.dumps(asdict(order)), threads=effort.threads, output=log)
    told = [json.loads(line) for line in events.read_text().splitlines()]
    for event in told:
        _add(event, into)
    if code != 0 and not into.over:
        into.failed = _how_it_ended(code, told, log.read_text(errors="replace"))


def run_module(module: str, *arguments: str, threads: int, output: Path) -> int:
    """Run ``python -m module`` in a fresh interpreter with so many threads; return its exit code.

    It gets a process group of its own, and whatever it leaves behind ends with it.
    """
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
    command = [sys.executable, "-m", module, *arguments]
    with open(output, "w") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            return process.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _add(event: dict[str, Any], into: Measurement) -> None:
    if "imported" in event:
        into.imports.append(event["imported"])
        into.versions.update(event["versions"])
    for key in ("cold", "warm", "memory", "quality"):
        if event.get(key) is not None:
            getattr(into, key).append(event[key])
    into.missing = event.get("missing", into.missing)
    into.failed = event.get("failed", into.failed)


def _how_it_ended(code: int, told: list[dict[str, Any]], log: str) -> str:
    """Say in words why a worker ended without a report of its own."""
    doing = [event for event in told if "doing" in event]
    step, limit = (doing[-1]["doing"], doing[-1]["limit"]) if doing else ("the start", 0.0)
    if code == -signal.SIGALRM:
        return f"{step} took longer than {limit:g} s"
    if code < 0:
        hint = " (out of memory?)" if code == -signal.SIGKILL else ""
        return f"{step} was ended by {signal.Signals(-code).name}{hint}"
    last_line = next(iter(log.strip().splitlines()[::-1]), "")
    return f"{step} exited with code {code}: {last_line}"
