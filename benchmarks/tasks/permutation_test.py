"""Whether a score is better than for shuffled targets: 100 shufflings, five folds."""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

DRAWS = 100


def make(rows: int, columns: int, classes: bool) -> Data:
    """Return a table of which a few columns matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    y = X[:, :3].sum(axis=1) + rng.standard_normal(rows)
    return {"X": X, "y": (y > 0).astype(int) if classes else y, "classes": np.array(classes)}


def folds(data: Data) -> Any:
    """The folds that both share."""
    from sklearn.model_selection import KFold, StratifiedKFold

    return StratifiedKFold(5) if data["classes"] else KFold(5)


def surefit_test(data: Data) -> Any:
    """Ours; a ridge regression learns all shufflings at once."""
    from surefit import LogisticRegression, Ridge, permutation_test

    model: Any = LogisticRegression() if data["classes"] else Ridge()
    return permutation_test(model, data["X"], data["y"], split=folds(data), draws=DRAWS).p_value


def sklearn_test(data: Data) -> Any:
    """scikit-learn's."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.model_selection import permutation_test_score

    model: Any = LogisticRegression() if data["classes"] else Ridge()
    options = {"cv": folds(data), "n_permutations": DRAWS, "random_state": 0, "n_jobs": 2}
    return permutation_test_score(model, data["X"], data["y"], **options)[2]


def p_value(data: Data, result: Any) -> float:
    """Return the p-value itself: the columns do matter, so that the least possible one is right."""
    return float(result)


def case(name: str, rows: int, columns: int, classes: bool) -> Case:
    """Return a case with its least work: X read once a fold."""
    return Case(name, partial(make, rows, columns, classes), bytes=5 * 8.0 * rows * columns)


TASK = Task(
    title="Permutation test of a score, 100 shufflings, 5 folds",
    cases=[
        case("ridge, 2000 x 50", 2000, 50, classes=False),
        case("logistic, 2000 x 20", 2000, 20, classes=True),
    ],
    quick=case("ridge, 200 x 5", 200, 5, classes=False),
    contenders=[
        Contender(
            "surefit",
            surefit_test,
            [
                "surefit.evaluate.cross_validation.permutation_test",
                "surefit.models.linear.classification.logistic",
            ],
            ours=True,
        ),
        Contender("scikit-learn", sklearn_test, ["sklearn.model_selection", "sklearn.linear_model"]),
    ],
    quality=Quality("p-value", p_value, better="lower", absolute=1e-9),
)
