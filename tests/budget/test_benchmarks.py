"""The benchmark runner on a toy task: however a peer ends, it is a row or a note, never a failure."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent

TOY = """
import os, signal, time
import numpy as np
from benchmarks.task import Case, Contender, Quality, Task

def total(data): return float(data["x"].sum())
def slow(data): time.sleep(0.05); return total(data)
def hungry(data): copies = [data["x"] + i for i in range(8)]; return total(data)
def wrong(data): return 0.0
def broken(data): raise RuntimeError("no | answer\\nsecond line")
def crash(data): os.kill(os.getpid(), signal.SIGSEGV)
def hang(data): time.sleep(600)
def ours(data):
    threads = {os.environ[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    return total(data) if len(threads) == 1 else 0.0

case = Case("a million ones", lambda: {"x": np.ones(2**20)}, bytes=8.0 * 2**20)
TASK = Task(
    title="Toy sum",
    cases=[],
    quick=case,
    contenders=[
        Contender("ours", ours, ["numpy"], ours=True),
        Contender("slow", slow, ["numpy"]),
        Contender("hungry", hungry, ["numpy"], prepare=dict),
        Contender("wrong", wrong, ["numpy"]),
        Contender("absent", total, ["numpy", "no_such_peer"]),
        Contender("broken", broken, []),
        Contender("crash", crash, []),
        Contender("hang", hang, []),
    ],
    quality=Quality("error", lambda data, result: abs(result - 2**20), better="lower", absolute=1e-9),
    timeout=10.0,  # which sound contenders keep to on a busy machine too
)
"""


def run(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "toy.py").write_text(source)
    command = [sys.executable, "-m", "benchmarks", "--quick", "--folder", str(folder), "--out", str(folder)]
    return subprocess.run(
        [*command, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("bench")
    done = run(folder, TOY, "toy")
    assert done.returncode == 0, done.stderr
    document = json.loads((folder / "toy.json").read_text())
    (case,) = document["cases"]
    rows = {row["contender"]: row for row in case["rows"]}
    peer = min("slow", "hungry", key=lambda name: rows[name]["seconds"])
    return SimpleNamespace(table=done.stdout, case=case, rows=rows, peer=peer)


def test_each_contender_is_timed_in_turns(toy: SimpleNamespace) -> None:
    """Round two goes backwards and leaves out those that cannot run."""
    runners = ["ours", "slow", "hungry", "wrong"]
    assert toy.case["order"] == [*runners, "absent", "broken", "crash", "hang", *runners[::-1]]
    for name in runners:
        samples = toy.rows[name]["samples"]
        assert len(samples["cold"]) == len(samples["imports"]) == len(samples["quality"]) == 2
        assert len(samples["warm"]) >= 2
        row = toy.rows[name]
        assert row["calls"] == len(samples["warm"])
        assert 0 < row["low"] <= row["seconds"] <= row["high"]


def test_the_best_peer_is_the_fastest_of_equal_quality(toy: SimpleNamespace) -> None:
    best = [name for name, row in toy.rows.items() if row["best_peer"]]
    assert best == [toy.peer]
    assert not toy.rows["wrong"]["equal"]
    assert toy.rows["wrong"]["of_best_peer"] is None
    ours, peer = toy.rows["ours"], toy.rows[toy.peer]
    assert ours["equal"]
    assert ours["of_best_peer"] == pytest.approx(ours["seconds"] / peer["seconds"])
    assert toy.rows["slow"]["seconds"] >= 0.05
    assert ours["of_limit"] == pytest.approx(ours["seconds"] / toy.case["limit"])


def test_extra_memory_is_that_of_the_call(toy: SimpleNamespace) -> None:
    """Eight copies of 8 MB show, up to the coarse count that the kernel keeps; the data themselves do not."""
    if toy.rows["ours"]["memory"] is None:
        pytest.skip("this kernel does not let a process reset its peak-memory mark")
    assert 7 * 2**23 < toy.rows["hungry"]["memory"] < 9 * 2**23
    assert toy.rows["ours"]["memory"] < 2**23


def test_a_missing_peer_is_a_note(toy: SimpleNamespace) -> None:
    assert "no_such_peer" in toy.rows["absent"]["missing"]
    assert "Not here: absent (No module named 'no_such_peer')." in toy.table
    assert "| absent" not in toy.table


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("broken", "RuntimeError: no | answer"),
        ("crash", "the first call was ended by SIGSEGV"),
        ("hang", "the first call took longer than 10 s"),
    ],
)
def test_a_failing_peer_is_a_row_that_says_so(toy: SimpleNamespace, name: str, reason: str) -> None:
    assert toy.rows[name]["failed"] == reason
    assert toy.rows[name]["seconds"] is None
    assert f"| {name} | failed: {reason.replace('|', '/')} |" in toy.table


def test_the_table_is_complete(toy: SimpleNamespace) -> None:
    lines = toy.table.splitlines()
    assert lines[0] == "## Toy sum"
    assert "Gflop/s" in lines[2]
    assert "GB/s with 1 thread" in lines[2]
    end = lines.index("### All cases")
    table = [line for line in lines[:end] if line.startswith("|")]
    assert len(table) == 2 + 7
    assert {line.count("|") for line in table} == {10}
    assert any(line.startswith("| **ours** |") for line in table)
    assert any(line.startswith("| wrong † |") for line in table)
    assert any(
        line.startswith("ours takes ") and line.endswith(f"the best peer, {toy.peer}.") for line in lines
    )


def test_the_final_table_holds_each_of_ours_beside_the_best_peer(toy: SimpleNamespace) -> None:
    lines = toy.table.splitlines()
    table = [line for line in lines[lines.index("### All cases") :] if line.startswith("|")]
    assert len(table) == 2 + 1
    cells = [cell.strip() for cell in table[-1].strip("|").split("|")]
    assert cells[:2] == ["a million ones", "ours"]
    assert cells[3] == toy.peer
    printed = float(cells[5])
    last = 10.0 ** -len(cells[5].partition(".")[2])  # the unit of the last digit that is printed
    assert printed == pytest.approx(toy.rows["ours"]["of_best_peer"], rel=1e-12, abs=last / 2)


def test_a_case_is_printed_and_written_as_soon_as_it_ends(
    benchmarks: Any, tmp_path: Path, capfd: Any
) -> None:
    """When the second case begins, the first is on the screen and in the file."""
    seen: list[tuple[bool, int]] = []
    main = benchmarks("__main__")
    report, task = benchmarks("report"), benchmarks("task")
    quality = task.Quality("score", lambda data, result: 0.0, "higher")
    toy = task.Task("Toy", [task.Case("first", dict), task.Case("second", dict)], None, [], quality)

    def race(path: Any, task: Any, case: Any, effort: Any, say: Any) -> Any:
        file = tmp_path / "toy.json"
        written = len(json.loads(file.read_text())["cases"]) if file.exists() else 0
        seen.append(("### first" in capfd.readouterr().out, written))
        return benchmarks("runner").Race(case, [], [])

    limits = benchmarks("limits").Limits(1, 1e9, 1e9, 1e9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(main, "load_task", lambda path: toy)
        patch.setattr(main, "race", race)
        assert main.run(Path("toy.py"), None, limits, False, tmp_path)
    assert seen == [(False, 0), (True, 1)]
    assert report.summary([]) in capfd.readouterr().out


def test_ours_failing_is_a_failure(tmp_path: Path) -> None:
    source = TOY.replace('"ours", ours', '"ours", broken')
    keep_ours = source.split('        Contender("slow"')[0] + source[source.index("    ],\n    quality") :]
    done = run(tmp_path, keep_ours)
    assert done.returncode == 1
    assert "failed: RuntimeError" in done.stdout


def test_an_unknown_task_is_named(tmp_path: Path) -> None:
    done = run(tmp_path, TOY, "tyo")
    assert done.returncode == 2
    assert "there is no task 'tyo': the tasks are toy" in done.stderr


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Import a module of benchmarks/, which is no installed package."""
    from importlib import import_module

    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: import_module(f"benchmarks.{name}")


def judged(benchmarks: Any, figures: dict[str, tuple[float, float]], **quality: Any) -> dict[str, Any]:
    """Judge contenders given as name: (seconds, quality)."""
    measurement = benchmarks("runner").Measurement
    field = [
        measurement(name, name == "ours", imports=[0.1], cold=[seconds], warm=[seconds], quality=[figure])
        for name, (seconds, figure) in figures.items()
    ]
    of = benchmarks("task").Quality("score", lambda data, result: 0.0, **quality)
    return {row.contender: row for row in benchmarks("verdict").judge(field, of, None)}


@pytest.mark.parametrize(
    ("better", "tolerance", "equal"),
    [
        ("higher", {"absolute": 0.01}, {"ours", "near"}),
        ("higher", {"relative": 0.5}, {"ours", "near", "far"}),
        ("lower", {"absolute": 0.01}, {"far"}),
        ("higher", {}, {"ours"}),
    ],
)
def test_equal_quality_follows_direction_and_tolerance(
    benchmarks: Any, better: str, tolerance: dict[str, float], equal: set[str]
) -> None:
    figures = {"ours": (2.0, 0.9), "near": (1.0, 0.895), "far": (0.5, 0.6), "lost": (0.1, math.nan)}
    rows = judged(benchmarks, figures, better=better, **tolerance)
    assert {name for name, row in rows.items() if row.equal} == equal


def test_without_an_equal_peer_there_is_no_ratio(benchmarks: Any) -> None:
    rows = judged(benchmarks, {"ours": (2.0, 1.0), "far": (0.5, 0.6)}, better="higher")
    assert not any(row.best_peer for row in rows.values())
    assert rows["ours"].of_best_peer is None


def test_a_contender_that_was_only_called_once_stands_by_its_first_call(benchmarks: Any) -> None:
    measured = benchmarks("runner").Measurement("ours", True, imports=[0.1], cold=[40.0], quality=[1.0])
    quality = benchmarks("task").Quality("score", lambda data, result: 0.0, "higher")
    (row,) = benchmarks("verdict").judge([measured], quality, 10.0)
    assert (row.cold_only, row.seconds, row.low, row.high, row.of_limit) == (True, 40.0, 40.0, 40.0, 4.0)


def test_every_task_file_defines_a_task(benchmarks: Any) -> None:
    task = benchmarks("task")
    found = task.find_tasks()
    assert "gram" in found
    for path in found.values():
        loaded = task.load_task(path)
        assert any(contender.ours for contender in loaded.contenders)
        assert loaded.cases
