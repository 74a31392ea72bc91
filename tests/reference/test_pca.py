"""PCA against scikit-learn's on hard tables, and the worked examples of the catalogue."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition

import surefit
from surefit import datasets
from surefit.models.factor.spectrum import likeliest_dimension

RNG = np.random.default_rng(0)
BASE = RNG.normal(size=(120, 6)) @ RNG.normal(size=(6, 6))
TABLES = {
    "plain": BASE,
    "fortran": np.asfortranarray(BASE),
    "offset": BASE + 1e6,
    "scales": BASE * [1e-3, 1, 1e3, 10, 0.1, 1],
    "constant": np.column_stack([BASE, np.full(120, 3.5)]),
    "duplicate": np.column_stack([BASE, BASE[:, 0], 2 * BASE[:, 1]]),
    "wide": RNG.normal(size=(30, 80)) * np.linspace(1, 5, 80),
    "square": RNG.normal(size=(40, 40)),
    "few rows": BASE[:5],
}
ATTRIBUTES = ["explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"]


def agree(ours, theirs, X, rtol=1e-8):
    """All numbers, each against the size of its kind; axes only where rows vary along them."""
    for name in ATTRIBUTES:
        mine, its = getattr(ours, name), getattr(theirs, name)
        assert mine.shape == its.shape, name
        np.testing.assert_allclose(mine, its, rtol=rtol, atol=rtol * np.abs(its).max(), err_msg=name)
    assert ours.n_components_ == theirs.n_components_
    largest = theirs.explained_variance_.max(initial=0)
    assert abs(ours.noise_variance_ - theirs.noise_variance_) <= rtol * largest
    varies = theirs.singular_values_ > 1e-10 * theirs.singular_values_.max(initial=0)
    np.testing.assert_allclose(ours.components_[varies], theirs.components_[varies], rtol=0, atol=rtol)
    size = np.sqrt(largest)
    codes, its = ours.transform(X), theirs.transform(X)
    np.testing.assert_allclose(codes[:, varies], its[:, varies], rtol=rtol, atol=rtol * size)
    np.testing.assert_allclose(
        ours.inverse_transform(codes), theirs.inverse_transform(its), rtol=rtol, atol=rtol * size
    )


@pytest.mark.parametrize("n_components", [None, 1, 3, 0.5, 0.95])
@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh"])
@pytest.mark.parametrize("table", TABLES)
def test_every_solver_and_table(table, solver, n_components):
    X = TABLES[table]
    ours = surefit.PCA(n_components, svd_solver=solver).fit(X)
    theirs = decomposition.PCA(n_components, svd_solver="full").fit(X)
    agree(ours, theirs, X)
    assert ours.n_samples_ == theirs.n_samples_
    assert ours.certificate_.holds
    assert surefit.verify(ours, X).holds


@pytest.mark.parametrize("solver", ["arpack", "randomized"])
@pytest.mark.parametrize("table", TABLES)
def test_products_find_the_same_axes(table, solver):
    X = TABLES[table]
    ours = surefit.PCA(3, svd_solver=solver, random_state=0).fit(X)
    agree(ours, decomposition.PCA(3, svd_solver="full").fit(X), X)
    assert surefit.verify(ours, X).holds


@pytest.mark.parametrize("solver", ["auto", "covariance_eigh", "arpack", "randomized"])
def test_sparse(solver):
    X = sparse.random_array((90, 25), density=0.2, rng=np.random.default_rng(1), format="csr")
    ours = surefit.PCA(4, svd_solver=solver, random_state=0).fit(X)
    theirs = decomposition.PCA(4, svd_solver="covariance_eigh").fit(X)
    agree(ours, theirs, X)
    dense = surefit.PCA(4, svd_solver=solver, random_state=0).fit(X.toarray())
    np.testing.assert_allclose(ours.components_, dense.components_, atol=1e-10)
    assert surefit.verify(ours, X).holds
    wide = X.T.tocsr()[:10]
    agree(surefit.PCA(4, svd_solver=solver, random_state=0).fit(wide), decomposition.PCA(4).fit(wide), wide)


@pytest.mark.parametrize("whiten", [True, False])
def test_float32(whiten):
    X = TABLES["scales"].astype(np.float32)
    ours = surefit.PCA(3, whiten=whiten).fit(X)
    theirs = decomposition.PCA(3, whiten=whiten).fit(X.astype(np.float64))
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-8)
    codes = ours.transform(X)
    assert codes.dtype == ours.inverse_transform(codes).dtype == np.float32
    np.testing.assert_allclose(codes, theirs.transform(X.astype(np.float64)), rtol=1e-5, atol=1e-5)


def test_whitened_codes_have_variance_one_and_are_undone():
    ours = surefit.PCA(4, whiten=True).fit(BASE)
    theirs = decomposition.PCA(4, whiten=True).fit(BASE)
    codes = ours.transform(BASE)
    np.testing.assert_allclose(codes, theirs.transform(BASE), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.cov(codes.T), np.eye(4), atol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(codes), theirs.inverse_transform(codes), rtol=1e-9)


def test_a_whitened_code_that_never_varied_is_zero():
    X = TABLES["duplicate"]
    model = surefit.PCA(whiten=True).fit(X)
    codes = model.transform(X)
    assert (model.explained_variance_ == 0).tolist() == [False] * 6 + [True] * 2
    assert (codes[:, 6:] == 0).all()
    np.testing.assert_allclose(model.inverse_transform(codes), X, atol=1e-12)


@pytest.mark.parametrize("n_components", [0, 2, 5, 6])
def test_the_normal_law(n_components):
    ours = surefit.PCA(n_components, svd_solver="full").fit(BASE)
    theirs = decomposition.PCA(n_components, svd_solver="full").fit(BASE)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.score_samples(BASE), theirs.score_samples(BASE), rtol=1e-9)
    np.testing.assert_allclose(ours.score(BASE), theirs.score(BASE), rtol=1e-9)


def test_whitening_changes_codes_and_not_the_law():
    plain, white = surefit.PCA(2).fit(BASE), surefit.PCA(2, whiten=True).fit(BASE)
    np.testing.assert_array_equal(plain.get_covariance(), white.get_covariance())
    np.testing.assert_array_equal(plain.score_samples(BASE), white.score_samples(BASE))


def test_a_law_on_a_plane_has_no_density_outside():
    flat = np.column_stack([BASE[:, :2], BASE[:, 0] - BASE[:, 1]])
    model = surefit.PCA().fit(flat)
    assert np.isfinite(model.score_samples(flat)).all()
    outside = np.add(flat.mean(axis=0), [0.0, 0.0, 1.0])
    assert model.score_samples([outside])[0] == -np.inf
    on_plane = decomposition.PCA(2).fit_transform(flat)
    np.testing.assert_allclose(model.score(flat), decomposition.PCA().fit(on_plane).score(on_plane))


@pytest.mark.parametrize("seed", range(5))
def test_the_likeliest_dimension(seed):
    rng = np.random.default_rng(seed)
    true = int(rng.integers(1, 6))
    X = rng.normal(size=(300, true)) @ rng.normal(size=(true, 9)) + 0.1 * rng.normal(size=(300, 9))
    ours, theirs = surefit.PCA("mle").fit(X), decomposition.PCA("mle").fit(X)
    assert ours.n_components_ == theirs.n_components_ == true
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9)


def test_the_likeliest_dimension_of_equal_variances():
    assert likeliest_dimension(np.array([4.0, 4.0, 0.1, 0.1, 0.1]), 100) == 2
    with pytest.raises(ValueError, match="only supported if n_samples >= n_features"):
        surefit.PCA("mle").fit(TABLES["wide"])


@pytest.mark.parametrize("table", ["plain", "offset", "scales", "constant", "duplicate"])
def test_incremental_pca_is_exact(table):
    """scikit-learn's is so too as long as it keeps all components."""
    X = TABLES[table]
    ours = surefit.IncrementalPCA().fit(X)
    theirs = decomposition.IncrementalPCA().fit(X)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-6)
    assert ours.n_samples_seen_ == theirs.n_samples_seen_
    assert ours.batch_size_ == theirs.batch_size_
    agree(ours, decomposition.PCA(svd_solver="full").fit(X), X)
    few = surefit.IncrementalPCA(2)
    for start in range(0, 120, 40):
        few.partial_fit(X[start : start + 40])
    agree(few, decomposition.PCA(2, svd_solver="full").fit(X), X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 7}, r"n_components=7 must be between 0 and min\(n_samples, n_features\)=6"),
        ({"n_components": 1.0}, "n_components=1.0 is not allowed"),
        ({"n_components": 6, "svd_solver": "arpack"}, "must be between 1 and 5 with svd_solver='arpack'"),
        ({"n_components": 0.5, "svd_solver": "randomized"}, "n_components=0.5 must be between 1 and 6"),
        ({"n_components": "all"}, "n_components='all' is not allowed"),
    ],
)
def test_bad_numbers_of_components(parameters, message):
    with pytest.raises(ValueError, match=message):
        surefit.PCA(**parameters).fit(BASE)


