"""What the courses say of lasso and elastic net: scales, thresholds, exact zeros, columns kept together."""

from __future__ import annotations

import numpy as np
import pytest

from surefit import ElasticNet, Lasso, Ridge


def soft(v, by):
    return np.sign(v) * max(abs(v) - by, 0.0)


def one_column(xx, xy):
    """A centred column and target with given products."""
    x = np.sqrt(xx / 2) * np.array([1.0, -1.0])
    return x[:, None], xy / xx * x


@pytest.mark.covers("ml_for_data_science:5.3.3", "course_summary:2.8", by="Lasso")
def test_an_unhalved_loss_halves_the_threshold():
    X, y = one_column(6.6088888889, 2.2555555556)
    # sum of squares + lambda |w| is 2n times the mean with alpha = lambda / (2n).
    for strength, expected in [(1.0, 0.2656355077), (4.5111111112, 0.0), (10.0, 0.0)]:
        coef = Lasso(alpha=strength / (2 * len(y)), tol=1e-10).fit(X, y).coef_
        np.testing.assert_allclose(coef, [expected], atol=1e-9)
        np.testing.assert_allclose(
            coef, [soft(float(X[:, 0] @ y), strength / 2) / float(X[:, 0] @ X[:, 0])], atol=1e-9
        )


@pytest.mark.covers("cs443:7.3", by="Lasso")
def test_zeros_are_exact_and_grow_with_the_strength():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 20))
    y = X @ np.linspace(1, 0, 20) + rng.normal(size=100)
    largest = np.abs(X.T @ y).max() / len(y)
    shares = [1.0, 0.5, 0.2, 0.05, 0.01]
    zeros = [int((Lasso(alpha=s * largest, fit_intercept=False).fit(X, y).coef_ == 0).sum()) for s in shares]
    assert zeros[0] == 20
    assert zeros == sorted(zeros, reverse=True)
    assert zeros[-1] < zeros[1]
    assert Lasso(alpha=0.99 * largest, fit_intercept=False).fit(X, y).coef_.any()
    assert (Ridge(alpha=1e3).fit(X, y).coef_ != 0).all()


@pytest.mark.covers("intro_to_ml:4.12", by="ElasticNet")
def test_both_scales_of_the_elastic_net_and_its_special_cases():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 4))
    X -= X.mean(axis=0)
    y = X @ [2.0, -1.0, 0.0, 0.0] + 0.1 * rng.normal(size=40)
    y -= y.mean()
    first, second, n = 3.0, 2.0, len(y)

    def fitted(l1, l2):
        """SSE + l1 |w|_1 + l2 |w|^2, which is 2n times ours with these two levels."""
        levels = l1 / (2 * n), l2 / n
        model = ElasticNet(alpha=sum(levels), l1_ratio=levels[0] / max(sum(levels), 1e-300), tol=1e-10)
        return model.fit(X, y).coef_

    w = fitted(first, second)
    for k in range(4):  # the update, with the denominator that belongs to a penalty without one half
        r = y - X @ w + X[:, k] * w[k]
        assert w[k] == pytest.approx(soft(X[:, k] @ r, first / 2) / (X[:, k] @ X[:, k] + second), abs=1e-6)
    gamma, alpha = first / (first + second), first + second
    np.testing.assert_allclose(fitted(alpha * gamma, alpha * (1 - gamma)), w, atol=1e-9)
    np.testing.assert_allclose(
        fitted(0.0, second), Ridge(alpha=second, fit_intercept=False).fit(X, y).coef_, atol=1e-6
    )
    np.testing.assert_allclose(
        fitted(first, 0.0), Lasso(alpha=first / (2 * n), tol=1e-10).fit(X, y).coef_, atol=1e-6
    )


@pytest.mark.covers("intro_to_ml:4.12", by="ElasticNet")
def test_correlated_columns_are_kept_together():
    rng = np.random.default_rng(2)
    base = rng.normal(size=(200, 3))
    X = np.column_stack(
        [base, base[:, 2] + 0.01 * rng.normal(size=200), base[:, 2] + 0.01 * rng.normal(size=200)]
    )
    y = base @ [1.0, -1.0, 3.0] + 0.1 * rng.normal(size=200)
    kept = ElasticNet(alpha=0.5, l1_ratio=0.3).fit(X, y).coef_[2:]
    assert (kept > 0.3).all()
    assert kept.max() < 1.3 * kept.min()
    alone = np.sort(Lasso(alpha=0.5).fit(X, y).coef_[2:])
    assert alone[0] < 0.05 * alone[-1]
