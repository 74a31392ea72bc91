"""Fuzzy c-means from a fixed start, thirty iterations, fuzzifier 2."""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

ITERATIONS = 30


def make(rows: int, columns: int, count: int) -> Data:
    """Return rows about planted centres, and a start."""
    rng = np.random.default_rng(0)
    centres = 2 * rng.standard_normal((count, columns))
    X = centres[rng.integers(count, size=rows)] + rng.standard_normal((rows, columns))
    return {"X": X, "start": X[:count].copy()}


def cost(data: Data, centres: np.ndarray) -> float:
    """The cost at the best memberships, per row."""
    squares = np.square(data["X"][:, None] - centres).sum(axis=2)
    return float((1 / (1 / squares).sum(axis=1)).mean())


def surefit_fuzzy(data: Data) -> np.ndarray:
    """Ours."""
    from surefit import FuzzyCMeans

    model = FuzzyCMeans(len(data["start"]), init=data["start"], max_iter=ITERATIONS, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data["X"]).cluster_centers_


def skfuzzy_cmeans(data: Data) -> np.ndarray:
    """scikit-fuzzy's, from the memberships of the same start."""
    import skfuzzy

    squares = np.square(data["X"][:, None] - data["start"]).sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = 1 / squares
        shares /= shares.sum(axis=1, keepdims=True)
    shares = np.nan_to_num(shares, nan=1.0)
    found: np.ndarray = skfuzzy.cmeans(
        data["X"].T, len(data["start"]), 2, error=0, maxiter=ITERATIONS, init=shares.T
    )[0]
    return found


def case(name: str, rows: int, columns: int, count: int) -> Case:
    """Return a case with the work of its distances and sums."""
    flops = 6.0 * rows * columns * count * ITERATIONS
    return Case(name, partial(make, rows, columns, count), flops, 8.0 * rows * columns * ITERATIONS)


TASK = Task(
    title="Fuzzy c-means, float64",
    cases=[case("2e5 x 8, 10 clusters", 200_000, 8, 10)],
    quick=case("500 x 3, 4 clusters", 500, 3, 4),
    contenders=[
        Contender("surefit", surefit_fuzzy, ["surefit.models.cluster.kmeans.fuzzy"], ours=True),
        Contender("scikit-fuzzy", skfuzzy_cmeans, ["skfuzzy"]),
    ],
    quality=Quality("cost a row", cost, better="lower", absolute=1e-2),
)
