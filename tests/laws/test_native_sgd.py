"""The per-sample kernels: each agrees with its twin, for every loss, penalty, rate and form of rows."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.sparse import csr_array

from surefit.core.native.linear.coefficient_set import CoefficientSet, pooled
from surefit.core.native.linear.row_loss import NAMES, row_loss_twin
from surefit.core.native.linear.sampled_steps import Samples, sampled_steps, sampled_steps_twin
from surefit.core.native.linear.sgd import RATES, SgdPlan, SgdState, sgd_epoch, sgd_epoch_twin
from surefit.core.registry import members

ROWS, COLUMNS = 30, 10
FORMS = {"dense": np.ascontiguousarray, "sparse": csr_array, "float32": np.float32}
each_loss = pytest.mark.parametrize("loss", NAMES)
each_form = pytest.mark.parametrize("form", FORMS)


def rows(loss, form):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(ROWS, COLUMNS)), 2) * (rng.random((ROWS, COLUMNS)) < 0.4)
    X = X.astype(np.float32).astype(np.float64)
    y = rng.poisson(2.0, ROWS).astype(float) if loss == "poisson" else np.sign(rng.normal(size=ROWS))
    return FORMS[form](X), y, rng


@each_loss
def test_twins_have_the_values_and_slopes_of_the_losses(loss):
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0]) if loss != "poisson" else np.arange(5.0)
    z = np.array([0.3, -2.5, -1.7, 0.4, 0.95])
    cls = members("loss")[loss]
    whole = cls(0.1) if loss == "huber" else cls()
    found = [row_loss_twin(loss, 0.1)(*pair) for pair in zip(y, z, strict=True)]
    np.testing.assert_allclose([value for value, _ in found], whole.value(y, z), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose([slope for _, slope in found], whole.gradient(y, z), rtol=1e-12, atol=1e-15)


@each_form
@each_loss
def test_an_epoch_is_that_of_its_twin(loss, form):
    X, y, rng = rows(loss, form)
    counts = rng.integers(0, 3, ROWS).astype(float)
    penalties = [(False, 0.0), (True, 0.0), (True, 0.3), (True, 1.0)]
    for rate, (penalised, ratio), average in itertools.product(RATES, penalties, (0, 1, 20)):
        plan = SgdPlan(loss, 0.1, 0.05, ratio, penalised, rate, 0.02, 0.5, 1000.0, True, 0.5, average)
        found = []
        for epoch in (sgd_epoch, sgd_epoch_twin):
            state, order = SgdState.start(COLUMNS, 0.02), np.arange(ROWS)
            sums = [epoch(X, y, counts, order, plan, state, shuffle=True, seed=7) for _ in range(2)]
            found.append((state, order, sums))
        (one, order, sums), (two, twin_order, twin_sums) = found
        np.testing.assert_array_equal(order, twin_order)
        assert sorted(order) == list(range(ROWS))
        for name in ("w", "mean", "paid", "scalars"):
            np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-10, atol=1e-12)
        for mine, its in zip(sums, twin_sums, strict=True):
            np.testing.assert_allclose(mine.objective, its.objective, rtol=1e-10)
            assert (mine.weight, mine.moves) == (its.weight, its.moves)


NONE, LEVELS = np.full(COLUMNS, np.inf), [[0, 3, 5], [9, 2]]
SETS = {
    "signs": CoefficientSet.of(np.zeros(COLUMNS), NONE),
    "narrow bounds": CoefficientSet.of(np.full(COLUMNS, -0.01), np.linspace(0.0, 0.02, COLUMNS)),
    "bounds without zero": CoefficientSet.of(np.linspace(0.005, 0.01, COLUMNS), np.full(COLUMNS, 0.03)),
    "fixed": CoefficientSet.of(np.linspace(-0.1, 0.1, COLUMNS), np.linspace(-0.1, 0.1, COLUMNS)),
    "levels": CoefficientSet.of(-NONE, NONE, LEVELS),
    "levels within bounds": CoefficientSet.of(np.full(COLUMNS, -0.02), np.full(COLUMNS, 0.01), LEVELS),
    "levels without zero": CoefficientSet.of(np.full(COLUMNS, -0.02), np.full(COLUMNS, -0.01), LEVELS),
}


def assert_exactly_within(held, w):
    assert np.all((w >= held.lower) & (w <= held.upper))
    for start, end in zip(held.starts[:-1], held.starts[1:], strict=True):
        assert np.all(np.diff(w[held.members[start:end]]) >= 0)


@pytest.mark.parametrize("kind", SETS)
@each_form
@pytest.mark.parametrize("loss", ["squared", "logistic", "perceptron"])
def test_an_epoch_within_a_set_is_that_of_its_twin(loss, form, kind):
    X, y, rng = rows(loss, form)
    counts, held = rng.integers(0, 3, ROWS).astype(float), SETS[kind]
    penalties = [(False, 0.0), (True, 0.0), (True, 0.3), (True, 1.0)]
    for rate, (penalised, ratio), average in itertools.product(RATES, penalties, (0, 1, 20)):
        plan = SgdPlan(
            loss, 0.1, 0.05, ratio, penalised, rate, 0.02, 0.5, 1000.0, True, 0.5, average, within=held
        )
        found = []
        for epoch in (sgd_epoch, sgd_epoch_twin):
            state, order = SgdState.start(COLUMNS, 0.02), np.arange(ROWS)
            state.w[:] = 0.1 * np.cos(np.arange(COLUMNS))  # not in the set
            sums = [epoch(X, y, counts, order, plan, state, shuffle=True, seed=7) for _ in range(2)]
            found.append((state, sums))
            assert_exactly_within(held, state.w)
            if average:
                assert_exactly_within(held, state.mean)
        (one, sums), (two, twin_sums) = found
        for name in ("w", "mean", "paid", "scalars"):
            np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-10, atol=1e-12)
        for mine, its in zip(sums, twin_sums, strict=True):
            np.testing.assert_allclose(mine.objective, its.objective, rtol=1e-10)
            assert (mine.weight, mine.moves) == (its.weight, its.moves)


@pytest.mark.parametrize("kind", SETS)
def test_a_projection_is_the_nearest_point_and_stays(kind):
    """The obtuse angle tells it: no point of the set is on the other side of the plane through it."""
    held, rng = SETS[kind], np.random.default_rng(3)
    for scale in (1e-12, 1.0, 1e12):
        far = scale * rng.normal(size=(20, COLUMNS))
        inside = [held.project(scale * rng.normal(size=COLUMNS)) for _ in range(20)]
        for point in far:
            near = held.project(point)
            assert_exactly_within(held, near)
            np.testing.assert_array_equal(held.project(near), near)
            # Products of ten numbers of this size, each rounded.
            blur = 100 * np.finfo(float).eps * scale * max(scale, 0.1)
            assert all((point - near) @ (other - near) <= blur for other in inside)


@pytest.mark.parametrize("seed", range(5))
def test_pooled_levels_are_those_of_isotonic_regression(seed):
    levels = np.random.default_rng(seed).normal(size=40)
    np.testing.assert_allclose(pooled(levels), isotonic_regression(levels).x, rtol=1e-12, atol=1e-14)


def test_a_coefficient_at_its_bound_pays_no_debts_of_the_other_side():
    """Steps led below the bound; an absolute penalty must not press the coefficient there for ever."""
    held = CoefficientSet.of(np.zeros(1), np.full(1, np.inf))
    plan = SgdPlan("squared", 0.0, 0.1, 1.0, True, "constant", 0.1, fit_intercept=False, within=held)
    for epoch in (sgd_epoch, sgd_epoch_twin):
        state, order = SgdState.start(1, 0.1), np.arange(100)
        epoch(np.ones((100, 1)), np.full(100, -1.0), None, order, plan, state)
        assert (state.w[0], state.paid[0]) == (0.0, -state.scalars[4])
        epoch(np.ones((100, 1)), np.full(100, 1.0), None, order, plan, state)
        np.testing.assert_allclose(state.w, 0.9, rtol=1e-3)  # 0.9^100 of the way from 0 is left


@pytest.mark.parametrize("mode", ["single", "batch", "decay", "total", "saga", "svrg"])
@each_form
@each_loss
def test_sampled_steps_are_those_of_their_twin(loss, form, mode):
    X, y, rng = rows(loss, form)
    dense = X.toarray() if form == "sparse" else X
    share, draws = rng.uniform(0.5, 1.5, ROWS), rng.integers(ROWS, size=150)
    memory = 0.3 * rng.normal(size=ROWS)
    lengths = np.full(150, 0.02) / (np.sqrt(1.0 + np.arange(150)) if mode == "decay" else 1.0)
    for l1, l2, low in itertools.product((0.0, 0.1), (0.0, 0.1), (-np.inf, 0.0)):
        intercept = ((l1 > 0) + (l2 > 0) + (low == 0)) % 2  # so that any three of the four meet in every way
        columns = (l1, l2, low, np.inf)
        names = ("l1", "l2", "lower", "upper")
        table = SimpleNamespace(**{n: np.full(COLUMNS, v) for n, v in zip(names, columns, strict=True)})
        found = []
        for steps in (sampled_steps, sampled_steps_twin):
            w, also = np.zeros(COLUMNS + intercept), {}
            if mode in ("batch", "decay", "total"):
                also["batch"] = 7
            if mode == "total":
                also["total"] = np.zeros_like(w)
            if mode in ("saga", "svrg"):
                beside = np.column_stack([dense, np.ones(ROWS)])[:, : len(w)]
                also |= {"memory": memory.copy(), "mean": beside.T @ memory / ROWS, "renew": mode == "saga"}
            steps(Samples(X, y, share, loss, 0.1), draws, lengths, table, w, **also)
            arrays = [also[name] for name in ("memory", "mean", "total") if name in also]
            found.append(np.concatenate([w, *arrays]))
        np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_bad_shape_is_refused(form):
    X, y, _ = rows("squared", form)
    state = SgdState.start(COLUMNS, 0.1)
    with pytest.raises(ValueError, match="one entry for each row"):
        sgd_epoch(X, y[1:], None, np.arange(ROWS), SgdPlan("squared"), state)
    with pytest.raises(ValueError, match="numbers of rows"):
        sgd_epoch(X, y, None, np.arange(ROWS) + 1, SgdPlan("squared"), state)
    with pytest.raises(ValueError, match="one entry for each column"):
        sgd_epoch(X, y, None, np.arange(ROWS), SgdPlan("squared"), SgdState.start(3, 0.1))
    few, free = CoefficientSet.of(np.zeros(3), np.ones(3)), (-NONE, NONE, np.arange(2))
    wrong = {
        "lower and upper": few,
        "columns of X": CoefficientSet.of(-NONE, NONE, [[0, COLUMNS]]),
        "from 0 to": CoefficientSet(*free, np.array([0, 1])),
        "must not fall": CoefficientSet(*free, np.array([0, 3, 2])),
    }
    for words, held in wrong.items():
        with pytest.raises(ValueError, match=words):
            sgd_epoch(X, y, None, np.arange(ROWS), SgdPlan("squared", within=held), state)


def test_steps_that_are_too_long_are_told():
    X, y, _ = rows("squared", "dense")
    state, order = SgdState.start(COLUMNS, 1e300), np.arange(ROWS)
    plan = SgdPlan("squared", eta0=1e300)
    found = [sgd_epoch(X, y, None, order, plan, state).objective for _ in range(3)]
    assert np.isinf(found[-1]) or np.isnan(found[-1])
