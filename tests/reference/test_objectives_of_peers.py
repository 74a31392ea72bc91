"""Objectives on hard tables: never above those of scikit-learn, statsmodels, glum and celer, run tight.

One function in extended precision computes the objective of all. Ours are fitted with their defaults.
"""

from __future__ import annotations

import warnings
from functools import partial

import celer
import glum
import numpy as np
import pytest
import sklearn.linear_model as sk
import statsmodels.api as sm
from scipy import sparse
from sklearn import svm

import surefit

LONG = np.longdouble
CLOSE = 1e-6  # what ours may be above a peer's, relative to it
ROUNDED = 1e-12  # of the loss of a constant: what rounding makes of either objective
SATURATED = 1e-8  # of the loss of a constant: below, what is left of the loss is no objective to be close to


def table(kind):
    """Return X, the scores that targets follow, and weights or None."""
    rng = np.random.default_rng(7)
    X, weight = rng.normal(size=(120, 6)), None
    z = X @ [1.0, -0.5, 0.3, 0.0, 0.0, 0.2]
    if kind == "wide":
        X = rng.normal(size=(40, 100))
        z = X[:, :4] @ [1.0, -0.5, 0.5, 0.3]
    elif kind == "sparse and wide":
        X = rng.normal(size=(60, 200)) * (rng.random((60, 200)) < 0.1)
        z = X[:, :4] @ [1.0, -0.5, 0.5, 0.3]
        X = sparse.csc_matrix(X)
    elif kind == "collinear":
        X[:, 1] = X[:, 0] + 1e-6 * rng.normal(size=120)
        X[:, 3] = X[:, 2] + 1e-3 * rng.normal(size=120)
    elif kind == "constant and doubled":
        X = np.column_stack([X, np.ones(120), X[:, 0], X[:, 0] + X[:, 1]])
    elif kind == "around 1e6":
        X = X + 1e6
    elif kind == "from 1e-12 to 1e12":
        X = X * 10.0 ** np.array([-12, 12, 0, 6, -6, 3])
    elif kind == "single precision":
        X = X.astype(np.float32)
    elif kind == "uneven weights":
        weight = np.exp(6 * rng.normal(size=120))
        weight[::5] = 0.0
    elif kind == "one heavy row":
        weight = np.ones(120)
        weight[:60], weight[90] = 0.0, 1e8
    elif kind == "tied":
        X = rng.integers(0, 3, (120, 6)).astype(float)
        z = (X - 1) @ [1.0, -0.5, 0.3, 0.0, 0.0, 0.2]
    else:
        assert kind == "plain"
    return X, z, weight


TABLES = [
    "plain",
    "wide",
    "sparse and wide",
    "collinear",
    "constant and doubled",
    "around 1e6",
    "from 1e-12 to 1e12",
    "single precision",
    "uneven weights",
    "one heavy row",
    "tied",
]


def scores(X, coef, intercept):
    X = (X.toarray() if sparse.issparse(X) else X).astype(LONG)
    return X @ np.asarray(coef, dtype=LONG).T + np.asarray(intercept, dtype=LONG)


def shares(weight, rows):
    s = np.ones(rows, dtype=LONG) if weight is None else weight.astype(LONG)
    return s / s.sum()


def ends(model):
    return model.coef_, model.intercept_


def double(X):
    return with_ones(X)[:, :-1]  # glum takes minutes where X is not, or is sparse


def with_ones(X):
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    return np.column_stack([X, np.ones(len(X))])


def of_params(result):
    return result.params[:-1], result.params[-1]


def never_above(objective, ours, peers, null):
    """Hold ours to each peer that finds an answer, and what it proves to all of them.

    Objectives are mean loss plus penalty, as gaps are; ``null`` is that of a constant.
    """
    mine, parts, found = objective(*ends(ours)), ours.certificate_.parts, 0
    for peer in peers:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                theirs = objective(*peer())
            except (ValueError, ArithmeticError, np.linalg.LinAlgError):
                continue  # a table that the peer has no answer to
        found += bool(np.isfinite(theirs))
        if np.isfinite(theirs):
            assert mine <= theirs + CLOSE * abs(theirs) + SATURATED * null
            if "gap" in parts and ours.certificate_.claim == "optimal":
                assert mine - theirs <= parts["gap"] + ROUNDED * null
    assert found


