"""A forest checks its parameters once a fit, and judges trees before it packs them: calls are counted."""

import warnings

import numpy as np
import pytest
from tests.budget.calls import entered

import surefit
from surefit.core.errors import SurefitWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = {2: (X[:, 0] > 0).astype(int), 3: np.digitize(X[:, 1], [-0.5, 0.5]), 0: X[:, 0] - X[:, 1]}
FORESTS = [
    (surefit.RandomForestClassifier, 2),
    (surefit.ExtraTreesClassifier, 3),
    (surefit.RandomForestRegressor, 0),
    (surefit.ExtraTreesRegressor, 0),
]


@pytest.mark.parametrize(("cls", "target"), FORESTS)
@pytest.mark.parametrize("trees", [1, 25])
@pytest.mark.parametrize("settings", [{}, {"bootstrap": True, "oob_score": True}])
def test_parameters_are_checked_once_a_fit(cls, target, trees, settings):
    model = cls(trees, random_state=0, n_jobs=1, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SurefitWarning)
        found = entered(lambda: model.fit(X, Y[target]))
    assert found.count("validate") == 1


def test_parameters_are_checked_once_where_trees_are_added_or_not():
    model = surefit.RandomForestRegressor(10, random_state=0, n_jobs=1, warm_start=True).fit(X, Y[0])

    def add() -> None:
        model.n_estimators += 10
        model.fit(X, Y[0])

    assert entered(add).count("validate") == 1
    with pytest.warns(SurefitWarning, match="does not fit new trees"):
        assert entered(lambda: model.fit(X, Y[0])).count("validate") == 1


@pytest.mark.parametrize(("cls", "target"), FORESTS)
def test_trees_are_judged_as_they_were_grown(cls, target):
    """What the leaves of a packed tree say would have to be unpacked again."""
    model = cls(25, bootstrap=True, random_state=0, n_jobs=1)
    found = entered(lambda: model.fit(X, Y[target]))
    assert found.count("judge") == found.count("compact_forest") == 25
    assert found.count("said_by_leaves") == found.count("CompactForest.value") == 0
