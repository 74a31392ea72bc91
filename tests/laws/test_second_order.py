"""The solvers that use second derivatives, or guess them: how many passes they take, and hard tables."""

from __future__ import annotations

import warnings
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from tests.laws.pieces import pieces
from tests.laws.problems import planted

from surefit import LinearModel
from surefit.core.errors import RefusalError
from surefit.data.batches.batch import Batch
from surefit.engine.serial import Serial
from surefit.losses import Absolute, Huber, Logistic, Poisson, Softmax, Squared
from surefit.penalties import L1, L2, GroupL1, NonNegative, NoPenalty, Restricted, Tikhonov
from surefit.solvers.first_order.lbfgs import Step, two_loops
from surefit.solvers.first_order.wolfe_line_search import FALLS, FLATTENS, strong_wolfe
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import choose, solver_named, suited

RNG = np.random.default_rng(0)
ROWS = 120
X = RNG.normal(size=(ROWS, 5))
Z = X @ [1.0, -2.0, 0.5, 0.0, 1.0] + 0.5
NUMBERS = Z + RNG.normal(size=ROWS)
CLASSES = (Z + RNG.logistic(size=ROWS) > 0).astype(float)
COUNTS = RNG.poisson(np.exp(0.3 * Z)).astype(float)
NEWTONS = ["newton", "proximal_newton"]
SMOOTH = [*NEWTONS, "lbfgs"]


def logistic(X=X, y=CLASSES, penalty=None, **options):
    return Objective.of_arrays(X, y, Logistic(), L2(0.01) if penalty is None else penalty, **options)


def solve(name, objective, tolerance=1e-9, **options):
    return solver_named(name, tolerance=tolerance, **options).solve(objective)


class TestPasses:
    @pytest.mark.parametrize("name", NEWTONS)
    def test_least_squares_take_one_step(self, name):
        found = solve(name, Objective.of_arrays(X, NUMBERS, Squared(), L2(0.1)))
        steps = np.abs(np.diff(found.trace.column("objective")))
        assert found.iterations == 2  # the step, and the proof that there is no other
        assert steps[0] <= 1e-14 * abs(found.value)

    @pytest.mark.parametrize(("name", "penalty"), [("newton", L2(0.01)), ("proximal_newton", L1(0.02))])
    def test_an_iteration_is_one_pass(self, name, penalty):
        found = solve(name, logistic(penalty=penalty))
        passes = found.trace.column("passes")
        unproved = np.isnan(found.trace.column("gap"))
        assert unproved.sum() >= 3
        assert (np.diff(passes[unproved]) == 1).all()

    def test_a_closed_form_is_one_pass_and_its_proof(self):
        objective = Objective.of_arrays(X, NUMBERS, Squared(), L2(0.1))
        proof = Objective.of_arrays(X, NUMBERS, Squared(), L2(0.1))
        found = solve("closed_form", objective)
        proof.certificate(found.x, 1e-9)
        assert objective.passes == proof.passes + 1

    @pytest.mark.parametrize("name", SMOOTH)
    def test_a_warm_start_is_proved_at_once(self, name):
        first = solve(name, logistic())
        again = solver_named(name, tolerance=1e-8).solve(logistic(), first.x)
        assert again.iterations == 1
        assert again.holds


@pytest.mark.parametrize("name", SMOOTH)
class TestForms:
    """The same answer, however the rows come."""

    def same(self, name, objective, expected):
        found = solve(name, objective)
        assert found.holds
        np.testing.assert_allclose(found.x, expected, rtol=1e-4, atol=1e-5)

    @pytest.fixture
    def expected(self, name):
        return solve(name, logistic(), 1e-12).x

    def test_orders_types_and_strides(self, name, expected):
        read_only = X.copy()
        read_only.flags.writeable = False
        for form in (np.asfortranarray(X), sparse.csr_array(X), np.repeat(X, 2, axis=1)[:, ::2], read_only):
            self.same(name, logistic(form), expected)
        self.same(name, logistic(X.astype(np.float32)), expected)

    def test_pieces(self, name, expected):
        source = pieces(X, CLASSES, cuts=((20, 20), (), (0, 67), (13,)))
        self.same(name, Objective(source, Serial(), Logistic(), L2(0.01)), expected)

    def test_weights_are_repetitions(self, name):
        times = np.random.default_rng(1).integers(0, 3, ROWS)
        rows = np.repeat(np.arange(ROWS), times)
        expected = solve(name, logistic(X[rows], CLASSES[rows]), 1e-12).x
        self.same(name, logistic(sample_weight=times.astype(float)), expected)


