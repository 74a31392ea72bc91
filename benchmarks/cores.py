"""How soon ``surefit learn`` says something, and how many cores its race uses.

``python -m benchmarks.cores`` runs the command in a fresh process on a table made here. Cores are the
processor time of the race, from the end of the audit to the final fit, over its wall time; on a busy machine,
where threads wait for a core, the mean number of threads that run or could is what to read.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

EVERY = 0.05  # seconds between two looks at the process
RACE_ENDS = "fitting "


@dataclass
class Watch:
    """When each line came, and what was seen of the process between them: time, CPU seconds, threads."""

    began: float = field(default_factory=time.perf_counter)
    lines: list[tuple[float, str]] = field(default_factory=list)
    seen: list[tuple[float, float, int]] = field(default_factory=list)

    def now(self) -> float:
        """Seconds since the process was started."""
        return time.perf_counter() - self.began

    def look(self, pid: int) -> None:
        """Read what Linux tells of a process and its threads."""
        try:
            of_all = _fields(Path(f"/proc/{pid}/stat"))
            ready = sum(_fields(one / "stat")[0] == "R" for one in Path(f"/proc/{pid}/task").iterdir())
        except OSError:  # it has ended, or this is not Linux
            return
        cpu = (int(of_all[11]) + int(of_all[12])) / os.sysconf("SC_CLK_TCK")
        self.seen.append((self.now(), cpu, ready))

    def race(self) -> list[tuple[float, float, int]]:
        """What was seen between the audit, whose line is the last to begin so, and the final fit."""
        start = max((at for at, text in self.lines if text.startswith("the audit")), default=0.0)
        end = next((at for at, text in self.lines if text.startswith(RACE_ENDS)), self.now())
        return [entry for entry in self.seen if start <= entry[0] <= end]


def _fields(path: Path) -> list[str]:
    return path.read_text().rpartition(")")[2].split()


def made(path: Path, rows: int, columns: int) -> None:
    """Write a table with two classes, a product of columns between them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=rows) > 0
    names = ",".join([*(f"x{j}" for j in range(columns)), "y"])
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", fmt="%.4g", header=names, comments="")


def watched(table: Path, out: Path, budget: float) -> Watch:
    """Learn from a table in a fresh process, and watch it."""
    command = [sys.executable, "-m", "surefit", "learn", str(table), "--target", "y", "--out", str(out)]
    watch = Watch()
    process = subprocess.Popen(
        [*command, "--budget", str(budget)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )

    def read() -> None:
        assert process.stderr is not None
        watch.lines.extend((watch.now(), line) for line in process.stderr)

    reader = threading.Thread(target=read)
    reader.start()
    while process.poll() is None:
        watch.look(process.pid)
        time.sleep(EVERY)
    reader.join()
    return watch


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cores", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--budget", type=float, default=60.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        made(table, asked.rows, asked.columns)
        watch = watched(table, Path(folder) / "study", asked.budget)
    print(f"first line after {watch.lines[0][0]:.2f} s: {watch.lines[0][1].strip().split()[0]} ...")
    race = watch.race()
    if len(race) > 1:
        wall, cpu = race[-1][0] - race[0][0], race[-1][1] - race[0][1]
        ready = np.mean([entry[2] for entry in race])
        print(
            f"race: {wall:.1f} s, {cpu:.1f} s of processor time, {cpu / wall:.2f} cores, {ready:.2f} threads"
        )
    left_out = sum("left out" in text for _, text in watch.lines)
    print(f"all: {watch.now():.1f} s, {left_out} families left out")


if __name__ == "__main__":
    main()
