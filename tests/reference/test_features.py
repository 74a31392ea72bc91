"""Expansions, contrasts and coefficients on the original scale, against patsy and formulaic."""

from __future__ import annotations

from typing import Any

import formulaic
import numpy as np
import pandas as pd
import patsy
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.interpolate import BSpline
from tests.reference.mixed_frame import FRAME

import surefit
from surefit import (
    PCA,
    BasisExpansion,
    ContrastEncoder,
    LinearRegression,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    Ridge,
    RobustScaler,
    SimpleImputer,
    StandardScaler,
    TablePreparer,
    fit_formula,
    make_pipeline,
    original_scale,
)
from surefit.core.errors import DataError, ParameterError, RefusalError

RNG = np.random.default_rng(0)


@pytest.mark.covers("ml_lecture_notes:2.5", by="BasisExpansion")
def test_hats_and_bumps_of_the_distance_to_a_point() -> None:
    width = 2.0
    hats = BasisExpansion("hat", centers=[[0.0]], width=width).fit([[0.0], [1.0]])
    np.testing.assert_array_equal(
        hats.transform([[0.0], [width], [width / 2], [-2 * width]])[:, 0], [1, 0, 0.5, 0]
    )
    bumps = BasisExpansion("gaussian", centers=[[0.0]], width=width).fit([[0.0], [1.0]])
    np.testing.assert_allclose(bumps.transform([[0.0], [width]])[:, 0], [1.0, 0.6065307], atol=5e-8)
    # Centres in the plane: functions of the length of the difference; and no constant by itself.
    plane = BasisExpansion("gaussian", centers=[[0.0, 0.0], [3.0, 4.0]], width=5.0).fit(np.eye(2))
    np.testing.assert_allclose(plane.transform([[0.0, 0.0]]), [[1.0, np.exp(-0.5)]])
    assert plane.get_feature_names_out().tolist() == ["gaussian0", "gaussian1"]


@pytest.mark.covers("ml_lecture_notes:2.4", by="BasisExpansion")
def test_powers_of_one_column_interpolate() -> None:
    powers = BasisExpansion("polynomial", n_functions=3, include_bias=True).fit([[0.0], [1.0]])
    assert powers.transform([[2.0]]).tolist() == [[1.0, 2.0, 4.0, 8.0]]
    assert powers.get_feature_names_out().tolist() == ["1", "x0", "x0^2", "x0^3"]
    x, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([1.0, -2.0, 0.5, 7.0])
    model = make_pipeline(BasisExpansion("polynomial", n_functions=3), LinearRegression()).fit(x, y)
    np.testing.assert_allclose(model.predict(x), y, atol=1e-10)


@pytest.mark.covers("course_summary:2.7", by="PolynomialFeatures")
def test_products_solve_the_exclusive_or() -> None:
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0.0, 1.0, 1.0, 0.0])
    linear = LinearRegression().fit(X, y)
    np.testing.assert_allclose([*linear.coef_, linear.intercept_], [0, 0, 0.5], atol=1e-12)
    products = PolynomialFeatures(interaction_only=True, include_bias=False)
    model = make_pipeline(products, LinearRegression()).fit(X, y)
    np.testing.assert_allclose([*model[-1].coef_, model[-1].intercept_], [1, 1, -2, 0], atol=1e-12)
    six = PolynomialFeatures(2).fit(X).get_feature_names_out().tolist()
    assert six == ["1", "x0", "x1", "x0^2", "x0 x1", "x1^2"]


@pytest.mark.parametrize("placement", ["even", "quantile"])
def test_splines_are_those_of_patsy(placement: str) -> None:
    x = RNG.normal(size=50)
    inside, wide = np.sort(x), np.linspace(-6, 6, 40)
    for functions in (4, 5, 9):
        made = BasisExpansion("bspline", n_functions=functions, placement=placement).fit(x[:, None])
        knots = made.centers_[0]
        given = {"x": inside, "inner": knots[1:-1], "low": knots[0], "high": knots[-1]}
        splines = "bs(x, knots=inner, lower_bound=low, upper_bound=high, include_intercept=True) - 1"
        np.testing.assert_allclose(made.transform(inside[:, None]), patsy.dmatrix(splines, given), atol=1e-14)
        np.testing.assert_allclose(made.transform(wide[:, None]).sum(axis=1), 1.0)
        assert made.transform(x[:, None]).shape == (50, functions)
        natural = BasisExpansion("natural", n_functions=functions, placement=placement).fit(x[:, None])
        knots = natural.centers_[0]
        given = {"x": wide, "inner": knots[1:-1], "low": knots[0], "high": knots[-1]}
        cubic = "cr(x, knots=inner, lower_bound=low, upper_bound=high) - 1"
        np.testing.assert_allclose(natural.transform(wide[:, None]), patsy.dmatrix(cubic, given), atol=1e-12)
    degree = BasisExpansion("bspline", n_functions=6, degree=2).fit(x[:, None])
    padded = np.r_[[degree.centers_[0][0]] * 2, degree.centers_[0], [degree.centers_[0][-1]] * 2]
    expected = BSpline.design_matrix(inside, padded, 2).toarray()
    np.testing.assert_allclose(degree.transform(inside[:, None]), expected, atol=1e-14)


