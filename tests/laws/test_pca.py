"""What holds for principal axes however they are found, and a proof that fails when it should."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from scipy import sparse
from tests.laws.pieces import pieces

import surefit
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import DataError, RefusalError
from surefit.models.factor import optimality, pca
from surefit.models.factor.optimality import largest_elsewhere
from surefit.solvers.linalg.principal_axes import completed, from_rows, from_scatter, signed

RNG = np.random.default_rng(0)
TALL = RNG.normal(size=(90, 7)) @ RNG.normal(size=(7, 7)) + 5.0
WIDE = RNG.normal(size=(25, 60)) * np.linspace(1, 4, 60)
SOLVERS = ["auto", "full", "covariance_eigh", "arpack", "randomized"]
CLASSES = [surefit.PCA, surefit.IncrementalPCA]


def same(one, two, atol=1e-9):
    for entry in fields(type(one).learns):
        np.testing.assert_allclose(
            getattr(one, f"{entry.name}_"), getattr(two, f"{entry.name}_"), rtol=1e-9, atol=atol
        )


@pytest.fixture
def no_square(monkeypatch):
    """Pretend that a matrix of three columns is too large to be formed."""
    monkeypatch.setattr(pca, "LARGEST_GRAM", 3)
    monkeypatch.setattr(optimality, "LARGEST_FACTORED", 0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("X", [TALL, WIDE], ids=["tall", "wide"])
class TestEverySolver:
    def test_weight_equals_repetition(self, X, solver):
        times = np.random.default_rng(1).integers(0, 4, len(X))
        one = surefit.PCA(3, svd_solver=solver, random_state=0).fit(X, sample_weight=times)
        two = surefit.PCA(3, svd_solver=solver, random_state=1).fit(np.repeat(X, times, axis=0))
        same(one, two)
        assert surefit.verify(one, X, sample_weight=times).holds

    def test_axes_are_best_and_codes_uncorrelated(self, X, solver):
        """Both derivations: the most variance kept, the least distance lost."""
        model = surefit.PCA(3, svd_solver=solver, random_state=0).fit(X)
        codes = model.transform(X)
        np.testing.assert_allclose(np.cov(codes.T), np.diag(model.explained_variance_), atol=1e-10)
        spectrum = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
        lost = ((X - model.inverse_transform(codes)) ** 2).sum()
        np.testing.assert_allclose([(codes**2).sum(), lost], [spectrum[:3].sum(), spectrum[3:].sum()])
        np.testing.assert_allclose(model.reconstruction_error_ * len(X), lost)
        np.testing.assert_allclose(model.reconstruction_error(X) * len(X), lost)

    def test_the_same_bits_for_any_number_of_threads(self, X, solver):
        big = np.tile(X, (40, 1)) + np.random.default_rng(2).normal(size=(40 * len(X), X.shape[1]))
        found = []
        for threads in (1, 2):
            with surefit.config(n_threads=threads):
                found.append(surefit.PCA(2, svd_solver=solver, random_state=0).fit(big))
        np.testing.assert_array_equal(found[0].components_, found[1].components_)

    def test_a_source_gives_the_same(self, X, solver):
        half = len(X) // 2
        source = pieces(X, cuts=((10, half - 10), (), (len(X) - half,)))
        whole = surefit.PCA(3, svd_solver=solver, random_state=0).fit(X)
        model = surefit.PCA(3, svd_solver=solver, random_state=0).fit(source)
        same(model, whole)
        assert surefit.verify(model, source).holds
        codes = np.vstack([batch.X for batch in model.transform(source)])
        np.testing.assert_allclose(codes, whole.transform(X), atol=1e-9)
        back = np.vstack([batch.X for batch in model.inverse_transform(model.transform(source))])
        np.testing.assert_allclose(back, whole.inverse_transform(codes), atol=1e-9)
        assert model.transform(source).schema.names == ("pca0", "pca1", "pca2")
        np.testing.assert_allclose(model.score(source), whole.score(X))
        np.testing.assert_allclose(model.reconstruction_error(source), whole.reconstruction_error(X))


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("X", [TALL, WIDE], ids=["tall", "wide"])
def test_verify_fails_when_any_number_changes(cls, X):
    model = cls(3).fit(X)
    assert surefit.verify(model, X).holds
    for entry in fields(cls.learns):
        if entry.name == "batch_size":  # a setting, not a finding
            continue
        name = f"{entry.name}_"
        before = getattr(model, name)
        places = range(min(np.size(before), 5)) if isinstance(before, np.ndarray) else [None]
        for place in places:
            if place is None:
                setattr(model, name, before + 1 if isinstance(before, int) else before * 1.001)
            else:
                changed = before.copy()
                changed.flat[place] *= 1.0001
                setattr(model, name, changed)
            assert not surefit.verify(model, X).holds, (name, place)
        setattr(model, name, before)
    assert surefit.verify(model, X).holds


@pytest.mark.parametrize("cls", CLASSES)
def test_verify_fails_on_other_data(cls):
    model = cls(2).fit(TALL)
    changed = TALL.copy()
    changed[5, 2] += 1e-3
    assert not surefit.verify(model, changed).holds
    assert not surefit.verify(model, TALL[1:]).holds
    assert not surefit.verify(model, TALL, sample_weight=np.linspace(1, 1.001, len(TALL))).holds


@pytest.mark.parametrize("way", ["scatter", "rows", "search"])
def test_axes_that_are_not_the_first_are_caught(way, monkeypatch):
    """They are axes of the scatter, orthonormal and with the right variances, but others have more."""
    X = TALL if way == "scatter" else WIDE
    if way != "scatter":
        X = np.hstack([WIDE] * 10) * np.linspace(1, 2, 600)  # more than 500 columns: no scatter is formed
    if way == "search":
        monkeypatch.setattr(optimality, "LARGEST_FACTORED", 0)
    all_axes, model = surefit.PCA().fit(X), surefit.PCA(2).fit(X)
    sound = surefit.verify(model, X)
    assert sound.holds
    assert sound.claim == ("stationary" if way == "search" else "backward stable")
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
        setattr(model, name, getattr(all_axes, name)[1:3])
    total = all_axes.explained_variance_.sum()
    left = total - model.explained_variance_.sum()
    model.noise_variance_ = left / (min(X.shape) - 2)
    model.reconstruction_error_ = left * (len(X) - 1) / len(X)
    found = surefit.verify(model, X)
    others = {name: value for name, value in found.parts.items() if "direction" not in name}
    assert max(others.values()) < 1e-9
    assert not found.holds
    variances = model.explained_variance_
    truth = (all_axes.explained_variance_[0] - variances[1]) / variances[0]
    # A Cholesky factor proves powers of ten; the search may fall short by a little.
    assert 0.9 * truth <= found.parts["excess of other directions"] <= 10 * truth


def test_the_search_is_bounded():
    """The most that a direction elsewhere can have is never below what it has."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        spectrum = np.sort(rng.uniform(0, 1, 40))[::-1]
        Q = np.linalg.qr(rng.normal(size=(40, 40)))[0]
        M = Q.T @ np.diag(spectrum) @ Q
        found = largest_elsewhere(lambda V, M=M: M @ V, Q[:3], spectrum[:3])
        assert found.excess <= 1e-12
        assert spectrum[3] / spectrum[0] <= found.most <= 1.6 * spectrum[3] / spectrum[0]


