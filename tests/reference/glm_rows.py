"""Rows of every family, for the tests of generalised linear models."""

from __future__ import annotations

import numpy as np

from surefit.losses.links import link_named


def rows(family, link, n=400, seed=0):
    """Rows whose means lie well inside of what the link takes."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 3))
    mean = {"binomial": 0.4}.get(family, 2.0)
    g = link_named(link)
    centre = g.forward(np.array([mean]))[0]
    reach = 0.25 * abs(centre) + (0.3 if g.range.low is None else 0.0)
    mu = g.inverse(centre + reach * (X @ [0.7, -0.5, 0.0]))
    if family == "binomial":
        return X, (rng.random(n) < mu).astype(float)
    if family == "gaussian":
        return X, mu + 0.1 * rng.normal(size=n)
    if family in ("gamma", "inverse_gaussian"):
        return X, rng.gamma(5.0, mu / 5.0) if family == "gamma" else rng.wald(mu, 10.0)
    return X, rng.poisson(mu * rng.gamma(3.0, 1 / 3.0, n) if family == "negative_binomial" else mu) + 0.0
