"""Rows given back: what is left is the fit of the others, or the estimator says why it cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from tests.laws.estimators import (
    NAMES_ROWS,
    assert_close,
    assert_same_bits,
    each_estimator,
    keeping,
    outputs,
    table,
)

import surefit
from surefit.core.errors import RefusalError
from surefit.models.updating import OneStatistic
from surefit.stats.base import Joint


def subtractable(statistic):
    members = statistic.members.values() if isinstance(statistic, Joint) else [statistic]
    return all(member.subtractable for member in members)


def part(y, rows):
    return None if y is None else y[rows]


@each_estimator
def test_forget_equals_fit_of_the_rest(cls):
    new = keeping(cls)
    if new is None:
        assert not hasattr(cls, "forget")
        return
    X, y = table(cls)
    keep, gone = slice(0, 40), slice(40, None)
    model = clone(new).fit(X, y)
    before = outputs(model, X)
    if isinstance(model, OneStatistic) and not subtractable(model.statistic_):
        with pytest.raises(RefusalError, match="does not support removing rows"):
            model.forget(X[gone], part(y, gone))
        assert_same_bits(before, outputs(model, X))
        return
    weight = np.random.default_rng(4).uniform(0.5, 2.0, len(X))
    if cls.__name__ in NAMES_ROWS:
        assert_close(outputs(model.forget(X[gone]), X), outputs(clone(new).fit(X[keep]), X))
        return
    weighted = clone(new).fit(X, y, sample_weight=weight).forget(X[gone], part(y, gone), weight[gone])
    rest = clone(new).fit(X[keep], part(y, keep), sample_weight=weight[keep])
    assert_close(outputs(weighted, X), outputs(rest, X))
    assert_close(
        outputs(model.forget(X[gone], part(y, gone)), X), outputs(clone(new).fit(X[keep], part(y, keep)), X)
    )
    assert model.certificate_.holds
    assert surefit.verify(model, X[keep], part(y, keep)).holds
    with pytest.raises(RefusalError):
        model.forget(X, y)
    assert surefit.verify(model, X[keep], part(y, keep)).holds


OTHERWISE = {
    "a strategy": (surefit.SimpleImputer(), surefit.SimpleImputer(strategy="most_frequent"), "strategy"),
    "a marker": (surefit.SimpleImputer(), surefit.SimpleImputer(missing_values=0.0), "missing_values"),
    "a mark": (surefit.MissingIndicator(), surefit.MissingIndicator(missing_values=0.0), "missing_values"),
    "weights": (surefit.RidgeClassifier(), surefit.RidgeClassifier(class_weight={0: 2.0}), "class_weight"),
}


@pytest.mark.parametrize(("one", "other", "parameter"), OTHERWISE.values(), ids=OTHERWISE.keys())
def test_rows_gathered_under_other_parameters_do_not_add_up(one, other, parameter):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    model = clone(one).fit(X, y)
    assert model.merge(clone(one).fit(X, y)) is model
    with pytest.raises(RefusalError, match=f"{parameter}=.*cannot be combined.*one {parameter}"):
        model.merge(clone(other).fit(X, y))
    model.set_params(**{parameter: getattr(other, parameter)})
    with pytest.raises(RefusalError, match=f"the rows so far were accumulated with {parameter}="):
        model.partial_fit(X, y)
    assert model.set_params(**{parameter: getattr(one, parameter)}).partial_fit(X, y) is model
