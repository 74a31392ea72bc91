"""What it does to a score when rows are used twice, shown on noise, in which there is no skill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.core.public import public
from surefit.evaluate.pipeline import make_pipeline
from surefit.evaluate.scoring.fold import FoldWork, chosen_metrics
from surefit.evaluate.select.filters import SelectKBest
from surefit.resample.choose import pairs_of


@dataclass(frozen=True, slots=True)
class LeakDemo:
    """Accuracies on pure noise, one a repetition: with the step inside the folds, and before them."""

    kind: str
    inside: Vector
    outside: Vector
    truth: float = 0.5

    def __str__(self) -> str:
        what = "Selecting columns" if self.kind == "selection" else "Copying rows of the rarer class"
        return (
            f"{what} before cross-validation reports {self.outside.mean():.2f} on pure noise; inside the "
            f"folds it reports {self.inside.mean():.2f}; the truth is {self.truth:.2f}."
        )


@public
def selection_leak_demo(
    kind: str = "selection",
    *,
    rows: int = 50,
    columns: int = 1000,
    keep: int = 20,
    repetitions: int = 10,
    split: int = 5,
    model: Any = None,
    random_state: Any = 0,
) -> LeakDemo:
    """Score a model on columns of pure noise, with a step inside the folds and, wrongly, before them.

    kind: "selection" keeps the columns most correlated with the classes; "oversampling" copies rows of
    the rarer class until both are equally frequent, so that copies of a row end up on both sides of a
    fold, and a model that remembers rows is praised for it. The score is the balanced accuracy, 0.5 for
    no skill.

    >>> demo = selection_leak_demo(repetitions=3)
    >>> bool(demo.outside.mean() > 0.8), bool(abs(demo.inside.mean() - 0.5) < 0.2)
    (True, True)
    """
    if kind not in ("selection", "oversampling"):
        raise ParameterError(f"kind={kind!r} must be 'selection' or 'oversampling'.")
    rng = np.random.default_rng(random_state)
    one = _selection if kind == "selection" else _oversampling
    found = np.array([one(rng, rows, columns, keep, split, model) for _ in range(repetitions)])
    return LeakDemo(kind, found[:, 0], found[:, 1])


def oversampled(y: Any, random_state: Any = 0) -> NDArray[np.intp]:
    """Row numbers with those of rarer classes drawn again, until all classes are equally frequent.

    >>> oversampled(["a", "b", "a", "a"]).tolist()
    [0, 1, 2, 3, 1, 1]
    """
    labels = np.asarray(y)
    rng = np.random.default_rng(random_state)
    names, counts = np.unique(labels, return_counts=True)
    more = [
        rng.choice(np.flatnonzero(labels == name), counts.max() - count)
        for name, count in zip(names, counts, strict=True)
    ]
    return np.concatenate([np.arange(len(labels)), *more]).astype(np.intp)


def _score(model: Any, X: Any, y: Any, pairs: Any) -> float:
    metrics = chosen_metrics(model, "balanced_accuracy_score", np.unique(y))
    work = FoldWork(model, metrics, X, y, classes=np.unique(y))
    return float(np.mean([work(pair).scores["balanced_accuracy_score"] for pair in pairs]))


def _selection(rng: Any, rows: int, columns: int, keep: int, split: int, model: Any) -> tuple[float, float]:
    from surefit.models.bayes.gaussian_nb import GaussianNB

    model = GaussianNB() if model is None else model
    X, y = rng.normal(size=(rows, columns)), np.arange(rows) % 2
    pairs = pairs_of(split, X, y, classes=True, random_state=int(rng.integers(2**31)))
    select = SelectKBest("f_classif", k=keep)
    inside = _score(make_pipeline(select, model), X, y, pairs)
    outside = _score(model, select.fit_transform(X, y), y, pairs)
    return inside, outside


def _oversampling(
    rng: Any, rows: int, columns: int, keep: int, split: int, model: Any
) -> tuple[float, float]:
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(1) if model is None else model
    X, y = rng.normal(size=(rows, keep)), (np.arange(rows) % 5 == 0).astype(int)
    seed = int(rng.integers(2**31))
    pairs = pairs_of(split, X, y, classes=True, random_state=seed)
    inside = _score(model, X, y, [(train[oversampled(y[train], seed)], test) for train, test in pairs])
    many = oversampled(y, seed)
    copied = pairs_of(split, X[many], y[many], classes=True, random_state=seed)
    return inside, _score(model, X[many], y[many], copied)
