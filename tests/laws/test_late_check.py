"""Cells of large matrices are looked at by the sums over them: nothing else is read, and nothing slips by."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import surefit
import surefit.data.door as door
from surefit import PCA, LinearRegression, Ridge
from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.batches.deferred_batch import LateBatch

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) + 3.0
Y = X @ [1.0, 2.0, 0.0, -1.0] + RNG.normal(size=60)
SUMMED = {"PCA": PCA(2), "LinearRegression": LinearRegression(), "Ridge": Ridge()}
OTHERS = {
    "PCA by rows": PCA(2, svd_solver="full"),
    "PCA by products": PCA(2, svd_solver="randomized", random_state=0),
    "positive LinearRegression": LinearRegression(positive=True),
    "Ridge by passes": Ridge(solver="lsqr"),
    "Ridge by factor": Ridge(solver="svd"),
    "constrained Ridge": Ridge(constraints=surefit.penalties.NonNegative()),
}
LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "single": lambda X: X.astype(np.float32),
}


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_LARGE", 1)


def spoilt(bad: float, layout: str) -> np.ndarray:
    rows = X.copy()
    rows[41, 2] = bad
    return LAYOUTS[layout](rows)


def refusal(model, rows, *more):
    with pytest.raises(DataError) as caught:
        model.fit(rows, Y[: len(rows)], *more)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "bad", "layout"),
    [
        *((name, bad, layout) for name in SUMMED for bad in (np.nan, np.inf) for layout in LAYOUTS),
        *((name, np.nan, "C") for name in OTHERS),
    ],
)
def test_what_is_not_finite_is_refused_in_the_same_words(name, bad, layout, monkeypatch):
    model, rows = {**SUMMED, **OTHERS}[name], spoilt(bad, layout)
    at_once = refusal(model, rows)
    monkeypatch.setattr(door, "_LARGE", 1)
    assert refusal(model, rows) == at_once
    assert not hasattr(model, "n_features_in_")
    few = rows[40:43] if rows.flags.forc else np.ascontiguousarray(rows[40:43])  # fewer rows than columns
    assert "beyond the range" not in refusal(model, few)


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("name", SUMMED)
def test_a_fit_looks_at_no_cell_twice(name, monkeypatch):
    def looked(X):
        raise AssertionError("the matrix was read for its own sake")

    plain = type(SUMMED[name])()
    monkeypatch.setattr(door, "_known_finite", looked)
    plain.fit(X, Y)
    assert plain.certificate_.holds


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("name", SUMMED)
def test_updates_and_proofs_refuse_it_too(name):
    model = type(SUMMED[name])().fit(X, Y)
    before = dict(model.__dict__)
    for step in (model.partial_fit, model.forget, lambda X, y: surefit.verify(model, X, y)):
        with pytest.raises(DataError, match=r"NaN|missing"):
            step(spoilt(np.nan, "C"), Y)
    assert model.__dict__.keys() == before.keys()


@pytest.mark.usefixtures("all_large")
def test_squares_beyond_the_range_of_floats_are_told_apart():
    rows = X.copy()
    rows[0, 1] = 1e200
    assert "range of floats" in refusal(Ridge(), rows)


@pytest.mark.usefixtures("all_large")
def test_a_row_of_no_weight_is_looked_at_all_the_same():
    weight = np.ones(60)
    weight[41] = 0.0
    assert "NaN" in refusal(Ridge(), spoilt(np.nan, "C"), weight)


def test_a_batch_is_checked_once_when_its_matrix_is_asked_for():
    asked = []
    batch = LateBatch(X, Y, check=lambda: asked.append(1))
    assert len(batch) == 60
    assert batch.unchecked is X
    assert not asked
    assert batch.X is batch.X is X
    assert len(asked) == 1
    again = pickle.loads(pickle.dumps(LateBatch(X, Y, check=lambda: asked.append(1))))
    assert type(again) is Batch
    assert len(asked) == 2
