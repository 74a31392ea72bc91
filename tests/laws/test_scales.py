"""Numbers whose squares leave the range of floats: every estimator fits them, or says so in a sentence."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from tests.laws.estimators import CLASSES, each_estimator, outputs, table

import surefit
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import DataError, SurefitError

SCALES = [1e150, 1e-160]
SMALL = {"n_estimators": 2, "cv": 3, "alphas": 5, "Cs": 2, "max_iter": 50}


def small(cls):
    """An instance of few members, folds and steps: what is asked does not depend on their number."""
    known = inspect.signature(cls).parameters
    # Where None is the default, it turns off what the parameter is about.
    chosen = {
        name: value for name, value in SMALL.items() if name in known and known[name].default is not None
    }
    return cls(**chosen)


def proved_or_refused(cls, X, y):
    model = small(cls)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of certificates that do not hold, which is an answer
            model.fit(X, y)
    except SurefitError as error:
        refused = str(error)
    else:
        refused = None
    if refused is not None:
        assert refused.endswith(".")
        assert "\n" not in refused
        assert not hasattr(model, "certificate_")
        return
    again = surefit.verify(model, X, y)
    assert np.isfinite(model.certificate_.value)
    assert np.isfinite(again.value)
    assert again.holds or not model.certificate_.holds
    for name, found in outputs(model, X).items():
        assert np.asarray(found).dtype.kind != "f" or np.isfinite(found).all(), name


@each_estimator
@pytest.mark.parametrize("scale", SCALES)
def test_columns(cls, scale):
    X, y = table(cls, rows=24)
    proved_or_refused(cls, X * scale, y)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "cls", [cls for cls in CLASSES.values() if cls.accepts.target == "number"], ids=lambda cls: cls.__name__
)
def test_targets(cls, scale):
    X, y = table(cls, rows=24)
    with pytest.raises(DataError, match="the numbers in the target are"):
        small(cls).fit(X, y * scale)


def test_a_proof_of_scores_beyond_all_range_warns_of_nothing_else():
    X, y = table(surefit.SGDClassifier, rows=24)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", CertificateWarning)
        for loss in ("hinge", "log_loss"):
            model = surefit.SGDClassifier(loss=loss, max_iter=5, tol=None).fit(X * 1e150, y)
            assert np.isfinite(model.certificate_.value)


@pytest.mark.parametrize("scale", [2.0**220, 2.0**-220])
@pytest.mark.parametrize("kind", ["PCA", "LinearRegression", "Ridge", "StandardScaler"])
def test_within_the_range_nothing_changes_but_the_unit(kind, scale):
    """A scale that is a power of two rounds nothing."""
    cls = getattr(surefit, kind)
    X, y = table(cls, rows=24)
    options = {"alpha": 0.0} if kind == "Ridge" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", CertificateWarning)
        one, two = cls(**options).fit(X, y), cls(**options).fit(X * scale, y)
    assert surefit.verify(two, X * scale, y).holds
    answer = "transform" if hasattr(cls, "transform") else "predict"
    found, expected = getattr(two, answer)(X * scale), getattr(one, answer)(X)
    np.testing.assert_allclose(found / (scale if kind == "PCA" else 1.0), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "most", "least"),
    [(kind, 148, 151) for kind in ("LinearRegression", "Lasso", "GaussianNB", "StandardScaler")]
    + [("PCA", 74, 70)],
)
def test_the_column_is_named(kind, most, least):
    cls = getattr(surefit, kind)
    X, y = table(cls, rows=24)
    with pytest.raises(
        DataError, match=rf"numbers in column 1 of X are beyond 1e\+{most}, .* divide them by"
    ):
        cls().fit(X * [1, 10.0 * 10.0**most, 1, 1], y)
    with pytest.raises(
        DataError, match=rf"numbers in column 2 of X are below 1e-{least}, .* multiply them by"
    ):
        cls().fit(X * [1, 1, 0.01 * 10.0**-least, 1], y)
    with pytest.raises(DataError, match="column 1 of X") as raised:
        cls().fit(X * [1, 10.0 * 10.0**most, 1, 1], y)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    named = pd.DataFrame(X * [1, 10.0 * 10.0**most, 1, 1], columns=["a", "größe", "c", "d"])
    with pytest.raises(DataError, match=rf"numbers in column 'größe' are beyond 1e\+{most}, "):
        cls().fit(named, y)
