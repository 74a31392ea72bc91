"""Mean squares + table: against Clarabel on random problems, and where data are awkward."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from surefit.core.errors import DataError
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.solvers.squares.columns import SquaredColumns
from surefit.solvers.squares.sums import SquaredSums
from surefit.stats.moments import Moments

FREE = np.inf


def table_of(kind, p, level):
    l1, l2, lower, upper = np.full(p, level), np.zeros(p), np.full(p, -FREE), np.full(p, FREE)
    if kind == "elastic net":
        l2 = l1.copy()
    elif kind == "non-negative":
        lower[:] = 0.0
    elif kind == "box":
        lower[:], upper[:] = -0.05, 0.1
    elif kind == "free columns":
        l1[: p // 3 + 1] = 0.0
    elif kind == "mixed":
        l1[::3], l2[::2], lower[::4], upper[::5] = level / 10, 0.1, 0.02, 0.5
    return CoordinateTable(l1, l2, lower, upper)


def centred(X, y, s, fit_intercept):
    s = np.ones(len(y)) if s is None else s
    root = np.sqrt(s / s.sum())[:, None]
    mean, middle = (s @ X / s.sum(), s @ y / s.sum()) if fit_intercept else (0.0, 0.0)
    return root * (X - mean), root[:, 0] * (y - middle)


def data(n, p, seed, *, density=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[rng.random((n, p)) >= density] = 0.0
    y = X[:, : min(p, 4)].sum(axis=1) + rng.normal(size=n) + 3.0
    return X, y, rng


def objective(A, b, table, w):
    return 0.5 * float(np.sum((b - A @ w) ** 2)) + table.value(w)


def clarabel(A, b, table):
    """The least objective, from the quadratic program over coefficients and bounds on their size."""
    import clarabel as solver

    p = A.shape[1]
    P = sparse.block_diag([A.T @ A + np.diag(table.l2), sparse.csc_matrix((p, p))]).tocsc()
    q = np.concatenate([-A.T @ b, table.l1])
    eye, low, high = sparse.identity(p), np.isfinite(table.lower), np.isfinite(table.upper)
    none = sparse.csr_matrix((p, p))
    rows = sparse.vstack(
        [
            sparse.hstack([eye, -eye]),
            sparse.hstack([-eye, -eye]),
            sparse.hstack([-eye, none]).tocsr()[low],
            sparse.hstack([eye, none]).tocsr()[high],
        ]
    ).tocsc()
    right = np.concatenate([np.zeros(2 * p), -table.lower[low], table.upper[high]])
    settings = solver.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [solver.NonnegativeConeT(len(right))]
    found = solver.DefaultSolver(sparse.triu(P).tocsc(), q, rows, right, cones, settings).solve()
    return objective(A, b, table, np.clip(np.array(found.x)[:p], table.lower, table.upper))


KINDS = ["lasso", "elastic net", "non-negative", "box", "free columns", "mixed"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(30, 8), (25, 60), (200, 20)], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "none"])
def test_no_solver_finds_less(kind, shape, fit_intercept):
    X, y, rng = data(*shape, seed=len(kind), density=0.6)
    weight = rng.integers(0, 3, size=shape[0]) * 1.0
    for s in (None, weight):
        A, b = centred(X, y, s, fit_intercept)
        table = table_of(kind, shape[1], 0.05 * np.abs(A.T @ b).max())
        scale = 0.5 * float(b @ b)
        least = clarabel(A, b, table)
        for form in (
            np.asfortranarray(X),
            np.ascontiguousarray(X),
            sparse.csc_matrix(X),
            sparse.csr_matrix(X),
        ):
            found = SquaredColumns(form, y, s, fit_intercept=fit_intercept).solve(
                table, tolerance=1e-9 * scale
            )
            value = objective(A, b, table, found.coef)
            assert found.converged
            assert abs(value - found.primal) <= 1e-12 * scale
            assert abs(value - least) <= 2e-9 * scale
            assert found.dual <= least + 1e-9 * scale


@pytest.mark.parametrize("seed", range(12))
def test_scikit_learn_agrees(seed):
    from sklearn.linear_model import ElasticNet

    n, p = [(40, 10), (30, 90), (150, 40), (12, 12)][seed % 4]
    X, y, _ = data(n, p, seed)
    ratio, positive = [1.0, 0.5][seed % 2], seed % 3 == 0
    alpha = 0.05 * np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / n
    theirs = ElasticNet(alpha=alpha, l1_ratio=ratio, positive=positive, tol=1e-13, max_iter=100_000).fit(X, y)
    l1, l2 = np.full(p, alpha * ratio), np.full(p, alpha * (1 - ratio))
    table = CoordinateTable(l1, l2, np.full(p, 0.0 if positive else -FREE), np.full(p, FREE))
    for X32 in (X, X.astype(np.float32)):
        found = SquaredColumns(X32, y).solve(table, tolerance=1e-13 * float(y @ y))
        # Where curvature is one, a gap of g leaves coefficients within sqrt(2 g): ours and theirs are 4e-11.
        close = 3e-5 if X32.dtype == np.float64 else 1e-4
        np.testing.assert_allclose(found.coef, theirs.coef_, atol=close)
        np.testing.assert_allclose(found.intercept, theirs.intercept_, atol=close)


def awkward():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 12))
    twice, constant, low = X.copy(), X.copy(), rng.normal(size=(50, 3)) @ rng.normal(size=(3, 12))
    twice[:, 6:] = twice[:, :6]
    constant[:, ::3] = 7.3
    return {
        "twice": twice,
        "constant": constant,
        "dependent": low,
        "far": X + 1e6,
        "scales": X * 10.0 ** np.arange(-12, 12, 2),
        "one row": X[:1],
        "one column": X[:, :1],
        "more columns than rows": rng.normal(size=(12, 50)),
        "every other": rng.normal(size=(100, 24))[::2, ::2],
        "whole numbers": rng.integers(0, 3, size=(50, 12)),
    }


@pytest.mark.parametrize("name", list(awkward()))
@pytest.mark.parametrize("share", [0.3, 1e-3])
def test_awkward_data(name, share):
    X = awkward()[name]
    y = np.random.default_rng(1).normal(size=len(X)) + X[:, 0] / max(1e-300, np.abs(X[:, 0]).max())
    A, b = centred(X.astype(float), y, None, True)
    rms = np.sqrt((A**2).sum(axis=0))
    rms[rms < 1e-9 * np.abs(X).max(axis=0)] = 0.0
    slope = np.abs(A.T @ b) / np.where(rms > 0, rms, np.inf)
    l1 = share * slope.max(initial=1e-3) * np.where(rms > 0, rms, 1.0)
    p = X.shape[1]
    table = CoordinateTable(l1, np.zeros(p), np.full(p, -FREE), np.full(p, FREE))
    scale = max(0.5 * float(b @ b), 1e-300)
    found = SquaredColumns(X, y).solve(table, tolerance=1e-8 * scale)
    assert found.converged
    assert not found.coef[rms == 0].any()
    again = SquaredColumns(np.asfortranarray(X), y).solve(table, tolerance=1e-8 * scale)
    assert abs(again.primal - found.primal) <= 2e-8 * scale
    assert abs(objective(A, b, table, found.coef) - found.primal) <= 1e-9 * scale


def test_rows_without_weight_may_hold_anything():
    X, y, _ = data(40, 6, 0)
    s = np.ones(40)
    s[:10] = 0.0
    table = table_of("lasso", 6, 0.1)
    right = SquaredColumns(X[10:], y[10:]).solve(table, tolerance=1e-12)
    X[:5] = np.nan
    found = SquaredColumns(X, y, s).solve(table, tolerance=1e-12)
    np.testing.assert_allclose(found.coef, right.coef, atol=1e-9)
    only = np.zeros(40)
    only[20] = 2.0
    lone = SquaredColumns(X, y, only).solve(table, tolerance=1e-12)
    assert not lone.coef.any()
    assert lone.intercept == y[20]
    with pytest.raises(DataError, match="weight 0"):
        SquaredColumns(X, y, np.zeros(40))


def test_gram_and_residual_lead_to_the_same_place(monkeypatch):
    from surefit.solvers.squares import columns as squared_columns

    X, y, _ = data(80, 300, 0, density=0.3)
    table = table_of("lasso", 300, 0.02)
    by_gram = SquaredColumns(np.asfortranarray(X), y).solve(table, tolerance=1e-12)
    monkeypatch.setattr(squared_columns, "_WORTH", 0.0)
    for form in (np.asfortranarray(X), X, sparse.csc_matrix(X)):
        by_residual = SquaredColumns(form, y).solve(table, tolerance=1e-12)
        np.testing.assert_allclose(by_residual.coef, by_gram.coef, atol=1e-5)
        assert abs(by_residual.primal - by_gram.primal) <= 1e-12


@pytest.mark.parametrize("form", ["fortran", "c", "csc", "narrow"])
def test_a_path_is_one_fit_after_the_other(form):
    X, y, _ = data(60, 200, 3, density=0.4) if form != "narrow" else data(500, 15, 3)
    X = {"fortran": np.asfortranarray, "csc": sparse.csc_matrix}.get(form, np.ascontiguousarray)(X)
    A, b = centred(X.toarray() if form == "csc" else X, y, None, True)
    levels = np.abs(A.T @ b).max() * np.logspace(0, -2, 15)
    tables = [table_of("lasso", X.shape[1], level) for level in levels]
    scale = 0.5 * float(b @ b)
    for table, found in zip(tables, SquaredColumns(X, y).path(tables, tolerance=1e-9 * scale), strict=True):
        alone = SquaredColumns(X, y).solve(table, tolerance=1e-9 * scale)
        assert found.converged
        assert abs(found.primal - alone.primal) <= 2e-9 * scale


def test_sums_of_parts_are_solved_like_the_rows():
    X, y, rng = data(300, 12, 5)
    s = rng.integers(0, 3, size=300) * 1.0
    parts = [slice(0, 100), slice(100, 180), slice(180, 300)]
    moments = [Moments.of(Batch(X[rows], y[rows], s[rows])) for rows in parts]
    joined = moments[0] + moments[1] + moments[2]
    for kind in KINDS:
        for fit_intercept in (True, False):
            table = table_of(kind, 12, 0.1)
            rows = SquaredColumns(X, y, s, fit_intercept=fit_intercept).solve(table, tolerance=1e-11)
            sums = SquaredSums.of(joined, fit_intercept=fit_intercept).solve(table, tolerance=1e-11)
            assert sums.converged
            assert sums.doubt < 1e-9
            np.testing.assert_allclose(sums.coef, rows.coef, atol=1e-5)
            np.testing.assert_allclose(sums.intercept, rows.intercept, atol=1e-5)
            assert abs(sums.primal - rows.primal) <= 3e-11


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tall_columns_are_solved_like_their_sums_whatever_the_tolerance(kind, dtype):
    X, y, rng = data(10_000, 100, 9)
    X[:, 50], X[:, 51] = X[:, 0], 4.0
    X = np.asfortranarray(X + 1e3, dtype=dtype)
    for s in (None, rng.integers(0, 3, size=len(y)) * 1.0):
        sums = SquaredSums.of(Moments.of(Batch(X, y, s)))
        table = table_of(kind, 100, 0.1 * np.abs(sums.cross).max())
        columns = SquaredColumns(X, y, s)
        loose, tight = columns.solve(table, tolerance=1e-4 * sums.energy), 1e-8 * sums.energy
        right = sums.solve(table, tolerance=tight)
        assert loose.gap <= 1e-4 * sums.energy
        assert abs(loose.primal - right.primal) <= 1e-12 * sums.energy
        for coef in (mine := loose.coef.copy(), its := right.coef.copy()):
            coef[0] += coef[50]  # of the two that are equal, either may stand for both
            coef[50] = 0.0
        np.testing.assert_allclose(mine, its, atol=1e-9)
        assert columns.solve(table, loose.coef, tolerance=1e-4 * sums.energy).epochs == 0


def test_tall_columns_take_the_whole_gram_matrix_only_where_many_are_needed():
    X, y, rng = data(10_000, 100, 11)
    y = X @ rng.normal(size=100) + y
    for level, whole in ((0.9, False), (1e-3, True)):
        columns = SquaredColumns(np.asfortranarray(X), y)
        trace = Trace()
        found = columns.solve(table_of("lasso", 100, level), tolerance=1e-6, trace=trace)
        assert found.converged
        assert ("_sums" in columns.__dict__) is whole
        assert trace.last.gap == found.gap


def test_the_gap_bounds_the_distance_from_any_start():
    X, y, rng = data(40, 100, 7)
    for kind in KINDS:
        table = table_of(kind, 100, 0.1)
        best = SquaredColumns(X, y).solve(table, tolerance=1e-11)
        start = np.clip(rng.normal(size=100), table.lower, table.upper)
        trace = Trace()
        SquaredColumns(X, y).solve(table, start, tolerance=1e-11, trace=trace)
        gaps, values = trace.column("gap"), trace.column("objective")
        assert (gaps >= values - best.primal - 1e-12).all()
        assert (gaps >= 0).all()
        assert gaps[-1] <= 1e-11


def test_each_round_is_recorded_and_the_last_one_is_proved():
    X, y, _ = data(40, 100, 7)
    trace = Trace()
    found = SquaredColumns(X, y).solve(table_of("lasso", 100, 0.05), tolerance=1e-10, max_iter=2, trace=trace)
    assert len(trace) == 2
    assert not found.converged
    assert found.gap == trace.last.gap > 1e-10
    more = SquaredColumns(X, y).solve(table_of("lasso", 100, 0.05), found.coef, tolerance=1e-10)
    assert more.converged


def test_the_same_bits_for_any_number_of_threads():
    import surefit

    X, y, _ = data(400, 900, 2)
    table = table_of("lasso", 900, 0.05)
    coefs = []
    for count in (1, 2):
        with surefit.config(n_threads=count):
            coefs.append(SquaredColumns(np.asfortranarray(X), y).solve(table).coef.tobytes())
    assert coefs[0] == coefs[1]
