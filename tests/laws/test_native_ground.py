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
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from surefit.core import native
from surefit.core.native import compiled
from surefit.core.native.dual_cd import DualPlan
from surefit.core.native.sampled_steps import Samples
from surefit.core.native.sgd import SgdPlan, SgdState
from surefit.core.native.tree_grow import tree_grow

RNG = np.random.default_rng(0)
X = RNG.standard_normal((20_000, 12))
SPARSE = scipy.sparse.random(20_000, 12, density=0.2, format="csr", random_state=0)
SQUARE = np.triu(RNG.standard_normal((40, 40))) + 20 * np.eye(40)

WEIGHT = np.arange(20_000) % 3.0
GRAM = X.T @ X / len(X)
FREE = np.full(12, np.inf)
TABLE = SimpleNamespace(l1=np.full(12, 0.01), l2=np.full(12, 0.1), lower=-FREE, upper=FREE)
CHANCES = X**2 / (X**2).max()
TARGET = X @ np.linspace(-1.0, 1.0, 12) + 1.0


class Writing:
    """Arguments of a kernel that writes: ``make`` returns fresh ones, and those that it changes."""

    def __init__(self, make):
        self.make = make


class Options:
    """Arguments some of which go by name."""

    def __init__(self, *given, **named):
        self.given, self.named = given, named


def into(*arguments, shape):
    def make():
        out = np.zeros(shape)
        return (*arguments, out), {}, [out]

    return Writing(make)


def gram_of_columns():
    G = np.zeros((12, 12))
    return (np.asfortranarray(X), np.arange(12), G, 0, X.mean(axis=0), WEIGHT, 0.5), {}, [G]


def dual_slopes():
    rows, at = X[:200].copy(), np.sign(TARGET[:200])
    u, w, end = np.zeros(200), np.zeros(12), np.full(200, np.inf)
    low, high = np.where(at > 0, -end, 0.0), np.where(at > 0, 0.0, end)
    plan = DualPlan(0.0, 0.5, 400.0)
    return (rows, at, low, high, plan, u, w), {"weight": WEIGHT[:200], "tolerance": 0.0, "most": 150}, [w]


def quadratic():
    w, gradient = np.zeros(12), np.zeros(12)
    arguments = GRAM, X.T @ TARGET / len(X), float(TARGET @ TARGET) / len(X), TABLE, w, gradient
    return arguments, {"tolerance": -1.0, "most": 200}, [w]


def columns():
    w, residual = np.zeros(12), TARGET.copy()
    arguments = (
        np.asfortranarray(X),
        np.arange(12),
        np.zeros(12),
        np.diagonal(GRAM).copy(),
        TABLE,
        w,
        residual,
    )
    return arguments, {"tolerance": -1.0, "most": 200}, [w, residual]


def tasks():
    W, gradient = np.zeros((12, 2)), np.zeros((12, 2))
    C = np.column_stack([X.T @ TARGET, X.T @ X[:, 0]]) / len(X)
    return (GRAM, C, TABLE.l1, TABLE.l2, W, gradient), {"least": 0.0, "most": 500}, [W]


FEW = X[:120].copy()
LABELS = (TARGET[:120] > 1.0).astype(np.int64)[:, None]
TREE = tree_grow(FEW, LABELS, criterion="gini", classes=(2,))


def epoch():
    state = SgdState.start(12, 0.01)
    plan = SgdPlan("logistic", alpha=0.01, l1_ratio=0.5, penalised=True, average=1)
    return (
        (FEW, 2.0 * LABELS[:, 0] - 1.0, WEIGHT[:120], np.arange(120), plan, state),
        {},
        [state.w, state.mean],
    )


def steps():
    w, memory, mean = np.zeros(12), np.zeros(120), np.zeros(12)
    samples = Samples(FEW, TARGET[:120].copy(), np.ones(120), "squared")
    options = {"memory": memory, "mean": mean, "renew": True}
    return (samples, np.arange(300) % 120, np.full(300, 0.01), TABLE, w), options, [w, memory, mean]


