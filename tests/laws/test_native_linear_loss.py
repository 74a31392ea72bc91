"""The kernels of losses over linear scores against their twins, in every form of rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from surefit.core.native.linear.class_loss import class_loss, class_loss_twin
from surefit.core.native.linear.linear_loss import (
    KINDS,
    LossSums,
    linear_excess,
    linear_excess_twin,
    linear_hessian,
    linear_hessian_twin,
    linear_loss,
    linear_loss_twin,
    takes,
)
from surefit.core.registry import members
from surefit.data.batches.batch import Batch
from surefit.data.batches.column_batch import ColumnBatch
from surefit.data.batches.columns import Columns
from surefit.losses import Gamma, Huber, Logistic, Poisson, Softmax, SquaredHinge
from surefit.penalties import NoPenalty
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.gap import duality_gap
from surefit.stats.curvature import Curvature
from surefit.stats.duality import Slopes
from surefit.stats.products import pulled, scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(9000, 7))  # more than one chunk
FORMS = {
    "C": X,
    "Fortran": np.asfortranarray(X),
    "float32": X.astype(np.float32),
    "one row": X[:1],
    "no rows": X[:0],
    "one column": np.ascontiguousarray(X[:, :1]),
    "no columns": X[:, :0].copy(),
    "many columns": RNG.normal(size=(300, 110)),
}
TARGETS = {"logistic": lambda n: RNG.uniform(size=n), "squared_hinge": lambda n: RNG.choice([-1.0, 1.0], n)}
OPTIONS = {"huber": (0.7, 0.5, 1.5, 0.25)}
each_form = pytest.mark.parametrize("rows", FORMS.values(), ids=FORMS.keys())
plain_or_weighted = pytest.mark.parametrize("plain", [True, False], ids=["plain", "weighted"])


def numbers(found: LossSums) -> list[Any]:
    return [found.value, found.gradient, found.hessian, *(found.gap or ())]


def check(found: LossSums, right: LossSums, again: LossSums, scale: float) -> None:
    for one, two, three in zip(numbers(found), numbers(right), numbers(again), strict=True):
        assert (one is None) == (two is None)
        if one is not None:
            assert np.shape(one) == np.shape(two)
            np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-12 * scale)
            np.testing.assert_array_equal(one, three)


@each_form
@plain_or_weighted
@pytest.mark.parametrize("kind", KINDS)
def test_one_score_a_row_as_the_twin(rows, plain, kind):
    n, p = rows.shape
    rows.flags.writeable = False
    y = TARGETS.get(kind, lambda n: RNG.integers(1, 4, n))(n)
    coef = RNG.normal(size=p) / max(p, 1)
    about = () if plain else (0.3, RNG.integers(0, 3, n).astype(float), RNG.normal(size=n))
    args, options = (kind, rows, y, coef, *about), {"options": OPTIONS.get(kind, ())}
    for want in ("value", "gradient", "gap"):
        wish = {**options, "want": want}
        one_thread = linear_loss(*args, **wish, _threads=1)
        check(linear_loss(*args, **wish), linear_loss_twin(*args, **wish), one_thread, n + 1)
    one_thread = linear_hessian(*args, **options, _threads=1)
    check(linear_hessian(*args, **options), linear_hessian_twin(*args, **options), one_thread, n + 1)
    for change in ((1.0, 0.0, 1.0, 1.0), (0.9, 0.0, 0.5, 0.8), (0.95, 0.01, 1.0, 1.0)):
        wish = {**options, "change": change}
        found = linear_excess(*args, **wish)
        assert found == linear_excess(*args, **wish, _threads=1)
        np.testing.assert_allclose(found, linear_excess_twin(*args, **wish), rtol=1e-9, atol=1e-12 * (n + 1))
        assert change[:2] != (1.0, 0.0) or found[0] <= 1e-14 * (n + 1)


@plain_or_weighted
@pytest.mark.parametrize("kind", [*KINDS, "softmax"])
def test_columns_that_lie_apart_give_the_same_bits(plain, kind):
    apart, y = Columns(list(np.asfortranarray(X).T), len(X)), RNG.integers(1, 4, len(X))
    beside = () if plain else (RNG.integers(0, 3, len(X)).astype(float), RNG.normal(size=len(X)))
    if kind == "softmax":
        args = (y - 1, RNG.normal(size=(7, 3)), np.zeros(3), *beside)
        check(*([class_loss(X, *args, want="gap")] * 2), class_loss(apart, *args, want="gap"), 1.0)
        return
    args, options = (y, RNG.normal(size=7) / 7, 0.3, *beside), {"options": OPTIONS.get(kind, ())}
    for call in (linear_loss, linear_hessian):
        check(*([call(kind, X, *args, **options)] * 2), call(kind, apart, *args, **options), 1.0)
    assert linear_excess(kind, X, *args, **options) == linear_excess(kind, apart, *args, **options)


@pytest.mark.parametrize("order", [1, 2])
def test_a_batch_of_columns_is_read_without_a_matrix(order):
    apart, y = Columns(list(np.asfortranarray(X).T), len(X)), np.arange(len(X)) % 2
    about = {"loss": Logistic(), "w": np.ones(7) / 9, "intercept": 0.1, "order": order}
    batch = ColumnBatch(apart, y, check=None)
    assert Curvature.of(batch, **about).distance(Curvature.of(Batch(X, y), **about)) == 0
    assert batch.columns is apart


@pytest.mark.parametrize("cell", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Poisson(), Huber()], ids=lambda loss: loss.name)
def test_cells_that_are_not_finite_bring_the_check_about(loss, cell):
    def check(matrix: Any) -> None:
        assert not np.isfinite(matrix).all()
        raise ValueError("seen")

    for weight in (None, np.append(0.0, np.ones(9))):
        bad = np.asfortranarray(X[:10]).copy(order="F")
        bad[0, 2] = cell
        for order in (1, 2):
            batch = ColumnBatch(Columns(list(bad.T), 10), np.arange(10) % 2, weight, check=check)
            with pytest.raises(ValueError, match="seen"):
                Curvature.of(batch, loss=loss, w=np.ones(7), intercept=0.0, order=order)


def test_slopes_that_no_conjugate_allows_prove_nothing():
    for kind in ("logistic", "squared_hinge", "huber"):
        options = OPTIONS.get(kind, ())
        found = linear_excess(
            kind, X[:9], np.ones(9), -np.ones(7), change=(-30.0, 0.0, 1.0, 1.0), options=options
        )
        assert found[0] == np.inf


def test_a_loss_wants_its_own_options():
    with pytest.raises(ValueError, match="options"):
        linear_loss("huber", X[:2], np.ones(2), np.ones(7))
    with pytest.raises(TypeError, match="columns"):
        linear_loss("logistic", X[:2].astype(int), np.ones(2), np.ones(7))


@each_form
@plain_or_weighted
@pytest.mark.parametrize("classes", [2, 3, 10, 13])
def test_softmax_as_the_twin(rows, plain, classes):
    n, p = rows.shape
    y, coef = RNG.integers(0, classes, n), RNG.normal(size=(p, classes))
    weight = RNG.integers(0, 3, n).astype(float)
    about = () if plain else (RNG.normal(size=classes), weight, RNG.normal(size=n))
    for want in ("gradient", "gap"):
        args = (rows, y, coef, *about)
        one_thread = class_loss(*args, want=want, _threads=1)
        check(class_loss(*args, want=want), class_loss_twin(*args, want=want), one_thread, n + 1)


def test_far_out_nothing_overflows_that_need_not():
    rows = np.array([[-800.0], [800.0]])
    found = linear_loss("logistic", rows, np.array([1.0, 1.0]), np.ones(1))
    assert found.value == 800.0
    np.testing.assert_array_equal(found.gradient, [800.0, -1.0])
    assert linear_loss("poisson", rows, np.zeros(2), np.ones(1)).value == np.inf
    assert linear_loss("poisson", -np.abs(rows), np.zeros(2), np.ones(1)).value == 0.0
    several = class_loss(rows, np.array([0, 0]), np.array([[1.0, 0.0]]))
    assert several.value == 800.0
    np.testing.assert_array_equal(several.gradient, [[800.0, -800.0], [-1.0, 1.0]])


def test_classes_that_tie_at_the_top_share_it():
    found = class_loss(np.ones((1, 1)), [1], np.array([[5.0, 5.0, -900.0]]))
    assert found.value == np.log(2.0)
    np.testing.assert_array_equal(found.gradient, [[0.5, -0.5, 0.0]] * 2)


def test_rows_of_weight_zero_may_hold_anything():
    bad = np.vstack([X[:50], np.full((1, 7), np.nan), np.full((1, 7), np.inf)])
    y, weight = np.append(np.arange(50) % 2, [1, 1]), np.append(np.ones(50), [0.0, 0.0])
    coef = RNG.normal(size=7)
    found = linear_loss("logistic", bad, y, coef, 0.1, weight, want="gap")
    check(found, linear_loss("logistic", X[:50], y[:50], coef, 0.1, want="gap"), found, 50)
    found = linear_hessian("logistic", bad, y, coef, 0.1, weight)
    check(found, linear_hessian("logistic", X[:50], y[:50], coef, 0.1), found, 50)
    several = np.stack([coef, -coef], axis=1)
    found = class_loss(bad, y, several, None, weight, want="gap")
    check(found, class_loss(X[:50], y[:50], several, want="gap"), found, 50)


LOSSES: dict[str, tuple[Any, Any]] = {
    "logistic": (Logistic(), RNG.integers(0, 2, len(X))),
    "poisson": (Poisson(), RNG.integers(0, 4, len(X))),
    "gamma": (Gamma(), RNG.uniform(0.1, 3.0, len(X))),
    "squared_hinge": (SquaredHinge(), RNG.choice([-1, 1], len(X))),
    "huber": (Huber(0.7, "unit", 0.5), RNG.normal(size=len(X))),
    "softmax": (Softmax(), RNG.integers(0, 3, len(X))),
}


def test_every_loss_with_a_kernel_is_tried_here():
    with_kernel = {name for name, loss in members("loss").items() if getattr(loss, "kernel", None)}
    assert with_kernel == set(LOSSES) == {*KINDS, "softmax"}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("form", ["C", "Fortran", "float32"])
@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "none"])
def test_objectives_use_it_and_agree_with_the_loss_alone(name, form, fit_intercept, monkeypatch):
    loss, y = LOSSES[name]
    outputs = 3 if name == "softmax" else None
    objective = Objective.of_arrays(
        FORMS[form][:2000], y[:2000], loss, NoPenalty(), fit_intercept=fit_intercept, outputs=outputs
    )
    assert takes(objective.rows.X)
    w = 0.2 * np.random.default_rng(1).normal(size=objective.shape)
    fused = [objective.at(w, order) for order in (0, 1, 2)]
    gap = duality_gap(objective, w)
    monkeypatch.setattr(type(loss), "kernel", None)
    alone, other = objective.at(w, 2), duality_gap(objective, w)
    for found in fused:
        np.testing.assert_allclose(found.value, alone.value, rtol=1e-12)
        if found.gradient.size:
            np.testing.assert_allclose(found.gradient, alone.gradient, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(fused[2].hessian, alone.hessian, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose([gap.primal, gap.gap], [other.primal, other.gap], rtol=1e-9)


@pytest.mark.parametrize("weight", [None, np.arange(300) % 3 * 0.5], ids=["plain", "weighted"])
def test_scores_that_all_rows_share_are_told_by_classes(weight):
    y, intercept = RNG.integers(0, 2, 300), np.array([0.3, -0.2, 5.0])
    batch = Batch(X[:300], y, weight)
    about = {"loss": Softmax(), "w": np.zeros((7, 3)), "intercept": intercept}
    found, right = Curvature.of(batch, **about, order=0), Curvature.of(batch, **about, order=1)
    np.testing.assert_allclose([found.weight, found.value], [right.weight, right.value], rtol=1e-13)


def test_a_code_outside_the_classes_is_refused():
    with pytest.raises(ValueError, match="outside the classes"):
        class_loss(X[:2], np.array([0, 5]), np.zeros((7, 2)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("canonical", [True, False], ids=["sorted", "doubled"])
def test_sparse_columns_give_the_products_of_rows(dtype, canonical):
    rng = np.random.default_rng(2)
    parts = rng.normal(size=400), (rng.integers(0, 60, 400), rng.integers(0, 30, 400))
    columns = sparse.coo_matrix(parts, shape=(60, 30)).tocsc().astype(dtype)
    if not canonical:  # the same entries, halved and stored twice, out of order
        order = np.concatenate([np.tile(np.arange(*ends)[::-1], 2) for ends in pairwise(columns.indptr)])
        data, indices = columns.data[order] / 2, columns.indices[order]
        columns = sparse.csc_matrix((data, indices, 2 * columns.indptr), shape=columns.shape)
    dense = columns.toarray().astype(np.float64)
    w, u = rng.normal(size=30) * (rng.random(30) < 0.5), rng.normal(size=60)
    np.testing.assert_allclose(scores(columns, w), dense @ w, atol=1e-13)
    np.testing.assert_allclose(pulled(columns, u), dense.T @ u, atol=1e-13)
    np.testing.assert_allclose(scores(columns.T, u), dense.T @ u, atol=1e-13)
    np.testing.assert_allclose(pulled(columns.T, w), dense @ w, atol=1e-13)
    about = {"loss": Logistic(), "w": w, "intercept": 0.1, "free": np.zeros((30, 0))}
    y, weight = rng.integers(0, 2, 60), rng.integers(0, 3, 60).astype(float)
    found = Slopes.of(Batch(columns, y, weight), **about)
    assert found.distance(Slopes.of(Batch(dense, y, weight), **about)) < 1e-12
