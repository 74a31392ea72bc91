"""Least squares as a classifier, and the exercises on linear regression, with the numbers of the courses."""

from __future__ import annotations

import numpy as np
import pytest

from surefit import Lasso, LinearRegression, Ridge, StandardScaler

TEMPERATURE = np.array([36.5, 36.6, 36.8, 36.9, 37.0, 37.2, 37.5, 37.6, 39.5])
SICK = np.array([0.0, 0, 0, 1, 0, 1, 1, 1, 1])


@pytest.mark.covers("ml_for_data_science:3.4", by="LinearRegression")
@pytest.mark.parametrize(
    ("added", "slope", "boundary", "right"),
    [
        (None, 0.3412911903, 37.1261083744, 8),
        (40.0, 0.25257, 37.16407, None),
        (41.0, 0.19680, 37.15187, None),
        (42.0, 0.15573, 37.11787, None),
        (45.0, 0.08882, 36.93408, 8),
        (60.0, 0.02409, 35.40811, 6),
    ],
    ids=["table", "40", "41", "42", "45", "60"],
)
def test_a_line_as_classifier_and_what_one_hot_patient_does_to_it(
    added: float | None, slope: float, boundary: float, right: int | None
) -> None:
    x = TEMPERATURE if added is None else np.append(TEMPERATURE, added)
    y = SICK if added is None else np.append(SICK, 1.0)
    model = LinearRegression().fit(x[:, None], y)
    digits = 1e-10 if added is None else 5e-6
    assert model.coef_[0] == pytest.approx(slope, abs=digits)
    assert (0.5 - model.intercept_) / model.coef_[0] == pytest.approx(boundary, abs=digits)
    called = model.predict(x[:, None]) >= 0.5
    if right is not None:
        assert (called == (y == 1)).sum() == right
    if added is None:
        assert called.tolist().index(True) == 5  # 36.9 is called healthy
        assert model.predict([[39.5]])[0] > 1  # no probability


@pytest.mark.covers("intro_to_ml:4.20", by="LinearRegression")
def test_exercises_on_least_squares() -> None:
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(12, 4)))[0]
    y = rng.normal(size=12)
    free = LinearRegression(fit_intercept=False)
    np.testing.assert_allclose(free.fit(Q, y).coef_, Q.T @ y, atol=1e-13)  # 1: orthonormal columns
    X = rng.normal(size=(5, 9))
    assert np.linalg.eigvalsh(X.T @ X + 0.3 * np.eye(9)).min() >= 0.3 - 1e-12  # 2: always invertible
    wide = LinearRegression().fit(X, y[:5])
    assert wide.certificate_.holds  # 3: d > n is singular, and one of many answers is returned
    np.testing.assert_allclose(wide.predict(X), y[:5], atol=1e-12)
    rows = rng.normal(size=(20, 3))
    target = rows @ [1.0, 2.0, 3.0] + rng.normal(size=20)
    centred = LinearRegression().fit(rows - rows.mean(axis=0), target - target.mean())
    assert abs(centred.intercept_) < 1e-14  # 4: centred data need no bias
    x = rows[:, :1]
    line = LinearRegression().fit(x, target)
    slope = np.cov(x[:, 0], target)[0, 1] / x.var(ddof=1)
    np.testing.assert_allclose(
        [line.coef_[0], line.intercept_], [slope, target.mean() - slope * x.mean()]
    )  # 5
    weight = rng.integers(1, 4, 20)
    D = np.diag(weight)
    penalised = np.linalg.solve(rows.T @ D @ rows + 0.7 * np.eye(3), rows.T @ D @ target)
    ridge = Ridge(alpha=0.7, fit_intercept=False).fit(rows, target, weight)
    np.testing.assert_allclose(ridge.coef_, penalised, rtol=1e-11)  # 7 and 9: closed forms with weights
    # 10: on standardised columns a step of coordinate descent is S(r, lambda) / n, not S(r, lambda).
    scaled = StandardScaler().fit_transform(rows)
    lasso = Lasso(alpha=0.4, tol=1e-12).fit(scaled, target)
    k = int(np.argmax(np.abs(lasso.coef_)))
    others = target - target.mean() - np.delete(scaled, k, axis=1) @ np.delete(lasso.coef_, k)
    pull, strength = scaled[:, k] @ others, 0.4 * 20
    threshold = np.sign(pull) * max(abs(pull) - strength, 0.0)
    assert lasso.coef_[k] == pytest.approx(threshold / 20, rel=1e-6)