# The catalogue


def covariance(X):
    return np.cov(np.asarray(X).T, bias=True)


@pytest.mark.covers("intro_to_ml:8.1", by="PCA")
@pytest.mark.parametrize("name", ["components_cross", "components_diagonal"])
def test_two_worked_clouds(name):
    """Variances divide by n there, by n - 1 in ``explained_variance_``; the error is a sum over rows."""
    data = datasets.fixture(name)
    X = np.asarray(data.data["X"])
    n = len(X)
    model = surefit.PCA(1).fit(X)
    all_axes = surefit.PCA().fit(X)
    np.testing.assert_allclose(all_axes.explained_variance_ * (n - 1) / n, data.answers["variances"])
    np.testing.assert_allclose(model.explained_variance_ratio_, [data.answers["share_of_first"]])
    np.testing.assert_allclose(n * model.reconstruction_error(X), n * data.answers["variances"][1])
    np.testing.assert_allclose(model.reconstruction_error_, data.answers["variances"][1])
    np.testing.assert_allclose(all_axes.inverse_transform(all_axes.transform(X)), X, atol=1e-14)
    codes = all_axes.transform(X)
    np.testing.assert_allclose(covariance(codes), np.diag(data.answers["variances"]), atol=1e-14)
    if "error_with_one" in data.answers:
        np.testing.assert_allclose(covariance(X), data.answers["covariance"])
        np.testing.assert_allclose(n * model.reconstruction_error_, data.answers["error_with_one"])
        np.testing.assert_allclose(model.components_, [[0.5**0.5, 0.5**0.5]])


