"""Members of a bagging that look at their cells themselves, take more dimensions, or cannot predict."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import surefit
from surefit import BaggingClassifier, BaggingRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from surefit.core.errors import ParameterError
from surefit.models.tree.ensembles.bagging.errors import MemberErrors


class Silent(BaseEstimator):
    """A model that remembers its rows, and predicts nothing."""

    def fit(self, X, y):
        self.X_, self.y_ = X, y


class Evasive(Silent):
    """The same, with a method that says so."""

    def predict(self, X):
        raise NotImplementedError


class Unlearned(DecisionTreeRegressor):
    """A tree of surefit whose fit is someone else's, and learns nothing."""

    def fit(self, X, y):
        self.y_ = y


@pytest.mark.parametrize("member", [Silent(), Evasive(), Unlearned()])
def test_members_that_cannot_predict_are_fitted_and_the_certificate_says_so(member):
    X, y = np.arange(26.0).reshape(13, 2), np.arange(13.0)
    model = BaggingRegressor(member, 3).fit(X, y)
    for own, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        np.testing.assert_array_equal(own.y_, y[rows])
    assert "no error could be estimated" in model.certificate_.statement
    assert np.isnan(model.loss_curve_).all()
    assert surefit.verify(model, X, y).holds
    with pytest.raises(ParameterError, match="cannot predict"):
        BaggingRegressor(member, 3, oob_score=True).fit(X, y)
    with pytest.raises((NotImplementedError, ValueError)):
        model.predict(X)


def test_members_that_predict_are_judged_beside_none_that_do_not():
    errors = MemberErrors(np.zeros((2, 1)), np.ones(2), by_class=False)
    errors.add(np.array([True, True]), None)
    assert errors.add(np.array([True, False]), np.array([[3.0]])) == 9.0
    assert errors.unanswered == 1


def filled(X):
    """Numbers of cells of any kind."""
    found = np.array([[np.nan if cell in (None, "?") else cell for cell in row] for row in X], dtype=float)
    return np.where(np.isfinite(found), found, 0.0)


@pytest.mark.parametrize("classify", [False, True])
def test_cells_of_any_kind_reach_a_pipeline_that_looks_at_them_itself(classify):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(60, 3))
    y = (numbers[:, 0] > 0).astype(int) if classify else numbers[:, 0]
    cells = numbers.astype(object)
    cells[::5, 1], cells[1::5, 1], cells[2::5, 2], cells[3::5, 2] = None, "?", np.inf, -np.inf
    tree = DecisionTreeClassifier() if classify else DecisionTreeRegressor()
    make = BaggingClassifier if classify else BaggingRegressor
    model = make(make_pipeline(FunctionTransformer(filled), tree), 5, max_features=2).fit(cells, y)
    plain = make(make_pipeline(FunctionTransformer(), tree), 5, max_features=2).fit(filled(cells), y)
    np.testing.assert_array_equal(model.predict(cells), plain.predict(filled(cells)))
    np.testing.assert_array_equal(model.loss_curve_, plain.loss_curve_)
    assert surefit.verify(model, cells, y).holds
    with pytest.raises(ValueError, match="2 features"):
        model.predict(cells[:, :2])
    with pytest.raises(ValueError, match=r"infinity|'\?'"):  # a tree does not take them
        make(make_pipeline(tree), 5).fit(cells, y)


def test_a_bag_of_one_class_is_filled_by_the_steps_of_its_pipeline():
    cells = np.array([[1, None], [2, 3.0], [np.inf, 4.0], [5, "?"]], dtype=object)
    model = BaggingClassifier(make_pipeline(FunctionTransformer(filled), DecisionTreeClassifier()), 20)
    model.fit(cells, list("abbb"))
    assert {len(member.classes_) for member in model.estimators_} == {1, 2}
    assert model.predict_proba(cells).shape == (4, 2)


def test_rows_of_more_dimensions_reach_members_of_another_library():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3, 2)), rng.normal(size=40)
    flat = FunctionTransformer(lambda rows: rows.reshape(len(rows), -1))
    model = BaggingRegressor(make_pipeline(flat, KNeighborsRegressor()), 4).fit(X, y)
    plain = BaggingRegressor(KNeighborsRegressor(), 4).fit(X.reshape(40, 6), y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X.reshape(40, 6)))
    assert BaggingRegressor(DummyRegressor(), 2, max_features=2).fit(X, y).n_features_in_ == 3
    with pytest.raises(ValueError, match="dim 3"):
        BaggingRegressor(DecisionTreeRegressor(), 2).fit(X, y)
