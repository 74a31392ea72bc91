"""Generalised linear models: families, links, offsets, sources, peers, inference and diagnosis."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.reference.glm_rows import rows

import surefit
from surefit.core.errors import DataError, ParameterError, RefusalError, SeparationWarning
from surefit.losses.families import FAMILIES, NegativeBinomial, Tweedie
from surefit.losses.family_loss import CONVEX, FamilyLoss
from surefit.losses.links import link_named
from surefit.models.linear.glm.base import loss_for

GLM = surefit.GeneralizedLinearRegressor
LINKS = {
    "gaussian": ["identity", "log", "inverse"],
    "binomial": ["logit", "probit", "cloglog"],
    "poisson": ["log", "identity", "sqrt", 0.4],
    "gamma": ["log", "inverse", "identity"],
    "inverse_gaussian": ["log", "inverse_squared", "inverse"],
    "tweedie": ["log", "sqrt"],
    "negative_binomial": ["log", "sqrt"],
}
PAIRS = [(family, link) for family, links in LINKS.items() for link in links]


def family_of(name):
    return {"tweedie": Tweedie(1.5), "negative_binomial": NegativeBinomial(3.0)}.get(name) or FAMILIES[name]()


@pytest.mark.parametrize(("family", "link"), PAIRS)
def test_derivatives_and_convexity_of_every_pair(family, link):
    _, y = rows(family, link, 60)
    loss = FamilyLoss(family_of(family), link_named(link))
    z = np.asarray(loss.link.forward(np.random.default_rng(1).uniform(0.15, 0.85, len(y))))
    h = 1e-5 * np.abs(z) + 1e-7
    slope = (loss.value(y, z + h) - loss.value(y, z - h)) / (2 * h)
    bend = (loss.gradient(y, z + h) - loss.gradient(y, z - h)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(y, z), slope, rtol=1e-5, atol=1e-5 * np.abs(slope).max())
    np.testing.assert_allclose(loss.observed_curvature(y, z), bend, rtol=1e-5, atol=1e-6 * np.abs(bend).max())
    assert (loss.curvature(y, z) >= 0).all()
    if loss.convex:
        assert (loss.observed_curvature(y, z) >= -1e-9).all()
    fused = loss_for(loss.family, loss.link)
    level = fused.value(y, z) - loss.value(y, z)
    own = fused.value(y, z + 0.01) - loss.value(y, z + 0.01)
    np.testing.assert_allclose(level, own, atol=1e-10)  # they differ by a constant of y alone
    np.testing.assert_allclose(fused.gradient(y, z), loss.gradient(y, z), rtol=1e-8, atol=1e-10)


def test_pairs_that_are_called_convex_are_the_ones_known():
    assert {(loss, link) for loss, link in PAIRS if isinstance(link, str)} >= {
        pair for pair in CONVEX if pair[0] != "negative_binomial"
    }


@pytest.mark.parametrize(("family", "link"), PAIRS)
def test_every_pair_agrees_with_statsmodels(family, link):
    import statsmodels.api as sm

    X, y = rows(family, link)
    options = {"theta": 3.0} if family == "negative_binomial" else {}
    model = GLM(family, link, tol=1e-9, **options).fit(X, y)
    assert model.certificate_.holds
    assert surefit.verify(model, X, y).holds
    assert not surefit.verify(model, X, np.where(np.arange(len(y)) < 20, y[::-1], y)).holds
    links = sm.families.links
    theirs = {
        "identity": links.Identity,
        "log": links.Log,
        "logit": links.Logit,
        "probit": links.Probit,
        "cloglog": links.CLogLog,
        "inverse": links.InversePower,
        "inverse_squared": links.InverseSquared,
        "sqrt": links.Sqrt,
    }
    g = theirs[link]() if isinstance(link, str) else links.Power(link)
    makers = {
        "gaussian": sm.families.Gaussian,
        "binomial": sm.families.Binomial,
        "poisson": lambda link: sm.families.Poisson(link, check_link=False),
        "gamma": sm.families.Gamma,
        "inverse_gaussian": sm.families.InverseGaussian,
        "tweedie": lambda link: sm.families.Tweedie(link, 1.5),
        "negative_binomial": lambda link: sm.families.NegativeBinomial(link, 1 / 3),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = sm.GLM(y, sm.add_constant(X), family=makers[family](link=g)).fit(tol=1e-12, maxiter=200)
    ours = model.summary(X, y)
    # Neither is lower than the other by more than a rounding of the deviance.
    assert ours.deviance <= peer.deviance * (1 + 1e-9)
    np.testing.assert_allclose(ours.estimate, peer.params, rtol=1e-4, atol=1e-4 * ours.standard_error.max())
    np.testing.assert_allclose(ours.standard_error, peer.bse, rtol=1e-4)
    np.testing.assert_allclose(model.dispersion_, peer.scale, rtol=1e-5)
    np.testing.assert_allclose(model.predict(X), peer.predict(), rtol=1e-3)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Poisson", {}),
        ("Gamma", {}),
        ("Tweedie", {"power": 1.5}),
        ("Tweedie", {"power": 0.0}),
        ("Tweedie", {"power": 3.0}),
        ("Tweedie", {"power": 1.0, "link": "identity"}),
    ],
)
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_the_objective_is_never_above_scikit_learns(name, options, alpha):
    import sklearn.linear_model as peers

    X, y = rows("gamma" if name != "Poisson" else "poisson", "log")
    weight = np.random.default_rng(5).uniform(0.0, 2.0, len(y))
    ours = getattr(surefit, f"{name}Regressor")(alpha=alpha, tol=1e-9, **options).fit(X, y, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = getattr(peers, f"{name}Regressor")(alpha=alpha, tol=1e-10, max_iter=2000, **options).fit(
            X, y, weight
        )
    family, link = ours._family(), ours._link()

    def objective(model):
        mean = link.inverse(X @ model.coef_ + model.intercept_)
        return (
            np.average(0.5 * family.deviance(y, mean), weights=weight)
            + 0.5 * alpha * model.coef_ @ model.coef_
        )

    assert objective(ours) <= objective(theirs) * (1 + 1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.score(X, y, weight) == pytest.approx(theirs.score(X, y, weight), abs=1e-6)


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    ("family", "options"),
    [("poisson", {}), ("binomial", {}), ("gamma", {}), ("negative_binomial", {"theta": 2.0})],
)
def test_the_objective_is_never_above_glums(family, options, ratio):
    from glum import GeneralizedLinearRegressor as Glum

    X, y = rows(family, "logit" if family == "binomial" else "log")
    ours = GLM(family, alpha=0.01, l1_ratio=ratio, **options).fit(X, y)
    named = "negative.binomial(0.5)" if options else family
    theirs = Glum(family=named, link="auto", alpha=0.01, l1_ratio=ratio, gradient_tol=1e-8, max_iter=500).fit(
        X, y
    )

    def objective(model):
        mean = ours._link().inverse(X @ model.coef_ + model.intercept_)
        w = model.coef_
        return 0.5 * np.mean(ours._fitted_family().deviance(y, mean)) + 0.01 * (
            ratio * np.abs(w).sum() + 0.5 * (1 - ratio) * w @ w
        )

    assert objective(ours) <= objective(theirs) * (1 + 1e-6)
    assert ours.certificate_.claim == "optimal"


def test_offset_and_exposure_by_values_and_by_column():
    import pandas as pd

    X, y = rows("poisson", "log")
    time = np.random.default_rng(2).uniform(0.5, 3.0, len(y))
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(time=time, log_time=np.log(time))
    by_values = GLM("poisson").fit(table[["a", "b", "c"]], y, exposure=time)
    by_exposure = GLM("poisson").fit(table[["a", "b", "c", "time"]], y, exposure="time")
    by_offset = GLM("poisson").fit(table[["a", "b", "log_time", "c"]], y, offset="log_time")
    for model in (by_exposure, by_offset):
        assert model.intercept_ == pytest.approx(by_values.intercept_, abs=1e-9)
    np.testing.assert_allclose(by_exposure.coef_, [*by_values.coef_, 0.0], atol=1e-9)
    np.testing.assert_allclose(by_offset.coef_, np.insert(by_values.coef_, 2, 1.0), atol=1e-9)
    wanted = by_values.predict(table[["a", "b", "c"]], exposure=time)
    np.testing.assert_allclose(by_exposure.predict(table[["a", "b", "c", "time"]]), wanted, rtol=1e-9)
    np.testing.assert_allclose(by_offset.predict(table[["a", "b", "log_time", "c"]]), wanted, rtol=1e-9)
    assert surefit.verify(by_values, table[["a", "b", "c"]], y, exposure=time).holds
    assert not surefit.verify(by_values, table[["a", "b", "c"]], y).holds
    assert surefit.verify(by_offset, table[["a", "b", "log_time", "c"]], y).holds
    ours = by_offset.summary(table[["a", "b", "log_time", "c"]], y)
    assert ours.names == ("intercept", "a", "b", "c")
    plain = by_values.summary(table[["a", "b", "c"]], y, exposure=time)
    np.testing.assert_allclose(ours.standard_error, plain.standard_error, rtol=1e-9)


def test_an_offset_of_least_squares_is_taken_from_the_target():
    X, y = rows("gaussian", "identity")
    offset = np.random.default_rng(3).normal(size=len(y))
    model = GLM().fit(X, y, offset=offset)
    wanted = surefit.LinearRegression().fit(X, y - offset)
    np.testing.assert_allclose(model.coef_, wanted.coef_, atol=1e-12)
    np.testing.assert_allclose(model.predict(X, offset=offset), wanted.predict(X) + offset, atol=1e-12)


def test_files_streams_and_dask_give_the_same_numbers(tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    import pandas as pd

    X, y = rows("poisson", "log", 900)
    time = np.random.default_rng(2).uniform(0.5, 3.0, len(y))
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(time=time, count=y)
    for k in range(3):
        table[300 * k : 300 * (k + 1)].to_parquet(tmp_path / f"part{k}.parquet")
    memory = GLM("poisson").fit(table.drop(columns="count"), y, exposure="time")
    files = GLM("poisson").fit(str(tmp_path / "*.parquet"), "count", exposure="time")
    cluster = GLM("poisson").fit(dask.from_pandas(table, npartitions=3), "count", exposure="time")
    for model in (files, cluster):
        np.testing.assert_allclose(model.coef_, memory.coef_, atol=1e-9)
        assert model.deviance_ == pytest.approx(memory.deviance_)
    assert surefit.verify(files, str(tmp_path / "*.parquet"), "count").holds
    np.testing.assert_allclose(
        files.predict(str(tmp_path / "*.parquet")), memory.predict(table.drop(columns="count")), rtol=1e-8
    )
    streamed = files.summary(str(tmp_path / "*.parquet"), "count")
    np.testing.assert_allclose(
        streamed.standard_error, memory.summary(table.drop(columns="count"), y).standard_error, rtol=1e-8
    )
    theta = GLM("negative_binomial").fit(str(tmp_path / "*.parquet"), "count", exposure="time").theta_
    assert theta == pytest.approx(
        GLM("negative_binomial").fit(table.drop(columns="count"), y, exposure="time").theta_, rel=1e-4
    )


@pytest.mark.parametrize("family", ["poisson", "gamma", "negative_binomial", "binomial"])
def test_hard_columns(family):
    link = "logit" if family == "binomial" else "log"
    X, y = rows(family, link)
    plain = GLM(family).fit(X, y)
    scaled = GLM(family).fit(X * [1e-12, 1.0, 1e12] + [0.0, 1e6, 0.0], y)
    np.testing.assert_allclose(
        scaled.predict(X * [1e-12, 1.0, 1e12] + [0.0, 1e6, 0.0]), plain.predict(X), rtol=1e-5
    )
    twice = GLM(family).fit(np.column_stack([X, X[:, 0], np.ones(len(y))]), y)
    np.testing.assert_allclose(
        twice.predict(np.column_stack([X, X[:, 0], np.ones(len(y))])), plain.predict(X), rtol=1e-4
    )
    found = twice.summary(np.column_stack([X, X[:, 0], np.ones(len(y))]), y)
    assert np.isnan(found.standard_error[[1, 4]]).all()
    assert np.isfinite(found.standard_error[2])
    few = GLM(family, alpha=0.1, **({"theta": 1.0} if family == "negative_binomial" else {})).fit(
        np.tile(X[:8], 4), y[:8]
    )
    assert few.certificate_.holds
    kept = GLM(family).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(kept.coef_, plain.coef_, atol=1e-6)
    zero = np.r_[np.ones(len(y)), np.zeros(3)]
    ignored = GLM(family).fit(np.vstack([X, 1e3 * X[:3]]), np.r_[y, y[:3]], zero)
    np.testing.assert_allclose(ignored.coef_, plain.coef_, atol=1e-7)
    float32 = GLM(family).fit(np.asfortranarray(X.astype(np.float32)), y)
    np.testing.assert_allclose(float32.coef_, plain.coef_, atol=1e-4)


def test_refusals():
    X, y = rows("poisson", "log")
    with pytest.raises(DataError, match=r"y\[0\] is -1.0, but the gamma loss takes numbers in \(0, inf\)"):
        GLM("gamma").fit(X, np.r_[-1.0, y[1:] + 1.0])
    with pytest.raises(DataError, match=r"the exposure of row 2 is 0\.0"):
        GLM("poisson").fit(X, y, exposure=np.where(np.arange(len(y)) == 2, 0.0, 1.0))
    with pytest.raises(DataError, match=r"the offset has shape \(3,\) for 400 rows"):
        GLM("poisson").fit(X, y, offset=[1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="no column 'time' for the exposure"):
        GLM("poisson").fit(X, y, exposure="time")
    with pytest.raises(ParameterError, match="binom"):
        GLM("binom").fit(X, y)
    with pytest.raises(RefusalError, match=r"alpha=0\.5 shrinks the coefficients towards zero, .* bootstrap"):
        GLM("poisson", alpha=0.5).fit(X, y).summary(X, y)
    with pytest.raises(RefusalError, match="C=1 shrinks the coefficients"):
        surefit.LogisticRegression().fit(X, y > 2).summary(X, y > 2)
    with pytest.raises(DataError, match="pass the rows that were fitted"):
        GLM("poisson").fit(X, y).summary()
    with pytest.raises(DataError, match="do not maximise the likelihood"):
        GLM("poisson").fit(X, y).summary(X[:200], y[:200])
    with pytest.raises(RefusalError, match="theta is not estimated together with an l1 penalty"):
        GLM("negative_binomial", alpha=0.1, l1_ratio=0.5).fit(X, y)


@pytest.mark.parametrize("level", [-1000.0, 1000.0])
def test_offsets_far_from_zero_only_move_the_intercept(level):
    """Where no intercept can, or offsets are apart, means leave the range of floats: that is refused."""
    rng = np.random.default_rng(0)
    X, spread = rng.normal(size=(100, 3)), 0.5 * rng.normal(size=100)
    counts = rng.poisson(np.exp(0.3 * X[:, 0] + spread)).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for model, y in (
            (surefit.PoissonRegressor(alpha=0.0, tol=1e-9), counts),
            (surefit.TweedieRegressor(power=1.5, alpha=0.1, tol=1e-9), counts),
            (GLM("binomial", link="logit", tol=1e-9), (counts > 0) * 1.0),
            (GLM("negative_binomial", tol=1e-9), counts),
        ):
            near = clone(model).fit(X, y, offset=spread)
            far = clone(model).fit(X, y, offset=spread + level)
            assert far.certificate_.holds
            np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-4)
            assert far.intercept_ + level == pytest.approx(near.intercept_, abs=1e-4)
            assert far.score(X, y, offset=spread + level) == pytest.approx(
                near.score(X, y, offset=spread), abs=1e-6
            )
            assert surefit.verify(far, X, y, offset=spread + level).holds
        apart = np.linspace(0.0, level, 100)
        for model in (
            surefit.PoissonRegressor(alpha=0.0),
            surefit.TweedieRegressor(power=3.0),
            GLM("negative_binomial"),
        ):
            with pytest.raises(DataError, match=r"offsets run from .* overflow"):
                model.fit(X, counts + 1.0, offset=apart)
            with pytest.raises(DataError, match="or fit an intercept"):
                model.set_params(fit_intercept=False).fit(X, counts + 1.0, offset=spread + level)
        told = (X[:, 0] > 0) * 1.0
        with pytest.warns(SeparationWarning):
            sure = GLM("binomial", link="logit").fit(X, told, offset=1000.0 * X[:, 0])
        assert sure.score(X, told, offset=1000.0 * X[:, 0]) == pytest.approx(1.0)
