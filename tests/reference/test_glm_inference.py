"""Inference and diagnosis of likelihood fits: profiles, residuals, dispersion, links, separation, order."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from tests.reference.glm_rows import rows

import surefit
from surefit.core.errors import DataError, ParameterError, RefusalError, SeparationWarning, SurefitWarning
from surefit.models.linear.common.separation import separation

GLM = surefit.GeneralizedLinearRegressor


def test_profile_intervals_and_ratio_tests_follow_the_likelihood():
    X, y = rows("binomial", "logit", 60)
    model = GLM("binomial", tol=1e-10).fit(X, y)
    found = model.summary(X, y, interval="profile", test="lr")
    for place, end in ((1, found.lower[1]), (2, found.upper[2])):
        held = GLM("binomial", tol=1e-10).fit(
            np.delete(X, place - 1, axis=1), y, offset=end * X[:, place - 1]
        )
        assert held.deviance_ - model.deviance_ == pytest.approx(stats.chi2.ppf(0.95, 1), rel=1e-5)
    without = GLM("binomial", tol=1e-10).fit(X[:, 1:], y)
    assert found.z[1] ** 2 == pytest.approx(without.deviance_ - model.deviance_, rel=1e-6)
    assert found.p_value[1] == pytest.approx(stats.chi2.sf(without.deviance_ - model.deviance_, 1), rel=1e-6)


@pytest.mark.parametrize(
    "asked", [{"covariance": "HC3"}, {"test": "score"}, {"interval": "likelihood"}, {"level": 95}]
)
def test_what_is_not_offered_is_refused_and_not_taken_for_something_else(asked):
    """HC3 is offered for least squares; here it must not pass for HC0."""
    X, y = rows("poisson", "log", 60)
    (name,) = asked
    with pytest.raises(ParameterError, match=f"{name}=.* is not allowed; it"):
        GLM("poisson").fit(X, y).summary(X, y, **asked)
    with pytest.raises(ParameterError, match="at='median' is not allowed; it is one of 'average', 'means'"):
        GLM("poisson").fit(X, y).marginal_effects(X, y, at="median")


def test_each_row_has_one_group():
    X, y = rows("poisson", "log", 60)
    group = np.arange(60) % 7
    for model in (GLM("poisson"), surefit.LinearRegression()):
        model.fit(X, y)
        expected = model.summary(X, y, covariance="cluster", groups=group).standard_error
        named = model.summary(X, y, covariance="cluster", groups=[f"g{k}" for k in group]).standard_error
        np.testing.assert_array_equal(named, expected)
        for given, message in (
            (group[:-1], "groups has 59 entries"),
            (np.append(group, 1), "groups has 61 entries"),
            (np.where(group == 3, np.nan, group), r"groups\[3\] is missing"),
            (pd.Series(group).astype("Int64").mask(group == 2), r"groups\[2\] is missing"),
            ([None, *group[1:]], r"groups\[0\] is missing"),
        ):
            with pytest.raises(DataError, match=message):
                model.summary(X, y, covariance="cluster", groups=given)


def test_separated_classes_have_no_errors():
    """The likelihood rises for ever: an error of 16000 beside 1000 tells where the fit stopped."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    for y in ((X[:, 0] > 0).astype(int), np.digitize(X[:, 0], [-0.5, 0.5])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = surefit.LogisticRegression(C=np.inf).fit(X, y)
        for asked in (model.summary, model.marginal_effects):
            with pytest.raises(
                RefusalError, match="its classes are separable, so no finite maximum-likelihood"
            ):
                asked(X, y)
    y[:40] = np.random.default_rng(1).permutation(y[:40])
    model = surefit.LogisticRegression(C=np.inf).fit(X, y)
    assert (model.summary(X, y).standard_error < 10).all()


def test_looking_for_separation_is_not_told_as_a_fit_of_its_own():
    """Twelve powers nearly separate these classes; whether they do is asked of a programme, in silence."""
    rng = np.random.default_rng(5)
    at = rng.uniform(0.0, 10.0, 300)
    y = (np.sin(at) + 0.2 * rng.normal(size=300) > 0.1).astype(int)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        surefit.LogisticRegression(C=np.inf).fit(np.vander(at + 20, 13, increasing=True)[:, 1:], y)
    assert told
    assert all(str(each.message).startswith("LogisticRegression: ") for each in told)


def test_residuals_agree_with_statsmodels():
    import statsmodels.api as sm

    X, y = rows("gamma", "log")
    found = GLM("gamma", tol=1e-10).fit(X, y).residuals(X, y)
    peer = sm.GLM(y, sm.add_constant(X), family=sm.families.Gamma(sm.families.links.Log())).fit(tol=1e-12)
    influence = peer.get_influence(observed=False)
    np.testing.assert_allclose(found.deviance, peer.resid_deviance, atol=1e-5)
    np.testing.assert_allclose(found.pearson, peer.resid_pearson, atol=1e-5)
    np.testing.assert_allclose(found.working, peer.resid_working, atol=1e-4)
    np.testing.assert_allclose(found.leverage, influence.hat_matrix_diag, atol=1e-6)
    np.testing.assert_allclose(found.cooks_distance, influence.cooks_distance[0], atol=1e-6)


