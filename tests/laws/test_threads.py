"""How many threads there may be, and BLAS held to one."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from surefit.core import config
from surefit.core.blas_threads import controller, one_blas_thread
from surefit.core.threads import _environment, _quota, available_threads


@pytest.fixture
def two_blas_threads():
    """Give BLAS two threads, whatever the machine, and put back what was there."""
    with controller().limit(limits=2):
        yield


def blas_threads():
    """The threads of numpy's and scipy's libraries; others that a test has loaded may have but one."""
    ours = [entry for entry in controller().info() if any(n in entry["filepath"] for n in ("numpy", "scipy"))]
    return {library["num_threads"] for library in ours}


def test_both_blas_libraries_are_held(two_blas_threads):
    assert len(controller().info()) >= 2  # numpy's and scipy's
    with one_blas_thread():
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_the_limit_nests(two_blas_threads):
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_an_error_gives_the_threads_back(two_blas_threads):
    with pytest.raises(RuntimeError), one_blas_thread():
        raise RuntimeError
    assert blas_threads() == {2}


def test_the_last_of_two_threads_gives_the_threads_back(two_blas_threads):
    inside, leave = threading.Event(), threading.Event()

    def other():
        with one_blas_thread():
            inside.set()
            leave.wait(60)
            return blas_threads()

    with ThreadPoolExecutor(1) as pool:
        with one_blas_thread():
            result = pool.submit(other)
            assert inside.wait(60)
        assert blas_threads() == {1}
        leave.set()
        assert result.result() == {1}
    assert blas_threads() == {2}


def test_many_threads_in_and_out(two_blas_threads):
    def work(_):
        with one_blas_thread():
            return blas_threads()

    with ThreadPoolExecutor(4) as pool:
        assert all(seen == {1} for seen in pool.map(work, range(200)))
    assert blas_threads() == {2}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", 1), ("3,2", 3), (" 2 ", 2), ("", None), ("0", None), ("many", None), ("²", None)],
)
def test_the_environment_is_read_as_openmp_does(monkeypatch, text, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert _environment("OMP_NUM_THREADS") == expected


def test_omp_num_threads_is_a_limit(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert available_threads() == 1
    with config.config(n_threads=8):
        assert config.threads() == 1


def test_affinity_is_a_limit():
    code = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from surefit.core.config import config, threads
with config(n_threads=8):
    print(threads())
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "1\n"


def control_groups(root, membership, **files):
    """Lay out the files that the system would show; in a name ``__`` is a slash and ``_D_`` a dot."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(membership)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name.replace("__", "/").replace("_D_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_quota_of_version_2(tmp_path):
    assert _quota(control_groups(tmp_path, "0::/\n", cpu_D_max="150000 100000\n")) == 2


def test_the_least_quota_on_the_way_up_counts(tmp_path):
    files = {"cpu_D_max": "400000 100000", "a__cpu_D_max": "100000 100000", "a__b__cpu_D_max": "max 100000"}
    assert _quota(control_groups(tmp_path, "0::/a/b\n", **files)) == 1


def test_a_group_named_by_the_host_falls_back_to_the_top(tmp_path):
    assert _quota(control_groups(tmp_path, "0::/host/name\n", cpu_D_max="300000 100000")) == 3


def test_quota_of_version_1(tmp_path):
    files = {"cpu__box__cpu_D_cfs_quota_us": "50000\n", "cpu__box__cpu_D_cfs_period_us": "100000\n"}
    assert _quota(control_groups(tmp_path, "5:memory:/box\n4:cpu,cpuacct:/box\n", **files)) == 1


@pytest.mark.parametrize("text", ["max 100000", "-1 100000", "", "nonsense"])
def test_no_quota(tmp_path, text):
    assert _quota(control_groups(tmp_path, "0::/\n", cpu_D_max=text)) is None
    assert _quota(tmp_path / "nowhere") is None


def test_a_dask_worker_has_its_share(monkeypatch):
    monkeypatch.setattr("surefit.core.threads._affinity", lambda: 6)
    monkeypatch.setattr("surefit.core.threads._quota", lambda: None)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    from distributed import Client

    assert available_threads() == 6
    with Client(n_workers=1, threads_per_worker=3, processes=False, dashboard_address=None) as client:
        assert client.submit(available_threads).result(timeout=60) == 2
