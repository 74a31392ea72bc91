"""Linear and quadratic programmes against HiGHS, Clarabel and worked numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from tests.reference.programs import KINDS, arguments, clarabel_value, random_program

from surefit.core.errors import DataError, RefusalError
from surefit.core.trace import Trace
from surefit.optimize import (
    ConstrainedProblem,
    InfeasibleError,
    Multipliers,
    Program,
    UnboundedError,
    infeasibility_certificate,
    kkt_residuals,
    linear_program,
    optimality_certificate,
    quadratic_program,
)
from surefit.solvers.conditions.problem import prices_of_program
from surefit.solvers.program.data import Program as Data

EVERY = [pytest.param(kind, seed, id=f"{kind}-{seed}") for kind in KINDS for seed in range(12)]


def scale_of(program: Data, x: np.ndarray) -> float:
    """Return the size of the terms of the objective, which its digits are lost against."""
    return float(0.5 * abs(x @ (program.Q @ x)) + np.abs(program.c) @ np.abs(x))


@pytest.mark.parametrize(("kind", "seed"), EVERY)
def test_quadratic_programmes_are_solved_or_proved_to_have_no_minimum(kind: str, seed: int) -> None:
    program = random_program(kind, seed)
    status, value = clarabel_value(program)
    try:
        solution = quadratic_program(program.Q, program.c, **arguments(program))
    except UnboundedError as error:
        proof = error.certificate
        assert "DualInfeasible" in status
    else:
        proof = solution.certificate
        assert solution.verify().holds
        # What is scaled badly Clarabel knows to few digits, if at all.
        assert kind.startswith("scaled") or status == "Solved"
        apart = abs(solution.value - value) / max(scale_of(program, solution.x), 1.0)
        assert kind.startswith("scaled") or apart <= 1e-7
    assert proof.holds


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["scaled badly", "scaled tiny"])
def test_units_change_nothing_but_the_units(kind: str, seed: int) -> None:
    """Two to the power of anything multiplies exactly, so that the answers must agree to the last digits."""
    program = random_program("plain", seed)
    rng = np.random.default_rng(seed)
    columns = np.full(len(program.c), 2.0**40)
    if kind == "scaled badly":
        columns = 2.0 ** rng.integers(-27, 27, size=len(program.c))
    rows = 2.0 ** rng.integers(-27, 27, size=len(program.b_ub))
    scaled = replace(
        program,
        Q=program.Q * columns * columns[:, None],
        c=program.c * columns,
        A_ub=rows[:, None] * program.A_ub * columns,
        b_ub=rows * program.b_ub,
        A_eq=program.A_eq * columns,
        lower=program.lower / columns,
        upper=program.upper / columns,
    )
    one = quadratic_program(program.Q, program.c, **arguments(program))
    other = quadratic_program(scaled.Q, scaled.c, **arguments(scaled))
    assert other.value == pytest.approx(one.value, rel=1e-8, abs=1e-8 * scale_of(program, one.x))


@pytest.mark.parametrize(("kind", "seed"), EVERY)
def test_linear_programmes_agree_with_highs_and_with_our_interior_point(kind: str, seed: int) -> None:
    program = random_program(kind, seed, linear=True)
    plain = linprog(program.c, **{k: (v if len(v) else None) for k, v in arguments(program).items()})
    try:
        solution = linear_program(program.c, **arguments(program))
    except UnboundedError as error:
        proof = error.certificate
        assert plain.status == 3
        assert proof.holds
        return
    assert solution.certificate.holds
    size = scale_of(program, solution.x)
    inner = quadratic_program(np.zeros((len(program.c), len(program.c))), program.c, **arguments(program))
    assert abs(inner.value - solution.value) <= 1e-7 * size
    if not kind.startswith("scaled"):  # where the tolerances of HiGHS, which are absolute, mean nothing
        assert abs(plain.fun - solution.value) <= 1e-7 * max(size, 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_conditions_hold_at_the_answer_and_fail_elsewhere(kind: str) -> None:
    program = random_program(kind, 5)
    solution = quadratic_program(program.Q, program.c, **arguments(program))
    claimed = (program, solution.x, solution.multipliers)
    assert optimality_certificate(*claimed).value == solution.certificate.value
    moved = solution.x + 1e-3 * max(np.abs(solution.x).max(), 1e-12)
    assert not optimality_certificate(program, moved, solution.multipliers).holds
    cheaper = replace(program, c=program.c + 0.01 * np.abs(program.c).max())
    assert not optimality_certificate(cheaper, solution.x, solution.multipliers).holds
    largest = max(np.abs(solution.slackness).max(initial=0.0), 0.0)
    assert largest <= 1e-7 * max(scale_of(program, solution.x), abs(solution.value))
    assert solution.dual_value == pytest.approx(
        solution.value, rel=1e-6, abs=1e-6 * scale_of(program, solution.x)
    )
    assert np.all(solution.multipliers.ub >= 0)
    if kind == "plain":
        problem = ConstrainedProblem.of_program(program)
        assert kkt_residuals(problem, solution.x, *prices_of_program(program, solution.multipliers)).hold(
            1e-7
        )


def test_the_answer_is_given_to_the_last_digits() -> None:
    """Against the equations of the active constraints, solved apart."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(9, 6))
    Q, c, A, b = root.T @ root, rng.normal(size=6), rng.normal(size=(12, 6)), rng.random(12)
    solution = quadratic_program(Q, c, A, b)
    active = solution.multipliers.ub > 0
    assert 0 < active.sum() < 6
    system = np.block([[Q, A[active].T], [A[active], np.zeros((active.sum(), active.sum()))]])
    exact = np.linalg.solve(system, np.concatenate([-c, b[active]]))
    np.testing.assert_allclose(solution.x, exact[:6], rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.multipliers.ub[active], exact[6:], rtol=0, atol=1e-11)


