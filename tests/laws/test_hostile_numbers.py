"""Hostile numbers: for finite input every estimator gives finite answers, or says in a sentence why not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.laws.estimators import CLASSES, each_estimator, table

import surefit
from surefit.core.errors import DataError, SurefitError

ROWS, COLUMNS = 12, 3
Case = tuple[Any, Any, Any]  # X, y, sample_weight
Hostile = Callable[[Any, Any, np.random.Generator], Case | None]


def scaled(factor: float) -> Hostile:
    return lambda X, y, rng: (X * factor, y, None)


def one_column(factor: float) -> Hostile:
    return lambda X, y, rng: (X * np.where(np.arange(COLUMNS) == rng.integers(COLUMNS), factor, 1.0), y, None)


def scaled_target(factor: float) -> Hostile:
    return lambda X, y, rng: None if y is None or y.dtype.kind != "f" else (X, y * factor, None)


def scaled_both(factor: float) -> Hostile:
    return lambda X, y, rng: None if y is None or y.dtype.kind != "f" else (X * factor, y * factor, None)


def weighted(factor: float) -> Hostile:
    return lambda X, y, rng: (X, y, np.full(len(X), factor))


def few_weights(count: int) -> Hostile:
    def case(X: Any, y: Any, rng: np.random.Generator) -> Case:
        weight = np.zeros(len(X))
        weight[rng.choice(len(X), count, replace=False)] = 1.0
        return X, y, weight

    return case


def few_rows(count: int) -> Hostile:
    return lambda X, y, rng: (X[:count], None if y is None else y[:count], None)


def any_exponents(X: Any, y: Any, rng: np.random.Generator) -> Case:
    """Each cell at an order of magnitude of its own."""
    return np.sign(X) * 10.0 ** rng.uniform(-307, 307, size=X.shape), y, None


def mixed_exponents(X: Any, y: Any, rng: np.random.Generator) -> Case:
    return X * 10.0 ** rng.integers(-150, 150, size=COLUMNS), y, 10.0 ** rng.uniform(-100, 100, size=len(X))


CASES: dict[str, Hostile] = {
    **{
        f"X times {factor:g}": scaled(factor) for factor in (1e300, 1e200, 1e155, 1e100, 1e80, 1e-200, 1e-310)
    },
    **{f"a column times {factor:g}": one_column(factor) for factor in (1e200, 1e120, 1e-150, 1e-310)},
    **{f"y times {factor:g}": scaled_target(factor) for factor in (1e200, 1e145, 1e100, 1e-100, 1e-310)},
    **{f"X and y times {factor:g}": scaled_both(factor) for factor in (1e100, 1e80, 1e-100)},
    **{f"weights of {factor:g}": weighted(factor) for factor in (1e308, 1e300, 1e140, 1e-300)},
    **{f"weight on {count} rows": few_weights(count) for count in (1, 2, 3)},
    **{f"{count} rows": few_rows(count) for count in (1, 2, 3)},
    "any exponents": any_exponents,
    "mixed exponents": mixed_exponents,
    "the largest floats": lambda X, y, rng: (np.where(X > 0, 1.7e308, -1.7e308), y, None),
    "the least floats": lambda X, y, rng: (np.where(X > 0, 5e-324, 0.0), y, None),
    "constant columns": lambda X, y, rng: (np.ones_like(X), y, None),
    "far from zero": lambda X, y, rng: (X + 1e15, y, None),
    "one value of y": lambda X, y, rng: None if y is None else (X, np.repeat(y[:1], len(y), axis=0), None),
}
METHODS = ("predict", "predict_proba", "decision_function", "transform")
# What is left at defaults takes longest; none of it is about numbers.
SMALL: dict[str, Any] = {"n_estimators": 3, "Cs": 3, "random_state": 0}


def quick(cls: Any) -> Any:
    allowed = cls().get_params()
    return cls(**{name: value for name, value in SMALL.items() if name in allowed})


def is_finite(answer: Any) -> bool:
    if isinstance(answer, list | tuple):
        return all(map(is_finite, answer))
    cells = np.asarray(answer.toarray() if hasattr(answer, "toarray") else answer)
    return cells.dtype.kind != "f" or bool(np.isfinite(cells).all())


def complaint(model: Any, case: Case) -> str | None:
    """What is wrong with how a model takes a case; None if it answers in numbers or in a sentence."""
    X, y, weight = case
    step = "fit"
    try:
        model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)
        if not np.isfinite(model.certificate_.value) and model.certificate_.holds:
            return "the certificate holds without a number"
        for step in METHODS:
            if hasattr(model, step) and not is_finite(getattr(model, step)(X)):
                return f"{step} gave a number that is not finite"
        step = "inverse_transform"
        if hasattr(model, step):
            inner = model.transform(X)
            back = np.asarray(model.inverse_transform(inner))
            if back.dtype.kind == "f" and inner.shape[1] < X.shape[1]:
                back = back[~np.isnan(back)]  # columns that were left out come back missing
            if not is_finite(back):
                return f"{step} gave a number that is not finite"
        step = "feature_importances_"
        if not is_finite(getattr(model, step, 0.0)):
            return "the importances are not finite"
    except SurefitError as error:
        sentence = str(error)
        return None if sentence.endswith((".", "?")) and "\n" not in sentence else f"no sentence: {sentence}"
    except Exception as error:
        return f"{step} raised {type(error).__name__}: {error}"
    return None


@each_estimator
@pytest.mark.parametrize("seed", [0, 1])
def test_finite_input_gives_finite_answers_or_a_sentence(cls, seed):
    rng = np.random.default_rng([seed, *cls.__name__.encode()])
    found = {}
    for name, hostile in CASES.items():
        case = hostile(*table(cls, rows=ROWS, columns=COLUMNS, seed=seed), rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit at the edge of the floats may well warn
            words = None if case is None else complaint(quick(cls), case)
        if words is not None:
            found[name] = words
    assert not found


NEEDS_TARGET = {name: cls for name, cls in CLASSES.items() if cls.accepts.target != "none"}


@pytest.mark.parametrize("cls", NEEDS_TARGET.values(), ids=NEEDS_TARGET.keys())
@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA], ids=str)
def test_missing_targets_are_counted(cls, nothing):
    X, y = table(cls)
    y = y.astype(object)
    y[[3, 9]] = nothing
    words = "2 of 60 targets are missing, the first in row 3: leave those rows out"
    with pytest.raises(DataError, match=words):
        cls().fit(X, y)
    with pytest.raises(DataError, match=words):
        cls().fit(X, y.tolist())
    if nothing is not pd.NA and y.ndim == 1:
        with pytest.raises(DataError, match=words):
            cls().fit(X, pd.Series(y))


@each_estimator
def test_frames_and_cells_that_cannot_be_used_are_said_to_be(cls):
    X, y = table(cls)
    with pytest.raises(DataError, match="two columns named 'a': rename one"):
        cls().fit(pd.DataFrame(X, columns=["a", "b", "a", "c"]), y)
    for nothing in (X[:, :0], pd.DataFrame(X[:, :0])):
        with pytest.raises(
            DataError, match=r"0 feature\(s\).*at least one column|no columns: give at least one"
        ):
            cls().fit(nothing, y)
    huge = X.astype(object)
    huge[5, 1] = 10**400
    for cells in (huge, pd.DataFrame(huge, columns=list("abcd"))):
        try:
            cls().fit(cells, y)  # whole numbers can be levels, of any size
        except DataError as error:
            assert "beyond the range of floats" in str(error)  # noqa: PT017
        else:
            assert cls.accepts.cells


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
@pytest.mark.parametrize("search", ["GridSearch", "HalvingSearch", "RandomSearch"])
def test_searches_take_floats_of_any_width(search, dtype):
    X, y = (part.astype(dtype) for part in table(surefit.Ridge))
    found = getattr(surefit, search)(surefit.Ridge(), {"alpha": [0.5, 1.0]}).fit(X, y)
    wide = getattr(surefit, search)(surefit.Ridge(), {"alpha": [0.5, 1.0]}).fit(
        X.astype(np.float64), y.astype(np.float64)
    )
    assert found.best_params_ == wide.best_params_
    np.testing.assert_allclose(found.predict(X), wide.predict(X.astype(np.float64)), rtol=1e-12)


@pytest.mark.parametrize(
    "name", ["LassoCV", "ElasticNetCV", "LassoLarsCV", "LogisticRegressionCV", "MultiTaskLassoCV"]
)
def test_folds_without_weight_are_said_to_be(name):
    cls = CLASSES[name]
    X, y = table(cls)
    weight = np.zeros(len(X))
    weight[:2] = 1.0
    try:
        surefit_answer = cls().fit(X, y, sample_weight=weight).predict(X)
    except DataError as error:
        assert "a fold leaves no training row of positive weight" in str(error)  # noqa: PT017
    else:
        assert is_finite(surefit_answer)
    with pytest.raises(DataError, match=r"goes up to 1e.300, .*: divide the weights by a power of ten"):
        cls().fit(X, y, sample_weight=np.full(len(X), 1e300))


def test_importances_of_members_without_a_vote_are_their_mean():
    X, y = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([0.0, 1.0])
    models = [surefit.AdaBoostRegressor(random_state=seed).fit(X, y) for seed in range(8)]
    assert any(not model.estimator_weights_.any() for model in models)
    for model in models:
        assert is_finite(model.feature_importances_)
        assert is_finite(model.predict(X))
