"""The Newton step beside a gap: it leads from where coefficients are to where the best are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.laws.estimators import table

import surefit
from surefit.core.certificate import STEP
from surefit.losses.absolute import Absolute
from surefit.losses.squared import Squared
from surefit.penalties.elastic_net import ElasticNet
from surefit.penalties.l1 import L1
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.newton_step import newton_step

MODELS = [
    surefit.Lasso(alpha=0.2, tol=1e-10),
    surefit.ElasticNet(alpha=0.2, tol=1e-10, positive=True),
    surefit.PoissonRegressor(tol=1e-10),
    surefit.GammaRegressor(tol=1e-10),
    surefit.LogisticRegression(tol=1e-10),
    surefit.HuberRegressor(tol=1e-10),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_step_leads_back_from_a_slight_change(model: Any) -> None:
    X, y = table(type(model), rows=200)
    X = X * [1.0, 10.0, 0.1, 1.0] + [0.0, 0.0, 0.5, 1.0]  # units and offsets do not matter
    model.fit(X, y)
    rest = surefit.verify(model, X, y)
    assert rest.parts[STEP] < 1e-5
    best = model.coef_.copy()
    model.coef_ = best * (1 + 1e-5 * np.arange(best.size).reshape(best.shape))
    model.certificate_ = surefit.core.certificate.Certificate("optimal", "gap", 0.0, 1.0)  # states nothing
    found = surefit.verify(model, X, y)
    steps = found.witness["steps"][:-1].T.reshape(best.shape)
    np.testing.assert_allclose(model.coef_ + steps, best, rtol=2e-6, atol=2e-6 * np.abs(best).max())
    assert 1e-7 < found.parts[STEP] < 1.0


def test_coefficients_that_are_held_at_zero_do_not_move_and_others_come_free() -> None:
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(80, 3)), rng.normal(size=80)
    y = 2 * X[:, 0] + 0.01 * noise
    objective = Objective.of_arrays(X, y, Squared(), L1(0.5))
    steps = newton_step(objective, np.array([1.5, 0.0, 0.0, 0.0])).steps
    assert (steps[1:3] == 0).all()
    assert steps[0] != 0
    assert newton_step(objective, np.zeros(4)).steps[0] > 1.0  # its slope is beyond the strength


def test_a_bound_holds_a_coefficient_only_against_its_slope() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    down = Objective.of_arrays(X, -X[:, 0], Squared(), ElasticNet(0.1, l1_ratio=0.0, positive=True))
    up = Objective.of_arrays(X, X[:, 0], Squared(), ElasticNet(0.1, l1_ratio=0.0, positive=True))
    assert newton_step(down, np.zeros(2)).steps[0] == 0
    assert newton_step(up, np.zeros(2)).steps[0] > 0.5


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, np.asfortranarray, lambda X: pd.DataFrame(X)])
def test_any_form_of_the_rows_has_the_same_step(form: Any) -> None:
    X, y = table(surefit.Lasso, columns=6)
    X *= np.abs(X) > 0.5
    wanted = surefit.verify(surefit.Lasso(alpha=0.05).fit(X, y), X, y).witness["steps"]
    other = surefit.Lasso(alpha=0.05).fit(form(X), y)
    found = surefit.verify(other, form(X), y)
    assert found.holds
    assert STEP in found.parts
    np.testing.assert_allclose(found.witness["steps"], wanted, atol=1e-9)


def test_there_is_none_for_a_loss_with_kinks() -> None:
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0])
    assert newton_step(Objective.of_arrays(X, y, Absolute(), NoPenalty()), np.zeros(2)) is None


def test_a_weak_signal_is_solved_as_closely_as_a_strong_one() -> None:
    """Wide, so that coefficients are found from columns, and next to nothing of the target is in them."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 400))
    y = rng.normal(size=60)
    largest = np.abs(X.T @ (y - y.mean())).max() / 60
    model = surefit.Lasso(alpha=0.98 * largest).fit(X, y)
    assert model.coef_.any()
    gained = model.certificate_.parts["scale"] - model.certificate_.parts["objective"]
    assert 0 < gained < 0.01 * model.certificate_.parts["scale"]
    assert (
        model.certificate_.parts["gap"] <= 1e-4 * gained or gained < 1e-4 * model.certificate_.parts["scale"]
    )
    assert surefit.verify(model, X, y).parts[STEP] < 0.01
