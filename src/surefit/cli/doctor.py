"""Show what surefit runs on here, and what is missing: versions, processor, kernels, threads, memory."""

from __future__ import annotations

import os
import platform
import re
import sys
import warnings
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import click

from surefit.cli._frame import BAD_INPUT, Output, stop, verb
from surefit.core import native, threads
from surefit.core.errors import NativeWarning

PACKAGES = (
    "surefit",
    "numpy",
    "scipy",
    "scikit-learn",
    "pyarrow",
    "narwhals",
    "safetensors",
    "threadpoolctl",
    "dask",
)
EXTRAS = {
    "dask": ("distributed", "tables on a cluster"),
    "formula": ("formulaic", "formulas such as y ~ x + z"),
}
FEATURES = ("sse4_2", "avx", "avx2", "fma", "bmi2", "f16c", "avx512f", "avx512_vnni", "asimd", "sve")
Facts = dict[str, dict[str, Any]]


@verb("doctor", __doc__)
def command(out: Output) -> None:
    """Print the facts; end with 1, and one sentence, when kernels or packages are missing that it needs."""
    facts = gather()
    if not out.json(facts):
        show(facts, out)
    if facts["kernels"]["problem"]:
        stop(BAD_INPUT, facts["kernels"]["problem"])
    needed = facts["missing"]["needed"]
    if needed:
        stop(BAD_INPUT, f"{', '.join(needed)} must be installed: pip install {' '.join(needed)}.")


def gather() -> Facts:
    """Return every fact, by topic; None stands for unknown or absent."""
    return {
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "system": {"os": platform.platform(), "machine": platform.machine(), **_memory()},
        "processor": _processor(),
        "kernels": _kernels(),
        "blas": _blas(),
        "threads": _threads(),
        "missing": _missing(),
    }


def _missing() -> dict[str, list[str]]:
    """Packages that surefit needs, and those that more can be done with, each with what and how."""
    listed = [entry for entry in requires("surefit") or () if "extra ==" not in entry]
    names = [found[0] for entry in listed if (found := re.match(r"[\w.-]+", entry))]
    return {
        "needed": [name for name in names if _version(name) is None],
        "optional": [
            f"{package}, for {what}: pip install 'surefit[{extra}]'"
            for extra, (package, what) in EXTRAS.items()
            if _version(package) is None
        ],
    }


def show(facts: Facts, out: Output) -> None:
    """Print a table on a terminal and plain lines elsewhere."""
    rows = [
        (topic, name, _cell(value)) for topic, entries in facts.items() for name, value in entries.items()
    ]
    if not sys.stdout.isatty():
        for topic, name, value in rows:
            click.echo(f"{topic}.{name}: {value}")
        return
    from rich.table import Table

    table = Table("topic", "fact", "value", title="surefit doctor", title_justify="left")
    previous = None
    for topic, name, value in rows:
        if previous not in {None, topic}:
            table.add_section()
        table.add_row(topic if topic != previous else "", name, value)
        previous = topic
    out.results.print(table)


def _cell(value: Any) -> str:
    if value is None:
        return "none"
    return (", ".join(map(str, value)) or "nothing") if isinstance(value, list) else str(value)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _memory() -> dict[str, float | None]:
    """Memory of the machine and the limit of the control group (version 2 or 1), in GiB."""
    total = None
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    text = _read("/sys/fs/cgroup/memory.max") or _read("/sys/fs/cgroup/memory/memory.limit_in_bytes")
    limit = int(text) if text.strip().isdigit() else None
    if (
        limit is not None and total is not None and limit >= total
    ):  # version 1 writes a huge number for "no limit"
        limit = None
    return {"memory_gib": _gib(total), "memory_limit_gib": _gib(limit)}


def _gib(size: int | None) -> float | None:
    return None if size is None else round(size / 2**30, 2)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def _processor() -> dict[str, Any]:
    lines = [line.split(":", 1) for line in _read("/proc/cpuinfo").splitlines() if ":" in line]
    entries = {key.strip(): value.strip() for key, value in lines}
    flags = (entries.get("flags") or entries.get("Features") or "").split()
    model = entries.get("model name") or platform.processor() or platform.machine()
    return {"model": model, "cores": os.cpu_count(), "features": [name for name in FEATURES if name in flags]}


def _kernels() -> dict[str, Any]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NativeWarning)
        module = native.compiled()
    problem = next((str(each.message) for each in caught if issubclass(each.category, NativeWarning)), None)
    if module is None:
        why = "numpy twins" if problem else "numpy twins, because SUREFIT_NATIVE turns the kernels off"
        return {"variant": why, "cpu_has_v3": None, "problem": problem}
    return {"variant": module.variant, "cpu_has_v3": module.cpu_has_v3(), "problem": None}


def _blas() -> dict[str, Any]:
    """The BLAS libraries that numpy and scipy have loaded, by the package that ships each."""
    import scipy.linalg  # noqa: F401 (threadpoolctl sees loaded libraries only)
    from threadpoolctl import threadpool_info

    found = {}
    for pool in threadpool_info():
        if pool["user_api"] == "blas":
            owner = Path(pool["filepath"]).parent.name.removesuffix(".libs")
            facts = [
                pool["internal_api"],
                pool["version"],
                pool.get("architecture"),
                f"{pool['num_threads']} threads",
            ]
            found[owner] = " ".join(str(fact) for fact in facts if fact)
    return found


def _threads() -> dict[str, Any]:
    limits = threads.thread_limits()
    available = threads.available_threads()
    return {
        "available": available,
        "because of": [name for name, limit in limits.items() if limit == available],
        **limits,
    }
