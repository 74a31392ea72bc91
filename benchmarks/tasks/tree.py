"""One decision tree by exact search, ten splits deep and in full, against scikit-learn's.

Rows are normal, the label follows a product and a sum of three columns with noise. The quality is the
accuracy on rows that were not seen, within 0.002 of the best.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

COLUMNS = 28
TEST_ROWS = 20_000


def make(rows: int, depth: int) -> Data:
    """Return a table, its labels and rows to test on; depth 0 is no limit."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows + TEST_ROWS, COLUMNS)).astype(np.float32).astype(np.float64)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.standard_normal(len(X)) > 0).astype(np.int64)
    return {
        "X": X[:rows],
        "y": y[:rows],
        "test_X": X[rows:],
        "test_y": y[rows:],
        "depth": np.array(depth),
    }


def accuracy(data: Data, predicted: np.ndarray) -> float:
    """Return the share of test rows that are right."""
    return float(np.mean(predicted == data["test_y"]))


def fitted(data: Data, tree: Any, **settings: Any) -> np.ndarray:
    """Fit and predict."""
    model = tree(max_depth=int(data["depth"]) or None, **settings).fit(data["X"], data["y"])
    answers: np.ndarray = model.predict(data["test_X"])
    return answers


def ours(data: Data) -> np.ndarray:
    """Ours, as it comes."""
    from surefit import DecisionTreeClassifier

    return fitted(data, DecisionTreeClassifier)


def sklearn_tree(data: Data) -> np.ndarray:
    """scikit-learn's, as it comes."""
    from sklearn.tree import DecisionTreeClassifier

    return fitted(data, DecisionTreeClassifier, random_state=0)


def case(name: str, rows: int, depth: int) -> Case:
    """Return a case with its least work: every cell read once a level."""
    return Case(name, partial(make, rows, depth), bytes=8.0 * rows * COLUMNS * (depth or 20))


TASK = Task(
    title="one decision tree, exact search, 28 columns",
    cases=[
        case("1e5 rows, depth 10", 10**5, 10),
        case("1e5 rows, full", 10**5, 0),
        case("1e6 rows, depth 10", 10**6, 10),
        case("1e6 rows, full", 10**6, 0),
    ],
    quick=case("2000 rows, depth 4", 2000, 4),
    contenders=[
        Contender("surefit", ours, ["surefit.models.tree.trees.classifier"], ours=True),
        Contender("scikit-learn", sklearn_tree, ["sklearn.tree"]),
    ],
    quality=Quality("accuracy", accuracy, better="higher", absolute=0.002),
    timeout=240.0,
    budget=300.0,
)