def shuffled():
    change = np.zeros((12, 2, 120, 1))
    order = np.stack([np.roll(np.arange(120), 7), np.arange(120)[::-1]])
    return (TREE, TREE.impurity[:, None].copy(), FEW, order, change), {}, [change]


# Every file of native/ with a face has a line here for each of its kernels; the first name is the file's.
CASES = {
    "affine.standardise": ("affine", "standardise", into(X, X[0], X[1] ** 2, shape=X.shape)),
    "affine.stretch": ("affine", "stretch", into(X, X[0], X[1], shape=X.shape)),
    "columns_dot.columns_dot": ("columns_dot", "columns_dot", (X, X[:, 0], X[0])),
    "columns_dot.columns_dot csc": ("columns_dot", "columns_dot", (SPARSE.tocsc(), X[:, 0])),
    "columns_dot.columns_times": ("columns_dot", "columns_times", (X, X[0], X[1])),
    "column_facts.column_facts": ("column_facts", "column_facts", (np.asfortranarray(X), X[:, 0], WEIGHT)),
    "column_facts.column_facts csc": (
        "column_facts",
        "column_facts",
        (SPARSE.tocsc(), TARGET - TARGET.mean()),
    ),
    "column_gram.column_gram": ("column_gram", "column_gram", Writing(gram_of_columns)),
    "quad_cd.quad_cd": ("quad_cd", "quad_cd", Writing(quadratic)),
    "column_cd.column_cd": ("column_cd", "column_cd", Writing(columns)),
    "task_cd.task_cd": ("task_cd", "task_cd", Writing(tasks)),
    "finite.all_finite": ("finite", "all_finite", (X,)),
    "gram.centred_gram": ("gram", "centred_gram", (X, X[:, :2] ** 2, np.arange(20_000) % 3.0)),
    "gram.centred_gram csr": ("gram", "centred_gram", (SPARSE,)),
    "gram.sandwich": ("gram", "sandwich", (X, np.arange(20_000) % 3.0, X[:, :2].copy())),
    "gram.sandwich csr": ("gram", "sandwich", (SPARSE,)),
    "grouped_moments.grouped_moments": (
        "grouped_moments",
        "grouped_moments",
        (X, np.arange(20_000) % 4, 4, np.arange(20_000) % 3.0),
    ),
    "grouped_moments.grouped_moments csr": (
        "grouped_moments",
        "grouped_moments",
        (SPARSE, np.arange(20_000) % 4, 4),
    ),
    "moments.column_moments": ("moments", "column_moments", (X,)),
    "moments.column_moments csr": ("moments", "column_moments", (SPARSE,)),
    "normal_scores.normal_scores": ("normal_scores", "normal_scores", (X, X[:3], X[3:6] ** 2, X[0, :3])),
    "normal_scores.best_normal": ("normal_scores", "best_normal", (X, X[:3], X[3:6] ** 2, X[0, :3])),
    "round_trip.round_trip": (
        "round_trip",
        "round_trip",
        (X, X[:12, :2].copy(), X[:, :2] + 1.0, np.arange(20_000) % 3.0, X[0]),
    ),
    "dual_cd.dual_cd": ("dual_cd", "dual_cd", Writing(dual_slopes)),
    "distinct_items.distinct_items": ("distinct_items", "distinct_items", (np.arange(20_000) % 7,)),
    "log_score.log_score": ("log_score", "log_score", (CHANCES, np.arange(20_000) % 12, WEIGHT, 1e-9)),
    "pair_counts.pair_counts": (
        "pair_counts",
        "pair_counts",
        (np.arange(20_000) % 7, np.arange(20_000) % 5, WEIGHT, 0, 7),
    ),
    "score_groups.score_groups": (
        "score_groups",
        "score_groups",
        (X[:, 0].round(3), X[:, 1] > 0, WEIGHT),
    ),
    "score_groups.score_areas": ("score_groups", "score_areas", (WEIGHT, WEIGHT[::-1].copy())),
    "topk.row_argmin": ("topk", "row_argmin", (X,)),
    "topk.top_k": ("topk", "top_k", (X, 5)),
    "triangular.triangular_factor": ("triangular", "triangular_factor", (X, X[:, 0] ** 2)),
    "triangular.triangular_factor csr": ("triangular", "triangular_factor", (SPARSE,)),
    "class_loss.class_loss": ("class_loss", "class_loss", (X, TARGET > 1.0, X[0], 0.5, WEIGHT)),
    "class_loss.class_loss several": (
        "class_loss",
        "class_loss",
        (X, np.arange(20_000) % 3, X[:12, :3].copy(), np.zeros(3)),
    ),
    "sgd.sgd_epoch": ("sgd", "sgd_epoch", Writing(epoch)),
    "sampled_steps.sampled_steps": ("sampled_steps", "sampled_steps", Writing(steps)),
    "table_gap.table_gap": ("table_gap", "table_gap", (X[0], X[1] / 20, TABLE, 1.0, 2.0)),
    "tree_apply.tree_apply": ("tree_apply", "tree_apply", (TREE, X)),
    "tree_grow.tree_grow classes": (
        "tree_grow",
        "tree_grow",
        Options(FEW, LABELS, criterion="gini", classes=(2,)),
    ),
    "tree_grow.tree_grow numbers": ("tree_grow", "tree_grow", Options(FEW, FEW[:, :1], criterion="squared")),
    "tree_shuffle.tree_shuffle": ("tree_shuffle", "tree_shuffle", Writing(shuffled)),
    "triangular.merge_triangular": ("triangular", "merge_triangular", (SQUARE, SQUARE)),
}
every_kernel = pytest.mark.parametrize("case", CASES)


