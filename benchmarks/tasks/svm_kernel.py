"""Support vector machines with a Gaussian kernel: fits of classes and numbers, and prediction of 2e4 rows.

Every contender stops at the same slope of a pair of multipliers, 1e-3.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

COLUMNS = 20


def make(rows: int, C: float, what: str) -> Data:
    """Return two classes that overlap on curved sides, or numbers on a curved surface."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        rows, COLUMNS, n_informative=10, n_redundant=5, flip_y=0.05, class_sep=1.0, random_state=0
    )
    X = np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0))
    if what == "numbers":
        noise = np.random.default_rng(0).standard_normal(rows)
        return {"X": X, "y": np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * noise, "C": np.array(C)}
    return {"X": X, "y": y.astype(np.int64), "C": np.array(C)}


def machine(module: str, data: Data) -> Any:
    """Return a machine of a module that is not fitted."""
    from importlib import import_module

    name = "SVC" if data["y"].dtype.kind == "i" else "SVR"
    return getattr(import_module(module), name)(C=float(data["C"]), gamma=1 / COLUMNS)


def of_module(module: str, data: Data) -> np.ndarray:
    """Fit scikit-learn's API, and return signed multipliers, one a row."""
    model = machine(module, data).fit(data["X"], data["y"])
    found = np.zeros(len(data["y"]))
    found[np.asarray(model.support_)] = np.asarray(model.dual_coef_)[0]
    return found


def libsvm_(data: Data) -> np.ndarray:
    """libsvm itself, by its own Python door."""
    from libsvm.svm import svm_parameter, svm_problem
    from libsvm.svmutil import svm_train

    classes = data["y"].dtype.kind == "i"
    y = 2.0 * data["y"] - 1 if classes else data["y"]
    words = f"-s {0 if classes else 3} -t 2 -g {1 / COLUMNS} -c {float(data['C'])} -e 0.001 -p 0.1 -m 200 -q"
    model = svm_train(svm_problem(y, data["X"]), svm_parameter(words))
    found = np.zeros(len(y))
    signed = np.array([model.sv_coef[0][k] for k in range(model.l)])
    found[np.array(model.get_sv_indices()) - 1] = signed
    # libsvm's first class is that of the first row.
    return found * (y[0] if classes else 1.0)


def dual(data: Data, b: np.ndarray) -> float:
    """Return the dual objective a row and unit of C, which is maximised."""
    X, y = data["X"], data["y"]
    at = np.flatnonzero(b)
    norms = (X * X).sum(axis=1)
    square = 0.0
    for start in range(0, len(at), 512):
        rows = at[start : start + 512]
        distances = norms[rows, None] + norms[at] - 2 * X[rows] @ X[at].T
        square += float(b[rows] @ (np.exp(-distances / COLUMNS) @ b[at]))
    linear = np.abs(b).sum() if y.dtype.kind == "i" else y @ b - 0.1 * np.abs(b).sum()
    return float(linear - 0.5 * square) / (len(b) * float(data["C"]))


def case(rows: int, C: float, what: str) -> Case:
    """Return a case; the least work is each kernel value of a support vector, about a third of the rows."""
    name = f"{what}, {rows:.0e} x {COLUMNS}, C={C:g}"
    values = rows * rows / 3
    return Case(name, partial(make, rows, C, what), values * 2 * COLUMNS, 4.0 * values)


SHAPES = [
    *((rows, C, "classes") for rows in (5000, 20_000) for C in (1.0, 100.0)),
    *((rows, 1.0, "numbers") for rows in (5000, 20_000)),
]

TASK = Task(
    title="Support vector machines, Gaussian kernel, tolerance 1e-3",
    cases=[case(*shape) for shape in SHAPES],
    quick=case(500, 1.0, "classes"),
    contenders=[
        Contender("surefit", partial(of_module, "surefit"), ["surefit"], ours=True),
        Contender("scikit-learn", partial(of_module, "sklearn.svm"), ["sklearn.svm"]),
        Contender("scikit-learn-intelex", partial(of_module, "sklearnex.svm"), ["sklearnex"]),
        Contender("libsvm", libsvm_, ["libsvm"]),
    ],
    quality=Quality("dual objective a row", dual, better="higher", relative=1e-3),
    timeout=240.0,
    budget=60.0,
)
