"""What it does to a score when rows are used twice, shown on noise, in which there is no skill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.core.public import public
from surefit.evaluate.oversampling import OversampledClassifier, oversampled
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
        what = {
            "selection": "Selecting columns before cross-validation",
            "oversampling": "Copying rows of the rarer class before cross-validation",
            "picture": "Selecting columns before a picture is drawn",
        }[self.kind]
        return (
            f"{what} reports {self.outside.mean():.2f} on pure noise; inside the "
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
    fold, and a model that remembers rows is praised for it; "picture" keeps columns as "selection" does and
    draws their first two principal components, in which the classes seem apart: the score is that of a model
    of the points drawn, against rows that were not among them. The score is the balanced accuracy, 0.5 for
    no skill.

    >>> demo = selection_leak_demo(repetitions=3)
    >>> bool(demo.outside.mean() > 0.8), bool(abs(demo.inside.mean() - 0.5) < 0.2)
    (True, True)
    """
    kinds = {"selection": _selection, "oversampling": _oversampling, "picture": _picture}
    if kind not in kinds:
        raise ParameterError(f"kind={kind!r} must be one of {', '.join(kinds)}.")
    rng, one = np.random.default_rng(random_state), kinds[kind]
    found = np.array([one(rng, rows, columns, keep, split, model) for _ in range(repetitions)])
    return LeakDemo(kind, found[:, 0], found[:, 1])


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
    inside = _score(OversampledClassifier(model, random_state=seed), X, y, pairs)
    many = oversampled(y, seed)
    copied = pairs_of(split, X[many], y[many], classes=True, random_state=seed)
    return inside, _score(model, X[many], y[many], copied)


def _picture(rng: Any, rows: int, columns: int, keep: int, split: int, model: Any) -> tuple[float, float]:
    from surefit.models.bayes.gaussian_nb import GaussianNB
    from surefit.models.factor.pca import PCA

    model = GaussianNB() if model is None else model
    X, y = rng.normal(size=(rows, columns)), np.arange(rows) % 2
    pairs = pairs_of(split, X, y, classes=True, random_state=int(rng.integers(2**31)))
    drawn = make_pipeline(SelectKBest("f_classif", k=keep), PCA(2))
    everything = np.arange(rows)
    inside = _score(make_pipeline(drawn, model), X, y, pairs)
    return inside, _score(model, drawn.fit_transform(X, y), y, [(everything, everything)])
