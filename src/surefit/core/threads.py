"""How many threads this process may use: the least of what the machine, the container and the user allow."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path


def available_threads() -> int:
    """Return min(affinity, container quota, OMP_NUM_THREADS, a Dask worker's share); at least 1."""
    return max(1, min(limit for limit in thread_limits().values() if limit is not None))


def thread_limits() -> dict[str, int | None]:
    """Return each limit on the number of threads by name; None where it does not apply."""
    return {
        "processor affinity": _affinity(),
        "container quota": _quota(),
        "OMP_NUM_THREADS": _environment("OMP_NUM_THREADS"),
        "Dask worker's share": _dask_share(),
    }


def _affinity() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _quota(root: Path = Path("/")) -> int | None:
    """Least CPU quota of the control groups around this process, rounded up; None without one."""
    quotas = [quota for group in _control_groups(root) if (quota := _group_quota(group)) is not None]
    return max(1, math.ceil(min(quotas))) if quotas else None


def _control_groups(root: Path) -> Iterator[Path]:
    """Folders of the groups that limit this process, version 2 and 1, each with the groups around it."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, name = line.split(":", 2)
        if number == "0":
            top = root / "sys/fs/cgroup"
        elif "cpu" in controllers.split(","):
            top = root / "sys/fs/cgroup/cpu"
        else:
            continue
        # Inside a container the name may be the host's, and only the top folder exists.
        group = top / name.lstrip("/")
        yield group
        while group != top:
            group = group.parent
            yield group


def _group_quota(group: Path) -> float | None:
    try:
        if (group / "cpu.max").exists():
            quota, period = (group / "cpu.max").read_text().split()
        else:
            quota = (group / "cpu.cfs_quota_us").read_text()
            period = (group / "cpu.cfs_period_us").read_text()
        return int(quota) / int(period) if int(quota) > 0 else None
    except (OSError, ValueError):  # no such file, or "max": no quota
        return None


def _environment(name: str) -> int | None:
    # OMP_NUM_THREADS may be a list, one number for each nesting level; the first is the outer level.
    text = os.environ.get(name, "").split(",")[0].strip()
    return int(text) if text.isdecimal() and int(text) > 0 else None


def _dask_share() -> int | None:
    """Cores divided by the tasks that this Dask worker runs at once; None outside a worker."""
    worker_module = sys.modules.get("distributed.worker")
    if worker_module is None:
        return None
    try:
        worker = worker_module.get_worker()
    except ValueError:
        return None
    return max(1, _affinity() // max(1, int(worker.state.nthreads)))
