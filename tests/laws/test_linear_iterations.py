"""Every linear model records its steps, calls back after each and stops when asked, begins where it ended."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.laws.estimators import CLASSES, table

import surefit
from surefit.core.callbacks.base import Callback
from surefit.core.errors import RefusalError
from surefit.core.trace import Trace

LINEAR = {name: cls for name, cls in CLASSES.items() if cls.__module__.startswith("surefit.models.linear")}
# What makes a model take steps whose defaults do not.
STEPS: dict[str, dict[str, Any]] = {
    "GeneralizedLinearRegressor": {"family": "gamma", "link": "log"},
    "LinearModel": {"loss": "absolute"},
    "Ridge": {"solver": "lsqr"},
    "RidgeClassifier": {"solver": "lsqr"},
    "TweedieRegressor": {"power": 1.5},
    "LogisticRegressionCV": {"Cs": 2, "cv": 2},
}
CLOSED_FORM = {"LinearRegression", "RidgeCV", "RidgeClassifierCV", "BayesianLinearRegression"}
CLOSED_FORM |= {"ConstrainedRidge"}
# Iterative models without ``warm_start``, and why.
COLD = {
    **dict.fromkeys(("Lars", "LassoLars", "LassoLarsCV", "LassoLarsIC", "ConstrainedLasso"), "a path from 0"),
    **dict.fromkeys((name for name in LINEAR if name.endswith("CV")), "begins where its folds ended"),
    **dict.fromkeys(("BayesianRidge", "ARDRegression"), "climbs an evidence that is not concave"),
    **dict.fromkeys(("Ridge", "RidgeClassifier"), "a closed form, but for many columns"),
}
each_linear = pytest.mark.parametrize("name", sorted(LINEAR))
each_iterative = pytest.mark.parametrize("name", sorted(set(LINEAR) - CLOSED_FORM))


class Watch(Callback):
    """Count the steps; ask to stop after some."""

    def __init__(self, stop_after: float = np.inf) -> None:
        self.stop_after = stop_after
        self.steps = self.fits = 0

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        if context.task_name != "iteration":
            self.fits += 1
            return False
        self.steps += 1
        assert len(estimator.trace_) == self.steps
        return self.steps >= self.stop_after


def fitted(name: str, watch: Watch | None = None, **options: Any) -> Any:
    cls = LINEAR[name]
    X, y = table(cls)
    if name in STEPS and cls.accepts.target == "number":
        y = np.exp(0.3 * y)
    model = cls(**STEPS.get(name, {}), **options)
    if watch is not None:
        model.set_callbacks(watch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@each_linear
def test_each_step_is_in_the_trace_and_called_back(name):
    watch = Watch()
    model = fitted(name, watch)
    assert isinstance(model.trace_, Trace)
    assert watch.fits == 1
    assert watch.steps == len(model.trace_)
    assert (len(model.trace_) == 0) == (name in CLOSED_FORM)
    assert [event.iteration for event in model.trace_] == list(range(len(model.trace_)))
    for event in model.trace_:  # a path has strengths in place of an objective
        told = [event.objective, event.gap, event.step, *event.values.values()]
        assert any(each is not None and np.isfinite(each) for each in told)


@each_iterative
def test_a_callback_stops_after_the_step_under_way(name):
    watch = Watch(stop_after=1)
    model = fitted(name, watch)
    assert watch.steps == len(model.trace_) == 1
    assert model.trace_.asked_to_stop
    assert np.isfinite(model.certificate_.value)


@each_iterative
def test_a_warm_start_takes_fewer_steps_and_ends_no_worse(name):
    takes = "warm_start" in inspect.signature(LINEAR[name]).parameters
    assert takes != (name in COLD)
    if not takes:
        return
    cold = fitted(name, warm_start=True)
    steps, proof = len(cold.trace_), cold.certificate_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y = table(LINEAR[name])
        warm = cold.fit(
            X, np.exp(0.3 * y) if name in STEPS and LINEAR[name].accepts.target == "number" else y
        )
    assert len(warm.trace_) < steps or steps == 1
    assert warm.certificate_.holds or not proof.holds


# Those that take one batch; the rest read a table piece by piece.
ONE_BATCH = {"LADRegressor", "QuantileRegressor", "LinearSVR"}


@pytest.mark.parametrize(
    "name", sorted(name for name in LINEAR if LINEAR[name]().__sklearn_tags__().target_tags.single_output)
)
def test_what_takes_one_batch_says_so(name, tmp_path, monkeypatch):
    cls = LINEAR[name]
    X, y = table(cls, rows=200)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    for part in range(4):
        frame.iloc[50 * part : 50 * part + 50].to_parquet(tmp_path / f"{part}.parquet", index=False)
    monkeypatch.setattr("surefit.models.rows_in_memory.MOST_BYTES", 3000)
    options = {
        key: value
        for key, value in {"cv": 3, "alphas": 5, "Cs": 2}.items()
        if key in inspect.signature(cls).parameters
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in ONE_BATCH:
            with pytest.raises(RefusalError, match="needs all rows in memory at once") as told:
                cls(**options).fit(tmp_path, "y")
            assert str(told.value).count(". ") == 0
            return
        model = cls(**options).fit(tmp_path, "y")
        assert surefit.verify(model, tmp_path, "y").holds == model.certificate_.holds
