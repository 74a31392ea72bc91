"""The values of the other statistics, against numpy and finite differences."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np
import pytest

from surefit.core.errors import RefusalError
from surefit.data.batches.batch import Batch
from surefit.stats.base import Joint
from surefit.stats.cases import LogisticTrial, SoftmaxTrial, SquaredTrial, Trial
from surefit.stats.counts import Counts
from surefit.stats.curvature import Curvature
from surefit.stats.missing import Missing
from surefit.stats.moments import Moments
from surefit.stats.sketch import Sketch
from surefit.stats.topk import TopK
from surefit.stats.triangular import TriangularFactor

RNG = np.random.default_rng(0)


def test_counts_are_contingency_tables() -> None:
    batch = Trial("table").batch(200)
    weight = RNG.uniform(size=200)
    counts = Counts.of(replace(batch, weight=weight), classes=3)
    table: Any = batch.X
    for column, place in enumerate((0, 2)):
        codes = table.column(place)
        cells = [
            [weight[(batch.y == k) & (codes == level)].sum() for level in range(counts.levels[column])]
            for k in range(3)
        ]
        np.testing.assert_allclose(counts.table(column), cells, rtol=1e-12)
        gone = [weight[(batch.y == k) & (codes == -1)].sum() for k in range(3)]
        np.testing.assert_allclose(counts.missing[:, column], gone, rtol=1e-12)
        strange = [weight[(batch.y == k) & (codes == -2)].sum() for k in range(3)]
        np.testing.assert_allclose(counts.unknown[:, column], strange, rtol=1e-12)
    np.testing.assert_allclose(counts.class_weight, np.bincount(batch.y, weight), rtol=1e-12)


def test_counts_take_a_matrix_of_codes() -> None:
    batch = Batch(np.array([[0.0, 2.0], [1.0, 2.0], [1.0, 0.0]]), np.array([0, 1, 1]))
    counts = Counts.of(batch, classes=2, levels=(2, 3))
    assert counts.table(0).tolist() == [[1, 0], [0, 2]]
    assert counts.table(1).tolist() == [[0, 0, 1], [1, 0, 1]]


def test_counts_refuse_rows_that_were_never_counted() -> None:
    one, two = (Counts.of(Trial("table").batch(50, seed), classes=3) for seed in (1, 2))
    with pytest.raises(RefusalError, match="not among the ones counted"):
        one - two


def flat(loss: Any, batch: Batch, w: np.ndarray, b: Any) -> float:
    return Curvature.of(batch, loss=loss, w=w, intercept=b, order=0).value


@pytest.mark.parametrize(
    ("rows", "loss", "outputs"),
    [("numbers", SquaredTrial(), 0), ("sparse", LogisticTrial(), 0), ("classes", SoftmaxTrial(), 3)],
    ids=["squared", "logistic", "softmax"],
)
def test_curvature_is_the_derivative(rows: Any, loss: Any, outputs: int) -> None:
    batch = replace(Trial(rows).batch(60), weight=RNG.uniform(0.5, 2.0, size=60))
    shape = (4, outputs) if outputs else (4,)
    w, b = RNG.normal(size=shape) / 5, RNG.normal(size=shape[1:]) / 5
    at = Curvature.of(batch, loss=loss, w=w, intercept=b, order=2)
    first = Curvature.of(batch, loss=loss, w=w, intercept=b, order=1)
    np.testing.assert_allclose(first.gradient, at.gradient, rtol=1e-12, atol=1e-12)
    assert first.hessian.size == 0
    assert at.weight == pytest.approx(float(np.sum(batch.weight)))

    def moved(step: np.ndarray) -> Curvature:
        return Curvature.of(batch, loss=loss, w=w + step[:-1], intercept=b + step[-1], order=1)

    for place in np.ndindex(at.gradient.shape):
        step = np.zeros(at.gradient.shape)
        step[place] = 1e-5
        up, down = moved(step), moved(-step)
        assert (up.value - down.value) / 2e-5 == pytest.approx(at.gradient[place], rel=1e-6, abs=1e-5)
        slope = (up.gradient - down.gradient) / 2e-5
        row = at.hessian[:, place[1], :, place[0]].T if outputs else at.hessian[place[0]]
        np.testing.assert_allclose(slope, row, rtol=1e-6, atol=1e-5)


def test_curvature_without_intercept_has_no_entry_for_it() -> None:
    batch = Trial("numbers").batch(20)
    at = Curvature.of(batch, loss=SquaredTrial(), w=np.zeros(4), order=2)
    assert (at.gradient.shape, at.hessian.shape) == ((4,), (4, 4))
    np.testing.assert_allclose(at.hessian, batch.X.T @ batch.X, rtol=1e-12)  # type: ignore[union-attr,operator]
    with pytest.raises(ValueError, match="needs loss= and w="):
        Curvature.of(batch)


@pytest.mark.parametrize("largest", [False, True])
def test_top_k_finds_the_rows_of_the_source(largest: bool) -> None:
    scores = RNG.integers(0, 30, size=500).astype(float)
    scores[::7] = np.nan
    parts = [
        TopK.of(Batch(np.zeros((len(rows), 1)), scores[rows], start=1000 + rows[0]), k=12, largest=largest)
        for rows in np.array_split(np.arange(500), 9)
    ]
    found = reduce(add, parts[::-1])
    keys = np.where(np.isnan(scores), np.inf, -scores if largest else scores)
    expected = np.argsort(keys, kind="stable")[:12]
    assert found.numbers.tolist() == (1000 + expected).tolist()
    assert found.scores.tolist() == scores[expected].tolist()


def test_top_k_takes_what_there_is() -> None:
    found = TopK.of(Batch(np.zeros((2, 1)), np.array([1.0, np.nan])), k=5)
    assert found.numbers.tolist() == [0]
    with pytest.raises(ValueError, match="no target to rank by"):
        TopK.of(Batch(np.zeros((2, 1))))


def test_the_factor_solves_least_squares() -> None:
    X, y = RNG.normal(size=(100, 3)) + 5, RNG.normal(size=100)
    factor = TriangularFactor.of(Batch(X[:40], y[:40])) + TriangularFactor.of(Batch(X[40:], y[40:]))
    found = np.linalg.solve(factor.centred[:3, :3], factor.centred[:3, 3])
    right = np.linalg.lstsq(np.column_stack([np.ones(100), X]), y, rcond=None)[0]
    np.testing.assert_allclose(found, right[1:], rtol=1e-10)


def test_missing_is_counted_in_tables_and_matrices() -> None:
    batch = Trial("table").batch(300)
    table: Any = batch.X
    expected = [table.missing(j).sum() for j in range(4)]
    assert Missing.of(batch).missing.tolist() == expected
    assert min(expected) > 0


def test_joint_gathers_and_subtracts_member_by_member() -> None:
    batch = Trial("numbers").batch(60)
    of = partial(Joint.of, moments=Moments.of, top=partial(TopK.of, k=3))
    both = of(batch)
    assert both["top"].numbers.tolist() == TopK.of(batch, k=3).numbers.tolist()
    with pytest.raises(RefusalError, match="TopK"):
        both - both
    only = partial(Joint.of, moments=Moments.of)
    assert (only(batch) - only(batch))["moments"].rows == 0


@pytest.mark.parametrize("cls", [Moments, TriangularFactor, Sketch])
def test_single_precision_rows_are_summed_in_double(cls: Any) -> None:
    X = RNG.normal(size=(300, 3)).astype(np.float32)
    assert cls.of(Batch(X)).distance(cls.of(Batch(X.astype(np.float64)))) <= 1e-12
