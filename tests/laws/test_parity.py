"""A class with a namesake in scikit-learn has its methods, their signatures and its fitted attributes."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from sklearn.utils.discovery import all_estimators
from tests.laws.estimators import CLASSES, table

PEERS = dict(all_estimators())
NAMESAKES = {name: cls for name, cls in CLASSES.items() if name in PEERS and ".prepare." in cls.__module__}
each_namesake = pytest.mark.parametrize("name", NAMESAKES)


def public_methods(model):
    """What can be called; asked of an instance, since some methods are there with some parameters only."""
    return {
        name: getattr(model, name)
        for name in dir(model)
        if not name.startswith("_") and inspect.ismethod(getattr(model, name, None))
    }


@each_namesake
def test_methods_and_their_parameters(name):
    """Ours may have more parameters, and a default where theirs has none."""
    given = settings(name)[0]
    ours, theirs = public_methods(NAMESAKES[name](**given)), public_methods(PEERS[name](**given))
    assert not set(theirs) - set(ours)
    for method, peer in theirs.items():
        mine = list(inspect.signature(ours[method]).parameters.values())
        for place, its in enumerate(inspect.signature(peer).parameters.values()):
            found = next((p for p in mine if p.kind is its.kind), None) if its.kind >= 2 else mine[place]
            if its.kind is its.VAR_KEYWORD:
                assert found is not None, f"{method} takes no further keywords"
                continue
            assert found.name == its.name, method
            assert found.default is its.default or found.default == its.default or its.default is its.empty
            assert found.kind is its.kind, method
        assert all(p.default is not p.empty or p.kind >= 2 for p in mine[place + 1 :]), method


def settings(name):
    given = {"add_indicator": True} if name == "SimpleImputer" else {}
    return [given, given | {"min_frequency": 3}] if "min_frequency" in parameters(name) else [given]


def parameters(name):
    return inspect.signature(PEERS[name].__init__).parameters


def fitted(cls, given, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls(**given).fit(X, y)


@each_namesake
def test_fitted_attributes(name):
    X, y = table(NAMESAKES[name], rows=40, columns=3)
    for given in settings(name):
        ours, theirs = fitted(NAMESAKES[name], given, X, y), fitted(PEERS[name], given, X, y)
        names = [a for a in dir(theirs) if a.endswith("_") and not a.startswith("_") and hasattr(theirs, a)]
        assert names
        for attribute in names:
            same(getattr(ours, attribute), getattr(theirs, attribute), attribute)


def same(mine, its, attribute):
    if isinstance(its, list):
        assert isinstance(mine, list), attribute
        for a, b in zip(mine, its, strict=True):
            same(a, b, attribute)
    elif isinstance(its, np.ndarray | np.number | int | float) and np.asarray(its).dtype.kind in "iuf":
        assert np.shape(mine) == np.shape(its), attribute
        np.testing.assert_allclose(mine, its, rtol=1e-10, atol=1e-12, err_msg=attribute)
    elif isinstance(its, np.ndarray):
        assert mine.tolist() == its.tolist(), attribute
    else:
        assert type(mine).__name__ == type(its).__name__, attribute


def test_no_namesake_is_forgotten():
    assert set(NAMESAKES) >= {
        *("StandardScaler", "MinMaxScaler", "RobustScaler", "OneHotEncoder", "OrdinalEncoder"),
        *("TargetEncoder", "SimpleImputer", "MissingIndicator", "PolynomialFeatures"),
    }
