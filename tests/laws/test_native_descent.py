"""Both coordinate descents against their twins, and the gap that they report."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from surefit.core.native.linear.column_cd import column_cd
from surefit.core.native.linear.quad_cd import quad_cd, quad_cd_twin
from surefit.core.native.linear.table_gap import table_gap, table_gap_twin
from surefit.penalties.coordinate_table import CoordinateTable

SHAPES = [(1, 1), (40, 7), (30, 30), (12, 60)]
TABLES = ["lasso", "elastic net", "non-negative", "box", "free", "mixed"]


def table_of(kind, c, p):
    l1, zero, free = np.full(p, 0.1 * np.abs(c).max()), np.zeros(p), np.full(p, np.inf)
    if kind == "elastic net":
        return CoordinateTable(l1, l1, -free, free)
    if kind == "non-negative":
        return CoordinateTable(l1, zero, zero, free)
    if kind == "box":
        return CoordinateTable(l1, zero, np.full(p, -0.05), np.full(p, 0.1))
    if kind == "free":
        return CoordinateTable(np.where(np.arange(p) < 2, 0.0, l1), zero, -free, free)
    if kind == "mixed":
        odd = np.arange(p) % 2 == 1
        return CoordinateTable(l1, np.where(odd, 0.3, 0.0), np.where(odd, 0.01, -np.inf), free)
    return CoordinateTable(l1, zero, -free, free)


def problem(shape, weighted, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) + 2.0
    X[rng.random(shape) < 0.3] = 0.0
    s = rng.integers(1, 4, size=shape[0]) * 1.0 if weighted else np.ones(shape[0])
    y = X @ rng.normal(size=shape[1]) + rng.normal(size=shape[0])
    mean = s @ X / s.sum()
    A, y, share = X - mean, y - s @ y / s.sum(), s / s.sum()
    return X, A, y, mean, s, (A * share[:, None]).T @ A, A.T @ (share * y), float(share @ y**2)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_all_ways_lead_to_one_objective(shape, kind, weighted):
    X, A, y, mean, s, G, c, energy = problem(shape, weighted)
    p = shape[1]
    table = table_of(kind, c, p)
    noise = 1e-12 * np.sqrt(np.diagonal(G) * energy)
    start = np.clip(np.zeros(p), table.lower, table.upper)
    tolerance = 1e-9 * energy

    def objective(w):
        return 0.5 * float(s @ (y - A @ w) ** 2) / s.sum() + table.value(w)

    by_gram, gradient, twin = start.copy(), np.empty(p), start.copy()
    done = quad_cd(G, c, energy, table, by_gram, gradient, tolerance=tolerance, most=20_000, noise=noise)
    right = quad_cd_twin(
        G, c, energy, table, twin, np.empty(p), tolerance=tolerance, most=20_000, noise=noise
    )
    best = objective(twin) - right.gap
    assert done.gap <= tolerance or done.still
    assert objective(by_gram) - best <= done.gap + right.gap + 1e-13 * energy
    np.testing.assert_allclose(gradient, G @ by_gram - c, atol=1e-9 * np.sqrt(energy))
    for form in (np.asfortranarray(X), sparse.csc_matrix(X)):
        w, residual = start.copy(), y - A @ start
        done = column_cd(
            form,
            np.arange(p),
            mean,
            np.diagonal(G).copy(),
            table,
            w,
            residual,
            weight=s if weighted else None,
            tolerance=tolerance,
            most=20_000,
            noise=noise,
        )
        assert done.gap <= tolerance or done.still
        assert objective(w) - best <= done.gap + right.gap + 1e-13 * energy
        np.testing.assert_allclose(residual, y - A @ w, atol=1e-9 * np.sqrt(energy))


@pytest.mark.parametrize("kind", TABLES)
def test_the_gap_at_any_point_bounds_what_is_left(kind):
    _, A, y, _, s, G, c, energy = problem((25, 12), False)
    table = table_of(kind, c, 12)
    noise = 1e-12 * np.sqrt(np.diagonal(G) * energy)
    best = np.clip(np.zeros(12), table.lower, table.upper)
    quad_cd(G, c, energy, table, best, np.empty(12), tolerance=1e-13, most=50_000, noise=noise)

    def objective(w):
        return 0.5 * float(s @ (y - A @ w) ** 2) / s.sum() + table.value(w)

    rng = np.random.default_rng(3)
    for scale in (0.0, 1e-3, 1.0):
        w = np.clip(best + scale * rng.normal(size=12), table.lower, table.upper)
        g = G @ w - c
        given = w, -g, table, energy - c @ w + g @ w, energy - float(c @ w), noise
        gap, factor = table_gap_twin(*given)
        np.testing.assert_allclose(table_gap(*given), (gap, factor), rtol=1e-9, atol=1e-14 * energy)
        assert gap >= objective(w) - objective(best) - 1e-12 * energy
        measured = quad_cd(G, c, energy, table, w, np.empty(12), tolerance=np.inf, most=1, noise=noise)
        assert measured.epochs == 0
        np.testing.assert_allclose(measured.gap, gap, rtol=1e-9, atol=1e-14 * energy)


def test_a_column_without_length_stays_where_it_is():
    table = table_of("lasso", np.ones(2), 2)
    w = np.zeros(2)
    quad_cd(np.diag([1.0, 0.0]), np.array([1.0, 0.0]), 1.0, table, w, np.empty(2), tolerance=1e-12, most=10)
    np.testing.assert_allclose(w, [0.9, 0.0])


def test_what_does_not_fit_is_refused():
    table = table_of("lasso", np.ones(2), 2)
    with pytest.raises(ValueError, match="a row and a column"):
        quad_cd(np.eye(1), np.ones(2), 1.0, table, np.zeros(2), np.zeros(2), tolerance=1.0, most=1)
    X = np.ones((3, 2), order="F")
    with pytest.raises(ValueError, match="one entry for each row"):
        column_cd(X, None, [1, 1], [0, 0], table, np.zeros(2), np.zeros(2), tolerance=1.0, most=1)
