"""Scalers against scikit-learn's: every parameter, missing cells, sparse input, weights, hard columns."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn import preprocessing

import surefit

RNG = np.random.default_rng(0)
PLAIN = RNG.normal(size=(80, 5)) * [1, 10, 1e-3, 5, 2] + [0, 3, 0, -7, 1e3]
GAPS = np.where(RNG.random(PLAIN.shape) < 0.2, np.nan, PLAIN)
HARD = np.column_stack([PLAIN[:, 0], np.full(80, 3.5), np.zeros(80), PLAIN[:, 0] + 1e8, np.full(80, np.nan)])
TABLES = {"plain": PLAIN, "missing": GAPS, "one row": PLAIN[:1], "fortran": np.asfortranarray(PLAIN)}


def agree(ours, theirs, attributes, rtol=1e-12):
    for name in attributes:
        mine, its = getattr(ours, name), getattr(theirs, name)
        if its is None:
            assert mine is None, name
        else:
            np.testing.assert_allclose(mine, its, rtol=rtol, atol=1e-12, err_msg=name)
            assert np.shape(mine) == np.shape(its), name


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("with_mean", "with_std"), list(product([True, False], repeat=2)))
def test_standard_scaler(table, with_mean, with_std):
    X = TABLES[table]
    arguments = {"with_mean": with_mean, "with_std": with_std}
    ours = surefit.StandardScaler(**arguments).fit(X)
    theirs = preprocessing.StandardScaler(**arguments).fit(X)
    agree(ours, theirs, ["mean_", "var_", "scale_", "n_samples_seen_"])
    Z = ours.transform(X)
    np.testing.assert_allclose(Z, theirs.transform(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(Z), X, rtol=1e-12, atol=1e-12)


def test_standard_scaler_weights():
    weight = RNG.uniform(0, 3, len(GAPS))
    for X in (PLAIN, GAPS):
        ours = surefit.StandardScaler().fit(X, sample_weight=weight)
        theirs = preprocessing.StandardScaler().fit(X, sample_weight=weight)
        agree(ours, theirs, ["mean_", "var_", "scale_", "n_samples_seen_"])


def test_standard_scaler_sparse():
    X = sparse.random_array((60, 7), density=0.3, rng=np.random.default_rng(1), format="csr")
    ours = surefit.StandardScaler(with_mean=False).fit(X)
    theirs = preprocessing.StandardScaler(with_mean=False).fit(X)
    agree(ours, theirs, ["mean_", "var_", "scale_"])
    Z = ours.transform(X)
    assert type(Z) is type(X)
    np.testing.assert_allclose(Z.toarray(), theirs.transform(X).toarray(), rtol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(Z).toarray(), X.toarray(), rtol=1e-12)
    with pytest.raises(
        surefit.core.errors.DataError, match=r"cannot center sparse matrices.*with_mean=False"
    ):
        surefit.StandardScaler().fit(X)


def test_standard_scaler_keeps_its_digits_on_hard_columns():
    """Offset 1e8, constant, zero and empty columns: the deviation is the one of exact arithmetic."""
    model = surefit.StandardScaler().fit(HARD)
    shifted = (HARD[:, 3] - 1e8).astype(np.longdouble)
    np.testing.assert_allclose(model.scale_[3], float(shifted.std()), rtol=1e-9)
    assert model.scale_[1:3].tolist() == [1, 1]
    assert model.scale_[4] == 1
    Z = model.transform(HARD)
    assert (Z[:, 1:3] == 0).all()
    assert np.isnan(Z[:, 4]).all()
    assert surefit.verify(model, HARD).holds


@pytest.mark.parametrize("clip", [True, False])
@pytest.mark.parametrize("limits", [(0, 1), (-2.0, 5.0)])
@pytest.mark.parametrize("table", TABLES)
def test_min_max_scaler(table, limits, clip):
    X = TABLES[table]
    ours = surefit.MinMaxScaler(limits, clip=clip).fit(X)
    theirs = preprocessing.MinMaxScaler(limits, clip=clip).fit(X)
    agree(ours, theirs, ["scale_", "min_", "data_min_", "data_max_", "data_range_", "n_samples_seen_"])
    other = PLAIN * 1.5
    np.testing.assert_allclose(ours.transform(other), theirs.transform(other), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(X), theirs.inverse_transform(X), rtol=1e-12, atol=1e-12)


def test_min_max_scaler_on_hard_columns():
    model = surefit.MinMaxScaler().fit(HARD)
    theirs = preprocessing.MinMaxScaler().fit(HARD[:, :4])
    np.testing.assert_allclose(model.transform(HARD)[:, :4], theirs.transform(HARD[:, :4]), atol=1e-6)
    assert np.isnan(model.transform(HARD)[:, 4]).all()
    assert surefit.verify(model, HARD).holds
    with pytest.raises(surefit.core.errors.ParameterError, match="minimum smaller"):
        surefit.MinMaxScaler((1, 1)).fit(PLAIN)


SCALERS = [surefit.StandardScaler, surefit.MinMaxScaler, surefit.RobustScaler]


@pytest.mark.parametrize("cls", SCALERS)
def test_float32_stays_and_read_only_input_is_left_alone(cls):
    X = PLAIN.astype(np.float32)
    Z = cls().fit_transform(X)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, cls().fit_transform(X.astype(float)), rtol=1e-6, atol=1e-6)
    frozen = PLAIN.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(cls(copy=False).fit_transform(frozen), cls().fit_transform(PLAIN))
    own = PLAIN.copy()
    assert cls(copy=False).fit_transform(own) is own
    np.testing.assert_array_equal(own, cls().fit_transform(PLAIN))


@pytest.mark.parametrize("cls", SCALERS)
def test_infinite_cells_are_refused(cls):
    X = PLAIN.copy()
    X[3, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        cls().fit(X)
    with pytest.raises(ValueError, match="infinity"):
        cls().fit(PLAIN).transform(X)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("centre", "scale"), list(product([True, False], repeat=2)))
@pytest.mark.parametrize("limits", [(25.0, 75.0), (5, 90)])
@pytest.mark.parametrize("unit", [True, False])
def test_robust_scaler(table, centre, scale, limits, unit):
    X = TABLES[table]
    arguments = {
        "with_centering": centre,
        "with_scaling": scale,
        "quantile_range": limits,
        "unit_variance": unit,
    }
    ours = surefit.RobustScaler(**arguments).fit(X)
    theirs = preprocessing.RobustScaler(**arguments).fit(X)
    agree(ours, theirs, ["center_", "scale_"])
    Z = ours.transform(X)
    np.testing.assert_allclose(Z, theirs.transform(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(Z), X, rtol=1e-12, atol=1e-12)


def test_robust_scaler_sparse_and_hard_columns():
    X = sparse.random_array((60, 7), density=0.6, rng=np.random.default_rng(1), format="csr")
    ours = surefit.RobustScaler(with_centering=False).fit(X)
    theirs = preprocessing.RobustScaler(with_centering=False).fit(X)
    agree(ours, theirs, ["scale_"])
    np.testing.assert_allclose(ours.transform(X).toarray(), theirs.transform(X).toarray(), rtol=1e-12)
    assert surefit.verify(ours, X).holds
    with pytest.raises(surefit.core.errors.DataError, match="with_centering=False"):
        surefit.RobustScaler().fit(X)
    model = surefit.RobustScaler().fit(HARD)
    np.testing.assert_array_equal(model.scale_[1:3], [1, 1])
    assert surefit.verify(model, HARD).holds


def test_a_sketch_states_its_error_and_memory_is_exact():
    """Beyond 4096 distinct values a source's quantiles come from a sketch; rows in memory are sorted."""
    import pyarrow as pa

    X = RNG.normal(size=(30_000, 2))
    exact = surefit.RobustScaler().fit(X)
    theirs = preprocessing.RobustScaler().fit(X)
    agree(exact, theirs, ["center_", "scale_"])
    assert exact.rank_error_.tolist() == [0, 0]
    assert "exact quantiles" in exact.certificate_.measure
    table = pa.table({"a": X[:, 0], "b": X[:, 1]})
    streamed = surefit.RobustScaler().fit(table)
    assert (streamed.rank_error_ > 0).all()
    assert "sketch" in streamed.certificate_.measure
    for j, column in enumerate(X.T):
        rank = (column <= streamed.center_[j]).mean()
        assert abs(rank - 0.5) <= streamed.rank_error_[j] + 1 / len(X)
    assert surefit.verify(streamed, table).holds
    streamed.quantiles_[1, 0] = streamed.center_[0] = np.quantile(X[:, 0], 0.6)
    assert not surefit.verify(streamed, table).holds


