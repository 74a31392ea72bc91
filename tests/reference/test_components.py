"""Components, factors and embeddings against scikit-learn, closed forms and planted answers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition as peers
from sklearn import manifold

import surefit
from surefit import NMF, TSNE, UMAP, FactorAnalysis, FastICA, MiniBatchNMF, ProbabilisticPCA, TruncatedSVD
from surefit.core.certificate import CertificateWarning

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(200, 3)) @ RNG.normal(size=(3, 8)) + 0.3 * RNG.normal(size=(200, 8)) + 1.0
PARTS = np.abs(RNG.normal(size=(120, 4)) @ RNG.normal(size=(4, 9)))
GROUPS = np.vstack([RNG.normal(size=(40, 5)) + 8 * RNG.normal(size=5) for _ in range(3)])


def changed_is_found(model, X, *names):
    """Whether verify sees the largest entry of each array changed by one percent."""
    assert surefit.verify(model, X).holds
    for name in names:
        kept = getattr(model, name)
        other = np.array(kept)
        other.flat[np.abs(other).argmax()] *= 1.01
        setattr(model, name, other)
        assert not surefit.verify(model, X).holds, name
        setattr(model, name, kept)


@pytest.mark.parametrize("count", [1, 3, 8])
def test_truncated_svd_is_scipys(count):
    for X in (TABLE, sparse.csr_array(TABLE * (RNG.random(TABLE.shape) < 0.4))):
        model = TruncatedSVD(count).fit(X)
        dense = X.toarray() if sparse.issparse(X) else X
        _, singular, axes = np.linalg.svd(dense, full_matrices=False)
        np.testing.assert_allclose(model.singular_values_, singular[:count], rtol=1e-10)
        np.testing.assert_allclose(np.abs(model.components_), np.abs(axes[:count]), atol=1e-8)
        theirs = peers.TruncatedSVD(count, n_iter=20, random_state=0).fit(X)
        np.testing.assert_allclose(
            model.explained_variance_ratio_, theirs.explained_variance_ratio_, atol=1e-8
        )
        changed_is_found(model, X, "components_", "singular_values_")


def test_a_few_of_many_columns_come_of_products():
    X = sparse.random_array((540, 510), density=0.02, format="csr", rng=np.random.default_rng(0))
    exact = np.linalg.svd(X.toarray(), compute_uv=False)[:5]
    ours = TruncatedSVD(5).fit(X)
    assert (ours.singular_values_ > 0.95 * exact).all()
    assert surefit.verify(ours, X).holds
    ended = TruncatedSVD(5, algorithm="arpack").fit(X)
    np.testing.assert_allclose(ended.singular_values_, exact, rtol=1e-9)


@pytest.mark.parametrize("rotation", [None, "varimax", "quartimax"])
def test_factor_analysis_takes_scikit_learns_steps(rotation):
    ours = FactorAnalysis(3, rotation=rotation).fit(TABLE)
    theirs = peers.FactorAnalysis(3, rotation=rotation, svd_method="lapack").fit(TABLE)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.loglike_, theirs.loglike_, rtol=1e-10)
    np.testing.assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-7)
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-8)
    assert ours.score(TABLE) == pytest.approx(theirs.score(TABLE), rel=1e-10)
    changed_is_found(ours, TABLE, "components_", "noise_variance_", "mean_")
    pieces = FactorAnalysis(3, rotation=rotation).partial_fit(TABLE[:70]).partial_fit(TABLE[70:])
    np.testing.assert_allclose(pieces.get_covariance(), ours.get_covariance(), rtol=1e-8)


def test_probabilistic_components_without_gaps_are_principal_ones():
    model, pca = ProbabilisticPCA(3).fit(TABLE), peers.PCA(3).fit(TABLE)
    n = len(TABLE)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(pca.components_), atol=1e-8)
    np.testing.assert_allclose(model.explained_variance_, pca.explained_variance_ * (n - 1) / n, rtol=1e-9)
    assert model.noise_variance_ == pytest.approx(pca.noise_variance_ * (n - 1) / n, rel=1e-9)
    changed_is_found(model, TABLE, "components_", "mean_", "explained_variance_")


def test_gaps_are_filled_by_what_the_other_cells_say():
    X = TABLE.copy()
    gaps = RNG.random(X.shape) < 0.15
    X[gaps] = np.nan
    model = ProbabilisticPCA(3).fit(X)
    assert (np.diff(model.lower_bounds_) > -1e-10).all()
    filled = model.impute(X)
    wrong = np.sqrt(np.mean((filled - TABLE)[gaps] ** 2))
    assert wrong < 0.6 * np.sqrt(np.mean((np.nanmean(X, axis=0) - TABLE)[:, None] ** 2))
    np.testing.assert_array_equal(filled[~gaps], X[~gaps])
    assert surefit.verify(model, X).holds


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_independent_sources_are_told_apart(algorithm, fun):
    t = np.arange(1500)
    S = np.column_stack([np.sin(t / 8), np.sign(np.sin(t / 5)), np.random.default_rng(1).laplace(size=1500)])
    X = S @ RNG.normal(size=(3, 3))
    model = FastICA(3, algorithm=algorithm, fun=fun, random_state=0).fit(X)
    alike = np.abs(np.corrcoef(S.T, model.transform(X).T)[:3, 3:])
    assert (alike.max(axis=1) > 0.97).all()
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-8)
    changed_is_found(model, X, "components_", "mixing_")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alpha_W": 0.01, "l1_ratio": 0.5},
        {"init": "nndsvd"},
        {"solver": "mu"},
        {"solver": "mu", "beta_loss": "kullback-leibler"},
    ],
    ids=str,
)
def test_nonnegative_parts_are_as_good_as_scikit_learns(options):
    ours = NMF(4, max_iter=3000, **options).fit(PARTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = peers.NMF(4, max_iter=3000, **options).fit(PARTS)
    assert ours.reconstruction_err_ <= theirs.reconstruction_err_ * (1 + 1e-3)
    assert (ours.components_ >= 0).all()
    changed_is_found(ours, PARTS, "components_")
    dense, thin = ours.transform(PARTS), ours.transform(sparse.csr_array(PARTS))
    np.testing.assert_allclose(dense, thin, atol=1e-6)


def test_nonnegative_parts_from_batches():
    whole = NMF(4, max_iter=2000).fit(PARTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CertificateWarning)
        model = MiniBatchNMF(4, batch_size=40, max_iter=100).fit(PARTS)
    assert model.reconstruction_err_ < 1.1 * whole.reconstruction_err_
    piece = MiniBatchNMF(4)
    for start in range(0, 600, 40):
        piece.partial_fit(PARTS[start % 120 : start % 120 + 40])
    assert (
        np.linalg.norm(PARTS - piece.transform(PARTS) @ piece.components_) < 1.3 * whole.reconstruction_err_
    )


@pytest.mark.covers("intro_to_ml:8.3", by="TSNE")
def test_neighbours_stay_neighbours_in_a_picture():
    ours = TSNE(perplexity=15).fit(GROUPS)
    assert manifold.trustworthiness(GROUPS, ours.embedding_) > 0.95
    again = TSNE(perplexity=15).fit(GROUPS[::-1])
    np.testing.assert_array_equal(again.embedding_[::-1], ours.embedding_)
    np.testing.assert_allclose(ours.transform(GROUPS), ours.embedding_)
    exact = TSNE(perplexity=15, method="exact").fit(GROUPS)
    assert abs(exact.kl_divergence_ - ours.kl_divergence_) < 0.1
    assert surefit.verify(ours, GROUPS).holds
    ours.places_[np.abs(ours.places_[:, 0]).argmax()] *= 1.01
    assert not surefit.verify(ours, GROUPS).holds


def test_a_graph_of_neighbours_is_drawn():
    model = UMAP(n_neighbors=10, n_epochs=150).fit(GROUPS)
    assert manifold.trustworthiness(GROUPS, model.embedding_) > 0.93
    centres = model.embedding_.reshape(3, 40, 2).mean(axis=1)
    spread = model.embedding_.reshape(3, 40, 2).std(axis=1).max()
    apart = min(np.linalg.norm(centres[a] - centres[b]) for a in range(3) for b in range(a))
    assert apart > spread
    np.testing.assert_array_equal(UMAP(n_neighbors=10, n_epochs=150).fit(GROUPS).embedding_, model.embedding_)


def test_how_many_components():
    rng = np.random.default_rng(0)
    loadings = np.linalg.qr(rng.normal(size=(8, 3)))[0].T * [[4.0], [3.5], [3.0]]
    X = rng.normal(size=(300, 3)) @ loadings + 0.5 * rng.normal(size=(300, 8))
    found = surefit.component_count(X, scale=False)
    assert (found.parallel, found.held_out, found.scree, found.broken_stick) == (3, 3, 3, 3)
    assert found.agreed == 3
    scaled = surefit.component_count(X)
    np.testing.assert_allclose(scaled.variances, np.linalg.eigvalsh(np.corrcoef(X.T))[::-1], rtol=1e-8)
    # The broken stick of four pieces: (1 + 1/2 + 1/3 + 1/4) / 4 = 0.5208 of the whole, and so on.
    four = surefit.component_count(RNG.normal(size=(50, 4)))
    np.testing.assert_allclose(
        four.stick / four.variances.sum(), [0.5208333, 0.2708333, 0.1458333, 0.0625], atol=1e-6
    )
    assert len(surefit.plots.plot_component_count(found).to_dict()["layer"]) == 2


@pytest.mark.covers("intro_to_ml:8.4", by="PCA")
def test_no_covariance_is_not_no_dependence():
    x = np.linspace(-1, 1, 2001)  # uniform on (-delta, delta)
    table = np.column_stack([x, x**2])
    model = surefit.PCA().fit(table)
    assert abs(model.get_covariance()[0, 1]) < 1e-12
    np.testing.assert_allclose(np.abs(model.components_), np.eye(2), atol=1e-9)
    np.testing.assert_allclose(table[:, 1], table[:, 0] ** 2)  # though one is a function of the other