@pytest.mark.covers("course_summary:12", by="PCA")
def test_five_points_both_ways():
    """What is kept and what is lost add up to the trace, so keeping most is losing least."""
    data = datasets.fixture("components_five_points")
    X = np.asarray(data.data["X"])
    model = surefit.PCA(1).fit(X)
    np.testing.assert_allclose(model.mean_, data.answers["mean"])
    np.testing.assert_allclose(model.components_, [data.answers["first_axis"]])
    rebuilt = model.inverse_transform(model.transform(X))
    kept = ((rebuilt - model.mean_) ** 2).sum(axis=1).mean()
    lost = ((X - rebuilt) ** 2).sum(axis=1).mean()
    np.testing.assert_allclose([kept, lost], data.answers["variances"])
    np.testing.assert_allclose(lost, data.answers["error_with_one"])
    np.testing.assert_allclose(kept + lost, np.trace(data.answers["covariance"]))
    np.testing.assert_allclose(model.components_ @ (X - rebuilt).T, np.zeros((1, 5)), atol=1e-14)
    np.testing.assert_allclose(rebuilt.mean(axis=0), model.mean_)
    nothing = surefit.PCA(0).fit(X)
    np.testing.assert_allclose(nothing.reconstruction_error(X), np.trace(data.answers["covariance"]))


