"""Run scikit-learn's tests with our classes, and publish how many pass: ``python -m tools.sklearn_suite``.

Names of families run these alone, and leave the rates of the others; ``--quick`` runs a few modules of the
first and publishes nothing; ``--from FOLDER`` takes the notes that an earlier run left there instead.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import sklearn

from .outcomes import HERE, Family, Said, Tally, families, notes, tally

ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "compatibility.md"
BEGIN, END = "<!-- suite:begin -->", "<!-- suite:end -->"
QUICK = tuple(f"sklearn.linear_model.tests.test_{name}" for name in ("base", "bayes", "huber"))


def run(modules: tuple[str, ...], log: Path, workers: int) -> None:
    """Run the tests of some modules; each writes a line to the log."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        str(HERE / "pytest.ini"),
        "-p",
        "tools.sklearn_suite.plugin",
    ]
    command += ["-n", str(workers), "--dist", "worksteal", "--pyargs", *modules]
    told = {**os.environ, "SUREFIT_SUITE_LOG": str(log)}
    subprocess.run(command, cwd=ROOT, env=told, stdout=subprocess.DEVNULL, check=False)


def publish(tallies: dict[str, Tally], said: Said) -> None:
    """Write the rates, and every line that was said of a test, into docs/compatibility.md.

    A family that did not run keeps the rate that it had.
    """
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    kept, _, after = rest.partition(END)
    lines = [
        f"Measured with scikit-learn {sklearn.__version__} by `make sklearn-suite`.",
        "",
        "| family | tests | pass | of a private detail | fail | rate | rate of all |",
        "|---|---|---|---|---|---|---|",
    ]
    for family in families():
        if family.name in tallies:
            t = tallies[family.name]
            failed = t.different + len(t.unexpected)
            lines.append(
                f"| {family.title} | {t.passed + t.failed} | {t.passed} | {t.private} | {failed} | "
                f"**{t.rate:.1%}** | {t.raw:.1%} |"
            )
        else:
            lines += [line for line in kept.splitlines() if line.startswith(f"| {family.title} |")]
    for title, told in (("Private details", said.private), ("Differences", said.different)):
        reasons: dict[str, list[str]] = {}
        for pattern in sorted(told):
            reasons.setdefault(told[pattern], []).append(f"`{_shown(pattern)}`")
        lines += ["", f"### {title}", ""]
        lines += [f"- {reason}: {', '.join(tests)}" for reason, tests in sorted(reasons.items())]
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}", encoding="utf-8")


def _shown(pattern: str) -> str:
    return pattern.removeprefix("*::").strip("*")


def judge(family: Family, found: Tally) -> list[str]:
    """Return what is wrong with a family's outcome, in sentences."""
    wrong = []
    if found.unexpected and family.least:
        names = Counter(test.partition("[")[0] for test in found.unexpected)
        tests = "\n".join(f"  {count} x {name}" for name, count in sorted(names.items()))
        wrong.append(f"{family.title}: nothing is said of these failures in exclusions.toml:\n{tests}")
    if found.rate < family.least:
        wrong.append(f"{family.title}: {found.rate:.1%} pass, and {family.least:.0%} is the least.")
    return wrong


def main() -> int:
    """Run, compare, publish; return 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.sklearn_suite", description=__doc__)
    parser.add_argument("families", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--from", dest="folder", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    chosen = [each for each in families() if not asked.families or each.name in asked.families]
    if asked.quick:
        chosen = [Family("quick", "A quick look", QUICK, 0.0)]
    said, tallies, wrong = Said.read(), {}, []
    with tempfile.TemporaryDirectory() as scratch:
        for family in chosen:
            log = (asked.folder or Path(scratch)) / f"{family.name}.jsonl"
            if asked.folder is None:
                run(family.modules, log, asked.workers)
            if not log.exists():
                wrong.append(f"{family.title}: no test ran.")
                continue
            found = tallies[family.name] = tally(notes(log), said)
            wrong += judge(family, found)
            print(
                f"{family.title}: {found.passed} of {found.passed + found.failed} pass, {found.rate:.1%} "
                f"without the {found.private} of private details"
            )
    if len(chosen) == len(families()):
        unused = sorted({*said.private, *said.different} - said.met)
        wrong += [
            f"exclusions.toml: nothing fails that {pattern!r} names; take it out." for pattern in unused
        ]
    if not asked.quick:
        publish(tallies, said)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