HARD = {
    "collinear": np.hstack([X, X[:, :2], X[:, :1] + X[:, 1:2]]),
    "constant": np.hstack([X, np.full((ROWS, 1), 7.0), np.zeros((ROWS, 1))]),
    "mean 1e6": X + 1e6,
    "columns of scales 1e-12 to 1e12": X * [1e-12, 1e-6, 1.0, 1e6, 1e12],
    "n < p": np.hstack([X, np.random.default_rng(5).normal(size=(ROWS, 150))]),
}


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("name", [*SMOOTH, "closed_form"])
def test_hard_tables_without_a_penalty(name, kind):
    targets = [(Squared(), NUMBERS)] if name == "closed_form" else [(Squared(), NUMBERS), (Poisson(), COUNTS)]
    for loss, y in targets:
        found = solve(name, Objective.of_arrays(HARD[kind], y, loss, NoPenalty()), 1e-7, max_iter=2000)
        assert found.holds, (loss, found.certificate)


@pytest.mark.parametrize("kind", ["collinear", "constant", "mean 1e6", "n < p"])
@pytest.mark.parametrize("penalty", [L1(0.05), NonNegative()], ids=["l1", "non-negative"])
def test_hard_tables_with_kinks_and_bounds(penalty, kind):
    for loss, y in ((Squared(), NUMBERS), (Logistic(), CLASSES)):
        found = solve("proximal_newton", Objective.of_arrays(HARD[kind], y, loss, penalty), 1e-7)
        assert found.holds, (loss, found.certificate)


@pytest.mark.parametrize("name", SMOOTH)
def test_one_row(name):
    found = solve(name, Objective.of_arrays(X[:1], [3.0], Poisson(), L2(0.1)))
    assert found.holds
    assert np.exp(found.x[:-1] @ X[0] + found.x[-1]) == pytest.approx(3.0, rel=1e-3)


@pytest.mark.parametrize("name", SMOOTH)
def test_curvature_that_vanishes(name):
    """All residuals are beyond the threshold, so that the Hessian is zero where the fit begins."""
    found = solve(name, Objective.of_arrays(X, 1e4 * NUMBERS, Huber(), L2(1e-7)), 1e-7)
    assert found.holds
    assert np.abs(found.x[:3]).min() > 1e3


def test_coupled_outputs_with_every_kind_of_penalty():
    y = np.digitize(Z, [-1.0, 1.0])
    groups = [0, 0, 1, 1, 2]
    for penalty in (NoPenalty(), L2(0.1), L1(0.02), GroupL1(0.05, groups=groups), Tikhonov(np.eye(5), 0.1)):
        found = solve("proximal_newton", Objective.of_arrays(X, y, Softmax(), penalty, outputs=3), 1e-7)
        assert found.x.shape == (6, 3)
        assert found.holds, penalty


class TestRefusals:
    def test_kinks(self):
        objective = Objective.of_arrays(X, NUMBERS, Absolute(), L2(0.1))
        for name in SMOOTH:
            with pytest.raises(RefusalError, match=f"solver '{name}' needs a differentiable loss"):
                solve(name, objective)

    def test_penalties_that_are_no_squares(self):
        for name in ("newton", "lbfgs"):
            with pytest.raises(
                RefusalError, match=r"quadratic \(L2\) penalty, which L1 is not: choose .*proximal_newton"
            ):
                solve(name, logistic(penalty=L1(0.1)))

    def test_another_loss_in_closed_form(self):
        with pytest.raises(RefusalError, match=r"the squared loss only, not the logistic loss: choose"):
            solve("closed_form", logistic())

    def test_more_columns_than_have_a_square(self):
        wide = Objective.of_arrays(sparse.csr_array((3, 6000)), [0, 1, 1], Logistic(), L2(1.0))
        with pytest.raises(RefusalError, match=r"at most 5000 coefficients, and there are 6001: choose"):
            solve("newton", wide)


