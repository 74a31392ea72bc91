"""Formulas against what formulaic lays out, and what they refuse."""

from __future__ import annotations

import sys
from typing import Any

import formulaic
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.reference.mixed_frame import FRAME

import surefit
from surefit import FormulaPreparer, LinearRegression, Ridge, fit_formula
from surefit.core.errors import DataError, ParameterError, RefusalError

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
        ("y ~ aa", "the formula names 'aa', which is not a column of the table: did you mean 'a'"),
        ("y ~ lag(a)", "is not allowed in a formula"),
        ("y ~ center(C(c))", "is not allowed in a formula"),
        ("y ~ center(c)", "column 'c' holds words, and center"),
        ("y ~ center(k) + C(k)", "is used both as categorical and as numeric in the formula"),
        ("y ~ center(scale(a))", "is not allowed in a formula"),
        ("y ~ poly(a, b)", "is not allowed in a formula"),
        ("y ~ poly(a, 10**9)", "is not allowed in a formula"),
        ("y ~ poly(a, 1000000000)", "is not allowed in a formula"),
        ("y ~ bs(a, df=open('f'))", "is not allowed in a formula"),
        ("y ~ bs(a, **{'df': 4})", "is not allowed in a formula"),
        ("y ~ bs(a, df=1)", "cannot learn from these rows"),
        ("y ~ scale(I(a - a))", "finds no finite numbers|is not finite"),
        ("a + b", "has no target: write it as 'target ~ a \\+ b'"),
        ("~ a", "has no target: write it as 'target ~ a'"),
        ("y ~ 1", "has no column on its right: name one"),
        ("y ~", "has no column on its right: name one"),
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
    with pytest.raises(DataError, match=r"column 'c' has the levels \['z'\], which were not seen in fit"):
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
    with pytest.raises(RefusalError, match="depend on all rows together, so partial_fit cannot add rows"):
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
