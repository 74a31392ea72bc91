"""Squared loss with a penalty of single coefficients: one function chooses between columns and sums."""

import numpy as np
import pytest
from scipy import sparse

import surefit
from surefit.data.batches.batch import Batch
from surefit.losses.squared import Squared
from surefit.models.linear.squares import separable_penalty
from surefit.penalties.l1 import L1
from surefit.solvers.objective.base import Objective
from surefit.solvers.squares import coordinate_descent, problems

RNG = np.random.default_rng(0)
LONG = RNG.normal(size=(300, 10))  # so many rows that a Gram matrix costs less than passes
WIDE = RNG.normal(size=(30, 40))
COLUMNS = np.asfortranarray(RNG.normal(size=(10_000, 100)))  # whose passes cost less than their Gram matrix
FORMS = {
    "long": (LONG, "SquaredSums"),
    "long sparse": (sparse.csc_array(LONG * (LONG > 0)), "SquaredSums"),
    "wide": (WIDE, "SquaredColumns"),
    "columns": (COLUMNS, "SquaredColumns"),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_estimator_and_the_solver_ask_the_same_function(form, monkeypatch):
    X, expected = FORMS[form]
    y = X[:, [0]].sum(axis=1) + RNG.normal(size=X.shape[0])
    chosen = []

    def watched(*given, **named):
        found = problems.squared_problems(*given, **named)
        chosen.append([type(one).__name__ for one in found])
        return found

    monkeypatch.setattr(separable_penalty, "squared_problems", watched)
    monkeypatch.setattr(coordinate_descent, "squared_problems", watched)
    model = surefit.Lasso(alpha=0.1, tol=1e-9).fit(X, y)
    objective = Objective.of_arrays(X, y, Squared(), L1(0.1))
    solution = coordinate_descent.CoordinateDescent(tolerance=1e-9).solve(objective)
    assert chosen == [[expected], [expected]]
    assert model.certificate_.holds
    assert solution.holds
    # A gap of 1e-9 of the loss leaves coefficients within its root, as columns have about unit variance.
    np.testing.assert_allclose(solution.x[:-1], model.coef_, atol=1e-4)


def test_columns_serve_one_fit_alone():
    """Sums serve every penalty and target, passes over columns one of each."""
    rows = Batch(COLUMNS, COLUMNS[:, 0])
    assert problems.by_columns_is_faster(rows, single_fit=True)
    assert not problems.by_columns_is_faster(rows)
    assert not problems.by_columns_is_faster(Batch(COLUMNS, COLUMNS[:, :2]), single_fit=True)
