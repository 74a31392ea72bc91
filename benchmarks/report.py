"""Writes a finished task down: a Markdown table for people and a JSON file for programs."""

from __future__ import annotations

import json
import math
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.limits import Limits
from benchmarks.runner import Race
from benchmarks.task import Quality, Task
from benchmarks.verdict import Row


@dataclass(frozen=True)
class CaseReport:
    """One case with its verdict."""

    race: Race
    rows: Sequence[Row]
    limit: float | None


def machine() -> dict[str, Any]:
    """Describe the machine, and how busy it was when asked."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return {
        "cpu": found[1] if found else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
    }


def heading(task: Task, where: dict[str, Any], limits: Limits) -> str:
    """Return what stands above the tables of a task: the machine and its limits."""
    lines = [
        f"## {task.title}",
        "",
        f"{where['cpu']}, {where['cores']} cores, Python {where['python']}. {limits}.",
    ]
    if where["load"] > 0.5:
        lines.append(
            f"**The machine was busy at the start (load {where['load']}): trust no small difference.**"
        )
    return "\n".join(lines) + "\n"


def case_table(case: CaseReport, quality: Quality) -> str:
    """Return the table of one case, a row a contender, and its result in a sentence."""
    limit = "" if case.limit is None else f" (limit {seconds(case.limit)})"
    columns = ["contender", "median", "quartiles", "first call", "import", "extra memory", quality.name]
    columns += ["× best peer", "× limit"]
    lines = [f"### {case.race.case.name}{limit}", ""]
    lines += [_line(columns), _line(["---"] + ["---:"] * (len(columns) - 1))]
    lines += [_line(_cells(row)) for row in case.rows if row.missing is None]
    lines.append("")
    if any(row.quality is not None and not row.equal for row in case.rows):
        lines += ["† worse in quality than the best, so not counted as a peer.", ""]
    if any(row.cold_only for row in case.rows):
        lines += ["ᶜ too slow for a warm call: the first call stands for it.", ""]
    lines += [f"Not here: {row.contender} ({row.missing})." for row in case.rows if row.missing is not None]
    lines += _headline(case.rows)
    return "\n".join(lines) + "\n"


def summary(cases: Sequence[CaseReport]) -> str:
    """Return the final table of a task: each of ours on each case beside the best peer."""
    columns = ["case", "ours", "median", "best peer", "median", "× best peer", "× limit"]
    lines = ["### All cases", "", _line(columns), _line(["---"] * len(columns))]
    for case in cases:
        peer = next((row for row in case.rows if row.best_peer), None)
        theirs = ["–", "–"] if peer is None else [peer.contender, seconds(peer.seconds)]
        lines += [
            _line(
                [
                    case.race.case.name,
                    row.contender,
                    "failed" if row.seconds is None else seconds(row.seconds),
                    *theirs,
                    ratio(row.of_best_peer),
                    ratio(row.of_limit),
                ]
            )
            for row in case.rows
            if row.ours
        ]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    name = f"**{row.contender}**" if row.ours else row.contender
    if row.failed is not None:
        return [name, f"failed: {row.failed}".replace("|", "/"), *[""] * 7]
    return [
        name + ("" if row.equal else " †"),
        seconds(row.seconds) + ("ᶜ" if row.cold_only else ""),
        "one call" if row.calls == 1 else f"{seconds(row.low)} – {seconds(row.high)}",
        seconds(row.cold),
        seconds(row.imported),
        size(row.memory),
        "–"
        if row.quality is None
        else f"{row.quality:.6g}"
        if abs(row.quality) > 1e-3
        else f"{row.quality:.1e}",
        ratio(row.of_best_peer),
        ratio(row.of_limit),
    ]


def _headline(rows: Sequence[Row]) -> list[str]:
    """Say the result in one sentence for each of ours."""
    peer = next((row.contender for row in rows if row.best_peer), None)
    said = []
    for row in rows:
        if not row.ours or row.seconds is None:
            continue
        if not row.equal:
            said.append(f"{row.contender} is worse in quality than the best, so its time does not count.")
        elif row.of_best_peer is not None:
            said.append(
                f"{row.contender} takes {ratio(row.of_best_peer)} of the time of the best peer, {peer}."
            )
    return said


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def seconds(value: float | None) -> str:
    """Format a time: ``0.0123`` is ``12.3 ms``."""
    if value is None:
        return "–"
    scale, unit = (1.0, "s") if value >= 1 else (1e3, "ms") if value >= 1e-3 else (1e6, "µs")
    return f"{_three_digits(value * scale)} {unit}"


def size(value: float | None) -> str:
    """Format bytes: ``8e8`` is ``800 MB``."""
    if value is None:
        return "–"
    return f"{value / 1e9:.2f} GB" if value >= 1e9 else f"{value / 1e6:.0f} MB"


def ratio(value: float | None) -> str:
    """Format a ratio with three digits."""
    return "–" if value is None else _three_digits(value)


def _three_digits(value: float) -> str:
    digits = 0 if value >= 99.5 else 1 if value >= 9.95 else 2 if value >= 0.0995 else 4
    return f"{value:.{digits}f}"


def write_json(
    path: Path, task: Task, where: dict[str, Any], limits: Limits, cases: Sequence[CaseReport]
) -> None:
    """Write everything that was measured; what is not a finite number becomes null."""
    document = {
        "task": task.title,
        "quality": {k: v for k, v in vars(task.quality).items() if k != "of"},
        "machine": where,
        "limits": asdict(limits),
        "cases": [
            {
                "case": case.race.case.name,
                "limit": case.limit,
                "order": case.race.order,
                "rows": [
                    {**asdict(row), "samples": asdict(measured)}
                    for row, measured in zip(case.rows, case.race.measurements, strict=True)
                ],
            }
            for case in cases
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_finite(document), indent=1, allow_nan=False) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