class TestChoice:
    def test_by_loss_penalty_and_size(self):
        wide, large = sparse.csr_array((4, 800)), sparse.csr_array((900, 800))
        cases = {
            "closed_form": Objective.of_arrays(X, NUMBERS, Squared(), L2(0.1)),
            "coordinate_descent": Objective.of_arrays(X, NUMBERS, Squared(), L1(0.1)),
            "newton": logistic(),
            "proximal_newton": logistic(penalty=L1(0.1)),
            "row_newton": logistic(wide, [0, 1, 0, 1]),
            "lbfgs": logistic(large, np.arange(900) % 2),
            "column_newton": logistic(wide, [0, 1, 0, 1], L1(0.1)),
            "fista": logistic(wide, [0, 1, 0, 1], GroupL1(0.1, groups=np.arange(800) // 4)),
            "frisch_newton": Objective.of_arrays(X, NUMBERS, Absolute(), L2(0.1)),
            "primal_dual": Objective.of_arrays(X, NUMBERS, Absolute(), NonNegative()),
        }
        for name, objective in cases.items():
            assert choose(objective).name == name
            assert name in suited(objective)


class TestLineSearch:
    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(st.floats(-3, 3), st.floats(0.1, 100), st.floats(0.0, 5.0), st.floats(1e-3, 1e3))
    def test_both_conditions_hold(self, shift, width, tilt, first):
        def phi(t):
            u = (t - np.exp(shift)) / width
            return u * u + tilt * np.hypot(1.0, u), (2 * u + tilt * u / np.hypot(1.0, u)) / width

        value, slope = phi(0.0)
        found = strong_wolfe(phi, value, slope, first)
        assert found is not None
        assert found.value <= value + FALLS * found.step * slope + 1e-15 * abs(value)
        assert abs(found.slope) <= FLATTENS * abs(slope)

    def test_a_wall_is_stepped_back_from(self):
        def phi(t):
            return (-np.log(1.0 - t) - 3.0 * t, 1.0 / (1.0 - t) - 3.0) if t < 1.0 else (np.inf, np.nan)

        found = strong_wolfe(phi, 0.0, -2.0, 4.0)
        assert 0 < found.step < 1

    def test_no_step_uphill(self):
        assert strong_wolfe(lambda t: (t, 1.0), 0.0, -1e-3) is None


class TestTwoLoops:
    """Against the matrix that the recursion never forms."""

    def pairs(self, dimension=4, count=6):
        rng = np.random.default_rng(2)
        A = rng.normal(size=(dimension, dimension))
        A = A @ A.T + np.eye(dimension)
        return [Step(s, A @ s, 1.0 / (s @ A @ s)) for s in rng.normal(size=(count, dimension))]

    def test_it_is_bfgs(self):
        steps = self.pairs()
        newest = steps[-1]
        inverse = np.eye(4) / (newest.rho * newest.y @ newest.y)
        for step in steps:
            left = np.eye(4) - step.rho * np.outer(step.s, step.y)
            inverse = left @ inverse @ left.T + step.rho * np.outer(step.s, step.s)
        g = np.array([1.0, -2.0, 0.5, 3.0])
        np.testing.assert_allclose(two_loops(g, deque(steps)), inverse @ g, rtol=1e-10)
        np.testing.assert_allclose(two_loops(g, deque()), g)

    def test_the_newest_step_meets_the_secant_condition(self):
        steps = self.pairs()
        np.testing.assert_allclose(two_loops(steps[-1].y, deque(steps)), steps[-1].s, rtol=1e-9)


class TestNewtonByHand:
    @pytest.mark.covers("intro_to_ml:5.4", "intro_to_ml:A.11", by="LinearModel")
    def test_the_first_step(self):
        rows, y = np.array([[1.0, -1], [1, 0], [1, 1], [1, 2]]), np.array([0.0, 0, 1, 1])
        objective = Objective.of_arrays(rows, y, Logistic(), NoPenalty(), fit_intercept=False)
        here = objective.at(np.zeros(2), 2)
        np.testing.assert_allclose(4 * here.gradient, [0, -2], atol=1e-15)
        np.testing.assert_allclose(4 * here.hessian, [[1, 0.5], [0.5, 1.5]])
        first = solve("newton", objective, 1e-30, max_iter=1)
        np.testing.assert_allclose(first.x, [-0.8, 1.6], rtol=1e-12)
        with pytest.warns(ConvergenceWarning):
            model = LinearModel("logistic", solver="newton", fit_intercept=False, max_iter=1).fit(rows, y)
        np.testing.assert_allclose(model.coef_, [-0.8, 1.6], rtol=1e-12)

    @pytest.mark.covers("cs443:10.5", by="LinearModel")
    def test_four_rows_of_ones(self):
        expected = [1.0, 1.0963391238, 1.0986109988, 1.0986122887]
        for limit, w in enumerate(expected, 1):
            objective = Objective.of_arrays(
                np.ones((4, 1)), [1.0, 1, 1, 0], Logistic(), NoPenalty(), fit_intercept=False
            )
            found = solver_named("newton", tolerance=0.0, max_iter=limit).solve(objective)
            assert found.x[0] == pytest.approx(w, abs=1e-9)
            assert found.stopped == "limit"
            model = LinearModel("logistic", solver="newton", fit_intercept=False, max_iter=limit, tol=1e-15)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the last of the four has arrived
                model.fit(np.ones((4, 1)), [1, 1, 1, 0])
            assert model.coef_[0] == pytest.approx(w, abs=1e-9)


def test_a_batch_is_left_as_it_was():
    batch = Batch(X + 1e6, CLASSES)
    before = batch.X.copy()
    solve("newton", logistic(batch.X))
    np.testing.assert_array_equal(batch.X, before)


def test_columns_are_proved_where_rows_lie_beyond_the_threshold():
    """Such rows have no curvature, and so residuals in the model that are too large for sums of them."""
    objective = Objective.of_arrays(*planted(Huber()), Huber(), Restricted(L1(0.035), lower=0.0))
    found = solver_named("column_newton", tolerance=1e-10).solve(objective)
    assert found.certificate.holds, found.certificate
