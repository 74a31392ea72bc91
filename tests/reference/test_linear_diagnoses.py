"""What linear models say of classes without a best answer, and of rare ones: a sick case and a sound one."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import surefit
from surefit import GeneralizedLinearRegressor, LogisticRegression
from surefit.models.linear.common.separation import separation

ROWS = 300


@pytest.fixture
def patients():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["age", "bmi", "dose"])
    return X, (X["age"] + rng.logistic(size=ROWS) > 0).astype(int).to_numpy()


def of(model, code):
    return [finding for finding in model.diagnosis_ if finding.code == code]


def fit(X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LogisticRegression(C=np.inf, **settings).fit(X, y)


def test_sound_classes_are_looked_at_and_left_alone(patients):
    model = fit(*patients)
    assert {"separated-classes", "rare-classes"} <= set(model.diagnosis_.ran)
    assert not model.diagnosis_
    assert separation(patients[0].to_numpy(), patients[1], True) is None
    steep = (3 * patients[0]["age"] + np.random.default_rng(1).logistic(size=ROWS) > 0).astype(int)
    assert "separating-columns" in fit(patients[0], steep).diagnosis_.ran  # steep, and no more than that
    assert not of(fit(patients[0], steep), "separating-columns")


def test_complete_separation_names_no_more_columns_than_it_takes(patients):
    X, _ = patients
    (finding,) = of(fit(X, (X["age"] - X["bmi"] > 0).astype(int)), "separating-columns")
    assert finding.columns == ("age", "bmi")
    assert "complete" in finding.message
    assert "firth" in finding.remedy
    assert "penalty" in finding.remedy


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("of_numbers", [False, True], ids=["classes", "numbers"])
def test_a_rare_flag_that_only_one_class_has_is_quasi_complete_separation(patients, of_numbers, scale):
    X, y = patients
    flag = (np.random.default_rng(2).random(ROWS) < 0.1) & (y == 1)
    X = X.assign(flag=scale * flag)
    if of_numbers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GeneralizedLinearRegressor("binomial").fit(X, y.astype(float))
    else:
        model = fit(X, y)
    (finding,) = of(model, "separating-columns")
    assert finding.columns == ("flag",)
    assert (
        f"quasi-complete separation by flag: all rows but {ROWS - flag.sum()} on the boundary"
        in finding.message
    )
    also = X.assign(flag=scale * (flag | (np.arange(ROWS) == np.flatnonzero(y == 0)[0])))
    assert not of(fit(also, y), "separating-columns")  # one row of the other class is enough


def test_separation_by_two_columns_together_but_for_the_border(patients):
    X, _ = patients
    grid = np.round(X[["age", "bmi"]].to_numpy() * 2)
    y = np.where(grid.sum(axis=1) == 0, np.arange(ROWS) % 2, grid.sum(axis=1) > 0).astype(int)
    (finding,) = of(fit(X.assign(age=grid[:, 0], bmi=grid[:, 1]), y), "separating-columns")
    assert finding.columns == ("age", "bmi")
    assert finding.evidence["border"] == np.count_nonzero(grid.sum(axis=1) == 0)


def test_one_of_many_classes_is_told_from_the_rest(patients):
    X, y = patients
    three = np.where(X["dose"] > 1.5, "high", np.where(y == 1, "yes", "no"))
    (finding,) = of(fit(X, three), "separating-columns")
    assert finding.columns == ("dose",)
    assert not of(
        fit(X, np.where(np.arange(ROWS) % 3 == 0, "high", np.where(y == 1, "yes", "no"))),
        "separating-columns",
    )


def test_weights_of_zero_do_not_hide_a_separation(patients):
    X, _ = patients
    told = (X["age"] > 0).astype(int).to_numpy().copy()
    told[:5] = 1 - told[:5]
    weight = np.r_[np.zeros(5), np.ones(ROWS - 5)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=np.inf).fit(X, told, sample_weight=weight)
    assert of(model, "separating-columns")[0].columns == ("age",)
    assert not of(fit(X, told), "separating-columns")


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_with_too_few_rows_for_the_columns(patients, classes):
    X, y = patients
    rng = np.random.default_rng(3)
    rare = np.array(["often", "seldom", "third"])[
        np.where(rng.random(ROWS) < 0.03, 1, 2 * (rng.random(ROWS) < 0.5))
    ]
    rare = rare if classes == 3 else np.where(rare == "third", "often", rare)
    (finding,) = of(fit(X, rare), "rare-classes")
    assert f"seldom ({np.count_nonzero(rare == 'seldom')} rows)" in finding.message
    assert "often" not in finding.message
    assert not of(fit(X, y), "rare-classes")
    assert not of(surefit.LogisticRegression().fit(X, rare), "rare-classes")  # a penalty is the remedy


def test_a_row_that_pulls_and_a_score_that_bends(patients):
    X, y = patients
    assert {"influential-rows", "wrong-link"} <= set(fit(X, y).diagnosis_.ran)
    assert not fit(X, y).diagnosis_
    pulled, other = X.copy(), y.copy()
    pulled.iloc[7, 0], other[7] = 30.0, 0
    (finding,) = of(fit(pulled, other), "influential-rows")
    assert finding.rows[0] == 7
    both = (X["age"] ** 2 + X["age"] + np.random.default_rng(4).logistic(size=ROWS) / 2 > 1).astype(int)
    assert of(fit(X, both), "wrong-link")
    squared = fit(X.assign(square=X["age"] ** 2), both)
    assert not of(squared, "wrong-link")
    assert "influential-rows" not in LogisticRegression().fit(X, y).diagnosis_.ran  # it takes no penalty
