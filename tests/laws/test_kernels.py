"""What holds for every kernel: symmetric, positive where declared so, its slopes, and its life as a value."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import surefit.kernels
from surefit.core.errors import FormatError, ParameterError, RefusalError
from surefit.core.registry import members
from surefit.kernels import Kernel, as_kernel
from surefit.stats.values import decode, encode

CASES = [
    pytest.param(kernel, id=f"{name}-{number}")
    for name, cls in members("kernel").items()
    for number, kernel in enumerate(cls.cases(np.random.default_rng(7)))
]
each = pytest.mark.parametrize("kernel", CASES)
NAMES = {found.__name__: found for found in members("kernel").values()}
HOLDS_CODE = {"from_function", "feature_map", "composed", "scaled", "foreign"}


def inputs(kernel: Kernel, n: int = 12, seed: int = 3) -> Any:
    return kernel.examples(np.random.default_rng(seed), n)


@each
def test_the_gram_matrix_is_exactly_symmetric_and_finite(kernel: Kernel) -> None:
    K = kernel(inputs(kernel))
    assert K.shape == (12, 12)
    assert np.isfinite(K).all()
    np.testing.assert_array_equal(K, K.T)


@each
def test_what_is_declared_positive_has_no_negative_eigenvalue(kernel: Kernel) -> None:
    for seed in range(4):
        X = inputs(kernel, 30, seed)
        values = np.linalg.eigvalsh(kernel(X))
        if kernel.mercer:  # up to roundings of the largest
            assert values[0] >= -1e-13 * 30 * max(values[-1], 1e-300)


@each
def test_the_diagonal_is_that_of_the_gram_matrix(kernel: Kernel) -> None:
    X = inputs(kernel)
    diagonal = np.diagonal(kernel(X))
    np.testing.assert_allclose(kernel.diagonal(X), diagonal, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(kernel.diag(X), kernel.diagonal(X))


@each
def test_a_block_is_the_same_part_of_the_whole(kernel: Kernel) -> None:
    if kernel.takes == "gram" or kernel.name == "white":
        pytest.skip("its values are of the rows' places, not of the rows")
    X = inputs(kernel)
    whole, block = kernel(X), kernel(X[0:5], X[5:12])
    scale = np.abs(whole).max()
    np.testing.assert_allclose(block, whole[:5, 5:], rtol=1e-11, atol=1e-12 * scale)
    np.testing.assert_allclose(kernel(X[5:12], X[0:5]), block.T, atol=1e-12 * scale)


@each
def test_slopes_are_those_of_finite_differences(kernel: Kernel) -> None:
    X = inputs(kernel, 6)
    K, slopes = kernel(X, eval_gradient=True)
    np.testing.assert_array_equal(K, kernel(X))
    assert slopes.shape == (6, 6, kernel.n_dims)
    step = 1e-5
    for t in range(kernel.n_dims):
        move = step * np.eye(kernel.n_dims)[t]
        up, down = (kernel.clone_with_theta(kernel.theta + sign * move)(X) for sign in (1, -1))
        # a central difference: step^2 of the third derivative, and a rounding over the step
        np.testing.assert_allclose(
            slopes[:, :, t], (up - down) / (2 * step), rtol=1e-6, atol=1e-8 * (1 + np.abs(K).max())
        )


@each
def test_theta_bounds_and_names_belong_together(kernel: Kernel) -> None:
    free = [entry for entry in kernel.hyperparameters if not entry.fixed]
    assert kernel.theta.shape == (kernel.n_dims,)
    assert kernel.bounds.shape == (kernel.n_dims, 2)
    assert sum(entry.n_elements for entry in free) == kernel.n_dims
    assert {entry.name for entry in kernel.hyperparameters} <= set(kernel.get_params())
    same = kernel.clone_with_theta(kernel.theta)
    np.testing.assert_allclose(same.theta, kernel.theta, rtol=1e-14)
    with pytest.raises(ParameterError, match="theta must have"):
        kernel.clone_with_theta(np.zeros(kernel.n_dims + 1))


@each
def test_it_is_a_value(kernel: Kernel) -> None:
    for same in (
        clone(kernel),
        copy.deepcopy(kernel),
        kernel.copied(),
        type(kernel)(**kernel.get_params(deep=False)),
        clone(kernel).set_params(**clone(kernel).get_params(deep=False)),
    ):
        assert same == kernel
        assert repr(same) == repr(kernel)
        if kernel.name != "foreign":  # scikit-learn's kernels have no hash
            assert hash(same) == hash(kernel)
    assert kernel != "kernel"
    assert isinstance(repr(kernel), str)
    if kernel.name not in HOLDS_CODE:
        assert eval(repr(kernel), dict(NAMES)) == kernel
        assert pickle.loads(pickle.dumps(kernel)) == kernel
    for other in (case.values[0] for case in CASES):
        assert (other == kernel) == (repr(other) == repr(kernel) and type(other) is type(kernel)) or (
            kernel.name in HOLDS_CODE
        )


@each
def test_a_model_file_holds_it_unless_it_holds_code(kernel: Kernel) -> None:
    arrays: dict[str, Any] = {}
    if kernel.name in HOLDS_CODE:
        with pytest.raises(FormatError, match="cannot hold"):
            encode(kernel, arrays, "model.kernel")
        return
    again = decode(encode(kernel, arrays, "model.kernel"), arrays)
    assert again == kernel
    X = inputs(kernel)
    np.testing.assert_array_equal(again(X), kernel(X))


@each
def test_the_distance_is_that_of_the_feature_space(kernel: Kernel) -> None:
    X = inputs(kernel)
    K, squared = kernel(X), kernel.distance(X, squared=True)
    expected = np.maximum(np.add.outer(np.diag(K), np.diag(K)) - 2 * K, 0)
    np.testing.assert_allclose(squared, expected, atol=1e-12 * (1 + np.abs(K).max()))
    np.testing.assert_array_equal(np.diag(squared), 0)
    np.testing.assert_allclose(kernel.distance(X), np.sqrt(squared))


@each
def test_algebra_keeps_what_is_declared(kernel: Kernel) -> None:
    X = inputs(kernel, 8)
    K = kernel(X)
    made = {
        "sum": (kernel + kernel, 2 * K),
        "offset": (1.5 + kernel, 1.5 + K),
        "scaled": (0.25 * kernel, 0.25 * K),
        "product": (kernel * kernel, K * K),
        "power": (kernel**3, K**3),
        "exp": ((1e-3 * kernel).exp(), np.exp(1e-3 * K)),
        "polynomial": (kernel.polynomial([1.0, 0.0, 2.0]), 1 + 2 * K**2),
    }
    for name, (combined, expected) in made.items():
        assert combined.mercer == kernel.mercer, name
        assert combined.takes == kernel.takes or kernel.name == "constant"
        np.testing.assert_allclose(combined(X), expected, rtol=1e-12)
        np.testing.assert_allclose(combined.diagonal(X), np.diag(expected), rtol=1e-12)
    both = kernel + kernel
    assert both.n_dims == 2 * kernel.n_dims  # parts of their own, which do not move together


@each
def test_a_negative_factor_and_a_difference_are_refused(kernel: Kernel) -> None:
    for wrong in (
        lambda: -2 * kernel,
        lambda: kernel * -1.0,
        lambda: kernel + -1,
        lambda: kernel - kernel,
        lambda: 1 - kernel,
        lambda: -kernel,
    ):
        with pytest.raises(RefusalError, match="no kernel"):
            wrong()


@each
def test_float32_rows_give_float32_values(kernel: Kernel) -> None:
    X = inputs(kernel)
    if kernel.takes != "rows" or kernel.name in HOLDS_CODE:
        pytest.skip("it does not compare rows alone")
    narrow = np.asarray(X, dtype=np.float32)
    K = kernel(narrow)
    assert K.dtype == np.float32
    assert kernel(narrow, narrow.astype(float)).dtype == np.float64
    wide = kernel(narrow.astype(np.float64))
    np.testing.assert_allclose(K, wide, rtol=1e-5, atol=1e-5 * np.abs(wide).max())


@each
def test_sparse_rows_give_the_values_of_dense_ones(kernel: Kernel) -> None:
    if kernel.takes != "rows" or kernel.name in HOLDS_CODE:
        pytest.skip("it does not compare rows alone")
    X = inputs(kernel)
    K = kernel(X)
    np.testing.assert_allclose(kernel(sparse.csr_matrix(X)), K, rtol=1e-11, atol=1e-12 * np.abs(K).max())


@each
def test_compiled_code_would_compute_the_same(kernel: Kernel) -> None:
    plain = kernel.native()
    if plain is None:
        pytest.skip("it is evaluated in Python alone")
    X = inputs(kernel)
    Z = plain.scaled(X)
    dots, squares = Z @ Z.T, ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    lengths = np.abs(Z[:, None] - Z[None]).sum(axis=2)
    values = {
        "linear": dots,
        "poly": (plain.gamma * dots + plain.coef0) ** plain.degree,
        "rbf": np.exp(-plain.gamma * squares),
        "sigmoid": np.tanh(plain.gamma * dots + plain.coef0),
        "laplacian": np.exp(-plain.gamma * lengths),
    }
    np.testing.assert_allclose(values[plain.kind], kernel(X), rtol=1e-11, atol=1e-12)


@each
def test_as_kernel_leaves_it_as_it_is(kernel: Kernel) -> None:
    assert as_kernel(kernel) is kernel


def test_every_kernel_is_at_its_door() -> None:
    for name, cls in NAMES.items():
        assert getattr(surefit.kernels, name) is cls
    assert set(NAMES) <= set(dir(surefit.kernels))