@pytest.mark.covers("intro_to_ml:A.18", by="optimize.linear_program")
def test_the_worked_linear_programme() -> None:
    solution = linear_program([-1.0, -2.0], A_eq=[[1.0, 1.0]], b_eq=[42.0], bounds=(0, None))
    np.testing.assert_array_equal(solution.x, [0.0, 42.0])
    assert solution.value == -84.0
    # The same with the equation as two inequalities, and the signs as rows.
    rows = [[1.0, 1.0], [-1.0, -1.0], [-1.0, 0.0], [0.0, -1.0]]
    apart = linear_program([-1.0, -2.0], rows, [42.0, -42.0, 0.0, 0.0])
    np.testing.assert_allclose(apart.x, [0.0, 42.0], atol=1e-12)
    with pytest.raises(UnboundedError, match="decreases without limit along the direction"):
        linear_program([-1.0, -2.0], bounds=(0, None))
    with pytest.raises(InfeasibleError, match=r"A_eq\[0\] and bounds\[0, 1\] contradict"):
        linear_program([-1.0, -2.0], A_eq=[[1.0, 1.0]], b_eq=[-1.0], bounds=(0, None))


@pytest.mark.covers("intro_to_ml:A.19", by="optimize.quadratic_program")
def test_the_worked_quadratic_programme_is_convex_only_where_its_equation_holds() -> None:
    Q, c = [[4.0, 2.0], [2.0, 0.0]], [1.0, 0.0]
    rows, right = [[-1.0, 0.0], [0.0, -1.0], [-1.0, -1.0], [1.0, 1.0]], [0.0, 0.0, -1.0, 1.0]
    for solution in (
        quadratic_program(Q, c, rows, right),
        quadratic_program(Q, c, A_eq=[[1.0, 1.0]], b_eq=[1.0], bounds=(0, None)),
        quadratic_program(
            sparse.csr_matrix(Q), c, A_eq=sparse.csr_matrix([[1.0, 1.0]]), b_eq=[1.0], bounds=(0, None)
        ),
    ):
        np.testing.assert_allclose(solution.x, [0.0, 1.0], atol=1e-12)
        assert solution.value == pytest.approx(0.0, abs=1e-12)
        assert solution.certificate.holds
        assert solution.verify().holds
    with pytest.raises(
        RefusalError,
        match=r"eigenvalue -0\.828427 has the eigenvector \[-?0\.3827 -?0\.9239\]|\[-0\.3827  0\.9239\]",
    ):
        quadratic_program(Q, c, rows[:2], right[:2])


