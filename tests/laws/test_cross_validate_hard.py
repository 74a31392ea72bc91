"""Cross-validation of hard tables: finite errors of the right size, and errors that name their fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from tests.laws.validated import SIDE, X, Y

import surefit
from surefit.evaluate.cross_validation.cross_validate import cross_validate

RNG = np.random.default_rng(1)


HARD = {
    "fewer rows than columns": (RNG.normal(size=(10, 30)), RNG.normal(size=10)),
    "constant and equal columns": (np.column_stack([np.ones(40), X[:40], X[:40]]), Y[:40]),
    "a mean of a million": (X + 1e6, Y + 1e6),
    "tiny": (X * 1e-12, Y * 1e-12),
    "huge": (X * 1e12, Y * 1e12),
    "float32": (X.astype(np.float32), Y.astype(np.float32)),
    "two rows": (X[:2], Y[:2]),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_tables_have_finite_errors_of_the_right_size(name: str) -> None:
    table, target = HARD[name]
    found = cross_validate(
        surefit.LinearRegression(), table, target, split=2, metrics="root_mean_squared_error"
    )
    spread = float(np.std(target.astype(float)))
    interval = found.intervals["root_mean_squared_error"]
    assert 0 <= interval.low <= interval.estimate <= interval.high
    assert interval.estimate < 20 * spread + 1e-300
    assert np.isfinite(found.predictions()).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_named_with_its_fold(value: float) -> None:
    broken = X.copy()
    broken[3, 1] = value
    with pytest.raises(ValueError, match=r"NaN|inf|not finite|missing") as caught:
        cross_validate(surefit.Ridge(), broken, Y)
    assert any(note.startswith("in fold") for note in caught.value.__notes__)


class Sometimes(ClassifierMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> Any:
        raise ValueError("cannot")


def test_an_error_names_its_fold() -> None:
    with pytest.raises(ValueError, match="cannot") as caught:
        cross_validate(Sometimes(), X, SIDE, metrics="accuracy_score", n_jobs=2)
    assert caught.value.__notes__ == ["in fold 1 of 5"]
