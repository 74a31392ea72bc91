"""What each of the first models says of sick data, and that it keeps quiet about sound data beside them."""

from __future__ import annotations

import numpy as np
import pytest

import surefit
from surefit import PCA, GaussianNB, LinearRegression, Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV
from surefit.core.trace import Trace
from surefit.data.door import admit
from surefit.engine.serial import Serial

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4))
y = X @ np.array([1.0, 2.0, 0.0, -1.0]) + rng.normal(size=200)
classes = np.digitize(y, [-1.0, 1.0])
noise = rng.normal(size=200)
MODELS = {
    cls.__name__: (cls, target)
    for cls, target in [
        (LinearRegression, y), (Ridge, y), (RidgeCV, y), (RidgeClassifier, classes),
        (RidgeClassifierCV, classes), (GaussianNB, classes), (PCA, None),
    ]
}  # fmt: skip
SQUARES = ["LinearRegression", "Ridge", "RidgeCV", "RidgeClassifier", "RidgeClassifierCV"]


def with_column(j, values):
    changed = X.copy()
    changed[:, j] = values
    return changed


def with_row(i, values):
    changed = X.copy()
    changed[i] = values
    return changed


# code: who should say it, sick data, sound data close to them, and what is named
CASES = {
    "constant-columns": (list(MODELS), with_column(2, 1e6 + 0.1), with_column(2, 1e6 + noise), ("x2",)),
    "duplicate-columns": (
        [*SQUARES, "PCA"],
        with_column(3, 3 - 2 * X[:, 0]),
        with_column(3, X[:, 0] + 0.1 * noise),
        ("x0", "x3"),
    ),
    "near-duplicate": (
        [*SQUARES, "PCA"],
        with_column(3, X[:, 0] + 1e-5 * noise),
        with_column(3, X[:, 0] + 1e-2 * noise),
        ("x0", "x3"),
    ),
    "scale-ratio": (list(MODELS), with_column(1, 1e8 * noise), with_column(1, 10 * noise), ("x1", "x0")),
    "rank-deficiency": (
        SQUARES,
        with_column(3, X[:, 0] - 2 * X[:, 1] + 7),
        with_column(3, X[:, 0] - 2 * X[:, 1] + 1e-3 * noise),
        ("x0", "x1", "x3"),
    ),
    "zero-variance-class": (
        ["GaussianNB"],
        with_column(1, np.where(classes == 1, 4.0, X[:, 1])),
        with_column(1, np.where(classes == 1, 4.0 + 1e-3 * noise, X[:, 1])),
        ("x1",),
    ),
}
EACH = [(code, name) for code, (names, *_) in CASES.items() for name in names]


def found(name, data):
    cls, target = MODELS[name]
    return {finding.code: finding for finding in cls().fit(data, target).diagnosis_}


@pytest.mark.parametrize(("case", "name"), EACH, ids=[f"{case} {name}" for case, name in EACH])
def test_sick_data_are_named_and_sound_data_are_not(case, name):
    _, sick, sound, columns = CASES[case]
    code = "duplicate-columns" if case == "near-duplicate" else case
    finding = found(name, sick)[code]
    assert set(finding.columns) >= set(columns[:1])
    assert set(finding.columns) <= set(columns) | ({"x2", "x3"} if code == "scale-ratio" else set())
    assert finding.severity in ("note", "warning", "problem")
    assert finding.evidence
    assert code not in found(name, sound)


@pytest.mark.parametrize("name", MODELS)
def test_sound_data_give_silence(name):
    assert found(name, X) == {}


@pytest.mark.parametrize("name", SQUARES)
def test_a_row_far_out_is_named_by_its_leverage(name):
    finding = found(name, with_row(7, [1e4, 0.0, 0.0, 0.0]))["high-leverage"]
    assert finding.rows == (7,)
    assert "high-leverage" not in found(name, with_row(7, [3.0, 0.0, 0.0, 0.0]))


@pytest.mark.parametrize("name", SQUARES)
def test_a_row_far_out_is_named_in_a_stream_too(name):
    cls, _ = MODELS[name]
    far = with_row(150, [1e4, 0.0, 0.0, 0.0])
    batches = ((far[a : a + 40], y[a : a + 40]) for a in range(0, 200, 40))
    (streamed,) = [f for f in cls().fit(surefit.read(batches)).diagnosis_ if f.code == "high-leverage"]
    assert streamed.rows == (150,)
    whole = found(name, far)["high-leverage"]
    assert streamed.evidence == pytest.approx(dict(whole.evidence), rel=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_leverage_of_ridge_is_the_diagonal_of_its_hat_matrix(intercept):
    weight = rng.uniform(0.1, 2.0, 200)
    model = Ridge(alpha=3.0, fit_intercept=intercept)
    source = admit(model, model.accepts, X, y, weight)
    got = model._learn(source, Serial(), Trace()).evidence["leverage"]
    step = 1e-3
    for i in (0, 50, 199):
        moved = y.copy()
        moved[i] += step
        fits = [Ridge(alpha=3.0, fit_intercept=intercept).fit(X, t, weight).predict(X)[i] for t in (y, moved)]
        assert (fits[1] - fits[0]) / step == pytest.approx(got[i], rel=1e-8)


def test_dependencies_are_written_out_with_a_remedy_that_fits():
    sick = CASES["rank-deficiency"][1]
    for name in SQUARES:
        finding = found(name, sick)["rank-deficiency"]
        assert "x3 = x0 - 2 x1" in finding.message
        shortest = "minimum-norm coefficients" in finding.remedy
        assert shortest == (name == "LinearRegression")
    free = Ridge(alpha=0.0).fit(sick, y).diagnosis_
    assert "minimum-norm coefficients" in next(f.remedy for f in free if f.code == "rank-deficiency")


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("name", ["LinearRegression", "Ridge"])
def test_dependencies_between_columns_of_unlike_units_are_written_out(name, unit):
    data = np.column_stack([X[:, 0] * unit, X[:, 1], X[:, 2], X[:, 0] + X[:, 2]])
    message = found(name, data)["rank-deficiency"].message
    assert f"x3 = {1 / unit:.4g} x0 + x2" in message


def test_columns_are_judged_with_fewer_rows_than_columns_too():
    wide = np.random.default_rng(3).normal(size=(5, 8))
    wide[:, 6], wide[:, 7] = 0.1, 1e7 * wide[:, 7]
    told = {finding.code: finding for finding in LinearRegression().fit(wide, wide[:, 0]).diagnosis_}
    assert told["constant-columns"].columns == ("x6",)
    assert "x7" in told["scale-ratio"].columns


def test_digits_lost_are_counted():
    for power in (3, 4, 6, 8):
        data = with_column(3, X[:, 0] + 10.0**-power * noise)
        codes = {f.code: f for f in LinearRegression().fit(data, y).diagnosis_}
        assert ("ill-conditioned" in codes) == (power >= 6)
        if power >= 6:
            condition = np.linalg.cond((data - data.mean(axis=0)) / data.std(axis=0))
            assert codes["ill-conditioned"].evidence["digits lost"] == pytest.approx(
                np.log10(condition), abs=0.7
            )
    assert surefit.verify(LinearRegression().fit(data, y), data, y).holds
