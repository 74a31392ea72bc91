"""Run the benchmark tasks named, or all, print their tables and write them as JSON."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.limits import Limits, measure_limits
from benchmarks.report import CaseReport, case_table, heading, machine, summary, write_json
from benchmarks.runner import Effort, race
from benchmarks.task import TASKS, find_tasks, load_task
from benchmarks.verdict import judge
from surefit.core.threads import available_threads

RESULTS = Path(__file__).parent / "results"


def run(path: Path, effort: Effort, limits: Limits, quick: bool, out: Path) -> bool:
    """Run one task, print each case as it ends, then all of them in one table, and write the JSON.

    Return whether all of ours came through.
    """
    task = load_task(path)
    where = machine()
    print(heading(task, where, limits), flush=True)
    cases = []
    for case in [task.quick] if quick else task.cases:
        raced = race(path, task, case, effort, lambda step: print(f"{path.stem}: {step}", file=sys.stderr))
        limit = limits.seconds(case)
        cases.append(CaseReport(raced, judge(raced.measurements, task.quality, limit), limit))
        print(case_table(cases[-1], task.quality), flush=True)
        write_json(out / f"{path.stem}.json", task, where, limits, cases)
    print(summary(cases), flush=True)
    return all(row.seconds is not None for case in cases for row in case.rows if row.ours)


def main() -> int:
    """Parse the command line and run; the exit code is 1 when one of ours failed, never because of a peer."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="task", help="the tasks to run (default: all)")
    parser.add_argument(
        "--quick", action="store_true", help="one small case and few calls: a check, not a measurement"
    )
    parser.add_argument(
        "--out", type=Path, default=RESULTS, help="folder for the JSON (default: benchmarks/results)"
    )
    parser.add_argument(
        "--folder", type=Path, default=TASKS, help="folder of the task files (default: benchmarks/tasks)"
    )
    parser.add_argument(
        "--threads", type=int, default=available_threads(), help="threads for everyone (default: all)"
    )
    asked = parser.parse_args()
    found = find_tasks(asked.folder)
    unknown = [name for name in asked.tasks if name not in found]
    if unknown:
        parser.error(f"there is no task {unknown[0]!r}: the tasks are {', '.join(found)}")
    if asked.threads < 1:
        parser.error(f"--threads {asked.threads} is too few: give at least 1")
    effort = Effort(asked.threads, rounds=2, calls=1, seconds=0.0) if asked.quick else Effort(asked.threads)
    limits = measure_limits(asked.threads, asked.quick)
    passed = [run(found[name], effort, limits, asked.quick, asked.out) for name in asked.tasks or found]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
