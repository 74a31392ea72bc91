"""One contender in a fresh interpreter: import, load the data, first call, quality, warm calls.

The runner starts it as ``python -m benchmarks.worker '<order as JSON>'``. Each step is one JSON line in the
events file, written at once, so that a crash or a time-out loses only the step it happens in. Nothing but the
standard library is imported before the contender's modules: their import time is what a user's script pays.
"""

from __future__ import annotations

import importlib
import json
import re
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, TextIO

PATIENCE = 120.0  # seconds for each step that is not a timed call: import, loading, quality
MOST_CALLS = 200


@dataclass(frozen=True)
class Order:
    """What to run: at least ``calls`` warm calls and ``seconds`` of them, as ``share`` seconds allow."""

    task: str
    contender: str
    requires: list[str]
    data: str
    events: str
    timeout: float
    calls: int
    seconds: float
    share: float


class Diary:
    """Writes down what the worker does, and lets the kernel end it when a step outlasts its limit."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def begin(self, step: str, limit: float) -> None:
        """Announce a step; SIGALRM's default action ends it, even in native code that never returns."""
        self.tell(doing=step, limit=limit)
        signal.setitimer(signal.ITIMER_REAL, limit)

    def tell(self, **event: Any) -> None:
        """Append one event."""
        self._file.write(json.dumps(event) + "\n")
        self._file.flush()


def work(order: Order, diary: Diary) -> None:
    """Do the steps in order; an exception of the contender is its result."""
    diary.begin("the import", PATIENCE)
    try:
        start = perf_counter()
        modules = [importlib.import_module(name) for name in order.requires]
        seconds = perf_counter() - start
    except ImportError as error:
        diary.tell(missing=str(error))
        return
    tops = {module.__name__.partition(".")[0] for module in modules}
    diary.tell(imported=seconds, versions={top: getattr(sys.modules[top], "__version__", "") for top in tops})

    diary.begin("the preparation", PATIENCE)
    import numpy as np

    from benchmarks.task import load_task

    task = load_task(Path(order.task))
    contender = next(c for c in task.contenders if c.name == order.contender)
    data = {path.stem: np.load(path) for path in Path(order.data).glob("*.npy")}
    given = data if contender.prepare is None else contender.prepare(data)

    diary.begin("the first call", order.timeout)
    before = reset_peak()
    start = perf_counter()
    result = contender.call(given)
    cold = perf_counter() - start
    diary.tell(cold=cold, memory=None if before is None else max(0, resident("VmHWM") - before))

    diary.begin("the quality", PATIENCE)
    diary.tell(quality=float(task.quality.of(data, result)))
    del result

    spent = 0.0
    for calls in range(MOST_CALLS):
        enough = calls >= order.calls and spent >= order.seconds
        over = cold + spent > order.share
        if enough or (over and (calls > 0 or cold > task.budget)):
            return
        diary.begin("a warm call", order.timeout)
        start = perf_counter()
        result = contender.call(given)
        seconds = perf_counter() - start
        del result
        diary.tell(warm=seconds)
        spent += seconds


def reset_peak() -> int | None:
    """Start the peak-memory mark afresh and return the bytes in use; None where that is not allowed."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return resident("VmRSS")
    except OSError:
        return None


def resident(mark: str) -> int:
    """Return VmRSS (memory in use now) or VmHWM (its peak) of this process, in bytes."""
    found = re.search(rf"^{mark}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    if found is None:
        raise OSError(f"/proc/self/status has no {mark}.")
    return 1024 * int(found[1])


def main() -> None:
    """Read the order, work, and report an exception as the contender's failure."""
    order = Order(**json.loads(sys.argv[1]))
    with open(order.events, "a") as file:
        diary = Diary(file)
        try:
            work(order, diary)
        except Exception as error:
            first_line = next(iter(str(error).splitlines()), "")
            diary.tell(failed=f"{type(error).__name__}: {first_line}")


if __name__ == "__main__":
    main()
