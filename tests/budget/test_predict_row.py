"""Answering for one row stays cheap: Python calls and memory blocks are counted, not seconds."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.linear_model
import sklearn.naive_bayes
from tests.budget.calls import entered

import surefit

CALLS = 12  # Python functions entered
BLOCKS = 12  # memory blocks of a hundred bytes alive at the peak beyond those before
COLUMNS = 4
X = np.random.default_rng(0).normal(size=(30, COLUMNS))
NUMBERS = X @ np.arange(1.0, COLUMNS + 1)
CLASSES = np.arange(30) % 3


@dataclass(frozen=True)
class Answer:
    """What is asked of whom, the peer that answers the same, and what the answer may cost."""

    model: Any
    target: Any = None
    peer: Any = None
    method: str = "predict"
    calls: int = CALLS
    blocks: int = BLOCKS

    def of(self, model: Any) -> Callable[[Any], Any]:
        return getattr(model.fit(X, self.target), self.method)


ANSWERS = {
    "MeanRegressor": Answer(surefit.MeanRegressor(), NUMBERS),
    "MajorityClassifier": Answer(surefit.MajorityClassifier(), CLASSES),
    "LinearRegression": Answer(surefit.LinearRegression(), NUMBERS, sklearn.linear_model.LinearRegression()),
    "Ridge": Answer(surefit.Ridge(), NUMBERS, sklearn.linear_model.Ridge()),
    "RidgeCV": Answer(surefit.RidgeCV(), NUMBERS, sklearn.linear_model.RidgeCV()),
    "RidgeClassifier": Answer(
        surefit.RidgeClassifier(), CLASSES, sklearn.linear_model.RidgeClassifier(), blocks=16
    ),
    "two classes": Answer(surefit.RidgeClassifier(), CLASSES > 0, sklearn.linear_model.RidgeClassifier()),
    "RidgeClassifierCV": Answer(
        surefit.RidgeClassifierCV(), CLASSES, sklearn.linear_model.RidgeClassifierCV(), blocks=16
    ),
    "GaussianNB": Answer(
        surefit.GaussianNB(), CLASSES, sklearn.naive_bayes.GaussianNB(), calls=16, blocks=24
    ),
    "GaussianNB.predict_proba": Answer(
        surefit.GaussianNB(), CLASSES, sklearn.naive_bayes.GaussianNB(), "predict_proba", calls=24, blocks=24
    ),
    "PCA": Answer(surefit.PCA(2), None, sklearn.decomposition.PCA(2), "transform", calls=18, blocks=16),
    "IncrementalPCA": Answer(
        surefit.IncrementalPCA(2),
        None,
        sklearn.decomposition.IncrementalPCA(2),
        "transform",
        calls=18,
        blocks=16,
    ),
}
each_answer = pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())


def asked(answer: Answer, model: Any) -> list[str]:
    """The Python functions entered on the way to one answer."""
    return entered(partial(answer.of(model), np.ones((1, COLUMNS))))


@each_answer
def test_python_calls(answer):
    ours = asked(answer, answer.model)
    assert len(ours) <= answer.calls, ours
    if answer.peer is not None:  # what takes a fourth of the calls has the means to take a fourth of the time
        assert 4 * len(ours) <= len(asked(answer, answer.peer)), ours


@each_answer
def test_memory_blocks(answer):
    row, ask = np.ones((1, COLUMNS)), answer.of(answer.model)
    for _ in range(3):
        ask(row)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        ask(row)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - before <= answer.blocks * 100