def test_overdispersed_counts_are_found_and_their_errors_mended():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(800, 2))
    y = rng.poisson(np.exp(0.5 + X @ [0.3, 0.0]) * rng.gamma(0.5, 2.0, 800)).astype(float)
    model = GLM("poisson").fit(X, y)
    (finding,) = [f for f in model.diagnosis_ if f.code == "overdispersion"]
    plain, quasi = model.summary(X, y), model.summary(X, y, dispersion="pearson")
    assert finding.evidence["ratio"] == pytest.approx(plain.overdispersion, rel=1e-6)
    np.testing.assert_allclose(
        quasi.standard_error, plain.standard_error * np.sqrt(plain.overdispersion), rtol=1e-9
    )
    assert "overdispersion" not in GLM("negative_binomial").fit(X, y).diagnosis_.codes()
    assert (
        "overdispersion"
        not in GLM("poisson").fit(X, rng.poisson(np.exp(0.5 + 0.3 * X[:, 0]))).diagnosis_.codes()
    )


def test_a_wrong_link_and_an_influential_row_are_found():
    rng = np.random.default_rng(6)
    X = rng.uniform(0.0, 2.0, size=(600, 1))
    y = rng.poisson(np.exp(0.2 + 1.2 * X[:, 0])).astype(float)
    assert "wrong-link" in GLM("poisson", "sqrt").fit(X, y).diagnosis_.codes()
    clean = GLM("poisson").fit(X, y)
    assert "wrong-link" not in clean.diagnosis_.codes()
    assert {"wrong-link", "influential-rows"} <= set(clean.diagnosis_.ran)
    assert "influential-rows" not in clean.diagnosis_.codes()
    X[0], y[0] = 8.0, 0.0
    found = [f for f in GLM("poisson").fit(X, y).diagnosis_ if f.code == "influential-rows"]
    assert found[0].rows[0] == 0


@pytest.mark.parametrize("kind", ["complete", "quasi-complete"])
def test_separation_is_found_with_its_columns(kind):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(80, 3))
    y = (X[:, 1] > 0).astype(int)
    if kind == "quasi-complete":
        X[:, 1] = np.round(np.abs(X[:, 1])) * np.sign(X[:, 1])  # those that round to zero are on the border
    found = separation(X, y, True)
    assert found is not None
    assert (found.kind, found.columns) == (kind, (1,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = surefit.LogisticRegression(C=np.inf).fit(X, y)
    (finding,) = [f for f in model.diagnosis_ if f.code == "separating-columns"]
    assert finding.columns == ("x1",)
    assert "firth" in finding.remedy


def test_no_separation_where_classes_overlap():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(200, 3))
    assert separation(X, (X[:, 0] + rng.normal(size=200) > 0).astype(int), True) is None
    tied = np.repeat([[0.0], [1.0]], 10, axis=0)
    assert separation(tied, np.tile([0, 1], 10), True) is None


def test_ordered_classes_agree_with_given_thresholds_and_two_classes_with_logistic():
    from surefit.losses.cumulative_logit import CumulativeLogit

    rng = np.random.default_rng(10)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X @ [1.0, -0.5, 0.0] + rng.logistic(size=300), [-1.0, 0.5, 2.0])
    model = surefit.OrdinalClassifier().fit(X, y)
    assert (np.diff(model.thresholds_) > 0).all()
    given = surefit.LinearModel(
        CumulativeLogit(tuple(model.thresholds_)), fit_intercept=False, tol=1e-10
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_, given.coef_, atol=1e-5)
    assert model.certificate_.parts["objective"] == pytest.approx(
        given.certificate_.parts["objective"], abs=1e-9
    )
    two = surefit.OrdinalClassifier().fit(X, y > 1)
    logistic = surefit.LogisticRegression(C=np.inf, tol=1e-8).fit(X, y > 1)
    np.testing.assert_allclose(two.coef_, logistic.coef_[0], atol=1e-5)
    assert two.thresholds_[0] == pytest.approx(-logistic.intercept_[0], abs=1e-5)
    far = surefit.OrdinalClassifier().fit(X * [1e-9, 1.0, 1e9] + [0.0, 1e6, 0.0], y)
    np.testing.assert_allclose(far.coef_ * [1e-9, 1.0, 1e9], model.coef_, rtol=1e-4, atol=1e-6)
    with pytest.raises(ParameterError, match="does not list the classes"):
        surefit.OrdinalClassifier(order=[0, 1]).fit(X, y)