@pytest.mark.covers("cs443:20.4", by="PCA")
def test_scores_are_uncorrelated():
    data = datasets.fixture("components_two_rows")
    X = np.asarray(data.data["X"])
    model = surefit.PCA().fit(X)
    np.testing.assert_allclose(model.singular_values_, data.answers["singular_values"])
    np.testing.assert_allclose(covariance(model.transform(X)), np.diag(data.answers["variances"]), atol=1e-14)
    np.testing.assert_allclose(covariance(X), data.answers["covariance"])
    np.testing.assert_allclose(np.abs(model.components_), np.full((2, 2), 0.5**0.5))
    np.testing.assert_allclose(
        4 * surefit.PCA(1).fit(X).reconstruction_error(X), data.answers["error_with_one"]
    )


@pytest.mark.covers("cs443:20.5", by="PCA")
@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
def test_the_smaller_product_gives_the_same_axes(shape):
    X = np.random.default_rng(3).normal(size=shape)
    Z = X - X.mean(axis=0)
    small = Z @ Z.T if shape[0] < shape[1] else Z.T @ Z
    squares = np.sort(np.linalg.eigvalsh(small))[::-1]
    model = surefit.PCA().fit(X)
    np.testing.assert_allclose(model.singular_values_**2, squares, atol=1e-12 * squares[0])
    # v_j = X'u_j / s_j for the left singular vectors, which are the codes over their lengths
    codes = model.transform(X)[:, :7]
    left = codes / model.singular_values_[:7]
    np.testing.assert_allclose((Z.T @ left / model.singular_values_[:7]).T, model.components_[:7], atol=1e-12)


@pytest.mark.covers("cs443:20.6", by="PCA")
def test_units_count_unless_columns_are_scaled():
    X = BASE * [1, 1, 1, 1, 1, 300.0]
    one, other = surefit.PCA(1).fit(BASE), surefit.PCA(1).fit(X)
    assert abs(one.components_ @ other.components_.T).item() < 0.9
    assert abs(other.components_[0, 5]) > 0.999
    assert other.diagnosis_.codes() == ("dominant-column",)
    assert one.diagnosis_.codes() == ()
    scaled = [surefit.PCA().fit(surefit.StandardScaler().fit_transform(table)) for table in (BASE, X)]
    np.testing.assert_allclose(scaled[0].components_, scaled[1].components_, atol=1e-10)


@pytest.mark.covers("cs443:20.2", by="PCA")
def test_no_other_rank_leaves_less():
    """Eckart and Young: of centred rows, k axes leave the squares of the other singular values."""
    data = datasets.fixture("best_rank_one")
    worked = np.asarray(data.data["X"])
    balanced = np.vstack([worked, -worked])  # centred, with twice the squares
    model = surefit.PCA(1).fit(balanced)
    np.testing.assert_allclose(model.reconstruction_error_ * 4, 2 * data.answers["error_with_one"])
    np.testing.assert_allclose(model.singular_values_, [2**0.5 * data.answers["singular_values"][0]])
    rng = np.random.default_rng(4)
    Z = BASE - BASE.mean(axis=0)
    for k in range(1, 6):
        best = surefit.PCA(k).fit(BASE).reconstruction_error(BASE) * len(BASE)
        others = surefit.PCA().fit(BASE).singular_values_[k:]
        np.testing.assert_allclose(best, (others**2).sum())
        for _ in range(20):
            right = rng.normal(size=(k, 6))
            left = Z @ np.linalg.pinv(right)  # the best left factor for this right one
            assert ((Z - left @ right) ** 2).sum() >= best
