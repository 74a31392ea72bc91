"""The outlook of the courses: regions of trust, SAGA, and other constraint qualifications."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import rosen

from surefit import minimize, optimize
from surefit.core.errors import DataError, ParameterError
from surefit.losses import Logistic
from surefit.penalties import L1
from surefit.solvers.methods.saga import Saga
from surefit.solvers.methods.trust_region import step_in_ball
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import choose


@pytest.mark.covers("intro_to_ml:A.22", by="minimize")
def test_a_region_of_trust_finds_minima_where_newton_would_climb():
    found = minimize(rosen, [-1.2, 1.0, 0.5], solver="trust_region")
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)
    assert found.holds
    # At the start of this one the Hessian is negative definite: a pure Newton step leads uphill.
    hill = minimize(lambda x: float(np.cos(x[0]) + 0.01 * x[0] ** 2), [0.3], solver="trust_region")
    assert hill.holds
    assert hill.value < -0.9


def test_the_step_in_a_ball_is_the_best_of_the_ball():
    rng = np.random.default_rng(0)
    for trial in range(20):
        A = rng.normal(size=(3, 3))
        H, g, radius = A + A.T, rng.normal(size=3) * (trial % 4 > 0), rng.uniform(0.1, 3.0)
        p = step_in_ball(H, g, radius)
        directions = rng.normal(size=(4000, 3))
        others = directions / np.linalg.norm(directions, axis=1, keepdims=True)
        others *= radius * rng.random((4000, 1)) ** (1 / 3)
        model = others @ g + 0.5 * np.einsum("ij,jk,ik->i", others, H, others)
        assert np.linalg.norm(p) <= radius * (1 + 1e-9)
        assert g @ p + 0.5 * p @ H @ p <= model.min() + 1e-9


@pytest.mark.covers("intro_to_ml:A.22", by="optimize.constraint_qualification")
def test_qualifications_beside_slaters():
    # Two inequalities that touch: multipliers exist and are bounded, but not unique.
    twice = optimize.ConstrainedProblem(lambda x: x[0], lambda x: np.array([-x[0], -2 * x[0]]))
    found = optimize.constraint_qualification(twice, [0.0, 1.0])
    assert (found.active, found.linear_independence, found.mangasarian_fromovitz) == ((0, 1), False, True)
    # Kuhn and Tucker's cusp has neither, and its minimum has no multipliers.
    cusp = optimize.ConstrainedProblem(lambda x: -x[0], lambda x: np.array([x[1] - (1 - x[0]) ** 3, -x[1]]))
    found = optimize.constraint_qualification(cusp, [1.0, 0.0])
    assert not found.mangasarian_fromovitz
    inside = optimize.constraint_qualification(cusp, [0.0, 0.5])
    assert inside.active == ()
    assert inside.linear_independence


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_saga_reaches_the_minimum_of_a_sparse_logistic_fit(sparse):
    from scipy.sparse import csr_array

    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.3)
    y = (X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=300) > 0).astype(float)
    objective = Objective.of_arrays(csr_array(X) if sparse else X, y, Logistic(), L1(0.01))
    best = choose(objective, tolerance=1e-10).solve(objective)
    found = Saga(tolerance=1e-8, max_iter=2000).solve(objective)
    assert found.holds
    assert found.value - best.value <= 1e-8
    assert ((found.x != 0) == (best.x != 0)).mean() > 0.9


def test_a_start_that_is_no_vector_is_told():
    for start in ("a", [1.0, "b"], [[1.0], [2.0, 3.0]], None, object()):
        with pytest.raises(DataError, match="x0"):
            minimize(rosen, start)
    with pytest.raises(ParameterError, match="radius"):
        minimize(rosen, [0.0, 0.0], solver="trust_region", radius=0.0)