def net(coef, alpha, ratio):
    w = np.asarray(coef, dtype=LONG)
    return LONG(alpha) * (LONG(ratio) * np.abs(w).sum() + LONG(1 - ratio) / 2 * (w**2).sum())


@pytest.mark.parametrize("kind", TABLES)
def test_squares(kind):
    X, z, weight = table(kind)
    y = z + 2.0 + 0.5 * np.random.default_rng(3).normal(size=len(z))
    s, F = shares(weight, len(y)), np.asfortranarray(X) if isinstance(X, np.ndarray) else X
    total = float(len(y) if weight is None else weight.sum())
    null = s @ (y - s @ y) ** 2 / 2
    D = scores(X, np.eye(X.shape[1]), 0.0)
    largest = float(np.abs((D - s @ D).T @ (s * (y - s @ y))).max())

    def objective(coef, intercept, alpha=0.0, ratio=0.0):
        return s @ (y - scores(X, np.ravel(coef), intercept)) ** 2 / 2 + net(coef, alpha, ratio)

    peers = [
        lambda: ends(sk.LinearRegression().fit(X, y, weight)),
        lambda: of_params(sm.WLS(y, with_ones(X), 1.0 if weight is None else weight).fit()),
    ]
    never_above(objective, surefit.LinearRegression().fit(X, y, weight), peers, null)
    for alpha in (1.0, 1e-6):
        peers = [
            lambda alpha=alpha: ends(sk.Ridge(alpha=alpha, tol=1e-12).fit(X, y, weight)),
            lambda alpha=alpha: ends(glum_("normal", alpha / total, 0.0).fit(double(X), y, weight)),
        ]
        of = partial(objective, alpha=alpha / total)
        never_above(of, surefit.Ridge(alpha=alpha).fit(X, y, weight), peers, null)
    for share in (0.1, 1e-4):
        for ratio in (1.0, 0.5):
            alpha = share * largest / ratio
            peers = [
                lambda o=(alpha, ratio): ends(
                    sk.ElasticNet(o[0], l1_ratio=o[1], tol=1e-12, max_iter=500).fit(F, y, weight)
                ),
                lambda o=(alpha, ratio): ends(
                    celer.ElasticNet(o[0], l1_ratio=o[1], tol=1e-12, max_iter=20, max_epochs=500).fit(
                        F, y, weight
                    )
                ),
                lambda o=(alpha, ratio): ends(glum_("normal", *o, 1e-8 * largest).fit(double(X), y, weight)),
            ]
            ours = surefit.ElasticNet(alpha, l1_ratio=ratio).fit(X, y, weight)
            never_above(partial(objective, alpha=alpha, ratio=ratio), ours, peers, null)


def glum_(family, alpha, ratio, tol=1e-9, link="auto"):
    options = {"alpha": alpha, "l1_ratio": ratio, "gradient_tol": tol, "max_iter": 15, "max_inner_iter": 300}
    return glum.GeneralizedLinearRegressor(family=family, link=link, **options)


