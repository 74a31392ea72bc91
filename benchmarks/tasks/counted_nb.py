"""Multinomial naive Bayes on counts: a million dense rows of 50 columns, and sparse counts of words.

Each contender fits and predicts the first rows. The quality figure is the largest difference of a log
probability from two careful sums.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.task import Case, Contender, Data, Quality, Task

CLASSES = 5


def make(form: str, rows: int, columns: int) -> Data:
    """Return counts and classes; ``sparse`` rows hold some sixty of many words."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=rows)
    if form == "dense":
        return {"X": rng.poisson(1.0, (rows, columns)).astype(float), "y": y}
    entries = 60 * rows
    words = np.minimum((columns * rng.random(entries) ** 2).astype(np.int32), columns - 1)
    X = sparse.csr_array(
        (np.ones(entries), words, np.arange(0, entries + 1, 60, dtype=np.int32)), shape=(rows, columns)
    )
    X.sum_duplicates()
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "columns": np.array(columns), "y": y}


def rows_of(data: Data) -> Any:
    """Return the matrix, which travels in parts where it is sparse."""
    if "X" in data:
        return data["X"]
    parts = (data["data"], data["indices"], data["indptr"])
    return sparse.csr_array(parts, shape=(len(data["indptr"]) - 1, int(data["columns"])))


def off(data: Data, result: Any) -> float:
    """Return the largest error of a log probability."""
    X, y = rows_of(data), data["y"]
    counts = np.array([np.asarray(X[y == c].sum(axis=0)).ravel() for c in range(CLASSES)]) + 1.0
    return float(np.abs(np.log(counts / counts.sum(axis=1, keepdims=True)) - result).max())


def fitted(name: str, data: Data) -> Any:
    """Fit one library's model and return its log probabilities."""
    if name == "surefit":
        import surefit

        model: Any = surefit.MultinomialNB()
    else:
        from sklearn import naive_bayes

        model = naive_bayes.MultinomialNB()
    return model.fit(rows_of(data), data["y"]).feature_log_prob_


def case(form: str, rows: int, columns: int) -> Case:
    """Return a case with its least work: each stored cell read once."""
    cells = rows * columns if form == "dense" else 60 * rows
    return Case(f"fit {form} {rows:.0e} x {columns}", partial(make, form, rows, columns), cells, 12.0 * cells)


TASK = Task(
    title="Multinomial naive Bayes, float64",
    cases=[case("dense", 10**6, 50), case("sparse", 2 * 10**5, 50_000)],
    quick=case("dense", 2000, 10),
    contenders=[
        Contender("surefit", partial(fitted, "surefit"), ["surefit.models.bayes.multinomial_nb"], True),
        Contender("scikit-learn", partial(fitted, "scikit-learn"), ["sklearn.naive_bayes"]),
    ],
    quality=Quality("error of a log probability", off, better="lower", absolute=1e-9),
)
