"""Expansions, contrasts, formulas and coefficients on the original scale, against patsy and formulaic."""

from __future__ import annotations

import sys
from typing import Any

import formulaic
import numpy as np
import pandas as pd
import patsy
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.interpolate import BSpline

import surefit
from surefit import (
    PCA,
    BasisExpansion,
    ContrastEncoder,
    FormulaPreparer,
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
FRAME = pd.DataFrame(
    {
        "a": RNG.uniform(1.0, 2.0, 60),
        "b": RNG.normal(size=60),
        "c": RNG.choice(list("uvw"), 60),
        "k": RNG.integers(0, 3, 60),
        "a b": RNG.normal(size=60),
    }
)
FRAME["y"] = 2 * FRAME.a + FRAME.b * FRAME.a + (FRAME.c == "v") + 0.1 * RNG.normal(size=60)


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


FORMULAS = [
    "y ~ a*b + C(c)",
    "y ~ a*b + c",
    "y ~ 0 + C(c):a",
    "y ~ log(a) + I(b**2) + C(k) + `a b`",
    "y ~ C(c, contr.sum)*a - 1",
    "y ~ C(c, contr.treatment('v')) + log(`a b`**2)",
    "y ~ (a + b)**2",
    "y ~ (a + b + C(c))**2 - a:b",
    "y ~ a:C(c) + b - 1",
    "y ~ C(c, contr.helmert):C(k) + C(k, contr.poly)",
    "y ~ C(c, contr.diff) + C(k, contr.SAS) + I(exp(a)/2)",
    "y ~ center(a)*C(c) + scale(b)",
    "y ~ standardize(a):b + scale(a, center=False)",
    "y ~ poly(a, 3) + poly(b, degree=2, raw=True):c",
    "y ~ bs(b, df=5) + bs(a, knots=[1.3, 1.6], degree=2)",
    "y ~ 0 + cr(a, df=4) + cc(b, df=3)",
    "y ~ I(center(a)**2) + center(log(a)) + center(`a b`)",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_fit_what_formulaic_lays_out(formula: str, tmp_path: Any) -> None:
    sheet = formulaic.model_matrix(formula, FRAME, context={"log": np.log, "exp": np.exp}).rhs
    design = np.asarray(sheet, dtype=float)
    expected = design @ np.linalg.lstsq(design, FRAME.y, rcond=None)[0]
    model = fit_formula(formula, FRAME)
    np.testing.assert_allclose(model.predict(FRAME), expected, atol=1e-11)
    kept = [k for k, name in enumerate(sheet.columns) if name != "Intercept"]
    np.testing.assert_array_equal(np.asarray(model[0].transform(FRAME)), design[:, kept])
    half = FRAME.iloc[:40]  # rows that were not fitted go by what was learnt of those that were
    spec = formulaic.model_matrix(formula, half, context={"log": np.log, "exp": np.exp}).model_spec.rhs
    later = np.asarray(spec.get_model_matrix(half.iloc[5:9]), dtype=float)
    found = np.asarray(FormulaPreparer(formula).fit(half.drop(columns="y")).transform(half.iloc[5:9]))
    np.testing.assert_array_equal(found, later[:, kept])
    assert list(model[0].get_feature_names_out()) == [n for n in sheet.columns if n != "Intercept"]
    assert model[-1].fit_intercept == ("Intercept" in sheet.columns)
    # The same from a file in pieces, for other frames, for fewer columns, and from a model file.
    pq.write_table(pa.Table.from_pandas(FRAME), tmp_path / "f.parquet", row_group_size=13)
    streamed = fit_formula(formula, tmp_path / "f.parquet")
    np.testing.assert_allclose(streamed.predict(tmp_path / "f.parquet"), expected, atol=1e-11)
    np.testing.assert_allclose(model.predict(pl.from_pandas(FRAME)), expected, atol=1e-11)
    few = FRAME[list(model[0].feature_names_in_)]
    np.testing.assert_allclose(model.predict(few), expected, atol=1e-11)
    surefit.save(model, tmp_path / "m.safetensors")
    again = surefit.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))
    assert surefit.verify(model, FRAME, "y").holds


def test_a_dot_is_all_columns_and_other_models_take_formulas_too() -> None:
    model = fit_formula("y ~ .", FRAME, Ridge(alpha=0.5))
    names = ["a", "b", "c[T.v]", "c[T.w]", "k", "a b"]
    assert list(model[0].get_feature_names_out()) == names
    assert isinstance(model[-1], Ridge)
    weighted = fit_formula("y ~ a", FRAME.assign(w=np.arange(60.0)), weight="w")
    plain = LinearRegression().fit(FRAME[["a"]], FRAME.y, np.arange(60.0))
    np.testing.assert_allclose(weighted[-1].coef_, plain.coef_, rtol=1e-11)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ aa", "the formula names 'aa', which is no column of the table: did you mean 'a'"),
        ("y ~ lag(a)", "is not allowed in a formula"),
        ("y ~ center(C(c))", "is not allowed in a formula"),
        ("y ~ center(c)", "column 'c' holds words, and center"),
        ("y ~ center(k) + C(k)", "stands for levels in the formula, and for numbers"),
        ("y ~ center(scale(a))", "is not allowed in a formula"),
        ("y ~ poly(a, b)", "is not allowed in a formula"),
        ("y ~ poly(a, 10**9)", "is not allowed in a formula"),
        ("y ~ poly(a, 1000000000)", "is not allowed in a formula"),
        ("y ~ bs(a, df=open('f'))", "is not allowed in a formula"),
        ("y ~ bs(a, **{'df': 4})", "is not allowed in a formula"),
        ("y ~ bs(a, df=1)", "cannot learn from these rows"),
        ("y ~ scale(I(a - a))", "finds no finite numbers|is not finite"),
        ("a + b", "has no target"),
        ("log(y) ~ a", "must be one column by its name"),
        ("y ~ a +* b", "cannot be read"),
        ("y ~ C(c.__class__)", "is not allowed in a formula"),
        ("y ~ log(a, out=b)", "is not allowed in a formula"),
        ("y ~ I(open('f'))", "is not allowed in a formula"),
        ("y ~ I((lambda: a)())", "is not allowed in a formula"),
        ("y ~ I(a[0])", "is not allowed in a formula"),
        ("y ~ I(9**9**9**9)", "is not allowed in a formula"),
        ("y ~ I(a ** 9**9**9)", "is not allowed in a formula"),
    ],
)
def test_formulas_that_are_refused(formula: str, message: str) -> None:
    with pytest.raises((ParameterError, DataError), match=message):
        fit_formula(formula, FRAME)


