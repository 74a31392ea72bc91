"""The Gram kernels against their twins: every layout, precision and weighting; equal bits for any threads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.laws.layouts import LAYOUTS, cells

from surefit.core.native import compiled
from surefit.core.native.sums.gram import (
    CentredGram,
    Sandwich,
    centred_gram,
    centred_gram_twin,
    sandwich,
    sandwich_twin,
)

SHAPES = [
    (0, 3),
    (1, 1),
    (1, 5),
    (2, 30),
    (7, 1),
    (64, 4),
    (127, 12),
    (128, 13),
    (129, 24),
    (300, 101),
    (40, 250),
]
TALL = [(4999, 3), (5000, 25), (9001, 12)]  # enough rows for chunks with sums of their own


def _assert_close(
    found: CentredGram | Sandwich, right: CentredGram | Sandwich, X: np.ndarray, tolerance: float = 1e-12
) -> None:
    """Compare each entry on the scale of the products that were summed for it."""
    if isinstance(found, CentredGram) and isinstance(right, CentredGram):
        scale = np.sqrt(np.diag(right.scatter))
        assert found.weight == pytest.approx(right.weight, rel=1e-14)
        np.testing.assert_array_less(np.abs(found.mean - right.mean), tolerance * (1 + np.abs(right.mean)))
        np.testing.assert_array_less(
            np.abs(found.scatter - right.scatter), tolerance * (1e-3 + np.outer(scale, scale))
        )
        np.testing.assert_array_equal(found.scatter, found.scatter.T)
        return
    assert isinstance(found, Sandwich)
    assert isinstance(right, Sandwich)
    size = 1.0 + np.abs(X).sum() * np.abs(X).max(initial=0.0) * 10
    for name in ("gram", "cross", "sums", "weight"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(right, name), rtol=0, atol=1e-14 * size, err_msg=name
        )
    np.testing.assert_array_equal(found.gram, found.gram.T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES + TALL, ids=str)
def test_the_kernel_agrees_with_its_twin(shape: tuple[int, int], layout: str, dtype: Any) -> None:
    for seed, (density, k, weighted) in enumerate(
        [(1.0, 0, False), (0.5, 1, True), (0.1, 3, True), (0.03, 2, False)]
    ):
        rng = np.random.default_rng(seed)
        X = LAYOUTS[layout](cells(shape, dtype, density, seed))
        Y = rng.standard_normal((shape[0], k)) if k else None
        weight = rng.integers(0, 3, shape[0]).astype(float) if weighted else None
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        _assert_close(centred_gram(X, Y, weight), centred_gram_twin(X, Y, weight), dense)
        h = rng.standard_normal(shape[0]) if weighted else None
        _assert_close(sandwich(X, h, Y), sandwich_twin(X, h, Y), dense)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("shape", "density"), [((5000, 25), 1.0), ((700, 130), 0.7), ((20000, 40), 0.05), ((9000, 3), 0.5)]
)
def test_threads_do_not_change_a_bit(shape: tuple[int, int], density: float, layout: str) -> None:
    X = LAYOUTS[layout](cells(shape, np.float64, density, 3))
    rng = np.random.default_rng(4)
    Y, weight = rng.standard_normal((shape[0], 2)), rng.random(shape[0])
    one, one_sandwich = centred_gram(X, Y, weight, _threads=1), sandwich(X, weight, Y, _threads=1)
    for threads in (2, 4):
        many, many_sandwich = (
            centred_gram(X, Y, weight, _threads=threads),
            sandwich(X, weight, Y, _threads=threads),
        )
        assert many.scatter.tobytes() == one.scatter.tobytes()
        assert many.mean.tobytes() == one.mean.tobytes()
        assert many.weight == one.weight
        assert many_sandwich.gram.tobytes() == one_sandwich.gram.tobytes()
        assert many_sandwich.cross.tobytes() == one_sandwich.cross.tobytes()
        assert many_sandwich.sums.tobytes() == one_sandwich.sums.tobytes()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("offset", [1e6, 1e8])
@pytest.mark.parametrize("shape", [(500, 17), (6000, 17)], ids=str)
def test_an_offset_costs_no_digits(shape: tuple[int, int], offset: float, layout: str) -> None:
    steps = np.random.default_rng(5).integers(-2048, 2048, shape) / 1024.0  # adding the offset is exact
    found, right = centred_gram(LAYOUTS[layout](steps + offset)), centred_gram_twin(steps)
    scale = np.sqrt(np.diag(right.scatter))
    assert np.max(np.abs(found.scatter - right.scatter) / np.outer(scale, scale)) < 1e-12
    np.testing.assert_allclose(found.mean, right.mean + offset, rtol=1e-15)


def test_a_full_column_of_a_sparse_matrix_costs_no_digits() -> None:
    rng = np.random.default_rng(6)
    X = cells((3000, 200), np.float64, 0.02, 6)
    steps = rng.integers(-2048, 2048, 3000) / 1024.0
    X[:, 70] = steps + 1e8
    right = centred_gram_twin(np.hstack([X[:, :70], steps[:, None], X[:, 71:]]), steps)
    found = centred_gram(sp.csr_array(X), steps)
    scale = np.sqrt(np.diag(right.scatter))
    assert np.max(np.abs(found.scatter - right.scatter) / np.outer(scale, scale)) < 1e-12


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_scale_of_a_column_does_not_matter(scale: float, layout: str) -> None:
    X = cells((900, 20), np.float64, 0.6, 7)
    factor = np.where(np.arange(20) % 2, scale, 1.0)
    found, right = centred_gram(LAYOUTS[layout](X * factor)), centred_gram_twin(X)
    size = np.sqrt(np.diag(right.scatter))
    error = np.abs(found.scatter / np.outer(factor, factor) - right.scatter)
    assert np.max(error / np.outer(size, size)) < 1e-12


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("rows", [100, 7000])
def test_a_constant_column_has_exactly_no_scatter(rows: int, order: Any) -> None:
    X = np.random.default_rng(8).standard_normal((rows, 14))
    X[:, [0, 13]] = 0.1, 1e8 + 0.3
    found = centred_gram(np.array(X, order=order), weight=np.random.default_rng(9).random(rows))
    assert not found.scatter[:, [0, 13]].any()
    assert found.mean[[0, 13]].tolist() == [0.1, 1e8 + 0.3]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_weight_equals_repetition_and_rows_of_weight_zero_are_not_looked_at(layout: str) -> None:
    rng = np.random.default_rng(10)
    X, Y, weight = (
        cells((400, 9), np.float64, 0.5, 10),
        rng.standard_normal((400, 2)),
        rng.integers(0, 4, 400),
    )
    repeated = centred_gram_twin(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    X[weight == 0], Y[weight == 0] = np.nan, np.inf
    _assert_close(centred_gram(LAYOUTS[layout](X), Y, weight), repeated, X)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_weight_at_all_gives_zeros(layout: str) -> None:
    X = LAYOUTS[layout](cells((300, 5), np.float64, 0.3, 11))
    found = centred_gram(X, np.ones(300), np.zeros(300))
    assert found.weight == 0
    assert not found.mean.any()
    assert not found.scatter.any()


def test_a_vector_beside_x_is_one_column() -> None:
    X, y = cells((50, 4), np.float64, 1.0, 12), np.arange(50.0)
    assert centred_gram(X, y).scatter.tobytes() == centred_gram(X, y[:, None]).scatter.tobytes()
    assert sandwich(X, G=y).cross.shape == (4, 1)


def test_nan_stays_in_its_column() -> None:
    X = cells((200, 15), np.float64, 1.0, 13)
    X[3, 5] = np.nan
    found = centred_gram(X)
    assert np.isnan(found.scatter[5]).all()
    assert np.isfinite(np.delete(np.delete(found.scatter, 5, 0), 5, 1)).all()


def test_read_only_arrays_pass() -> None:
    X, weight = cells((60, 4), np.float64, 0.5, 14), np.ones(60)
    X.flags.writeable = weight.flags.writeable = False
    _assert_close(centred_gram(X, X, weight), centred_gram_twin(X, X, weight), X)
    S = sp.csr_array(X)
    for part in (S.data, S.indices, S.indptr):
        part.flags.writeable = False
    _assert_close(sandwich(S, weight, X), sandwich_twin(S, weight, X), X)


@pytest.mark.parametrize("kernel", [centred_gram, sandwich])
def test_what_cannot_be_used_is_refused(kernel: Callable[..., Any]) -> None:
    X = np.ones((20, 6))
    with pytest.raises(TypeError, match="neither C- nor Fortran-contiguous"):
        kernel(X[:, ::2])
    with pytest.raises(TypeError, match="neither C- nor Fortran-contiguous"):
        kernel(X[::2, :3])
    with pytest.raises(TypeError, match="dtype int64: pass float32 or float64"):
        kernel(X.astype(np.int64))
    with pytest.raises(TypeError, match="pass a numpy array or a scipy CSR matrix"):
        kernel(sp.csc_array(X))
    with pytest.raises(TypeError, match="1 dimensions"):
        kernel(X[0])
    with pytest.raises(ValueError, match="one entry for each row"):
        kernel(X, weight=np.ones(19))
    with pytest.raises(ValueError, match="as many rows as X"):
        kernel(X, **{"Y" if kernel is centred_gram else "G": np.ones((21, 1))})


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_a_bad_weight_is_refused(bad: float, layout: str) -> None:
    weight = np.ones(300)
    weight[200] = bad
    with pytest.raises(ValueError, match="weights must be 0 or more"):
        centred_gram(LAYOUTS[layout](cells((300, 9), np.float64, 0.1, 15)), weight=weight)


@pytest.mark.parametrize("kernel", [centred_gram, sandwich])
@pytest.mark.parametrize("density", [0.02, 1.0])
def test_a_broken_sparse_matrix_is_refused(kernel: Callable[..., Any], density: float) -> None:
    S = sp.csr_array(cells((100, 50), np.float64, density, 16))
    S.indices[7] = 50
    with pytest.raises(ValueError, match="column index outside its width"):
        kernel(S)
    S.indices[7] = 0
    S.indptr[50] = S.indptr[-1] + 1
    with pytest.raises(ValueError, match="indptr that does not fit"):
        kernel(S)


def test_the_twins_are_right() -> None:
    """Against exact rational arithmetic and numpy's covariance."""
    rng = np.random.default_rng(17)
    X, s = rng.standard_normal((12, 3)) + 100, rng.integers(0, 4, 12)
    rows = [[Fraction(float(v)) for v in row] for row, count in zip(X, s, strict=True) for _ in range(count)]
    mean = [sum(row[j] for row in rows) / len(rows) for j in range(3)]
    scatter = [
        [float(sum((row[i] - mean[i]) * (row[j] - mean[j]) for row in rows)) for j in range(3)]
        for i in range(3)
    ]
    raw = [[float(sum(row[i] * row[j] for row in rows)) for j in range(3)] for i in range(3)]
    found = centred_gram_twin(X, weight=s)
    np.testing.assert_allclose(found.mean, [float(m) for m in mean], rtol=1e-15)
    np.testing.assert_allclose(found.scatter, scatter, rtol=1e-12)
    np.testing.assert_allclose(found.scatter, np.cov(X.T, fweights=s) * (s.sum() - 1), rtol=1e-11)
    np.testing.assert_allclose(sandwich_twin(X, s).gram, raw, rtol=1e-14)


