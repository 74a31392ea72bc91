"""Every convex pair that cvxpy can express, against Clarabel, an interior point method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from surefit import losses, penalties
from surefit.losses.base import Loss
from surefit.penalties.base import Penalty
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import solver_named, suited

ROWS, COLUMNS = 50, 5
G = np.diff(np.eye(COLUMNS), axis=0)
RNG = np.random.default_rng(11)
WEIGHTS = RNG.uniform(0.5, 2.0, size=COLUMNS)


def cases(kind: str, rng: np.random.Generator, z: np.ndarray) -> np.ndarray:
    """Draw targets of a kind around scores."""
    if kind == "signs":
        return np.where(z + rng.logistic(size=len(z)) > 0, 1.0, -1.0)
    if kind == "codes":
        return rng.integers(3, size=len(z))
    if kind == "counts":
        return rng.poisson(np.exp(np.clip(z, -2, 2))).astype(float)
    if kind == "amounts":
        return np.exp(z) * rng.gamma(2.0, 0.5, size=len(z)) + 0.01
    return z + rng.standard_t(3, size=len(z))


def margin(shape: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda y, z: shape(cp.multiply(y, z))


# The loss, the kind of its target, and its sum over rows for cvxpy, one entry a row.
LOSSES: list[tuple[Loss, str, Callable[[Any, Any], Any]]] = [
    (losses.Squared(), "numbers", lambda y, z: 0.5 * cp.square(y - z)),
    (losses.Absolute(), "numbers", lambda y, z: cp.abs(y - z)),
    (losses.Quantile(0.8), "numbers", lambda y, z: 0.8 * cp.pos(y - z) + 0.2 * cp.pos(z - y)),
    (losses.Huber(1.2), "numbers", lambda y, z: 0.5 * cp.huber(y - z, 1.2)),
    (losses.EpsilonInsensitive(0.3), "numbers", lambda y, z: cp.pos(cp.abs(y - z) - 0.3)),
    (
        losses.SquaredEpsilonInsensitive(0.3),
        "numbers",
        lambda y, z: SQUARED_TUBE * cp.square(cp.pos(cp.abs(y - z) - 0.3)),
    ),
    (losses.Logistic(), "signs", margin(lambda m: cp.logistic(-m))),
    (losses.Hinge(), "signs", margin(lambda m: cp.pos(1 - m))),
    (losses.SquaredHinge(), "signs", margin(lambda m: SQUARED_HINGE * cp.square(cp.pos(1 - m)))),
    (losses.ModifiedHuber(), "signs", margin(lambda m: cp.huber(cp.pos(1 - m), 2))),
    (losses.Perceptron(), "signs", margin(lambda m: cp.pos(-m))),
    (losses.Exponential(), "signs", margin(lambda m: cp.exp(-m))),
    (losses.Poisson(), "counts", lambda y, z: cp.exp(z) - cp.multiply(y, z)),
    (losses.Gamma(), "amounts", lambda y, z: z + cp.multiply(y, cp.exp(-z))),
    (
        losses.Tweedie(1.5),
        "amounts",
        lambda y, z: 2 * cp.multiply(y, cp.exp(-0.5 * z) - 1) + 2 * (cp.exp(0.5 * z) - 1),
    ),
    (
        losses.NegativeBinomial(1.0),
        "counts",
        lambda y, z: cp.multiply(y + 1, cp.logistic(z)) - cp.multiply(y, z),
    ),
    (
        losses.CumulativeLogit((-1.0, 1.0)),
        "codes",
        lambda y, z: (
            cp.multiply(y < 2, cp.logistic(z - np.where(y == 0, -1.0, 1.0)))
            + cp.multiply(y > 0, cp.logistic(np.where(y == 2, 1.0, -1.0) - z))
            - np.where(y == 1, np.log(-np.expm1(-2.0)), 0.0)
        ),
    ),
    (
        losses.Softmax(),
        "codes",
        lambda y, z: cp.log_sum_exp(z, axis=1) - cp.sum(cp.multiply(np.eye(3)[y], z), axis=1),
    ),
]
SQUARED_TUBE = float(losses.SquaredEpsilonInsensitive(0.0).value([0.0], [1.0])[0])
SQUARED_HINGE = float(losses.SquaredHinge().value([1.0], [0.0])[0])

# The penalty, and for cvxpy its value and constraints on a vector of coefficients.
PENALTIES: list[tuple[Penalty, Callable[[Any], tuple[Any, list[Any]]]]] = [
    (penalties.NoPenalty(), lambda w: (0.0, [])),
    (penalties.L1(0.05), lambda w: (0.05 * cp.norm1(w), [])),
    (
        penalties.L1(0.03, weights=WEIGHTS, positive=True),
        lambda w: (0.03 * cp.norm1(cp.multiply(WEIGHTS, w)), [w >= 0]),
    ),
    (penalties.L2(0.1), lambda w: (0.05 * cp.sum_squares(w), [])),
    (
        penalties.ElasticNet(0.1, l1_ratio=0.4),
        lambda w: (0.04 * cp.norm1(w) + 0.03 * cp.sum_squares(w), []),
    ),
    (
        penalties.GroupL1(0.05, groups=[[0, 1], [2, 3, 4]]),
        lambda w: (0.05 * (cp.norm2(w[:2]) + cp.norm2(w[2:])), []),
    ),
    (penalties.Tikhonov(G, 0.5), lambda w: (0.25 * cp.sum_squares(G @ w), [])),
    (penalties.NonNegative(), lambda w: (0.0, [w >= 0])),
    (penalties.Box(-0.2, 0.3), lambda w: (0.0, [w >= -0.2, w <= 0.3])),
    (penalties.L1Ball(0.8), lambda w: (0.0, [cp.norm1(w) <= 0.8])),
    (penalties.L2Ball(0.5), lambda w: (0.0, [cp.norm2(w) <= 0.5])),
    (penalties.Simplex(1.0), lambda w: (0.0, [w >= 0, cp.sum(w) == 1])),
    (penalties.HalfSpace(np.ones(COLUMNS), 0.2), lambda w: (0.0, [cp.sum(w) <= 0.2])),
    (
        penalties.AffineSubspace(np.ones((1, COLUMNS)), np.array([0.4])),
        lambda w: (0.0, [cp.sum(w) == 0.4]),
    ),
    (penalties.Monotone([[0, 1], [2, 3, 4]]), lambda w: (0.0, [w[1] >= w[0], w[3] >= w[2], w[4] >= w[3]])),
    (
        penalties.Ordered(penalties.L2(0.1), [[2, 3, 4]]),
        lambda w: (0.05 * cp.sum_squares(w), [w[3] >= w[2], w[4] >= w[3]]),
    ),
    (
        penalties.Restricted(penalties.L1(0.05), -0.2, 0.3),
        lambda w: (0.05 * cp.norm1(w), [w >= -0.2, w <= 0.3]),
    ),
    (
        penalties.GroupL1Within(penalties.GroupL1(0.05, groups=[[0, 1], [2, 3, 4]]), -0.2, 0.3),
        lambda w: (0.05 * (cp.norm2(w[:2]) + cp.norm2(w[2:])), [w >= -0.2, w <= 0.3]),
    ),
    (penalties.SmoothL1(0.05, tau=0.1), lambda w: (0.25 * cp.sum(cp.huber(w, 0.1)), [])),
]
PAIRS = [
    pytest.param(row, column, id=f"{loss.name}-{penalty.name}-{column}")
    for row, (loss, _, _) in enumerate(LOSSES)
    for column, (penalty, _) in enumerate(PENALTIES)
]


def test_every_convex_loss_and_penalty_is_here() -> None:
    from surefit.core.registry import members

    left_out = {"positive_semidefinite", "intersection"}  # projections that have certificates of their own
    for kind, here in (
        ("loss", {loss.name for loss, _, _ in LOSSES}),
        ("penalty", {p.name for p, _ in PENALTIES}),
    ):
        for name, cls in members(kind).items():
            made: Any = cls
            convex = made.convex if kind == "penalty" else next(iter(made.variants())).convex
            assert not convex or name in here | left_out, name


@pytest.mark.parametrize(("row", "column"), PAIRS)
def test_clarabel_finds_nothing_better_and_the_bound_is_below_it(row: int, column: int) -> None:
    loss, kind, of_rows = LOSSES[row]
    penalty, of_coefficients = PENALTIES[column]
    rng = np.random.default_rng([row, column])
    X = rng.normal(size=(ROWS, COLUMNS)) * rng.choice([0.5, 1.0, 2.0], size=COLUMNS)
    y = cases(kind, rng, 0.4 * X @ rng.normal(size=COLUMNS) + 0.2)
    s = rng.integers(1, 4, size=ROWS).astype(float)
    outputs = 3 if loss.name == "softmax" else None

    objective = Objective.of_arrays(X, y, loss, penalty, sample_weight=s, outputs=outputs)
    solution = solver_named(suited(objective)[0], tolerance=1e-7).solve(objective)
    assert solution.holds

    w = cp.Variable(COLUMNS if outputs is None else (COLUMNS, outputs))
    b = cp.Variable() if outputs is None else cp.Variable((1, outputs))
    parts = [
        of_coefficients(column) for column in ([w] if outputs is None else [w[:, k] for k in range(outputs)])
    ]
    if outputs is not None and penalty.name == "group_l1":  # a group is all entries of its rows
        parts = [(0.05 * (cp.norm(w[:2], "fro") + cp.norm(w[2:], "fro")), [])]
    z = X @ w + (b if outputs is None else np.ones((ROWS, 1)) @ b)
    total = cp.sum(cp.multiply(s, of_rows(y, z))) / s.sum() + sum(part for part, _ in parts)
    problem = cp.Problem(cp.Minimize(total), [rule for _, rules in parts for rule in rules])
    problem.solve(solver=cp.CLARABEL)
    assert problem.status in ("optimal", "optimal_inaccurate")

    scale = solution.certificate.parts["scale"]
    constant = _constant(loss, y, s)
    theirs = float(problem.value) + constant
    assert solution.value <= theirs + 1e-6 * max(scale, abs(theirs))
    bound = solution.value - solution.certificate.parts["gap"]
    assert bound <= theirs + 1e-7 * max(scale, abs(theirs), 1.0)


def _constant(loss: Loss, y: np.ndarray, s: np.ndarray) -> float:
    """Return what a loss keeps of the target alone and its expression for cvxpy leaves out."""
    if loss.name != "negative_binomial":
        return 0.0
    at_zero = loss.value(y, np.zeros(len(y))) - (y + 1) * np.log(2.0)
    return float(s @ at_zero / s.sum())