def test_waves_have_their_period_and_a_natural_spline_is_straight_outside() -> None:
    x = np.linspace(0.0, 7.0, 50)[:, None]
    waves = BasisExpansion("fourier", n_functions=4, width=7.0).fit(x)
    np.testing.assert_allclose(waves.transform(x + 7.0), waves.transform(x), atol=1e-12)
    np.testing.assert_allclose(waves.transform(x)[:, :2].T, [np.sin(2 * np.pi * x[:, 0] / 7), np.cos(2 * np.pi * x[:, 0] / 7)], atol=1e-12)  # fmt: skip # noqa: E501
    natural = BasisExpansion("natural").fit(x)
    outside = natural.transform(np.array([[-1.0], [-2.0], [-3.0]]))
    np.testing.assert_allclose(outside[0] + outside[2], 2 * outside[1], atol=1e-12)


def test_expansions_of_awkward_columns() -> None:
    constant = np.full((10, 1), 1e6)
    for basis in ("bspline", "natural", "gaussian", "hat", "fourier", "polynomial"):
        for rows in (
            constant,
            1e-12 * x_of(30),
            1e12 * x_of(30),
            1e6 + x_of(30),
            x_of(1),
            np.round(x_of(30)),
        ):
            made = BasisExpansion(basis).fit(rows)
            assert np.isfinite(made.transform(rows)).all()
            assert made.transform(rows).shape[1] == len(made.get_feature_names_out())
            assert surefit.verify(made, rows).holds
    tied = BasisExpansion("natural", n_functions=8).fit(np.r_[np.zeros(90), np.arange(10.0)][:, None])
    assert 2 <= len(tied.centers_[0]) < 8
    for given, message in [
        ({"n_functions": 3}, "B-splines of degree 3 are at least 4"),
        ({"basis": "natural", "n_functions": 1}, "natural splines are at least 2"),
        ({"centers": [[0.0]]}, "goes with basis='gaussian' or 'hat'"),
        ({"basis": "hat", "width": 1.0, "centers": [[0.0, 1.0]]}, r"must be \(centres, 1\)"),
    ]:
        with pytest.raises(ParameterError, match=message):
            BasisExpansion(**given).fit(x_of(20))


def x_of(rows: int) -> Any:
    return np.random.default_rng(5).normal(size=(rows, 1))


def test_an_expansion_streams(tmp_path: Any) -> None:
    x = x_of(5000)
    pq.write_table(pa.table({"x": x[:, 0]}), tmp_path / "x.parquet", row_group_size=700)
    for placement in ("even", "quantile"):
        whole = BasisExpansion("hat", placement=placement).fit(x)
        streamed = BasisExpansion("hat", placement=placement).fit(tmp_path / "x.parquet")
        if placement == "even":
            np.testing.assert_array_equal(streamed.centers_[0], whole.centers_[0])
        else:  # a sketch says how far its ranks can be off
            ranks = [(x < knot).mean() for knot in streamed.centers_[0][1:-1]]
            np.testing.assert_allclose(ranks, [0.25, 0.5, 0.75], atol=streamed.rank_error_[0] + 1e-3)
        assert surefit.verify(streamed, tmp_path / "x.parquet").holds