@pytest.mark.parametrize("kind", [kind for kind in TABLES if "weight" not in kind and "row" not in kind])
def test_targets_that_share_their_columns(kind):
    X, z, _ = table(kind)
    Y = np.outer(z, [1.0, -1.0, 0.5]) + 0.5 * np.random.default_rng(3).normal(size=(len(z), 3))
    s, F = shares(None, len(Y)), np.asfortranarray(with_ones(X)[:, :-1])
    null = s @ ((Y - s @ Y) ** 2).sum(axis=1) / 2
    largest = np.linalg.norm((F - F.mean(axis=0)).T @ (Y - Y.mean(axis=0)), axis=1).max() / len(Y)
    for share in (0.1, 1e-3):
        alpha = share * largest

        def objective(coef, intercept, alpha=alpha):
            square = s @ ((Y - scores(X, coef, intercept)) ** 2).sum(axis=1) / 2
            return square + LONG(alpha) * np.sqrt((np.asarray(coef, dtype=LONG) ** 2).sum(axis=0)).sum()

        peers = [
            lambda a=alpha: ends(sk.MultiTaskLasso(a, tol=1e-12, max_iter=500).fit(F, Y)),
        ]
        never_above(objective, surefit.MultiTaskLasso(alpha).fit(X, Y), peers, null)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("C", [1e4])
def test_classes(kind, C):
    X, z, weight = table(kind)
    rng = np.random.default_rng(3)
    s = shares(weight, len(z))
    total = float(len(z) if weight is None else weight.sum())
    two = (rng.random(len(z)) < 1 / (1 + np.exp(-1.5 * z))).astype(float)
    three = np.argmax(np.column_stack([z, -z, 0 * z]) + rng.gumbel(size=(len(z), 3)), axis=1)

    def objective(coef, intercept, ratio):
        found = scores(X, np.ravel(coef), np.ravel(intercept)[0])
        return s @ (np.logaddexp(LONG(0), found) - two * found) + net(coef, 1 / (C * total), ratio)

    for ratio in (0.0, 1.0) if X.shape[1] <= 100 else (0.0,):  # glum takes long over more
        peers = [lambda r=ratio: ends(glum_("binomial", 1 / (C * total), r).fit(double(X), two, weight))]
        if ratio == 0.0:
            peers.append(lambda: ends(newton(C).fit(X, two, weight)))
        ours = surefit.LogisticRegression(C=C, l1_ratio=ratio).fit(X, two, weight)
        never_above(partial(objective, ratio=ratio), ours, peers, np.log(2.0))

    def softmax(coef, intercept):
        found = scores(X, coef, intercept)
        top = found.max(axis=1)
        loss = top + np.log(np.exp(found - top[:, None]).sum(axis=1)) - found[np.arange(len(z)), three]
        return s @ loss + net(coef, 1 / (C * total), 0.0)

    peers = [lambda: ends(newton(C).fit(X, three, weight))]
    never_above(softmax, surefit.LogisticRegression(C=C).fit(X, three, weight), peers, np.log(3.0))


def newton(C):
    return sk.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=500)


def test_three_events_in_five_thousand_rows():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(5000, 5)), np.zeros(5000)
    y[np.argsort(X @ [0.5, -0.5, 0.3, 0.0, 0.0] + rng.gumbel(size=5000))[-3:]] = 1.0
    constant, s = y.mean(), shares(None, 5000)

    def logistic(coef, intercept):
        z = scores(X, np.ravel(coef), np.ravel(intercept)[0])
        return s @ (np.logaddexp(LONG(0), z) - y * z)

    def counts(coef, intercept):
        z = scores(X, coef, intercept)
        return s @ (np.exp(z) - y * z + y * np.log(np.maximum(y, 1.0)) - y)

    classes = surefit.LogisticRegression(C=np.inf).fit(X, y)
    peers = [lambda: of_params(sm.Logit(y, with_ones(X)).fit(disp=0, maxiter=200))]
    never_above(logistic, classes, peers, -constant * np.log(constant))
    peers = [lambda: of_params(sm.GLM(y, with_ones(X), sm.families.Poisson()).fit(tol=1e-14))]
    never_above(counts, surefit.PoissonRegressor(alpha=0.0).fit(X, y), peers, -constant * np.log(constant))


FAMILIES = {
    "poisson": (
        sm.families.Poisson,
        lambda y, mean: np.where(y > 0, y * np.log(lifted(y) / mean), 0) - y + mean,
    ),
    "gamma": (sm.families.Gamma, lambda y, mean: (y - mean) / mean - np.log(y / mean)),
}
LINKS = {
    "log": (sm.families.links.Log, np.exp),
    "identity": (sm.families.links.Identity, lambda z: z),
}


