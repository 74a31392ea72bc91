"""Norms, singular values and what they bound: the preliminaries of the catalogue, with their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from surefit import LinearRegression, datasets
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.linalg import (
    SingularValues,
    euclidean_norm,
    frobenius_norm,
    inner_product,
    one_norm,
    operator_norm,
    rayleigh_quotient,
)

SHAPES = [(9, 4), (4, 9), (5, 5), (1, 3), (3, 1)]
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


def matrix(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def close(found, wanted, rtol=1e-10):
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * np.abs(wanted).max(initial=1.0))


@pytest.mark.covers("ml_lecture_notes:1.1", by="linalg.operator_norm")
@each_shape
def test_norms_and_what_orders_them(shape):
    X = matrix(shape)
    largest = np.sqrt(np.linalg.eigvalsh(X.T @ X).max())
    close(operator_norm(X), largest)
    close(operator_norm(X.T), largest)
    close(operator_norm(X.T @ X), operator_norm(X) ** 2)
    assert operator_norm(X) <= frobenius_norm(X) * (1 + 1e-14)
    close(frobenius_norm(X) ** 2, (X**2).sum())
    for y in matrix((50, shape[1]), seed=1):
        assert euclidean_norm(X @ y) <= operator_norm(X) * euclidean_norm(y) * (1 + 1e-14)
        close(inner_product(y, y), euclidean_norm(y) ** 2)
        assert euclidean_norm(y) <= one_norm(y) * (1 + 1e-15)
        assert abs(inner_product(y, y[::-1])) <= euclidean_norm(y) ** 2 * (1 + 1e-14)


def test_norms_of_numbers_whose_squares_no_double_holds():
    for scale in (1e-200, 1e200):
        assert euclidean_norm([3 * scale, 4 * scale]) == pytest.approx(5 * scale, rel=1e-15)
        assert operator_norm([[3 * scale, 0], [0, 4 * scale]]) == pytest.approx(4 * scale, rel=1e-15)
        assert rayleigh_quotient([[2.0, 0.0], [0.0, 2.0]], [scale, scale]) == pytest.approx(2.0, rel=1e-15)


@pytest.mark.covers("ml_lecture_notes:1.2", by="linalg.rayleigh_quotient")
@each_shape
def test_the_rayleigh_quotient_of_an_eigenvector_is_its_eigenvalue(shape):
    X = matrix(shape)
    gram = X.T @ X
    values, vectors = np.linalg.eigh(gram)
    for value, v in zip(values, vectors.T, strict=True):
        assert rayleigh_quotient(gram, 7 * v) == pytest.approx(value, rel=1e-10, abs=1e-12)
        assert euclidean_norm(X @ v) == pytest.approx(np.sqrt(max(value, 0)), rel=1e-10, abs=1e-7)
    for w in matrix((50, shape[1]), seed=2):
        assert values[0] - 1e-12 <= rayleigh_quotient(gram, w) <= values[-1] * (1 + 1e-12)
    with pytest.raises(DataError, match="is the zero vector"):
        rayleigh_quotient(gram, np.zeros(shape[1]))


@pytest.mark.covers("ml_lecture_notes:1.3", "cs443:20.1", by="linalg.SingularValues")
@pytest.mark.parametrize("full", [False, True])
@each_shape
def test_a_matrix_is_what_it_does_to_each_direction(shape, full):
    X = matrix(shape)
    found = SingularValues.of(X, full=full)
    r = min(shape)
    assert found.left.shape == (shape[0], shape[0] if full else r)
    assert found.right.shape == (shape[1], shape[1] if full else r)
    for basis in (found.left, found.right):
        close(basis.T @ basis, np.eye(basis.shape[1]))
    assert (np.diff(found.values) <= 0).all()
    assert (found.values >= 0).all()
    close(found.values**2, np.linalg.eigvalsh(X.T @ X)[::-1][:r])
    for j in range(r):
        close(X @ found.right[:, j], found.values[j] * found.left[:, j])
        close(X.T @ found.left[:, j], found.values[j] * found.right[:, j])
        close(X.T @ X @ found.right[:, j], found.values[j] ** 2 * found.right[:, j])
        close(X @ X.T @ found.left[:, j], found.values[j] ** 2 * found.left[:, j])
    w, y = matrix((shape[1], 3), 3), matrix((shape[0], 3), 4)
    for some in (0, slice(None)):
        close(found.product(w[:, some]), X @ w[:, some])
        close(found.transposed_product(y[:, some]), X.T @ y[:, some])
        close(found.gram_product(w[:, some]), X.T @ X @ w[:, some])
        if shape[0] >= shape[1]:
            close(found.gram_solution(w[:, some]), np.linalg.solve(X.T @ X, w[:, some]))
    if full:  # orthonormal maps keep lengths
        close(np.linalg.norm(found.right.T @ w, axis=0), np.linalg.norm(w, axis=0))
        close(np.linalg.norm(found.left.T @ y, axis=0), np.linalg.norm(y, axis=0))


@pytest.mark.parametrize("full", [False, True])
def test_rank_range_and_kernel(full):
    X = matrix((8, 3)) @ matrix((3, 6), 1)
    found = SingularValues.of(X, full=full)
    assert found.rank == 3
    assert found.range.shape == (8, 3)
    assert found.kernel.shape == (6, 3)
    close(X @ found.kernel, np.zeros((8, 3)))
    close(found.kernel.T @ found.kernel, np.eye(3))
    close(found.range @ (found.range.T @ X), X)
    assert found.condition == found.gram_condition == found.amplification == np.inf
    with pytest.raises(RefusalError, match="rank 3 of 6"):
        found.gram_solution(np.ones(6))
    nothing = SingularValues.of(np.zeros((2, 3)))
    assert nothing.rank == 0
    assert nothing.kernel.shape == (3, 3)


@pytest.mark.covers("cs443:20.3", by="linalg.SingularValues.factors")
@each_shape
def test_two_factors_of_any_rank_chosen_afterwards(shape):
    X = matrix(shape)
    found = SingularValues.of(X)
    rng = np.random.default_rng(5)
    W, Z = found.factors()
    close(W @ Z.T, X)
    for k in range(1, min(shape) + 1):
        W, Z = found.factors(k)
        assert (W.shape, Z.shape) == ((shape[0], k), (shape[1], k))
        close(W.T @ W, np.eye(k))
        close(Z.T @ Z, np.diag(found.values[:k] ** 2))
        left = (found.values[k:] ** 2).sum()
        close(((X - found.truncated(k)) ** 2).sum(), left)
        close(W @ (W.T @ X), found.truncated(k))
        for _ in range(10):
            other = rng.normal(size=(shape[0], k))
            assert ((X - other @ (np.linalg.pinv(other) @ X)) ** 2).sum() >= left - 1e-12
    with pytest.raises(ParameterError, match=f"between 1 and {min(shape)}"):
        found.factors(min(shape) + 1)
    worked = datasets.fixture("best_rank_one")
    one = SingularValues.of(worked.data["X"])
    close(one.values, worked.answers["singular_values"])
    close(((np.asarray(worked.data["X"]) - one.truncated(1)) ** 2).sum(), worked.answers["error_with_one"])


def test_missing_entries_are_refused():
    X = matrix((3, 2))
    X[1, 0] = np.nan
    with pytest.raises(DataError, match=r"X\[1, 0\] is nan: fill or drop it"):
        SingularValues.of(X)
    with pytest.raises(DataError, match=r"X has shape \(3,\)"):
        SingularValues.of(np.ones(3))


def test_signs_do_not_depend_on_the_order_of_the_rows():
    X = matrix((9, 4))
    one, two = SingularValues.of(X), SingularValues.of(X[::-1])
    close(one.right, two.right)
    close(one.left, two.left[::-1])


@pytest.mark.covers("ml_lecture_notes:4.1", "ml_lecture_notes:4.3", by="linalg.SingularValues")
def test_the_two_point_line_and_both_condition_numbers():
    example = datasets.fixture("two_point_line")
    data, answers = example.data, example.answers
    found = SingularValues.of(data["design"])
    close(found.values, answers["singular_values"], rtol=1e-9)
    assert found.condition == pytest.approx(answers["condition"], rel=1e-7)
    assert found.gram_condition == pytest.approx(answers["condition"] ** 2, rel=1e-7)
    assert found.amplification == pytest.approx(1000.000125, rel=1e-8)
    fit = LinearRegression(fit_intercept=False).fit
    close(fit(data["design"], data["y"]).coef_, answers["clean"], rtol=1e-9)
    noisy = fit(data["design"], data["noisy_y"]).coef_
    close(noisy, answers["noisy"], rtol=1e-9)
    close(fit(data["mild_design"], data["noisy_y"]).coef_, answers["mild_noisy"], rtol=1e-12)
    half_gram = np.asarray(data["design"]).T @ np.asarray(data["design"]) / 2
    close(half_gram, [[1.0, 1.0], [1.0, 1.0 + 1e-6]], rtol=1e-12)
    close(2 * found.gram_solution([1.0, 0.0]), [1 + 1e6, -1e6], rtol=1e-9)
    moved = euclidean_norm(noisy - np.array(answers["clean"]))
    assert moved == pytest.approx(np.sqrt(200), rel=1e-9)  # where the text prints the root of 164
    assert moved == pytest.approx(answers["error"], rel=1e-9)
    ratio = moved / answers["data_error"]
    assert ratio == pytest.approx(1000.0, rel=1e-9)
    assert ratio <= found.amplification


@pytest.mark.covers("ml_lecture_notes:4.2", by="linalg.SingularValues.amplification")
def test_errors_of_the_data_grow_by_no_more_than_the_bounds():
    rng = np.random.default_rng(6)
    for power in (0, 3, 6):
        X = rng.normal(size=(20, 4)) @ np.diag(np.logspace(0, -power, 4)) @ rng.normal(size=(4, 4))
        found = SingularValues.of(X)
        fit = LinearRegression(fit_intercept=False).fit
        w, step = rng.normal(size=4), rng.normal(size=4)
        y, noise = X @ w, rng.normal(size=20)
        far = np.linalg.norm(fit(X, y + noise).coef_ - fit(X, y).coef_)
        assert far <= found.amplification * np.linalg.norm(noise) * (1 + 1e-6)
        worst = found.left[:, -1]  # and noise along the last left vector reaches it
        moved = np.linalg.norm(fit(X, y + worst).coef_ - fit(X, y).coef_)
        assert moved == pytest.approx(found.amplification, rel=1e-6)
        through = np.linalg.norm(fit(X, X @ (w + step)).coef_ - fit(X, y).coef_)
        assert through <= found.condition * np.linalg.norm(step) * (1 + 1e-6)
