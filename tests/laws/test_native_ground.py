"""What holds for every kernel: threads, forks, Ctrl-C, instruction sets, the twins, BLAS and the stub."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from tests.laws.native_cases import CASES, Options, Writing

from surefit.core import native
from surefit.core.native import compiled

every_kernel = pytest.mark.parametrize("case", CASES)
# Where the file of each kernel is: in one of the rooms of native/.
MODULES = {
    path.stem: f"surefit.core.native.{path.parent.name}.{path.stem}"
    for path in Path(native.__file__).parent.glob("*/*.py")
    if path.stem != "__init__"
}


def face(case):
    file, name, arguments = CASES[case]
    return getattr(import_module(MODULES[file]), name), arguments


def arrays(result):
    if dataclasses.is_dataclass(result):
        result = tuple(getattr(result, f.name) for f in dataclasses.fields(result) if f.compare)
    parts = result if isinstance(result, tuple) else (result,)
    return [np.asarray(part) for part in parts if part is not None]


def call(case, **keywords):
    function, arguments = face(case)
    if isinstance(arguments, Writing):
        given, options, written = arguments.make()
        function(*given, **options, **keywords)
        return written
    if isinstance(arguments, Options):
        return arrays(function(*arguments.given, **arguments.named, **keywords))
    return arrays(function(*arguments, **keywords))


def check_close(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max(initial=0))


def python(code, timeout=100, **environment):
    """Run code in a fresh interpreter; a deadlock shows as a time-out."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
    )


@pytest.fixture(scope="module")
def variants():
    """Return the built modules that this machine can run, with BLAS."""
    modules = [module for name in ("v2", "v3", "plain") if (module := native._import(name)) is not None]
    modules = [module for module in modules if module.variant != "v3" or module.cpu_has_v3()]
    for module in modules:
        assert native._plug_blas(module)
    return modules


def test_every_face_has_a_case():
    files = set(MODULES) - {
        "layout",
        "row_loss",
        "coefficient_set",
        "count_distance",
        "node_random",
        "norms",
    }
    assert files == {file for file, _, _ in CASES.values()}
    faces = {name for _, name, _ in CASES.values()}
    kernels = {
        name if name in faces else re.sub(r"_(csr|csc|columns|classes|numbers)$", "", name)
        for name in vars(compiled())
        if not name.startswith("_")
    }
    assert kernels - faces == {
        "boost_softmax",  # parts of boost_gradients and of boost_grow
        "boost_stride",
        "boost_pack",
        "sgd_epoch_within",  # of sgd_epoch, given a set
        "grow_point_tree",  # of the searches in it
        "variant",
        "cpu_has_v3",
        "use_blas",
        "pool_size",
    }


@every_kernel
def test_the_instruction_sets_agree(case, variants, monkeypatch):
    results = []
    for module in variants:
        monkeypatch.setattr(f"{MODULES[CASES[case][0]]}.compiled", lambda module=module: module)
        results.append(call(case))
    assert len(results) == len(variants) >= 1
    for other in results[1:]:
        check_close(other, results[0])


@every_kernel
def test_the_twins_take_over(case, monkeypatch):
    expected = call(case)
    monkeypatch.setattr(f"{MODULES[CASES[case][0]]}.compiled", lambda: None)
    check_close(call(case), expected)


def test_native_off_loads_no_extension():
    code = """
import sys
import numpy as np
from surefit.core.native import compiled
from surefit.core.native.sums.topk import top_k
print(compiled(), top_k(np.array([[3.0, 1.0, 2.0]]), 2).index.tolist())
print([name for name in sys.modules if "._native_" in name])
"""
    assert python(code, SUREFIT_NATIVE="off").stdout == "None [[1, 2]]\n[]\n"
    assert "[]" not in python(code, SUREFIT_NATIVE="on").stdout


