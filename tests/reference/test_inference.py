"""Inference against statsmodels, to eight digits."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

import surefit
from surefit import LinearRegression
from surefit.core.errors import DataError, ParameterError, RefusalError

rng = np.random.default_rng(0)
N, P = 80, 4
X = rng.normal(size=(N, P)) * [1.0, 10.0, 1e3, 1e-3] + [0.0, 5.0, 1e5, 1.0]
y = X @ [1.0, 0.2, 1e-3, 500.0] + rng.normal(size=N) * (1 + np.abs(X[:, 0]))
groups = rng.integers(0, 9, N)
counts = rng.integers(1, 5, N).astype(float)
model = LinearRegression().fit(X, y)
peer = sm.OLS(y, sm.add_constant(X)).fit()


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-8)


def test_classical_summary():
    s = model.summary()
    close(s.estimate, peer.params)
    close(s.standard_error, peer.bse)
    close(s.t, peer.tvalues)
    close(s.p_value, peer.pvalues)
    close(np.stack([s.lower, s.upper], axis=1), peer.conf_int())
    close(s.covariance, peer.cov_params())
    got = [s.r2, s.adjusted_r2, s.f, s.f_p_value, s.log_likelihood, s.aic, s.bic, s.noise, s.freedom, s.count]
    want = [peer.rsquared, peer.rsquared_adj, peer.fvalue, peer.f_pvalue, peer.llf, peer.aic, peer.bic]
    close(got, [*want, np.sqrt(peer.scale), peer.df_resid, peer.nobs])


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3"])
def test_robust_errors(kind):
    s = model.summary(X, y, covariance=kind)
    robust = peer.get_robustcov_results(kind, use_t=True)
    close(s.standard_error, robust.bse)
    close(s.p_value, robust.pvalues)
    close(s.f, np.squeeze(robust.fvalue))


def test_clustered_errors():
    s = model.summary(X, y, covariance="cluster", groups=groups)
    robust = sm.OLS(y, sm.add_constant(X)).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    close(s.standard_error, robust.bse)
    close(s.p_value, robust.pvalues)


def test_bootstrap_errors_agree_with_the_robust_ones():
    s = model.summary(X, y, covariance="bootstrap", draws=400)
    ratio = s.standard_error / model.summary(X, y, covariance="HC3").standard_error
    # A standard deviation of 400 draws is good to 3.5 %; the two estimate the same thing to some 10 %.
    assert (np.abs(ratio - 1) < 0.25).all()
    again = model.summary(X, y, covariance="bootstrap", draws=400)
    np.testing.assert_array_equal(s.standard_error, again.standard_error)


def test_frequency_and_analytic_weights_are_told_apart():
    fitted = LinearRegression().fit(X, y, sample_weight=counts)
    repeat = np.repeat(np.arange(N), counts.astype(int))
    repeated = sm.OLS(y[repeat], sm.add_constant(X[repeat])).fit()
    frequency = fitted.summary(X, y, counts, weights="frequency")
    close(frequency.standard_error, repeated.bse)
    close([frequency.log_likelihood, frequency.bic], [repeated.llf, repeated.bic])
    close(
        fitted.summary(X, y, counts, covariance="HC3").standard_error,
        repeated.get_robustcov_results("HC3").bse,
    )
    weighted = sm.WLS(y, sm.add_constant(X), weights=counts).fit()
    analytic = fitted.summary(X, y, counts, weights="analytic")
    close(analytic.standard_error, weighted.bse)
    close([analytic.log_likelihood, analytic.aic], [weighted.llf, weighted.aic])
    close(
        fitted.summary(X, y, counts, weights="analytic", covariance="HC2").standard_error,
        weighted.get_robustcov_results("HC2").bse,
    )


def test_intervals_and_predictive_density():
    new = X[:7] + 0.1
    frame = peer.get_prediction(sm.add_constant(new, has_constant="add")).summary_frame(alpha=0.1)
    close(model.predict_interval(new, level=0.9), frame[["obs_ci_lower", "obs_ci_upper"]])
    close(model.predict_interval(new, level=0.9, of="mean"), frame[["mean_ci_lower", "mean_ci_upper"]])
    close(model.predictive(new).ppf(0.95), frame["obs_ci_upper"])


def test_the_predictive_density_is_that_of_a_student_t():
    """With a flat prior of coefficients and log noise: centre, spread and freedom in closed form."""
    from scipy.stats import t

    new = X[:3] + 0.1
    design, at = sm.add_constant(X), sm.add_constant(new, has_constant="add")
    spread = np.sqrt(peer.scale * (1 + np.sum(at * np.linalg.solve(design.T @ design, at.T).T, axis=1)))
    target = model.predict(new) + np.array([-1.0, 0.0, 2.0])
    close(
        model.predictive(new).logpdf(target),
        t.logpdf(target, N - P - 1, loc=model.predict(new), scale=spread),
    )


def test_influence():
    got, want = model.influence(X, y), peer.get_influence()
    close(got.leverage, want.hat_matrix_diag)
    # A residual near zero keeps the rounding of scores as large as y, by either program.
    blur = 1e-13 * np.abs(y).max() / np.sqrt(peer.scale)
    for one, other in (
        (got.standardized, want.resid_studentized_internal),
        (got.studentized, want.resid_studentized_external),
    ):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=blur)
    distance = want.cooks_distance[0]  # it has the square of a residual
    assert np.all(
        np.abs(got.cooks_distance - distance) <= 1e-8 * distance + 2 * blur * np.abs(got.standardized)
    )


def test_variance_inflation():
    from statsmodels.stats.outliers_influence import variance_inflation_factor

    design = sm.add_constant(X)
    close(model.summary().vif, [variance_inflation_factor(design, j + 1) for j in range(P)])


def test_without_an_intercept():
    s = LinearRegression(fit_intercept=False).fit(X, y).summary()
    plain = sm.OLS(y, X).fit()
    close(s.standard_error, plain.bse)
    close([s.r2, s.adjusted_r2, s.f], [plain.rsquared, plain.rsquared_adj, plain.fvalue])


def test_it_prints_a_table():
    pandas = pytest.importorskip("pandas")
    text = str(LinearRegression().fit(pandas.DataFrame(X, columns=["size", "b", "c", "d"]), y).summary())
    assert "size" in text
    assert "95 % interval" in text
    assert "R2" in text


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (surefit.Ridge(), "its penalty shrinks the coefficients towards zero"),
        (surefit.LinearSVR(), "its loss is not a likelihood"),
        (surefit.HuberRegressor(), "its loss is not a likelihood"),
        (surefit.LADRegressor(), "the density of the noise"),
        (surefit.SGDRegressor(), "ends near the minimum, not at it"),
    ],
    ids=["ridge", "support vectors", "huber", "median", "steps"],
)
def test_fits_without_a_theory_of_errors_say_why_and_offer_the_bootstrap(model, reason):
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(RefusalError, match=rf"{reason}.*or use the bootstrap"):
        model.fit(X, X[:, 0]).summary()


def test_refusals_give_their_reason():
    with pytest.raises(RefusalError, match="one target at a time"):
        LinearRegression().fit(X, np.column_stack([y, y])).summary()
    with pytest.raises(RefusalError, match="fewer rows than columns"):
        LinearRegression().fit(X[:3], y[:3]).summary()
    with pytest.raises(RefusalError, match="held at a bound"):
        LinearRegression(positive=True).fit(X, y).summary()
    with pytest.raises(DataError, match=r"pass the data, as in summary\(X, y\)"):
        model.summary(covariance="HC3")
    with pytest.raises(DataError, match="needs groups"):
        model.summary(X, y, covariance="cluster")
    with pytest.raises(DataError, match="level=2"):
        model.summary(level=2)
    with pytest.raises(ParameterError, match="covariance='HC9' is not allowed; it is one of 'classical'"):
        model.summary(X, y, covariance="HC9")
    with pytest.raises(ParameterError, match="weights='often' is not allowed"):
        model.summary(weights="often")
    with pytest.raises(ParameterError, match="of='old' is not allowed; it is one of 'new', 'mean'"):
        model.predict_interval(X, of="old")
    with pytest.raises(ParameterError, match="draws=1 is not allowed"):
        model.summary(X, y, covariance="bootstrap", draws=1)


@pytest.mark.parametrize("ask", ["summary", "predict_interval", "predictive"])
def test_as_many_coefficients_as_rows_leave_no_noise_to_measure(ask):
    rows = X.shape[1] + 1
    exact = LinearRegression().fit(X[:rows], y[:rows])
    given = () if ask == "summary" else (X[:1],)
    with pytest.raises(RefusalError, match=f"for {rows} rows and {rows} coefficients .* no standard errors"):
        getattr(exact, ask)(*given)
    np.testing.assert_allclose(exact.influence(X[:rows], y[:rows]).leverage, 1.0)


def test_coefficients_that_are_not_unique_have_no_standard_error():
    twice = np.column_stack([X[:, 0], X[:, 1], X[:, 1]])
    s = LinearRegression().fit(twice, y).summary(twice, y)
    assert np.isnan(s.standard_error[2:]).all()
    once = LinearRegression().fit(twice[:, :2], y).summary()
    close(s.standard_error[1], once.standard_error[1])
    assert np.isinf(s.vif[1:]).all()