@pytest.mark.parametrize("cls", CLASSES)
def test_pieces_and_merges_are_exact(cls):
    whole, parts = cls(3).fit(TALL), cls(3)
    for start in range(0, 90, 13):
        parts.partial_fit(TALL[start : start + 13])
    same(parts, whole)
    one, two = cls(3).fit(TALL[:40]), cls(3).fit(TALL[40:])
    same(one.merge(two), whole)
    same(one.forget(TALL[:40]), two)
    thin = cls(3).partial_fit(WIDE[:5])
    for start in range(5, 25, 5):
        thin.partial_fit(WIDE[start : start + 5])  # fewer rows than columns, all the time
    same(thin, surefit.PCA(3).fit(WIDE) if cls is surefit.PCA else cls(3).fit(WIDE))


def test_what_keeps_no_sums_says_so(no_square):
    with pytest.raises(RefusalError, match=r"kept no statistic.*fewer rows than columns"):
        surefit.PCA(3).fit(WIDE).partial_fit(WIDE)
    fitted = surefit.PCA(3, svd_solver="covariance_eigh").fit(WIDE)
    with pytest.raises(RefusalError, match=r"kept no statistic.*fewer rows than columns"):
        fitted.merge(surefit.PCA(3).fit(WIDE))
    with pytest.raises(RefusalError, match="svd_solver='full'"):
        surefit.PCA(3, svd_solver="full").partial_fit(TALL)
    with pytest.raises(RefusalError, match="stores no covariance matrix of 7 columns"):
        surefit.PCA(3).partial_fit(TALL)
    with pytest.raises(RefusalError, match="a few components of 7 columns"):
        surefit.PCA().fit(pieces(TALL, cuts=((90,),)))


def test_a_source_too_wide_for_sums_is_read_pass_by_pass(no_square):
    source = pieces(TALL, cuts=((40, 20), (30,)))
    model = surefit.PCA(2, random_state=0).fit(source)
    assert "statistic_" not in model.__dict__
    np.testing.assert_allclose(model.components_, surefit.PCA(2, svd_solver="full").fit(TALL).components_)
    assert len(model.trace_) >= 1
    assert surefit.verify(model, source).claim == "stationary"