def test_an_equation_that_leaves_the_bend_is_no_help() -> None:
    with pytest.raises(RefusalError, match="also on the null space of its equations: its eigenvalue -1 has"):
        quadratic_program(np.diag([1.0, -1.0]), [0.0, 0.0], A_eq=[[1.0, 0.0]], b_eq=[1.0])
    fixed = quadratic_program(np.diag([1.0, -1.0]), [1.0, 1.0], bounds=[(None, None), (2.0, 2.0)])
    np.testing.assert_allclose(fixed.x, [-1.0, 2.0], atol=1e-12)
    assert fixed.verify().holds


def test_what_is_semidefinite_up_to_rounding_counts_as_convex() -> None:
    root = np.random.default_rng(1).normal(size=(2, 8)) * 1e6
    solution = quadratic_program(root.T @ root, np.zeros(8), bounds=(1, 2))
    assert solution.certificate.holds


@pytest.mark.covers("intro_to_ml:A.21", by="optimize.quadratic_program")
def test_the_nearest_point_to_the_origin() -> None:
    solution = quadratic_program(2 * np.eye(2), [0.0, 0.0], [[-2.0, -2.0]], [-4.0])
    np.testing.assert_allclose(solution.x, [1.0, 1.0], atol=1e-14)
    assert solution.value == pytest.approx(2.0, abs=1e-13)
    assert solution.multipliers.ub[0] == pytest.approx(1.0, abs=1e-13)
    assert solution.dual_value == pytest.approx(2.0, abs=1e-13)


