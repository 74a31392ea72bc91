"""What holds for every method: it minimises what it takes, proves it, keeps its record, refuses clearly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import surefit
from surefit import Trace
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.registry import members
from surefit.losses import Logistic, Squared
from surefit.optimize import ConstrainedProblem, FunctionObjective, Shape, Terms, methods
from surefit.penalties import L2, Box, L2Ball, Simplex
from surefit.solvers.objective.base import Objective

METHODS: dict[str, Any] = dict(members("method"))
ON_FUNCTIONS = [name for name in methods() if name not in ("irls", "grid_search")]
ROUGH = {"stochastic_gradient": 1e-3, "subgradient": 1e-3}  # the others reach 1e-6 of the start's gradient

RNG = np.random.default_rng(5)
ROWS = RNG.normal(size=(30, 3))
TARGET = ROWS @ [1.0, -2.0, 0.5] + 0.1 * RNG.normal(size=30)
BEST = np.linalg.lstsq(ROWS, TARGET, rcond=None)[0]
CURVATURES = np.linalg.eigvalsh(ROWS.T @ ROWS / 30)
TERMS = Terms(30, lambda x, i: ROWS[i] * (ROWS[i] @ x - TARGET[i]))


def squares(x: np.ndarray) -> float:
    return float(np.mean((ROWS @ x - TARGET) ** 2) / 2)


def slope(x: np.ndarray) -> np.ndarray:
    return ROWS.T @ (ROWS @ x - TARGET) / 30


def fit(name: str, **options: Any) -> Any:
    if name == "penalty_method":
        options.setdefault("constraint", Box(-10, 10))
    if name in ROUGH:
        options.setdefault("tolerance", ROUGH[name])
    return surefit.minimize(
        squares, np.zeros(3), gradient=slope, terms=TERMS, solver=name, **{"tolerance": 1e-6, **options}
    )


@pytest.mark.parametrize("name", ON_FUNCTIONS)
def test_a_bowl_is_minimised_and_proved(name: str) -> None:
    options = {"decay": "harmonic", "normalize": False, "step": 2.0} if name == "subgradient" else {}
    found = fit(name, max_iter=3000, **options)
    assert found.holds, found.certificate.statement
    assert found.stopped == "certificate"
    scale = np.linalg.norm(slope(np.zeros(3))) * ROUGH.get(name, 1e-6) / CURVATURES[0]
    assert np.linalg.norm(found.x - BEST) <= 1.01 * scale
    assert found.value == pytest.approx(squares(found.x), rel=1e-12)
    assert len(found.trace) == found.iterations
    assert not found.diagnosis.findings


def binding(name: str) -> dict[str, Any]:
    """A set that the minimum is outside of, for the method that is done at once inside."""
    return {"constraint": L2Ball(0.5)} if name == "penalty_method" else {}


@pytest.mark.parametrize("name", ON_FUNCTIONS)
def test_a_limit_ends_it_and_the_diagnosis_says_so(name: str) -> None:
    found = fit(name, tolerance=1e-15, max_iter=2, **binding(name))
    if name in ("newton",):
        assert found.value - squares(BEST) <= 1e-15  # one step is enough for a bowl
        return
    assert found.iterations <= 2
    assert not found.holds
    assert "not-converged" in found.diagnosis.codes()


@pytest.mark.parametrize("name", ON_FUNCTIONS)
def test_a_callback_stops_it_and_the_points_are_kept(name: str) -> None:
    if name == "newton":
        return
    seen: list[int] = []
    found = fit(
        name,
        tolerance=1e-15,
        **binding(name),
        callback=lambda trace: seen.append(len(trace)) or len(trace) == 2,
        keep_points=True,
    )
    assert seen == [1, 2]
    assert found.stopped == "asked"
    points = [event.learned for event in found.trace]
    assert [point.shape for point in points] == [(3,), (3,)]


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("penalty_method", "grid_search")])
def test_methods_take_tables_too(name: str) -> None:
    penalty = L2(0.1)
    objective = Objective.of_arrays(ROWS, TARGET, Squared(), penalty, fit_intercept=False)
    exact = np.linalg.solve(ROWS.T @ ROWS / 30 + 0.1 * np.eye(3), ROWS.T @ TARGET / 30)
    options: dict[str, Any] = {"step": 2.0, "decay": "harmonic", "normalize": False}
    extra = options if name == "subgradient" else {}
    tolerance = ROUGH.get(name, 1e-6)
    found = METHODS[name](tolerance=tolerance, max_iter=3000, **extra).solve(objective)
    assert found.holds, found.certificate.statement
    assert found.value - objective.value(exact) <= tolerance * objective.scale


def forms() -> dict[str, tuple[Any, np.ndarray]]:
    """Tables that go wrong easily: other types and orders, more columns than rows, one row, constants."""
    rng = np.random.default_rng(6)
    frozen = ROWS.copy()
    frozen.flags.writeable = False
    return {
        "float32": (ROWS.astype(np.float32), TARGET),
        "sparse": (sparse.csr_array(ROWS * (np.abs(ROWS) > 0.5)), TARGET),
        "fortran": (np.asfortranarray(ROWS), TARGET),
        "read-only": (frozen, TARGET),
        "wide": (rng.normal(size=(5, 9)), rng.normal(size=5)),
        "one row": (ROWS[:1], TARGET[:1]),
        "constant and twice": (np.column_stack([ROWS, np.ones(30), ROWS[:, 0]]), TARGET),
    }


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("penalty_method", "grid_search")])
def test_tables_of_every_form_are_fitted(name: str) -> None:
    slow: dict[str, Any] = {"step": 1.0, "decay": "harmonic", "normalize": False}
    for form, (X, y) in forms().items():
        objective = Objective.of_arrays(X, y, Squared(), L2(0.1))
        solver = METHODS[name](
            tolerance=ROUGH.get(name, 1e-6), max_iter=3000, **(slow if name == "subgradient" else {})
        )
        found = solver.solve(objective)
        if name in ROUGH:  # they come near, and prove it late
            best = METHODS["newton"]().solve(objective).value
            assert found.value - best <= 0.02 * objective.scale, form
        else:
            assert found.holds, (form, found.certificate.statement)


def test_irls_agrees_with_newton_on_weighted_rows() -> None:
    from surefit.solvers.objective.solver import solver_named

    y, weight = (TARGET > 0).astype(float), np.arange(30) % 3 * 1.0
    y[:4] = 1 - y[:4]
    objective = Objective.of_arrays(ROWS, y, Logistic(), L2(0.05), sample_weight=weight)
    ours = METHODS["irls"](tolerance=1e-9).solve(objective)
    assert ours.holds
    np.testing.assert_allclose(ours.x, solver_named("newton", tolerance=1e-9).solve(objective).x, atol=1e-4)


@pytest.mark.parametrize("convex", [True, False])
def test_a_bound_is_never_below_the_true_gap(convex: bool) -> None:
    rng = np.random.default_rng(8)
    shape = Shape(convex=convex, strong_convexity=CURVATURES[0] if convex else 0.0)
    for penalty in (None, Box(-1, 1), Simplex()):
        objective = FunctionObjective(squares, np.zeros(3), gradient=slope, penalty=penalty, shape=shape)
        best = surefit.minimize(squares, np.zeros(3), gradient=slope, constraint=penalty, tolerance=1e-10)
        for _ in range(20):
            x = objective.prox(rng.normal(size=3), 1.0)
            proof = objective.certificate(x, 1e-6)
            if not convex:
                assert proof.claim == "stationary"
                continue
            assert proof.claim == "optimal"
            assert proof.parts["gap"] >= objective.value(x) - best.value - 1e-12
            assert proof.value == pytest.approx(proof.parts["gap"] / proof.parts["scale"])


def test_a_start_at_the_answer_takes_no_iteration() -> None:
    found = surefit.minimize(lambda x: x @ x + 3, [0.0, 0.0], gradient=lambda x: 2 * x)
    assert (found.iterations, found.holds, found.value) == (0, True, 3.0)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_units_do_not_matter(scale: float, offset: float) -> None:
    centre = np.array([1.0, -2.0])
    found = surefit.minimize(
        lambda x: scale * (np.sum((x - centre) ** 2 * [1, 100]) + offset),
        [4.0, 4.0],
        gradient=lambda x: scale * 2 * (x - centre) * [1, 100],
        tolerance=1e-6,
    )
    assert found.holds
    np.testing.assert_allclose(found.x, centre, atol=2e-3)


BROKEN = {
    "raises": (lambda x: 1 / 0, [1.0], DataError, "ZeroDivisionError"),
    "nan at the start": (lambda x: np.nan, [1.0], DataError, "not finite at the start"),
    "infinite at the start": (lambda x: np.inf, [1.0], DataError, "not finite"),
    "two numbers": (lambda x: [1.0, 2.0], [1.0], DataError, "returns 2 numbers"),
    "no number": (lambda x: "high", [1.0], DataError, "could not convert|returns|raised"),
    "start with NaN": (lambda x: 0.0, [np.nan], DataError, "finite numbers"),
    "empty start": (lambda x: 0.0, [], DataError, "one number for each variable"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_function_is_an_error_in_one_sentence(what: str) -> None:
    f, start, error, words = BROKEN[what]
    with pytest.raises(error, match=words) as raised:
        surefit.minimize(f, start)
    assert str(raised.value).endswith(".")


def test_broken_derivatives_and_options_are_named() -> None:
    with pytest.raises(DataError, match="gradient has shape \\(2,\\) for 1 variables"):
        surefit.minimize(lambda x: x @ x, [1.0], gradient=lambda x: [1.0, 2.0])
    with pytest.raises(DataError, match="hessian has shape"):
        surefit.minimize(lambda x: x @ x, [1.0], hessian=lambda x: np.eye(2))
    with pytest.raises(ParameterError, match="choose bfgs, coordinate_descent"):
        surefit.minimize(lambda x: x @ x, [1.0], solver="bgfs")
    with pytest.raises(ParameterError, match="does not accept these options"):
        surefit.minimize(lambda x: x @ x, [1.0], solver="bfgs", speed=3)
    with pytest.raises(ParameterError, match="step is -1"):
        surefit.minimize(lambda x: x @ x, [1.0], solver="gradient_descent", step=-1.0)
    with pytest.raises(RefusalError, match="a function with terms"):
        surefit.minimize(lambda x: x @ x, [1.0], solver="saga")
    with pytest.raises(RefusalError, match="needs a quadratic"):
        surefit.minimize(lambda x: x @ x, [1.0], constraint=Box(0, 1), solver="bfgs")
    with pytest.raises(RefusalError, match="not constraints that are functions"):
        surefit.minimize(ConstrainedProblem(lambda x: x @ x, lambda x: 1 - x), [2.0], solver="bfgs")
    with pytest.raises(RefusalError, match="a differentiable loss"):
        surefit.minimize(lambda x: abs(x[0]), [1.0], smooth=False, solver="bfgs")


def test_a_trial_outside_the_domain_only_shortens_the_step() -> None:
    def barrier(x: np.ndarray) -> float:
        return float(-6 * np.log(x[0]) - 4 * np.log(1 - x[0])) if 0 < x[0] < 1 else np.inf

    for name in ("bfgs", "gradient_descent", "newton", "lbfgs", "coordinate_descent"):
        found = surefit.minimize(barrier, [0.01], solver=name, tolerance=1e-7)
        assert found.x[0] == pytest.approx(0.6, abs=1e-5), name


def test_the_function_may_change_its_argument() -> None:
    def careless(x: np.ndarray) -> float:
        x -= 1
        return float(x @ x)

    assert surefit.minimize(careless, [5.0, 5.0]).x == pytest.approx([1.0, 1.0], abs=1e-6)


def test_solvers_of_rows_refuse_a_function() -> None:
    from surefit.solvers.objective.solver import solver_named

    objective = FunctionObjective(squares, np.zeros(3), gradient=slope)
    with pytest.raises(RefusalError, match="needs rows of data, and a function has none"):
        solver_named("newton").solve(objective, trace=Trace())
