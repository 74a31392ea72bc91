"""Test data for metrics, by task: what the laws run each of them on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS = 60


@dataclass(frozen=True, slots=True)
class Case:
    """True and predicted values of some rows, the predictions that would be perfect, and options."""

    truth: NDArray[Any]
    prediction: NDArray[Any]
    perfect: NDArray[Any]
    options: dict[str, Any] = field(default_factory=dict)

    def with_options(self, **options: Any) -> Case:
        """The same rows under other options."""
        return replace(self, options={**self.options, **options})


def of_task(task: str, rng: np.random.Generator) -> Iterator[Case]:
    """Yield cases of a task."""
    return {
        "regression": _regression,
        "classification": _classification,
        "partition": _partition,
        "probability": _probability,
        "score": _score,
        "ranking": _ranking,
        "clusters": _clusters,
    }[task](rng)


def _regression(rng: np.random.Generator) -> Iterator[Case]:
    for shape, offset in [((ROWS,), 0.0), ((ROWS, 3), 0.0), ((ROWS,), 1e8)]:
        truth = rng.normal(size=shape) + offset
        yield Case(truth, truth + 0.5 * rng.normal(size=shape), truth)


def _classification(rng: np.random.Generator) -> Iterator[Case]:
    for names in (np.array([0, 1]), np.array(["high", "low", "middle"]), np.array([7, -3, 90_000])):
        truth = rng.choice(names, size=ROWS)
        yield Case(truth, np.where(rng.random(ROWS) < 0.7, truth, rng.choice(names, size=ROWS)), truth)


def _probability(rng: np.random.Generator) -> Iterator[Case]:
    for names in (np.array([0, 1]), np.array(["high", "low", "middle", "never"])):
        codes = rng.integers(min(len(names), 3), size=ROWS)
        chances = rng.dirichlet(np.ones(len(names)), size=ROWS)
        yield Case(names[codes], chances, np.eye(len(names))[codes], {"labels": names})
        if len(names) == 2:
            yield Case(names[codes], chances[:, 1], np.eye(2)[codes][:, 1], {"labels": names})


def _score(rng: np.random.Generator) -> Iterator[Case]:
    for low, tied in ((0, False), (-1, True)):
        truth = np.where(rng.random(ROWS) < 0.4, 1, low)
        score = truth + 1.5 * rng.normal(size=ROWS)
        yield Case(truth, np.round(score) if tied else score, truth * 1.0)
    for case in _probability(rng):
        if case.prediction.ndim == 2 and case.prediction.shape[1] > 2:
            yield case


def _partition(rng: np.random.Generator) -> Iterator[Case]:
    for case in _classification(rng):
        yield Case(
            case.truth, rng.permutation(np.unique(case.prediction, return_inverse=True)[1]), case.truth
        )
        yield case


def _ranking(rng: np.random.Generator) -> Iterator[Case]:
    relevant = (rng.random((ROWS, 5)) < 0.4) * 1.0
    relevant[:, 2] = 1 - relevant[:, 1]
    yield Case(relevant, rng.normal(size=(ROWS, 5)), relevant)
    yield Case(relevant, rng.integers(3, size=(ROWS, 5)) * 1.0, relevant)


def _clusters(rng: np.random.Generator) -> Iterator[Case]:
    names = np.array([3, 5, 11])
    labels = rng.choice(names, size=ROWS)
    points = rng.normal(size=(ROWS, 2)) + 10.0 * labels[:, None]
    guess = np.where(rng.random(ROWS) < 0.8, labels, rng.choice(names, size=ROWS))
    yield Case(points, guess, labels)
    yield Case(points + 1e6, guess, labels)