def lifted(y):
    return np.where(y > 0, y, 1.0)


@pytest.mark.parametrize("kind", ["plain", "collinear", "around 1e6", "uneven weights", "exposed"])
@pytest.mark.parametrize("alpha", [0.0, 1e-3])
@pytest.mark.parametrize(
    ("family", "link"),
    [("poisson", "log"), ("gamma", "log"), ("gamma", "identity")],
)
def test_families_and_links(kind, alpha, family, link):
    X, z, weight = table("plain" if kind == "exposed" else kind)
    rng = np.random.default_rng(3)
    exposure = 10.0 ** rng.uniform(-3, 3, len(z)) if kind == "exposed" else np.ones(len(z))
    if kind == "exposed" and link != "log":
        pytest.skip("an exposure is a factor, and this link adds")
    mean = np.exp(0.5 * z + 0.3) * exposure
    y = rng.poisson(mean).astype(float) if family == "poisson" else mean * rng.gamma(2.0, 0.5, len(z))
    s, offset = shares(weight, len(y)), np.log(exposure)
    of_peer, half_deviance = FAMILIES[family]

    def objective(coef, intercept):
        found = LINKS[link][1](scores(X, coef, intercept) + offset)
        if (found[s > 0] <= 0).any():
            return np.inf
        return np.where(s > 0, s * half_deviance(y, found), 0).sum() + net(coef, alpha, 0.0)

    added = {"exposure": exposure} if kind == "exposed" else {}
    models = [surefit.GeneralizedLinearRegressor(family, link, alpha=alpha)]
    if link == "log":
        models.append(getattr(surefit, f"{family.capitalize()}Regressor")(alpha=alpha))
    peers = []
    if alpha == 0:
        told = sm.GLM(
            y, with_ones(X), of_peer(LINKS[link][0]()), freq_weights=weight, offset=offset if added else None
        )
        peers.append(lambda: of_params(told.fit(tol=1e-14)))
    peers.append(
        lambda: ends(glum_(family, alpha, 0.0, link=link).fit(X, y, weight, offset=offset if added else None))
    )
    constant = s @ y / (s @ exposure)
    null = (s * half_deviance(y, constant * exposure))[s > 0].sum()
    for model in models:
        never_above(objective, model.fit(X, y, weight, **added), peers, null)


@pytest.mark.parametrize("kind", ["plain", "wide", "collinear", "around 1e6", "uneven weights", "tied"])
def test_losses_with_kinks_and_margins(kind):
    X, z, weight = table(kind)
    rng = np.random.default_rng(3)
    y, two = z + 2.0 + rng.standard_t(1, len(z)), np.where(z + rng.logistic(size=len(z)) > 0, 1.0, -1.0)
    s, total = shares(weight, len(y)), float(len(y) if weight is None else weight.sum())
    null = s @ np.abs(y - np.median(y))

    def below(coef, intercept):
        left = y - scores(X, coef, intercept)
        return s @ np.abs(left) / 2 + net(coef, 0.01, 1.0)

    quantile = {"quantile": 0.5, "alpha": 0.01}
    peers = [lambda: ends(sk.QuantileRegressor(**quantile).fit(X, y, weight))]
    never_above(below, surefit.QuantileRegressor(**quantile).fit(X, y, weight), peers, null)

    def margins(coef, intercept):
        short = np.maximum(1 - two * scores(X, np.ravel(coef), np.ravel(intercept)[0]), 0)
        return s @ short**2 + net(np.append(coef, intercept), 1 / total, 0.0)

    peers = [lambda: ends(svm.LinearSVC(tol=1e-10, dual=False, max_iter=5000).fit(X, two, weight))]
    never_above(margins, surefit.LinearSVC().fit(X, two, weight), peers, 1.0)
