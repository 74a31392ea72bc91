"""Missing values: surrogate splits, rows that go both ways, and what each does on worked tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import surefit
from surefit import DecisionTreeClassifier, DecisionTreeRegressor
from surefit.core.errors import ParameterError, RefusalError


def twins(rows=200, gone=0.2, seed=0):
    """A column, a copy of it with noise, one turned round, and one of no use; the class follows the first."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    X = np.column_stack(
        [x, x + 0.2 * rng.normal(size=rows), -x + 0.6 * rng.normal(size=rows), rng.normal(size=rows)]
    )
    y = (x > 0.1).astype(int)
    hidden = rng.random(rows) < gone
    X[hidden, 0] = np.nan
    return X, y, hidden


@pytest.mark.covers("ml_for_data_science:2.2.5", by="DecisionTreeClassifier")
def test_surrogates_are_ranked_by_agreement_and_used_in_turn():
    X, y, hidden = twins()
    model = DecisionTreeClassifier(missing="surrogate", max_depth=1).fit(X, y)
    assert model.tree_.feature[0] == 0
    assert model.surrogate_column_[:2].tolist() == [1, 2]
    assert model.surrogate_turned_[:2].tolist() == [0, 1]
    agreement = model.surrogate_agreement_[model.surrogate_node_ == 0]
    assert (np.diff(agreement[agreement > 0]) <= 0).all()
    known = ~hidden
    left = X[known, 0] <= model.node_threshold_[0]
    first = X[known, 1] <= model.surrogate_threshold_[0]
    assert agreement[0] == pytest.approx(np.mean(left == first))
    assert surefit.verify(model, X, y).holds
    learned = DecisionTreeClassifier(max_depth=1).fit(X, y)
    assert np.mean(model.predict(X[hidden]) == y[hidden]) > 0.85
    assert model.score(X, y) > learned.score(X, y)
    blank = np.full((1, 4), np.nan)
    majority = 1 if model.tree_.missing_go_to_left[0] else model.node_right_[0]
    assert model.apply(blank)[0] == majority
    second = np.array([[np.nan, np.nan, -3.0, 0.0]])
    assert model.apply(second)[0] == model.node_right_[0]


def test_fractional_rows_go_both_ways():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan]])
    y = np.array([0, 0, 0, 1, 1])
    model = DecisionTreeClassifier(missing="fractional", max_depth=1).fit(X, y)
    assert model.node_threshold_[0] == 2.5
    assert model.tree_.n_node_samples.tolist() == [5, 4, 2]  # one row is on both sides
    assert model.tree_.weighted_n_node_samples.tolist() == pytest.approx([5.0, 3.75, 1.25])
    value = model.tree_.value[:, 0]
    assert value[1].tolist() == pytest.approx([3 / 3.75, 0.75 / 3.75])
    mixture = 0.75 * value[1] + 0.25 * value[2]
    np.testing.assert_allclose(model.predict_proba([[np.nan]])[0], mixture)
    assert surefit.verify(model, X, y).holds


@pytest.mark.parametrize("missing", ["surrogate", "fractional"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"])
def test_detours_are_verified_saved_and_the_same_without_gaps(missing, criterion, tmp_path):
    X, y, _ = twins(rows=120)
    number = criterion in ("squared_error", "absolute_error", "poisson")
    cls = DecisionTreeRegressor if number else DecisionTreeClassifier
    target = np.exp(np.nan_to_num(X[:, 1])) if number else y
    model = cls(missing=missing, criterion=criterion, max_depth=3).fit(X, target)
    assert surefit.verify(model, X, target).holds
    other = target.copy()
    other[0] = target[target != target[0]][0]
    assert not surefit.verify(model, X, other).holds
    model.node_threshold_[0] += 1e-3
    assert not surefit.verify(model, X, target).holds
    model.node_threshold_[0] -= 1e-3
    surefit.save(model, tmp_path / "m.safetensors")
    np.testing.assert_array_equal(surefit.load(tmp_path / "m.safetensors").predict(X), model.predict(X))
    whole = np.nan_to_num(X)
    one, two = (
        cls(missing=m, criterion=criterion, max_depth=3).fit(whole, target) for m in (missing, "learned")
    )
    np.testing.assert_allclose(one.predict(whole), two.predict(whole), rtol=1e-12)


@pytest.mark.parametrize("seed", [0, 6])
def test_medians_of_shares_that_add_up_to_half_are_proved(seed):
    """Shares of rows add up to half of a leaf but for their rounding, which fit and proof round in turn."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 4))
    y = X[:, 0] + rng.normal(size=120)
    X[rng.random(X.shape) < 0.15] = np.nan
    asked = {"criterion": "absolute_error", "missing": "fractional", "min_samples_leaf": 3}
    model = DecisionTreeRegressor(**asked).fit(X, y)
    assert surefit.verify(model, X, y).holds


def test_surrogates_of_levels():
    rng = np.random.default_rng(0)
    kind = rng.choice(list("abcd"), 150)
    y = np.isin(kind, ["a", "c"]).astype(int)
    frame = pd.DataFrame({"kind": pd.Categorical(kind), "size": y + 0.1 * rng.normal(size=150)})
    frame["kind"] = frame["kind"].where(rng.random(150) > 0.3)
    model = DecisionTreeClassifier(missing="surrogate", max_depth=1).fit(frame, y)
    assert surefit.verify(model, frame, y).holds
    assert model.score(frame, y) == 1.0


def test_what_detours_do_not_go_with_is_refused():
    X, y, _ = twins(rows=40)
    with pytest.raises(ParameterError, match="cannot be combined with max_leaf_nodes"):
        DecisionTreeClassifier(missing="surrogate", max_leaf_nodes=4).fit(X, y)
    model = DecisionTreeClassifier(missing="fractional").fit(X, y)
    with pytest.raises(RefusalError, match="rules of single columns"):
        model.to_sql()
    with pytest.raises(RefusalError, match="cannot be pruned"):
        model.prune(X, y)
