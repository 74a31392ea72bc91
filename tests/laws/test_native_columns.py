"""Products, facts and Gram matrices of columns against their twins: forms, precisions, weights, threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from surefit.core.native.columns.column_facts import column_facts, column_facts_twin
from surefit.core.native.columns.column_gram import column_gram, column_gram_twin
from surefit.core.native.columns.columns_dot import (
    columns_dot,
    columns_dot_twin,
    columns_times,
    columns_times_twin,
)

SHAPES = [(1, 1), (1, 5), (7, 3), (600, 40), (3001, 5), (20, 1500)]
FORMS = ["fortran", "c", "csc", "csr", "csc64", "dense csc"]


def matrix(shape, form, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) + 1.0
    if "cs" in form and not form.startswith("dense"):
        X[rng.random(shape) < 0.93] = 0.0
    X = X.astype(dtype)
    if form in ("fortran", "c"):
        return np.asarray(X, order="F" if form == "fortran" else "C")
    if form == "csr":
        return sparse.csr_matrix(X)
    X = sparse.csc_matrix(X)
    if form == "csc64":
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def frozen(X):
    for array in [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]:
        array.flags.writeable = False
    return X


def vectors(shape, seed=1):
    rng = np.random.default_rng(seed)
    some = rng.permutation(shape[1])[:30]
    return rng.normal(size=shape[0]), rng.normal(size=shape[1]), rng.random(shape[0]) + 0.1, some


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_are_what_their_twins_say(shape, form, dtype):
    X = frozen(matrix(shape, form, dtype))
    v, centre, _, some = vectors(shape)
    w = np.random.default_rng(2).normal(size=len(some))
    for middle in (None, centre):
        for which in (None, some):
            found, right = columns_dot(X, v, middle, which), columns_dot_twin(X, v, middle, which)
            np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12 * shape[0])
        if form != "csr":
            found, right = columns_times(X, w, middle, some), columns_times_twin(X, w, middle, some)
            np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", [form for form in FORMS if form != "csr"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_facts_and_gram_are_what_their_twins_say(shape, form, dtype):
    X = frozen(matrix(shape, form, dtype))
    y, _, weight, some = vectors(shape)
    for s in (None, weight):
        for centred in (True, False):
            target = y - np.average(y, weights=s) if centred else y
            found, right = column_facts(X, target, s, centred), column_facts_twin(X, target, s, centred)
            for name in ("mean", "scatter", "cross"):
                scale = 1e-12 * shape[0]
                np.testing.assert_allclose(getattr(found, name), getattr(right, name), rtol=1e-11, atol=scale)
        m, old = len(some), len(some) // 2
        grown, right = np.full((m + 2, m + 3), np.nan), np.empty((m + 2, m + 3))
        column_gram(X, some[:old], grown, 0, found.mean, s, 0.5)
        column_gram(X, some, grown, old, found.mean, s, 0.5)
        column_gram_twin(X, some, right, 0, found.mean, s, 0.5)
        np.testing.assert_allclose(grown[:m, :m], right[:m, :m], rtol=1e-11, atol=1e-12 * shape[0])
        assert np.isnan(grown[m:]).all()
        assert np.isnan(grown[:, m:]).all()
        np.testing.assert_array_equal(grown[:m, :m], grown[:m, :m].T)


@pytest.mark.parametrize("form", FORMS)
def test_the_same_bits_for_any_number_of_threads(form):
    X = matrix((3000, 400), form)
    v, centre, weight, some = vectors(X.shape)
    by = {}
    for count in (1, 2, 3):
        G = np.zeros((30, 30))
        parts = [columns_dot(X, v, centre, _threads=count)]
        if form != "csr":
            facts = column_facts(X, v, weight, _threads=count)
            column_gram(X, some, G, 0, centre, weight, _threads=count)
            parts += [facts.mean, facts.scatter, facts.cross, G]
            parts.append(columns_times(X, v[:30], centre, some, _threads=count))
        by[count] = b"".join(part.tobytes() for part in parts)
    assert by[1] == by[2] == by[3]


@pytest.mark.parametrize("shape", [(9000, 60), (700, 260)], ids=["tall", "wide"])
@pytest.mark.parametrize("form", ["fortran", "c", "dense csc"])
def test_gram_matrices_grow_by_any_number_of_columns(shape, form):
    X = matrix(shape, form)
    _, centre, weight, _ = vectors(shape)
    which = np.random.default_rng(4).permutation(shape[1])
    right = np.empty((shape[1], shape[1]))
    column_gram_twin(X, which, right, 0, centre, weight, 0.5)
    by = {}
    for count in (1, 2, 3):
        G = np.full_like(right, np.nan)
        for old, m in itertools.pairwise([0, 1, 6, 40, shape[1]]):
            column_gram(X, which[:m], G, old, centre, weight, 0.5, _threads=count)
        np.testing.assert_allclose(G, right, rtol=1e-11, atol=1e-12 * shape[0])
        by[count] = G.tobytes()
    assert by[1] == by[2] == by[3]


def test_centring_does_not_cancel():
    rng = np.random.default_rng(0)
    D, v = rng.normal(size=(500, 4)), rng.normal(size=500)
    D -= D.mean(axis=0)
    facts = column_facts(np.asfortranarray(D + 1e6), v - v.mean())
    np.testing.assert_allclose(facts.scatter, (D**2).sum(axis=0), rtol=1e-8)
    np.testing.assert_allclose(facts.cross, D.T @ (v - v.mean()), atol=1e-6)
    constant = column_facts(np.full((500, 1), 0.1, order="F"), v - v.mean())
    assert constant.scatter[0] == 0.0


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [
        ([1, 0], [0, 2, 2]),
        ([0, 3], [0, 1, 2]),
        ([-1, 0], [0, 1, 2]),
        ([0, 1], [0, 3, 2]),
        ([1, 1], [0, 2, 2]),
    ],
    ids=["falling", "outside", "negative", "indptr", "twice"],
)
def test_a_broken_sparse_matrix_is_refused(indices, indptr):
    X = sparse.csc_matrix((3, 2))
    X.data, X.indices, X.indptr = np.ones(2), np.array(indices, np.int32), np.array(indptr, np.int32)
    with pytest.raises(ValueError, match="sort_indices"):
        column_facts(X, np.zeros(3))


def test_what_does_not_fit_is_refused():
    X = np.ones((4, 2), order="F")
    with pytest.raises(ValueError, match="v must have one entry for each row"):
        columns_dot(X, np.ones(3))
    with pytest.raises(ValueError, match="centre must have one entry"):
        columns_dot(X, np.ones(4), np.ones(3))
    with pytest.raises(ValueError, match="numbers of columns"):
        columns_dot(X, np.ones(4), which=[2])
    with pytest.raises(ValueError, match="w must have one entry"):
        columns_times(X, np.ones(1), which=[0, 1])
    with pytest.raises(ValueError, match="a row and a column"):
        column_gram(X, [0, 1], np.zeros((1, 1)))
    with pytest.raises(TypeError, match="float32 or float64"):
        columns_dot(X.astype(int), np.ones(4))