@pytest.mark.covers("cs443:13.4", by="optimize.quadratic_program")
@pytest.mark.parametrize("strength", [0.3, 2.0])
def test_primal_and_dual_of_the_hinge_meet(strength: float) -> None:
    """The dual: max α'1 - α'YXX'Yα / 2λ with α in [0, 1]; w = X'Yα / λ reaches the same value."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], size=30)
    signed = y[:, None] * X
    dual = quadratic_program(signed @ signed.T / strength, -np.ones(30), bounds=(0, 1))
    w = signed.T @ dual.x / strength
    primal = np.maximum(1 - signed @ w, 0).sum() + 0.5 * strength * (w @ w)
    assert primal == pytest.approx(-dual.value, rel=1e-9)
    for _ in range(20):  # weak duality, at any pair
        alpha, other = rng.random(30), rng.normal(size=3)
        low = alpha.sum() - 0.5 / strength * np.sum((signed.T @ alpha) ** 2)
        assert low <= np.maximum(1 - signed @ other, 0).sum() + 0.5 * strength * (other @ other)


@pytest.mark.parametrize(
    "solve", [linear_program, lambda c, *rest: quadratic_program(np.eye(len(c)), c, *rest)]
)
def test_a_contradiction_is_proved(solve: Any) -> None:
    rng = np.random.default_rng(2)
    A = rng.normal(size=(6, 4))
    A = np.vstack([A, -A.sum(axis=0)])
    b = np.append(rng.normal(size=6), 0.0)
    b[6] = -b[:6].sum() - 1.0
    with pytest.raises(InfeasibleError, match=r"A_ub\[[\d, ]+(\.\.\.)?\] contradict each other") as caught:
        solve(rng.normal(size=4), A, b)
    certificate = caught.value.certificate
    mixture = certificate.witness["mixture"]
    program = Program.of(None, np.zeros(4), A, b)
    assert infeasibility_certificate(program, mixture).holds
    assert not infeasibility_certificate(replace(program, b_ub=b + 1.0), mixture).holds
    spoilt = Multipliers(mixture.ub * np.linspace(1, 1.1, 7), mixture.eq, mixture.lower, mixture.upper)
    assert not infeasibility_certificate(program, spoilt).holds


def test_contradicting_equations_of_rank_one_are_proved_in_any_unit() -> None:
    for unit in (1e-9, 1.0, 1e9):
        with pytest.raises(InfeasibleError, match=r"A_eq\[0, 1\] contradict"):
            quadratic_program(
                np.eye(2), [0, 0], A_eq=unit * np.array([[1.0, 1.0], [2.0, 2.0]]), b_eq=[unit, unit]
            )


@pytest.mark.parametrize("seed", range(4))
def test_sparse_gives_what_dense_gives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = 250, 120
    A = sparse.random(m, n, density=0.03, random_state=seed, format="csr")
    Q = sparse.random(n, n, density=0.01, random_state=seed + 9, format="csr")
    Q, c, b = Q @ Q.T, rng.normal(size=n), rng.random(m)
    thin = quadratic_program(Q, c, A, b, A[:3], 0.1 * b[:3], (-1, 1))
    full = quadratic_program(Q.toarray(), c, A.toarray(), b, A[:3].toarray(), 0.1 * b[:3], (-1, 1))
    assert thin.certificate.holds
    assert thin.value == pytest.approx(full.value, rel=1e-9)
    lined = linear_program(c, A, b, bounds=(-1, 1))
    assert lined.value == pytest.approx(linear_program(c, A.toarray(), b, bounds=(-1, 1)).value, rel=1e-10)
    bent = Q - sparse.diags(np.where(np.arange(n) == 7, 5.0, 0.0))
    with pytest.raises(RefusalError, match="not positive semidefinite: its eigenvalue -"):
        quadratic_program(bent, c)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_any_kind_of_array_goes_in_and_stays_as_it_was(dtype: Any) -> None:
    Q, c, A, b = np.eye(3) * 2, np.array([-2, -4, 0]), np.array([[1, 1, 1], [0, 1, 0]]), np.array([2, 1])
    for form in (lambda a: a, np.asfortranarray, lambda a: np.repeat(a, 2, axis=0)[::2]):
        given = [form(part.astype(dtype)) for part in (Q, c, A, b)]
        for part in given:
            part.flags.writeable = False
        solution = quadratic_program(*given)
        np.testing.assert_allclose(solution.x, [1.0, 1.0, 0.0], atol=1e-12)
        assert solution.x.dtype == np.float64


def test_small_ones() -> None:
    assert quadratic_program([[2.0]], [4.0]).x == pytest.approx([-2.0])
    assert quadratic_program([[0.0]], [0.0]).value == 0.0
    assert linear_program([0.0]).value == 0.0
    assert linear_program([3.0], bounds=(-2, 5)).x == pytest.approx([-2.0])
    assert quadratic_program(np.zeros((2, 2)), [1.0, 1.0], bounds=[(1, 1), (2, 2)]).x.tolist() == [1.0, 2.0]
    at_zero = quadratic_program(np.eye(2), [1.0, 1.0], A_eq=[[1.0, 1.0]], b_eq=[0.0])
    np.testing.assert_allclose(at_zero.x, 0.0, atol=1e-15)
    assert at_zero.certificate.holds


def test_the_search_is_on_the_trace_and_can_be_drawn() -> None:
    trace = Trace()
    solution = quadratic_program(np.eye(3), np.ones(3), [[1.0, 1.0, 1.0]], [-9.0], trace=trace)
    assert solution.trace is trace
    assert 2 <= len(trace) < 30
    assert trace.column("gap")[-1] < 1e-6 * trace.column("gap")[0]
    assert trace.column("objective")[-1] == pytest.approx(solution.value, rel=1e-6)
    assert trace.plot() is not None
    assert len(linear_program([1.0], bounds=(0, 1)).trace) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"c": [np.nan, 1.0]}, "c holds NaN or infinity"),
        ({"Q": np.eye(3)}, r"Q has shape \(3, 3\), but c has 2 entries"),
        ({"A_ub": [[1.0, np.inf]], "b_ub": [1.0]}, "A_ub holds NaN or infinity"),
        ({"A_ub": [[1.0, 1.0]]}, "A_ub is given without b_ub"),
        ({"A_eq": [[1.0, 1.0]], "b_eq": [1.0, 2.0]}, "A_eq has 1 rows and b_eq 2 entries"),
        ({"A_eq": [[1.0], [1.0, 2.0]], "b_eq": [1.0, 2.0]}, "A_eq must hold numbers only"),
        ({"bounds": (2, 1)}, r"bounds\[0\] is \(2, 1\), which no number is in"),
        ({"bounds": [(0, 1)] * 3}, "bounds must be one"),
        ({"c": []}, "c is empty"),
    ],
    ids=["nan", "shape", "infinite", "alone", "length", "ragged", "crossed", "count", "empty"],
)
def test_what_cannot_be_used_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        quadratic_program(**{"Q": np.eye(2), "c": [1.0, 1.0], **changes})
