"""The native solver of kernel machines against its twin, and what holds for any dual problem."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from surefit.core.native.kernel.kernel_sums import PlainKernel, kernel_sums, kernel_sums_twin
from surefit.core.native.kernel.smo import DualProblem, smo, smo_twin

KERNELS = [
    PlainKernel("linear"),
    PlainKernel("poly", 0.5, 1.0, 3),
    PlainKernel("rbf", 0.4),
    PlainKernel("sigmoid", 0.2, 0.1),
]


def problem_of(kind, n, rng):
    y = np.where(rng.normal(size=n) > 0, 1.0, -1.0)
    zero, bound = np.zeros(n), rng.uniform(0.5, 2.0, size=n)
    if kind == "classes":
        return DualProblem(-y, -y, np.minimum(bound * y, 0), np.maximum(bound * y, 0)), zero
    if kind == "numbers":
        t = rng.normal(size=n)
        return DualProblem(0.1 - t, -0.1 - t, -bound, bound), zero
    group = (y > 0).astype(np.uint8)
    start = np.where(y > 0, 0.2 * bound, -0.2 * bound)
    return DualProblem(zero, zero, np.minimum(bound * y, 0), np.maximum(bound * y, 0), group=group), start


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.kind)
@pytest.mark.parametrize("kind", ["classes", "numbers", "two groups"])
def test_the_compiled_solver_ends_where_its_twin_does(kernel, kind):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3))
    problem, start = problem_of(kind, 60, rng)
    K = kernel.values(X, X)
    answers = []
    for solve in (smo, smo_twin):
        found = solve(kernel, X, problem, start, K @ start, tolerance=1e-8, most_steps=10**6)
        assert found.ended == "tolerance"
        assert (found.beta >= problem.low).all()
        assert (found.beta <= problem.high).all()
        for g in (0, 1):
            mine = np.ones(60, bool) if problem.group is None else problem.group == g
            assert found.beta[mine].sum() == pytest.approx(start[mine].sum(), abs=1e-10)
        np.testing.assert_allclose(found.gradient, K @ found.beta, atol=1e-9)
        b = found.beta
        answers.append(0.5 * b @ K @ b + np.where(b >= 0, problem.plus, problem.minus) @ b)
    if kernel.kind != "sigmoid":  # which need not have one minimum
        assert answers[0] == pytest.approx(answers[1], rel=1e-7, abs=1e-7)


def test_float32_rows_a_small_cache_and_sparse_rows_end_at_the_same_point():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 4)) * (rng.random((300, 4)) < 0.7)
    problem, start = problem_of("classes", 300, rng)
    kernel = PlainKernel("rbf", 0.5)
    wanted = smo(kernel, X, problem, start, start, tolerance=1e-7, single=False)
    for rows in (X, sparse.csr_matrix(X)):
        for cache in (2**24, 40 * 300 * 4):
            found = smo(
                kernel,
                rows,
                problem,
                start,
                start,
                tolerance=1e-7,
                single=True,
                cache_bytes=cache,
                working_set=64,
            )
            assert found.ended == "tolerance"
            assert found.cache_bytes <= cache
            np.testing.assert_allclose(found.gradient, wanted.gradient, atol=1e-5)
            np.testing.assert_allclose(found.gradient, kernel.values(X, X) @ found.beta, atol=1e-10)


def test_a_warm_start_has_less_to_do_and_steps_are_bounded():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(200, 4))
    problem, start = problem_of("numbers", 200, rng)
    kernel = PlainKernel("rbf", 0.5)
    first = smo(kernel, X, problem, start, start, tolerance=1e-6)
    again = smo(kernel, X, problem, first.beta, first.gradient, tolerance=1e-6)
    assert again.steps == 0 < first.steps
    short = smo(kernel, X, problem, start, start, tolerance=1e-6, most_steps=5)
    assert (short.steps, short.ended) == (5, "steps")


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.kind)
def test_sums_of_kernel_values(kernel):
    rng = np.random.default_rng(10)
    points, queries, coef = rng.normal(size=(150, 5)), rng.normal(size=(300, 5)), rng.normal(size=(3, 150))
    wanted = kernel_sums_twin(kernel, points, queries, coef)
    np.testing.assert_allclose(kernel_sums(kernel, points, queries, coef), wanted, rtol=1e-10, atol=1e-10)
    thin = kernel_sums(kernel, sparse.csr_matrix(points), sparse.csr_matrix(queries), coef)
    np.testing.assert_allclose(thin, wanted, rtol=1e-10, atol=1e-10)