KINDS = {
    "treatment": "Treatment",
    "sum": "Sum",
    "helmert": "Helmert",
    "polynomial": "Poly",
    "difference": "Diff",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("levels", [2, 3, 4, 7])
def test_contrasts_are_those_of_patsy_and_formulaic(kind: Any, levels: int) -> None:
    names = list("abcdefg")[:levels]
    encoder = ContrastEncoder(kind).fit(np.array(names, dtype=object)[:, None])
    peer = getattr(patsy, KINDS[kind])().code_without_intercept(names)
    np.testing.assert_allclose(encoder.contrast_matrices_[0], peer.matrix, atol=1e-12)
    assert encoder.get_feature_names_out().tolist() == [f"x0{end}" for end in peer.column_suffixes]
    other = {"polynomial": "poly", "difference": "diff"}.get(kind, kind)
    frame = pd.DataFrame({"x0": pd.Categorical(names)})
    theirs = np.asarray(formulaic.model_matrix(f"C(x0, contr.{other})", frame), dtype=float)[:, 1:]
    np.testing.assert_allclose(encoder.transform(np.array(names, dtype=object)[:, None]), theirs, atol=1e-12)


def test_contrasts_compare_what_they_say() -> None:
    levels = np.repeat(["low", "middle", "top"], [3, 2, 4])[:, None].astype(object)
    y = np.random.default_rng(6).normal(size=9)
    means = [y[:3].mean(), y[3:5].mean(), y[5:].mean()]
    steps = make_pipeline(ContrastEncoder("difference"), LinearRegression()).fit(levels, y)
    np.testing.assert_allclose(steps[-1].coef_, np.diff(means), atol=1e-12)
    assert steps[-1].intercept_ == pytest.approx(np.mean(means))
    for kind in KINDS:
        model = make_pipeline(ContrastEncoder(kind), LinearRegression()).fit(levels, y)
        np.testing.assert_allclose(model.predict(levels[[0, 3, 5]]), means, atol=1e-12)
    with pytest.raises(DataError, match=r"unknown categories \['new'\] in column 0"):
        steps.predict([["new"]])
    lenient = ContrastEncoder("sum", handle_unknown="ignore").fit(levels)
    np.testing.assert_array_equal(lenient.transform([["new"]]), [[0.0, 0.0]])
    one = ContrastEncoder().fit([["only"], ["only"]])
    assert one.transform([["only"]]).shape == (1, 0)


X = RNG.normal(size=(80, 3)) * np.array([1.0, 10.0, 0.1]) + np.array([5.0, -3.0, 0.0])
Y = X @ [1.0, 2.0, 30.0] + X[:, 0] * X[:, 1] + RNG.normal(size=80)


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [MinMaxScaler()],
        [RobustScaler(), PCA(2, whiten=True), MinMaxScaler()],
        [StandardScaler(), PolynomialFeatures(2)],
        [PolynomialFeatures(2, include_bias=False), StandardScaler()],
        [SimpleImputer(), "passthrough", StandardScaler(with_mean=False)],
        [MinMaxScaler(), BasisExpansion("polynomial", n_functions=3, include_bias=True), RobustScaler()],
    ],
    ids=["standard", "range", "components", "then products", "products", "imputed", "powers"],
)
def test_coefficients_on_the_original_scale_predict_the_same(steps: list[Any]) -> None:
    model = make_pipeline(*steps, Ridge()).fit(X, Y)
    found = original_scale(model)
    columns = {"x0": X[:, 0], "x1": X[:, 1], "x2": X[:, 2]}
    total = np.full(80, found.intercept)
    for name, coef in zip(found.names, found.coef, strict=True):
        product = np.ones(80)
        for part in name.split(" "):
            column, _, power = part.partition("^")
            product = product * columns[column] ** int(power or 1)
        total = total + coef * product
    np.testing.assert_allclose(total, model.predict(X), rtol=1e-9, atol=1e-9)


def test_levels_and_functions_on_the_original_scale() -> None:
    for encoder in (ContrastEncoder("helmert"), OneHotEncoder(sparse_output=False, drop="first")):
        model = make_pipeline(encoder, StandardScaler(), Ridge()).fit(FRAME[["c"]], FRAME.y)
        found = original_scale(model).as_dict()
        for level in "uvw":
            expected = found["(intercept)"] + found.get(f"c_{level}", 0.0)
            assert model.predict(pd.DataFrame({"c": [level]}))[0] == pytest.approx(expected)
    prepared = make_pipeline(TablePreparer(), LinearRegression()).fit(FRAME[["a", "c"]], FRAME.y)
    by_formula = original_scale(fit_formula("y ~ a + c", FRAME)).as_dict()
    assert original_scale(prepared).as_dict()["a"] == pytest.approx(by_formula["a"])
    splines = make_pipeline(BasisExpansion(), StandardScaler(), Ridge()).fit(X, Y)
    found = original_scale(splines)
    again = splines[0].transform(X) @ found.coef + found.intercept
    np.testing.assert_allclose(again, splines.predict(X), rtol=1e-10)
    several = make_pipeline(StandardScaler(), LinearRegression()).fit(X, np.column_stack([Y, -Y]))
    found = original_scale(several)
    np.testing.assert_allclose(X @ found.coef.T + found.intercept, several.predict(X), rtol=1e-9)


def test_what_cannot_be_mapped_back() -> None:
    with pytest.raises(RefusalError, match="BasisExpansion comes after a step that changed its columns"):
        original_scale(make_pipeline(StandardScaler(), BasisExpansion(), Ridge()).fit(X, Y))
    with pytest.raises(RefusalError, match=r"MinMaxScaler\(clip=True\) is not linear"):
        original_scale(make_pipeline(MinMaxScaler(clip=True), Ridge()).fit(X, Y))
    with pytest.raises(RefusalError, match="a MeanRegressor has no coefficients"):
        original_scale(make_pipeline(StandardScaler(), surefit.MeanRegressor()).fit(X, Y))
    with pytest.raises(RefusalError, match="a MissingIndicator is not a linear map of its columns"):
        original_scale(make_pipeline(surefit.MissingIndicator(features="all"), Ridge()).fit(X, Y))