@every_kernel
def test_two_python_threads_at_once(case):
    expected = call(case)
    with ThreadPoolExecutor(2) as pool:
        for result in pool.map(lambda _: call(case), range(20)):
            for a, b in zip(result, expected, strict=True):
                np.testing.assert_array_equal(a, b)


FORK = """
import os
import numpy as np
from surefit.core.native.sums.triangular import triangular_factor
X = np.random.default_rng(0).standard_normal((50_000, 12))
before = triangular_factor(X, _threads=4)
child = os.fork()
if child == 0:
    os._exit(0 if (triangular_factor(X, _threads=4) == before).all() else 1)
status = os.waitpid(child, 0)[1]
print(os.waitstatus_to_exitcode(status), (triangular_factor(X, _threads=4) == before).all())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_works_on():
    assert python(FORK).stdout == "0 True\n"


LEFT_BEHIND = """
import os
import numpy as np
from surefit.core.native import compiled
from surefit.core.native.sums.triangular import triangular_factor
X = np.random.default_rng(0).standard_normal((50_000, 12))
def threads():
    return len(os.listdir("/proc/self/task"))
triangular_factor(X, _threads=1)
alone = threads()
for count in (4, 2, 4, 3, 4):
    triangular_factor(X, _threads=count)
print(compiled().pool_size(), threads() - alone)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not list threads in /proc")
def test_no_thread_beyond_the_pool_is_left_behind():
    assert python(LEFT_BEHIND).stdout == "3 3\n"


# A hundred million rows without an entry: minutes of work in hardly any memory.
LONG = """
import numpy as np
import scipy.sparse
from surefit.core.native.sums.triangular import triangular_factor
rows = 100_000_000
nothing = np.zeros(0), np.zeros(0, dtype=np.int32), np.zeros(rows + 1, dtype=np.int32)
X = scipy.sparse.csr_array(nothing, shape=(rows, 100))
small = np.random.default_rng(0).standard_normal((5_000, 12))
expected = triangular_factor(small)
try:
    print("ready", flush=True)
    triangular_factor(X)
    print("finished")
except KeyboardInterrupt:
    print("interrupted", (triangular_factor(small) == expected).all())
"""


def test_ctrl_c_stops_a_long_kernel():
    process = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):  # it is at work
            process.wait(timeout=0.5)
        process.send_signal(signal.SIGINT)
        # Uninterrupted it would take minutes; the bound is wide because the machine may be busy.
        process.wait(timeout=120)
        assert process.stdout.read() == "interrupted True\n"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def capsule(name: bytes):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(1, name, None)


# The names outlive the capsules, which only point at them.
SCALAR = "__pyx_t_5scipy_6linalg_11cython_blas_d *"
MATRIX = f"{SCALAR}, int *"
GEMM = f"void (char *, char *, int *, int *, int *, {SCALAR}, {MATRIX}, {MATRIX}, {SCALAR}, {MATRIX})"
WRONG = {
    "64-bit integers": GEMM.replace("int *", "long *").encode(),
    "too few arguments": GEMM.replace(", int *)", ")").encode(),
    "single precision": GEMM.replace("blas_d", "blas_s").encode(),
    "another function": b"double (int *, double *, int *)",
}


@pytest.mark.parametrize("what", WRONG)
def test_blas_with_another_signature_is_refused(what, variants):
    from scipy.linalg import cython_blas

    right = cython_blas.__pyx_capi__
    assert GEMM in repr(right["dgemm"])
    for module in variants:
        assert not module.use_blas(capsule(WRONG[what]), right["sgemm"])
        assert module.use_blas(right["dgemm"], right["sgemm"])
    call("triangular.triangular_factor")  # would jump to address 1 if the capsule had been taken


def test_what_is_no_capsule_is_refused(variants):
    for module in variants:
        assert not module.use_blas(1, "dgemm")


def test_the_stub_is_up_to_date(root):
    result = subprocess.run(
        [sys.executable, root / "tools" / "native_stubs.py", "--check"], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