@pytest.mark.parametrize(
    "kind", ["squares", "two classes", "three classes", "counts", "levels", "no intercept"]
)
def test_a_column_that_depends_on_others_is_named_and_costs_no_parameter(kind):
    """All but the coefficients that depend on each other is what the table without the last column says."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    more = np.column_stack([X, X[:, 0] + X[:, 1]])
    y = X[:, 0] + rng.normal(size=100)
    counts = rng.poisson(np.exp(0.3 * X[:, 0])).astype(float)
    logistic = surefit.LogisticRegression(C=np.inf, tol=1e-8)
    model, target = {
        "squares": (surefit.LinearRegression(), y),
        "two classes": (logistic, (y > 0).astype(int)),
        "three classes": (logistic, np.digitize(y, [-1.0, 1.0])),
        "counts": (surefit.PoissonRegressor(alpha=0.0, tol=1e-10), counts),
        "levels": (surefit.OrdinalClassifier(tol=1e-10), np.digitize(y, [-1.0, 1.0])),
        "no intercept": (surefit.PoissonRegressor(alpha=0.0, tol=1e-10, fit_intercept=False), counts),
    }[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SurefitWarning)
        whole = clone(model).fit(X, target).summary(X, target)
        found = clone(model).fit(more, target).summary(more, target)
    told = {
        name: (e, b) for name, e, b in zip(found.names, found.standard_error, found.estimate, strict=True)
    }
    for name, error, estimate in zip(whole.names, whole.standard_error, whole.estimate, strict=True):
        if "x0" in name or "x1" in name or (kind == "squares" and name == "intercept"):
            assert np.isnan(told[name][0])
        else:
            np.testing.assert_allclose(told[name], (error, estimate), rtol=1e-3, atol=1e-5)
    assert (found.freedom, found.aic) == (whole.freedom, pytest.approx(whole.aic, rel=1e-6))
    if kind != "squares":
        assert found.lr_p_value == pytest.approx(whole.lr_p_value, rel=1e-4)
    note = next(line for line in str(found).splitlines() if line.startswith("nan: "))
    assert {"x0", "x1", "x3"} == set(re.findall(r"x\d", note))
    assert "Drop one column" in str(found)
    assert "nan:" not in str(whole)


@pytest.mark.parametrize("name", ["poisson", "tweedie", "negative binomial"])
def test_an_infimum_that_no_coefficients_attain_is_told(name):
    """A column that only rows of count 0 have, and fewer rows than columns: some means fall for ever."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = rng.poisson(np.exp(0.3 * X[:, 0])).astype(float)
    y[:5] = 0.0
    model = {
        "poisson": surefit.PoissonRegressor(alpha=0.0),
        "tweedie": surefit.TweedieRegressor(power=1.5, alpha=0.0),
        "negative binomial": GLM("negative_binomial", theta=1.0),
    }[name]
    alone = np.column_stack([X, np.arange(200) < 5])
    few = rng.normal(size=(20, 40))
    tables = {"x3": (alone, y), "x0": (few, y[3:23])}
    for column, (table, counts) in tables.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SurefitWarning)
            found = clone(model).fit(table, counts)
        assert found.certificate_.holds
        assert "infimum that no coefficients attain" in found.certificate_.statement
        told = next(finding for finding in found.diagnosis_ if finding.code == "no-minimum")
        assert column in told.columns
        again = surefit.verify(found, table, counts)
        assert again.holds
        assert again.measure == found.certificate_.measure
    assert told.evidence["rows"] == np.count_nonzero(y[3:23] == 0)
    attained = [clone(model).fit(X, y), clone(model).set_params(alpha=0.1).fit(alone, y)]
    alone[7, 3], y[7] = 1.0, 2.0  # a row with a count has the column as well
    attained.append(clone(model).fit(alone, y))
    for each in attained:
        assert "infimum" not in each.certificate_.statement
        assert "no-minimum" not in [finding.code for finding in each.diagnosis_]


def test_softmax_without_a_penalty_is_proved_where_one_class_is_told_apart():
    """The loss hardly bends along what tells a class apart, and what it leaves there is next to nothing."""
    X, y = load_iris(return_X_y=True)
    two = surefit.LogisticRegression(C=np.inf, tol=1e-10).fit(X[50:], y[50:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        every = surefit.LogisticRegression(C=np.inf).fit(X, y)
        apart = surefit.LogisticRegression(C=np.inf).fit(X[:, :2] + 9.0 * y[:, None], y)
    assert every.certificate_.holds, every.certificate_.statement
    assert apart.certificate_.holds, apart.certificate_.statement
    assert surefit.verify(every, X, y).holds
    # The first class costs nothing in the end: what is left is the likelihood of the other two.
    least = two.certificate_.parts["objective"] * 100 / 150
    proof = every.certificate_
    assert 0 <= proof.parts["objective"] - least <= proof.value * proof.parts["scale"]
    assert apart.certificate_.parts["objective"] <= 1e-6 * apart.certificate_.parts["scale"]
    every.coef_ = every.coef_ * 1.001
    assert not surefit.verify(every, X, y).holds
