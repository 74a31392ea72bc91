"""The moments' error bound is kept: every entry is compared with exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import surefit.stats.moments
from surefit.core.errors import RefusalError
from surefit.core.native.sums.gram import centred_gram_twin
from surefit.data.batches.batch import Batch
from surefit.stats import double_double as pair
from surefit.stats.moments import LIMIT, Moments
from surefit.stats.spread import Spread
from surefit.stats.triangular import TriangularFactor

RNG = np.random.default_rng(0)


def exact_scatter(Z: np.ndarray, weight: np.ndarray | None = None) -> list[list[Fraction]]:
    s = [Fraction(float(w)) for w in (np.ones(len(Z)) if weight is None else weight)]
    columns = [[Fraction(float(v)) for v in column] for column in Z.T]
    total = sum(s)
    centred = []
    for column in columns:
        mean = sum(w * v for w, v in zip(s, column, strict=True)) / total
        centred.append([v - mean for v in column])
    return [
        [sum(w * a * b for w, a, b in zip(s, one, two, strict=True)) for two in centred] for one in centred
    ]


def true_error(moments: Moments, Z: np.ndarray, weight: np.ndarray | None = None) -> float:
    return error_from(exact_scatter(Z, weight), moments)


def error_from(right: list[list[Fraction]], moments: Moments) -> float:
    """The greatest error of an entry, relative to sqrt(M_ii M_jj); the pair is taken at its full length."""
    worst = 0.0
    for i, row in enumerate(right):
        for j, entry in enumerate(row):
            found = Fraction(float(moments.scatter[0, i, j])) + Fraction(float(moments.scatter[1, i, j]))
            scale = np.sqrt(float(right[i][i])) * np.sqrt(float(right[j][j]))
            worst = max(worst, abs(float(found - entry)) / scale if scale else float(found != entry))
    return worst


def outlier_first(rows: int) -> np.ndarray:
    X = RNG.normal(size=(rows, 3))
    X[0] = 1e7
    return X


HARD = {
    "plain": RNG.normal(size=(400, 3)),
    "offset": RNG.normal(size=(400, 3)) + 1e8,
    "one row far out": outlier_first(400),
    "scales": RNG.normal(size=(300, 3)) * [1e-150, 1.0, 1e140],
    "nearly constant": 1e8 + np.spacing(1e8) * RNG.integers(0, 2, size=(300, 2)),
    "collinear": np.outer(RNG.normal(size=300), [1.0, 3.0]) + 5.0,
}
WEIGHTS = {
    "none": lambda n: None,
    "uneven": lambda n: RNG.uniform(1e-3, 10.0, size=n),
    "a faint first row": lambda n: np.where(np.arange(n) == 0, 1e-9, 1.0),
}
LAYOUTS = {"C": np.ascontiguousarray, "Fortran": np.asfortranarray, "csr": sp.csr_array}


@pytest.mark.parametrize("weighted", WEIGHTS)
@pytest.mark.parametrize("data", HARD)
def test_the_bound_holds(data: str, weighted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Z = HARD[data]
    weight = WEIGHTS[weighted](len(Z))
    right = exact_scatter(Z, weight)
    batches = {name: Batch(layout(Z), None, weight) for name, layout in LAYOUTS.items()}

    def check(way: str) -> None:
        for name, batch in batches.items():
            moments = Moments.of(batch)
            assert error_from(right, moments) <= moments.error, (way, name)

    check("all rows at once")
    monkeypatch.setattr(surefit.stats.moments, "BLOCK_ROWS", 64)
    check("in blocks")
    monkeypatch.setattr(surefit.stats.moments, "centred_gram", centred_gram_twin)
    check("in blocks, by the twin")


MANY = 4352  # rows that the kernel adds up in eight chunks, each about the mean of its first 128 rows
FIRST = np.arange(MANY) % (MANY // 8) < 128
NOISE, OFFSETS = np.random.default_rng(1).normal(size=(MANY, 2)), np.array([3.0, 1e8])
CHUNKS = {
    "plain": (NOISE + OFFSETS, None),
    "sorted": (np.sort(NOISE, axis=0) + OFFSETS, None),
    "a step": (NOISE + 1e6 * ~FIRST[:, None], None),
    "a faint far start": (NOISE + 1e8 * ~FIRST[:, None], np.where(FIRST, 1e-12, 1.0)),
    "one row far out": (np.where(np.arange(MANY)[:, None] == 0, 1e7, NOISE), None),
    "a first strip of no weight": (NOISE + 1e8, np.where(FIRST, 0.0, 2.0)),
    "constant at first": (np.where(FIRST[:, None], 0.1, NOISE), None),
}


@pytest.mark.parametrize("data", CHUNKS)
def test_the_bound_holds_for_chunks_of_rows(data: str) -> None:
    Z, weight = CHUNKS[data]
    moments = Moments.of(Batch(Z, None, weight))
    counted = slice(None) if weight is None else weight > 0
    assert true_error(moments, Z[counted], None if weight is None else weight[counted]) <= moments.error
    columns = Moments.of(Batch(np.asfortranarray(Z), None, weight))
    np.testing.assert_array_equal(moments.scatter, columns.scatter)


@pytest.mark.parametrize("data", HARD)
@pytest.mark.parametrize("weighted", ["none", "uneven"])
def test_the_bound_holds_after_subtracting(data: str, weighted: str) -> None:
    Z = HARD[data]
    weight = WEIGHTS[weighted](len(Z))
    parts = [
        Moments.of(Batch(Z[a : a + 30], None, None if weight is None else weight[a : a + 30]))
        for a in range(0, len(Z), 30)
    ]
    left = reduce(add, parts)
    try:
        for part in parts[:-3]:
            left = left - part
    except RefusalError:
        assert data == "one row far out"  # its scatter is all but gone with the row
        return
    start = 30 * (len(parts) - 3)
    error = true_error(left, Z[start:], None if weight is None else weight[start:])
    assert error <= left.error <= LIMIT


def test_a_sliding_window_stays_exact() -> None:
    rows = RNG.normal(size=(60_000, 3)) * [1.0, 1e3, 1e-3] + [1e6, 0.0, 1.0]
    parts = [Moments.of(Batch(rows[a : a + 30])) for a in range(0, len(rows), 30)]
    window = reduce(add, parts[:10])
    for new, old in zip(parts[10:], parts, strict=False):
        window = (window + new) - old
    assert window.rows == 300
    assert true_error(window, rows[-300:]) <= window.error <= LIMIT
    assert true_error(window, rows[-300:]) <= 1e-13


def test_subtracting_refuses_when_too_much_cancels() -> None:
    small, large = RNG.normal(size=(50, 2)), 1e6 * RNG.normal(size=(50, 2))
    whole = Moments.of(Batch(np.vstack([small, large])))
    with pytest.raises(
        RefusalError, match=r"without these 50 rows the moments of the other 50 .* beyond 1e-08"
    ):
        whole - Moments.of(Batch(large))
    assert (whole - Moments.of(Batch(small))).error <= LIMIT
    with pytest.raises(RefusalError, match="cannot be taken from"):
        Moments.of(Batch(small)) - whole


def variances(statistic: Any) -> np.ndarray:
    if isinstance(statistic, Moments):
        return np.diagonal(statistic.covariance())
    if isinstance(statistic, TriangularFactor):
        return (statistic.centred**2).sum(axis=0) / (statistic.rows - 1)
    return statistic.scatter / (statistic.weight - 1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("cls", "digits"),
    [(Moments, 12), (TriangularFactor, 6), (Spread, 6)],
    ids=["moments", "factor", "spread"],
)
def test_an_offset_leaves_digits(cls: Any, digits: int, layout: str) -> None:
    X = RNG.integers(-1000, 1000, size=(1000, 3)) / 1024.0  # exact at the offset
    shifted = LAYOUTS[layout](X + 1e8)
    for pieces in (1, 13):
        parts = [cls.of(Batch(shifted[rows])) for rows in np.array_split(np.arange(1000), pieces)]
        found = variances(reduce(add, parts))
        np.testing.assert_allclose(found, X.var(axis=0, ddof=1), rtol=10.0**-digits)


def test_accessors_are_what_numpy_computes() -> None:
    X, Y = RNG.normal(size=(80, 3)) @ RNG.normal(size=(3, 3)), RNG.normal(size=(80, 2))
    weight = RNG.integers(0, 4, size=80).astype(float)
    moments = Moments.of(Batch(X, Y, weight))
    Z = np.hstack([X, Y])
    scatter = np.cov(Z.T, fweights=weight.astype(int), ddof=0) * weight.sum()
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(moments.gram, scatter[:3, :3], **close)
    np.testing.assert_allclose(moments.cross, scatter[:3, 3:], **close)
    np.testing.assert_allclose(moments.target_scatter, scatter[3:, 3:], **close)
    np.testing.assert_allclose(moments.mean_x, np.average(X, axis=0, weights=weight), **close)
    np.testing.assert_allclose(moments.mean_y, np.average(Y, axis=0, weights=weight), **close)
    np.testing.assert_allclose(moments.covariance(), np.cov(X.T, fweights=weight.astype(int)), **close)
    repeated = np.repeat(X, weight.astype(int), axis=0)
    np.testing.assert_allclose(moments.correlation(), np.corrcoef(repeated.T), **close)
    assert (moments.weight, moments.rows) == (weight.sum(), np.count_nonzero(weight))


def test_degenerate_columns_have_a_rule() -> None:
    moments = Moments.of(Batch(np.array([[1.0, 2.0], [1.0, 4.0]])))
    assert moments.error < 1e-12  # a constant column is known exactly
    assert np.isnan(moments.correlation()[0]).all()
    assert np.isnan(Moments.of(Batch(np.ones((1, 2)))).covariance()).all()


def test_the_arrays_cannot_be_written_to() -> None:
    moments = Moments.of(Batch(np.ones((4, 2))))
    with pytest.raises(ValueError, match="read-only"):
        moments.scatter[0, 0, 0] = 1.0
    moments.gram[0, 0] = 1.0  # what an accessor returns is the caller's own


def exact(value: np.ndarray) -> Fraction:
    return Fraction(float(value[0])) + Fraction(float(value[1]))


def test_pairs_round_no_more_than_they_say() -> None:
    numbers = RNG.normal(size=(4, 300)) * 10.0 ** RNG.integers(-9, 9, size=(4, 300))
    a, b = (pair.pair(high, low * 1e-17) for high, low in (numbers[:2], numbers[2:]))
    for i in range(300):
        x, y = exact(a[:, i]), exact(b[:, i])
        allowed = Fraction(pair.ROUNDING)
        assert abs(exact(pair.add(a, b)[:, i]) - (x + y)) <= allowed * (abs(x) + abs(y))
        assert abs(exact(pair.multiply(a, b)[:, i]) - x * y) <= allowed * abs(x * y)
        assert abs(exact(pair.divide(a, b)[:, i]) - x / y) <= allowed * abs(x / y)
    total = sum(Fraction(float(v)) for v in numbers[0])
    size = sum(Fraction(abs(float(v))) for v in numbers[0])
    assert abs(exact(pair.total(numbers[0])) - total) <= Fraction(pair.ROUNDING) * size