def face(case):
    file, name, arguments = CASES[case]
    return getattr(import_module(f"surefit.core.native.{file}"), name), arguments


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
    files = {path.stem for path in Path(native.__file__).parent.glob("*.py")} - {
        "__init__",
        "inputs",
        "columns",
        "row_loss",
        "tree_grow_twin",
    }
    assert files == {file for file, _, _ in CASES.values()}
    kernels = {
        re.sub(r"_(csr|csc|columns|classes|numbers)$", "", name)
        for name in vars(compiled())
        if not name.startswith("_")
    }
    assert kernels - {name for _, name, _ in CASES.values()} == {
        "variant",
        "cpu_has_v3",
        "use_blas",
        "pool_size",
    }


@every_kernel
def test_the_instruction_sets_agree(case, variants, monkeypatch):
    results = []
    for module in variants:
        monkeypatch.setattr(f"surefit.core.native.{CASES[case][0]}.compiled", lambda module=module: module)
        results.append(call(case))
    assert len(results) == len(variants) >= 1
    for other in results[1:]:
        check_close(other, results[0])


@every_kernel
def test_the_twins_take_over(case, monkeypatch):
    expected = call(case)
    monkeypatch.setattr(f"surefit.core.native.{CASES[case][0]}.compiled", lambda: None)
    check_close(call(case), expected)


def test_native_off_loads_no_extension():
    code = """
import sys
import numpy as np
from surefit.core.native import compiled
from surefit.core.native.topk import top_k
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
from surefit.core.native.triangular import triangular_factor
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
from surefit.core.native.triangular import triangular_factor
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
from surefit.core.native.triangular import triangular_factor
rows = 100_000_000
nothing = np.zeros(0), np.zeros(0, dtype=np.int32), np.zeros(rows + 1, dtype=np.int32)
X = scipy.sparse.csr_array(nothing, shape=(rows, 100))
small = np.random.default_rng(0).standard_normal((5_000, 12))
expected = triangular_factor(small)
print("ready", flush=True)
try:
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
        process.wait(timeout=20)
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