def test_a_formula_of_a_model_file_runs_no_code() -> None:
    """A fitted preparer whose formula was exchanged is held to the same list before anything is evaluated."""
    preparer = FormulaPreparer("a").fit(FRAME[["a"]])
    preparer.formula = "I(__import__('os').getcwd())"
    with pytest.raises(ParameterError, match="is not allowed in a formula"):
        preparer.transform(FRAME[["a"]])


def test_levels_and_gaps_that_a_formula_does_not_take() -> None:
    model = fit_formula("y ~ a + c", FRAME)
    with pytest.raises(DataError, match=r"column 'c' has the levels \['z'\], which the fit did not meet"):
        model.predict(FRAME.assign(c="z"))
    with pytest.raises(DataError, match="column 'a' of the formula has missing cells"):
        model.predict(FRAME.assign(a=np.nan))
    with pytest.raises(ValueError, match=r"yet now missing:\n- a"):
        model.predict(FRAME.drop(columns="a"))
    with pytest.raises(DataError, match="column 'c' of the formula has missing cells"):
        fit_formula("y ~ a + c", FRAME.assign(c=[None, *["u"] * 59]))
    with pytest.raises(DataError, match=r"log\(b\) is not finite in row"):
        fit_formula("y ~ log(b)", FRAME)
    assert len(fit_formula("y ~ a", FRAME.assign(b=np.nan)).predict(FRAME)) == 60
    with pytest.raises(RefusalError, match="has no intercept, and a MeanRegressor cannot be told so"):
        fit_formula("y ~ 0 + a", FRAME, surefit.MeanRegressor())


def test_functions_of_all_rows_take_rows_once_and_know_their_range(tmp_path: Any) -> None:
    preparer = FormulaPreparer("bs(a, df=4) + center(b)").fit(FRAME)
    with pytest.raises(
        DataError, match=r"bs\(a, df=4\) or center\(b\) does not take one of these rows: .*bounds"
    ):
        preparer.transform(FRAME.assign(a=5.0))
    with pytest.raises(RefusalError, match="learn from all rows together, so that none can be added"):
        FormulaPreparer("center(a)").partial_fit(FRAME)
    with pytest.raises(RefusalError, match="its formula learns from all rows together"):
        preparer.merge(FormulaPreparer("bs(a, df=4) + center(b)").fit(FRAME))
    assert surefit.verify(preparer, FRAME).holds
    assert not surefit.verify(preparer, FRAME.assign(b=FRAME.b + 0.01)).holds
    surefit.save(preparer, tmp_path / "p.safetensors")
    again = surefit.load(tmp_path / "p.safetensors")
    np.testing.assert_array_equal(again.transform(FRAME), preparer.transform(FRAME))
    weight = np.r_[np.zeros(20), np.ones(40)]  # rows without weight are no rows
    apart = FormulaPreparer("center(a)").fit(FRAME, sample_weight=weight)
    assert apart.transform(FRAME)[20:].mean() == pytest.approx(0.0, abs=1e-12)


def test_rows_with_gaps_are_refused_and_without_them_all_is_as_formulaic_drops_them() -> None:
    gaps = FRAME.assign(a=np.where(np.arange(60) % 7 == 0, np.nan, FRAME.a))
    with pytest.raises(DataError, match="column 'a' of the formula has missing cells"):
        fit_formula("y ~ center(a) + c", gaps)
    theirs = np.asarray(formulaic.model_matrix("a*c", gaps, na_action="drop"), dtype=float)[:, 1:]
    ours = FormulaPreparer("a*c").fit_transform(gaps.dropna().drop(columns="y"))
    np.testing.assert_array_equal(ours, theirs)


def test_formulas_without_formulaic_say_how_to_get_it(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(
        RefusalError, match=r"formulas need the package formulaic: pip install 'surefit\[formula\]'"
    ):
        fit_formula("y ~ a", FRAME)


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
    with pytest.raises(RefusalError, match=r"MinMaxScaler\(clip=True\) bends"):
        original_scale(make_pipeline(MinMaxScaler(clip=True), Ridge()).fit(X, Y))
    with pytest.raises(RefusalError, match="a MeanRegressor has no coefficients"):
        original_scale(make_pipeline(StandardScaler(), surefit.MeanRegressor()).fit(X, Y))
    with pytest.raises(RefusalError, match="a MissingIndicator does not turn sums of columns into sums"):
        original_scale(make_pipeline(surefit.MissingIndicator(features="all"), Ridge()).fit(X, Y))
