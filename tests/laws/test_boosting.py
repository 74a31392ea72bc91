"""Laws of boosted trees beyond the registry's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import surefit
from surefit import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from surefit.core.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
X[RNG.random(X.shape) < 0.05] = np.nan
Z = np.nan_to_num(X[:, 0] ** 2 + X[:, 1]) + 0.2 * RNG.normal(size=400)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(kind=pd.Categorical(RNG.choice(list("uvwxyz"), 400)))


def regressor(**more: object) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(**{"max_iter": 8, "min_samples_leaf": 5, **more})


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson", "gamma", "quantile"])
def test_a_weight_is_a_repetition(loss: str) -> None:
    weight = RNG.integers(0, 3, 400)
    y = np.exp(0.3 * Z)
    model = regressor(loss=loss, quantile=0.7, min_samples_leaf=1, max_leaf_nodes=6)
    one = model.fit(X, y, weight).predict(X)
    two = model.fit(np.repeat(X, weight, 0), np.repeat(y, weight)).predict(X)
    np.testing.assert_allclose(one, two, rtol=1e-9)


@pytest.mark.parametrize("sign", [-1, 1])
def test_monotone_columns_never_turn(sign: int) -> None:
    model = regressor(monotonic_cst=[0, sign, 0, 0], max_iter=30).fit(X, Z)
    grid = np.repeat(X[:30], 50, axis=0)
    grid[:, 1] = np.tile(np.linspace(-3, 3, 50), 30)
    steps = np.diff(model.predict(grid).reshape(30, 50), axis=1) * sign
    assert steps.min() >= -1e-12
    assert sign < 0 or (steps > 0).any()  # the target rises with the column


def test_columns_that_may_not_meet_add_up() -> None:
    model = regressor(interaction_cst="no_interactions", max_iter=20).fit(X, Z)
    a, b = X[:1].repeat(4, 0), np.nan_to_num(X[1:2])
    a[[1, 3], 0], a[[2, 3], 1] = b[0, 0], b[0, 1]
    p = model.predict(a)
    np.testing.assert_allclose(p[3] - p[1], p[2] - p[0], atol=1e-12)


@pytest.mark.parametrize("make", [HistGradientBoostingRegressor, HistGradientBoostingClassifier])
def test_any_number_of_threads_gives_the_same_bits(make: type) -> None:
    y = Z if make is HistGradientBoostingRegressor else np.digitize(Z, [0, 1])
    found = []
    for threads in (1, 3):
        with surefit.config(n_threads=threads):
            found.append(make(max_iter=5, random_state=0).fit(np.tile(X, (30, 1)), np.tile(y, 30)))
    for name in ("node_number_", "node_column_", "train_score_"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))


def test_a_stream_grows_the_trees_of_the_rows_in_memory(tmp_path: object) -> None:
    FRAME.assign(y=Z).iloc[:150].to_parquet(f"{tmp_path}/0.parquet")
    FRAME.assign(y=Z).iloc[150:].to_parquet(f"{tmp_path}/1.parquet")
    whole = regressor().fit(FRAME, Z)
    streamed = regressor().fit(f"{tmp_path}/*.parquet", "y")
    np.testing.assert_array_equal(streamed.predict(FRAME), whole.predict(FRAME))
    assert surefit.verify(streamed, f"{tmp_path}/*.parquet", "y").holds


def test_codes_in_a_file_grow_the_same_trees(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    FRAME.assign(y=Z).to_parquet(f"{tmp_path}/0.parquet")
    FRAME.assign(y=Z).to_parquet(f"{tmp_path}/1.parquet")
    kept = regressor().fit(f"{tmp_path}/*.parquet", "y")
    monkeypatch.setattr("surefit.models.tree.boosting.rows.MOST_BYTES", 1000)
    spilled = regressor().fit(f"{tmp_path}/*.parquet", "y")
    np.testing.assert_array_equal(spilled.node_number_, kept.node_number_)


def test_dask_grows_the_trees_of_the_rows_in_memory() -> None:
    dask_array = pytest.importorskip("dask.array")
    rows, y = dask_array.from_array(X, chunks=(150, 4)), dask_array.from_array(Z, chunks=150)
    found = regressor().fit(rows, y)
    np.testing.assert_array_equal(found.predict(X), regressor().fit(X, Z).predict(X))


def test_more_rounds_go_on_from_the_last() -> None:
    model = regressor(warm_start=True, max_iter=3).fit(X, Z)
    model.set_params(max_iter=8).fit(X, Z)
    np.testing.assert_allclose(model.predict(X), regressor().fit(X, Z).predict(X), rtol=1e-12)
    with pytest.raises(ParameterError, match="max_iter=2 must be larger"):
        model.set_params(max_iter=2).fit(X, Z)


def test_early_stopping_holds_rows_out_and_proves_their_loss() -> None:
    model = regressor(early_stopping=True, random_state=0, max_iter=200, learning_rate=0.5).fit(X, Z)
    assert model.n_iter_ < 200
    assert len(model.validation_score_) == model.n_iter_ + 1
    assert set(model.certificate_.parts) == {"training loss", "held-out loss"}
    assert surefit.verify(model, X, Z).holds
    assert not surefit.verify(model, X, Z + (np.arange(400) == 7)).holds


def test_rows_given_apart_stop_the_rounds() -> None:
    model = regressor(early_stopping=True, max_iter=200, learning_rate=0.5)
    model.fit(X[:300], Z[:300], X_val=X[300:], y_val=Z[300:])
    assert model.n_iter_ < 200
    assert surefit.verify(model, X[:300], Z[:300]).holds
    with pytest.raises(ParameterError, match="X_val is provided, but y_val was not"):
        model.fit(X, Z, X_val=X)


def test_stages_end_at_the_prediction() -> None:
    y = np.where(Z > 0, "up", "down")
    model = HistGradientBoostingClassifier(max_iter=6).fit(FRAME, y)
    stages = list(model.staged_predict_proba(FRAME))
    assert len(stages) == model.n_iter_ == 6
    np.testing.assert_array_equal(stages[-1], model.predict_proba(FRAME))
    assert list(model.staged_predict(FRAME))[-1].tolist() == model.predict(FRAME).tolist()
    np.testing.assert_array_equal(
        list(model.staged_decision_function(FRAME))[-1], model.decision_function(FRAME)
    )


def test_training_loss_falls_and_is_traced() -> None:
    model = regressor(max_iter=20, learning_rate=0.3).fit(X, Z)
    assert (np.diff(model.trace_.column("objective")) < 0).all()
    assert model.trace_.column("objective")[-1] == model.training_loss_


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_scale_of_the_target_changes_nothing_else(scale: float) -> None:
    one, two = regressor().fit(X, Z).predict(X), regressor().fit(X, 1e6 + Z).predict(X) - 1e6
    np.testing.assert_allclose(regressor().fit(X, scale * Z).predict(X) / scale, one, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(two, one, atol=1e-7)


def test_one_row_and_constant_columns_give_the_mean() -> None:
    np.testing.assert_allclose(regressor().fit([[1.0]], [3.0]).predict([[5.0]]), [3.0])
    model = regressor().fit(np.ones((50, 2)), np.arange(50.0))
    np.testing.assert_allclose(model.predict(np.zeros((1, 2))), [24.5])


def test_unknown_levels_go_where_missing_ones_go() -> None:
    model = regressor().fit(FRAME, Z + 3 * (FRAME["kind"] == "u"))
    assert model.is_categorical_.tolist() == [False] * 4 + [True]
    new, none = FRAME[:5].copy(), FRAME[:5].copy()
    new["kind"], none["kind"] = "never", None
    np.testing.assert_array_equal(model.predict(new), model.predict(none.astype(FRAME.dtypes)))


def test_errors_say_what_to_do() -> None:
    with pytest.raises(DataError, match="loss='gamma' requires strictly positive y"):
        regressor(loss="gamma").fit(X, Z)
    with pytest.raises(ParameterError, match="quantile=None must lie in"):
        regressor(loss="quantile").fit(X, Z)
    with pytest.raises(ParameterError, match="not supported for multiclass"):
        HistGradientBoostingClassifier(monotonic_cst=[1, 0, 0, 0]).fit(X, np.digitize(Z, [0, 1]))
    with pytest.raises(ParameterError, match="integer indices"):
        regressor(interaction_cst=[[0, 9]]).fit(X, Z)
    with pytest.raises(NotFittedError):
        list(regressor().staged_predict(X))


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, list])
def test_infinite_cells_lie_beyond_all_others(form: type) -> None:
    rows = np.array([[-np.inf], [0.0], [1.0], [np.inf], [np.nan]])
    y = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    model = regressor(min_samples_leaf=1, max_iter=60, learning_rate=0.5).fit(form(rows), y)
    np.testing.assert_allclose(model.predict(form(rows)), y, atol=1e-4)
    assert surefit.verify(model, form(rows), y).holds
    chunks = [(rows[:2], y[:2]), (rows[2:], y[2:])]
    streamed = regressor(min_samples_leaf=1, max_iter=60, learning_rate=0.5).fit(iter(chunks))
    np.testing.assert_allclose(streamed.predict(rows), model.predict(form(rows)), rtol=1e-12)


def test_a_column_of_too_many_levels_is_named() -> None:
    words = "feature 'kind' is expected to have a cardinality <= 3 but actually has a cardinality of 6: group"
    with pytest.raises(DataError, match=words):
        regressor(max_bins=3).fit(FRAME, Z)