MEASURE = """
import sys
import numpy as np
from surefit.core.native.sums.gram import centred_gram, sandwich
def status(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
rows, cols = int(sys.argv[1]), int(sys.argv[2])
centred_gram(np.ones((10, 3)), _threads=2)
X = np.empty((rows, cols))
np.random.default_rng(0).random(out=X)
weight = np.ones(rows)
before = status("VmRSS")
result = centred_gram(X, weight=weight, _threads=2), sandwich(X, weight, _threads=2)
print((status("VmHWM") - before) * 1024 / X.nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.skipif(compiled() is None, reason="the twin copies X")
@pytest.mark.parametrize(("rows", "cols"), [(300_000, 100), (30_000, 1000)])
def test_memory_beyond_the_input_stays_small(rows: int, cols: int) -> None:
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, str(rows), str(cols)], capture_output=True, text=True, check=True
    )
    results = 2 * 8 * cols * cols / (8 * rows * cols)
    assert float(run.stdout) - results < 0.1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_low_part_carries_the_mean_beyond_a_float(layout):
    steps = np.random.default_rng(21).integers(-8, 9, size=(1000, 40)).astype(float)
    for found in (centred_gram(LAYOUTS[layout](steps + 1e8)), centred_gram_twin(steps + 1e8)):
        np.testing.assert_allclose((found.mean - 1e8) + found.low, steps.mean(axis=0), rtol=0, atol=1e-13)
        assert np.abs(found.low).max() > 1e-10
