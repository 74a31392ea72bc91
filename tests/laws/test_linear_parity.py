"""Defaults of linear models are those that scikit-learn announced; the guide says what solver names run."""

from __future__ import annotations

import inspect
import re
import warnings
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from sklearn.utils.discovery import all_estimators
from tests.laws.estimators import CLASSES

import surefit
from surefit.core.registry import members
from surefit.models.linear.squares import ridge_fit
from surefit.solvers.objective.solver import Solver

PEERS = dict(all_estimators())
LINEAR = {name: cls for name, cls in CLASSES.items() if cls.__module__.startswith("surefit.models.linear")}
NAMESAKES = sorted(set(LINEAR) & set(PEERS))
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(50, 4))
TARGET = np.abs(ROWS @ [1.0, 2.0, 0.0, 0.5] + RNG.normal(size=50)) + 0.1

# Defaults that scikit-learn warns of, and what it has announced for them.
ANNOUNCED = {
    "LogisticRegressionCV": {
        "l1_ratios": (0,),
        "scoring": "neg_log_loss",
        "use_legacy_attributes": False,
    }
}


def of(cls: Any) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(cls).parameters)


def target_of(cls: Any) -> Any:
    return TARGET > 1.5 if hasattr(cls, "decision_function") else TARGET


@pytest.mark.parametrize("name", NAMESAKES)
def test_defaults_that_warn_mean_what_is_announced(name):
    ours, theirs = LINEAR[name], PEERS[name]
    given = {"estimator": PEERS["RidgeClassifier"]()} if "estimator" in of(theirs) else {}
    target = np.column_stack([TARGET, TARGET]) if name.startswith("MultiTask") else target_of(theirs)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        theirs(**given).fit(ROWS, target)
    warned = " ".join(str(each.message) for each in told if issubclass(each.category, FutureWarning))
    announced = ANNOUNCED.get(name, {})
    assert bool(warned) == bool(announced), warned
    assert all(key in warned for key in announced)
    if not announced:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain, said = ours().fit(ROWS, target), ours(**announced).fit(ROWS, target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = theirs(**announced).fit(ROWS, target)
    for attribute in ("coef_", "C_", "l1_ratio_", "scores_", "coefs_paths_"):
        np.testing.assert_array_equal(getattr(plain, attribute), getattr(said, attribute))
        assert np.shape(getattr(plain, attribute)) == np.shape(getattr(peer, attribute))
    assert plain.score(ROWS, target) == said.score(ROWS, target)


def table_of_guide() -> list[tuple[list[str], list[str], str]]:
    """Estimators, solver names and what they run, row by row."""
    text = (Path(surefit.__file__).parents[2] / "docs" / "solvers.md").read_text(encoding="utf-8")
    section = text.split("## What each estimator's names run")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return [
        (re.findall(r"`(\w+)`", who), re.findall(r'`"([^"]+)"`', names), runs) for who, names, runs in rows
    ]


GUIDE = table_of_guide()
WITH_SOLVER = sorted(name for name, cls in LINEAR.items() if "solver" in of(cls))
OPEN = {"LinearModel", "GeneralizedLinearRegressor"}  # take the name of any algorithm


def accepted(name: str) -> set[str]:
    annotation = inspect.signature(LINEAR[name], eval_str=True).parameters["solver"].annotation
    return set(get_args(annotation))


def test_the_guide_names_every_solver_of_every_estimator():
    assert {name for who, _, _ in GUIDE for name in who} == set(WITH_SOLVER)
    for name in set(WITH_SOLVER) - OPEN:
        listed = [solver for who, names, _ in GUIDE if name in who for solver in names]
        assert sorted(listed) == sorted(accepted(name)), name


def test_the_guide_lists_every_algorithm():
    text = (Path(surefit.__file__).parents[2] / "docs" / "solvers.md").read_text(encoding="utf-8")
    rows = re.findall(r'^\| `"(\w+)"` \|', text, re.MULTILINE)
    assert sorted(rows) == sorted(members("solver"))


CASES = [
    (name, solver, runs) for who, names, runs in GUIDE for name in who for solver in names if name not in OPEN
]


@pytest.mark.parametrize(("name", "solver", "runs"), CASES, ids=[f"{a}-{b}" for a, b, _ in CASES])
def test_a_solver_name_runs_what_the_guide_says(name, solver, runs, monkeypatch):
    ran = []
    require, fit = Solver.require, ridge_fit.fit

    def told(self, objective):
        ran.append(self.name)
        return require(self, objective)

    def solved(*given, **options):
        found = fit(*given, **options)
        ran.append(found.method)
        return found

    monkeypatch.setattr(Solver, "require", told)
    monkeypatch.setattr(ridge_fit, "fit", solved)
    cls = LINEAR[name]
    also = {"positive": True} if solver == "lbfgs" and "positive" in of(cls) else {}
    also |= {"Cs": 2, "cv": 2} if name.endswith("CV") else {}
    target = target_of(cls)
    model = cls(solver=solver, **also)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(ROWS, target)
    assert ran
    assert set(ran) <= set(re.findall(r"`([\w ]+)`", runs)), ran


@pytest.mark.parametrize("name", sorted(OPEN))
def test_an_open_name_runs_that_algorithm(name):
    model = LINEAR[name](solver="lbfgs").fit(ROWS, TARGET)
    assert (model.solver_used_ if name.startswith("General") else model.solver_) == "lbfgs"
