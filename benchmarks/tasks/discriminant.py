"""Linear and quadratic discriminant analysis: fits of a hundred thousand and a million rows of 50 columns.

The quality figure is the share of 1000 rows that get another class than by the formula.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

CLASSES, CHECKED = 5, 1000


def make(kind: str, rows: int, columns: int) -> Data:
    """Return normal classes that overlap, and the right answers for some rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=rows)
    X = rng.standard_normal((rows, columns)) @ rng.standard_normal((columns, columns))
    X += rng.standard_normal((CLASSES, columns))[y]
    scatters = [np.cov(X[y == c].T, bias=True) for c in range(CLASSES)]
    shares = np.bincount(y) / rows
    pooled = np.einsum("c,cij->ij", shares, np.array(scatters))
    scores = []
    for c in range(CLASSES):
        cov = pooled if kind == "linear" else scatters[c]
        gap = X[:CHECKED] - X[y == c].mean(axis=0)
        square = (gap * np.linalg.solve(cov, gap.T).T).sum(axis=1)
        scores.append(np.log(shares[c]) - 0.5 * square - 0.5 * np.linalg.slogdet(cov)[1])
    return {"X": X, "y": y, "kind": np.array(kind), "right": np.argmax(scores, axis=0)}


def wrong(data: Data, result: Any) -> float:
    """Return the share of the checked rows with another class than the right one."""
    return float(np.mean(result.predict(data["X"][:CHECKED]) != data["right"]))


def fitted(name: str, data: Data) -> Any:
    """Fit one library's model."""
    if name == "surefit":
        import surefit as library
    else:
        import sklearn.discriminant_analysis as library  # type: ignore[no-redef]
    kind = "Linear" if data["kind"] == "linear" else "Quadratic"
    return getattr(library, f"{kind}DiscriminantAnalysis")().fit(data["X"], data["y"])


def case(kind: str, rows: int, columns: int = 50) -> Case:
    """Return a case with its least work: the products of all pairs of columns."""
    return Case(
        f"{kind} {rows:.0e} x {columns}",
        partial(make, kind, rows, columns),
        1.0 * rows * columns**2,
        8.0 * rows * columns,
    )


TASK = Task(
    title="Discriminant analysis, float64",
    cases=[case("linear", 10**5), case("linear", 10**6), case("quadratic", 10**5), case("quadratic", 10**6)],
    quick=case("linear", 2000, 10),
    contenders=[
        Contender("surefit", partial(fitted, "surefit"), ["surefit.models.bayes"], True),
        Contender("scikit-learn", partial(fitted, "scikit-learn"), ["sklearn.discriminant_analysis"]),
    ],
    quality=Quality("wrong classes", wrong, better="lower", absolute=0.002),
)