def test_incremental_pca_refuses_what_it_cannot_add_up(monkeypatch):
    from surefit.models.factor import incremental_pca

    monkeypatch.setattr(incremental_pca, "LARGEST_GRAM", 3)
    with pytest.raises(RefusalError, match="IncrementalPCA stores the covariance matrix"):
        surefit.IncrementalPCA().fit(TALL)


def test_a_few_axes_of_a_large_sparse_table_leave_it_sparse(monkeypatch):
    X = sparse.random_array((700, 900), density=0.01, rng=np.random.default_rng(5), format="csr")
    dense = surefit.PCA(4, svd_solver="full").fit(X.toarray())
    monkeypatch.setattr(type(X), "toarray", lambda self: pytest.fail("the table was filled"))
    model = surefit.PCA(4, random_state=0).fit(X)
    np.testing.assert_allclose(model.components_, dense.components_, atol=1e-8)
    np.testing.assert_allclose(model.transform(X), dense.transform(X), atol=1e-9)


def test_all_axes_of_a_huge_sparse_table_are_refused():
    X = sparse.csr_array((20_000, 30_000))
    with pytest.raises(RefusalError, match="as much memory as its dense form"):
        surefit.PCA().fit(X)


@pytest.mark.parametrize("X", [TALL[:, [0, 1, 1, 2, 0]], WIDE], ids=["copies", "wide"])
@pytest.mark.parametrize("solver", ["full", "covariance_eigh"])
def test_axes_without_variance_follow_a_rule(X, solver):
    """Rounding does not choose them: another order of rows, or solver, gives the same."""
    order = np.random.default_rng(6).permutation(len(X))
    one, two = surefit.PCA(svd_solver=solver).fit(X), surefit.PCA().fit(X[order])
    assert (one.explained_variance_ == 0).any()
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-8)
    np.testing.assert_allclose(one.components_ @ one.components_.T, np.eye(one.n_components_), atol=1e-12)


def test_rows_that_never_vary():
    model = surefit.PCA().fit(np.full((5, 3), 2.0))
    np.testing.assert_array_equal(model.components_, np.eye(3))
    assert (model.explained_variance_ == 0).all()
    assert (model.explained_variance_ratio_ == 0).all()
    assert model.certificate_.holds
    assert surefit.verify(model, np.full((5, 3), 2.0)).holds
    assert not surefit.verify(model, np.full((5, 3), 2.1)).holds


def test_one_row_has_no_variance():
    with pytest.raises(DataError, match="n_samples=1 is too few"):
        surefit.PCA().fit(TALL[:1])
    with pytest.raises(DataError, match=r"n_samples=0.9 is too few.*sample_weight counts"):
        surefit.PCA().fit(TALL, sample_weight=np.full(90, 0.01))


def test_too_few_products_are_told():
    X = np.random.default_rng(7).normal(size=(300, 200))
    with pytest.warns(CertificateWarning, match="NOT within"):
        model = surefit.PCA(3, svd_solver="randomized", iterated_power=1, random_state=0).fit(X)
    assert len(model.trace_) == 2
    assert "not-converged" in model.diagnosis_.codes()
    loose = surefit.PCA(3, svd_solver="randomized", tol=1e-3, random_state=0).fit(X)
    tight = surefit.PCA(3, svd_solver="randomized", random_state=0).fit(X)
    assert loose.certificate_.holds
    assert len(loose.trace_) < len(tight.trace_)
    assert (np.diff(tight.trace_.column("objective")) <= 1e-9 * tight.trace_.column("objective")[0]).all()


def test_signs_and_completion():
    np.testing.assert_array_equal(signed(np.array([[1.0, -2.0], [-3.0, 3.0]])), [[-1, 2], [3, -3]])
    flat = completed(from_scatter(np.diag([0.0, 4.0, 0.0]), 3), 3)
    np.testing.assert_array_equal(flat.axes, [[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(flat.scatter, [4, 0, 0])


def test_a_scatter_of_unlike_units_keeps_its_small_axes():
    """Columns ten million apart: the plain eigenvectors of the scatter would have lost the smallest."""
    rng = np.random.default_rng(8)
    A = rng.normal(size=(200, 6)) @ (np.eye(6) + 0.2 * rng.normal(size=(6, 6)))
    A = (A - A.mean(axis=0)) * np.logspace(-3.5, 3.5, 6)
    ours, truth = from_scatter(A.T @ A, 6), from_rows(A, 6)
    assert ours.method == "scaled factor"
    np.testing.assert_allclose(ours.scatter, truth.scatter, rtol=1e-8)
    np.testing.assert_allclose(ours.axes, truth.axes, atol=1e-9)


def test_diagnosis_names_constant_and_equal_columns():
    X = np.column_stack([TALL, np.ones(90), TALL[:, 0]])
    found = surefit.PCA().fit(X).diagnosis_
    assert {"constant-columns", "duplicate-columns"} <= set(found.codes())
    assert "dominant-column" in found.ran
