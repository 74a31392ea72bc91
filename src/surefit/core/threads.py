"""How many threads this process may use: the least of what the machine, the container and the user allow."""

from __future__ import annotations

import math
import os
import sys
from functools import cache
from pathlib import Path


def available_threads() -> int:
    """Return min(affinity, container quota, OMP_NUM_THREADS, a Dask worker's share); at least 1."""
    limits = [_affinity(), _quota(), _environment("OMP_NUM_THREADS"), _dask_share()]
    return max(1, min(limit for limit in limits if limit is not None))


def _affinity() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _quota() -> int | None:
    """CPU quota of the control group, version 2 or 1, rounded up; None without one."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            quota = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").read_text().strip()
            period = Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us").read_text().strip()
        except OSError:
            return None
    if quota in {"max", "-1"}:
        return None
    return max(1, math.ceil(int(quota) / int(period)))


def _environment(name: str) -> int | None:
    # OMP_NUM_THREADS may be a list, one number for each nesting level; the first is the outer level.
    text = os.environ.get(name, "").split(",")[0].strip()
    return int(text) if text.isdigit() and int(text) > 0 else None


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