@pytest.mark.covers("intro_to_ml:3.5", by="StandardScaler")
def test_standardised_columns_have_mean_0_variance_1_and_squares_that_sum_to_n():
    model = surefit.StandardScaler().fit(PLAIN)
    Z = model.transform(PLAIN)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.var(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose((Z**2).sum(axis=0), len(Z), rtol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(Z), PLAIN, rtol=1e-12, atol=1e-12)
    assert surefit.StandardScaler().fit_transform([[4.0], [4.0]]).tolist() == [[0], [0]]


def test_copy_can_be_said_for_each_call():
    """As in scikit-learn, copy=None does as the parameter says; a frozen array is never written to."""
    model, theirs = surefit.StandardScaler().fit(PLAIN), preprocessing.StandardScaler().fit(PLAIN)
    own = PLAIN.copy()
    Z = model.transform(own, copy=False)
    assert Z is own
    np.testing.assert_allclose(Z, theirs.transform(PLAIN), rtol=1e-12, atol=1e-12)
    assert model.inverse_transform(Z, copy=False) is own
    np.testing.assert_allclose(own, PLAIN, rtol=1e-12)
    saving = surefit.StandardScaler(copy=False).fit(PLAIN)
    for call in (saving.transform, saving.inverse_transform):
        assert call(own, copy=True) is not own
        assert call(own, copy=None) is own
    assert model.copy is True
    model.set_output(transform="pandas")
    assert list(model.transform(PLAIN, copy=True).columns) == [f"x{j}" for j in range(5)]


@pytest.mark.parametrize("cls", SCALERS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_infinite_cell_is_found_by_the_pass_that_uses_it(cls, order, bad, dtype):
    X = np.asarray(PLAIN, dtype=dtype, order=order)
    model = cls().fit(X)
    before = dict(model.__dict__)
    spoilt = X.copy(order="K")
    spoilt[-1, -1] = bad
    spoilt[0, 0] = np.nan
    for call in (model.fit, model.fit_transform, model.transform):
        with pytest.raises(ValueError, match="infinity"):
            call(spoilt)
    assert model.__dict__ == before
    np.testing.assert_array_equal(np.isinf(spoilt), spoilt == bad)
    own = spoilt.copy(order="K")
    with pytest.raises(ValueError, match="infinity"):
        cls(copy=False).fit(X).transform(own)
    np.testing.assert_array_equal(own, spoilt)  # refused before anything was overwritten
    spoilt[-1, -1] = np.nan
    assert np.isnan(model.transform(spoilt)).sum() == 2
    assert model.transform(X).flags.f_contiguous == (order == "F")


@pytest.mark.parametrize("cls", [surefit.StandardScaler, surefit.MinMaxScaler])
def test_where_scikit_learn_is_told_to_assume_finite_cells_the_sentence_is_ours(cls):
    import sklearn

    X = PLAIN.copy()
    X[3, 2] = np.inf
    with (
        sklearn.config_context(assume_finite=True),
        pytest.raises(surefit.core.errors.DataError, match="column 2 holds an infinite value"),
    ):
        cls().fit(X)


@pytest.mark.parametrize("cls", SCALERS)
def test_the_largest_numbers_are_no_infinite_cells(cls):
    X = np.array([[1e308, 1.0], [-1e308, 2.0], [1e308, 3.0]])
    with np.errstate(over="ignore", invalid="ignore"):
        if cls is surefit.StandardScaler:
            with pytest.raises(surefit.core.errors.DataError, match=r"column 0 of X are beyond 1e\+148"):
                cls().fit(X)
        else:
            assert cls().fit(X).n_samples_seen_ == 3
