"""Kernels against scikit-learn, brute force and the worked numbers of the courses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import pairwise_kernels

from surefit import kernels
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.kernels import (
    RBF,
    AnisotropicRBF,
    Bilinear,
    Cosine,
    ExpSineSquared,
    FromFunction,
    Kernel,
    Linear,
    Logistic,
    Polynomial,
    Quadratic,
    Spectrum,
    as_kernel,
    check_mercer,
    pivoted_cholesky,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 3)), RNG.normal(size=(7, 3))
ONE, TWO = [[1.0, 2.0]], [[3.0, 4.0]]
STRINGS = ["TCGGTTTAACGGATTATGGTAC", "TCGGTCCAACGGATAATGGAAC", "TCGGCGATTTAACGGATCGATTTATGGTAC"]


@pytest.mark.parametrize(
    "name", ["linear", "poly", "rbf", "laplacian", "sigmoid", "cosine", "chi2", "additive_chi2"]
)
@pytest.mark.parametrize("gamma", [None, 0.3])
def test_names_mean_what_scikit_learn_means(name, gamma):
    A, B = (np.abs(X), np.abs(Y)) if "chi2" in name else (X, Y)
    found = as_kernel(name, columns=3, gamma=gamma, degree=2, coef0=0.7)(A, B)
    given = {"gamma": gamma, "degree": 2, "coef0": 0.7}
    if name == "chi2" and gamma is None:
        given = {}
    np.testing.assert_allclose(found, pairwise_kernels(A, B, name, filter_params=True, **given), rtol=1e-12)


@pytest.mark.parametrize(
    "theirs",
    [
        gp.RBF([0.5, 1.0, 2.0]),
        gp.Matern(0.7, nu=0.5),
        gp.Matern([0.5, 1.0, 2.0], nu=1.5),
        gp.Matern(0.7, nu=2.5),
        gp.Matern(0.7, nu=0.9),
        gp.RationalQuadratic(0.7, 1.3),
        gp.ExpSineSquared(0.7, 2.5),
        gp.DotProduct(1.5) ** 2,
        gp.ConstantKernel(2.0) * gp.RBF(0.8) + gp.WhiteKernel(0.3),
    ],
    ids=repr,
)
def test_values_and_slopes_are_those_of_scikit_learns_processes(theirs):
    ours = as_kernel(theirs)
    K, slopes = theirs(X, eval_gradient=True)
    mine, own = ours(X, eval_gradient=True)
    np.testing.assert_allclose(mine, K, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(own, slopes, rtol=3e-5, atol=1e-7)  # theirs of a general nu are differences
    np.testing.assert_allclose(ours(X, Y), theirs(X, Y), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(ours.theta, theirs.theta)
    np.testing.assert_allclose(ours.bounds, theirs.bounds)


@pytest.mark.covers("ml_for_data_science:6.1", by="kernels.Polynomial")
def test_polynomials_of_the_course_and_their_feature_maps():
    kernel = Polynomial(degree=2)
    assert kernel(ONE, TWO) == pytest.approx(144)
    assert Polynomial(degree=3)([[2.0]], [[3.0]]) == pytest.approx(343)
    assert Quadratic()(ONE, TWO) == pytest.approx(121)
    for degree, columns, dimension in [(2, 2, 6), (3, 1, 4), (2, 3, 10)]:
        rows = RNG.normal(size=(5, columns))
        features = Polynomial(degree=degree, gamma=0.7, coef0=0.3).features(rows)
        assert features.shape == (5, dimension)
        expected = Polynomial(degree=degree, gamma=0.7, coef0=0.3)(rows)
        np.testing.assert_allclose(features @ features.T, expected, rtol=1e-12)
    assert all(Polynomial(degree=3, coef0=c).mercer for c in (0.0, 2.0))
    with pytest.raises(ParameterError, match="coef0"):
        Polynomial(coef0=-1.0)
    with pytest.raises(RefusalError, match="dimensions"):
        Polynomial(degree=9).features(np.zeros((1, 100)))


@pytest.mark.covers("ml_for_data_science:6.1", by="kernels.AnisotropicRBF")
def test_the_three_gaussians_of_the_course():
    assert RBF(1.0)(ONE, TWO) == pytest.approx(0.0183156389, abs=1e-10)
    sigma = np.array([0.5, 1.0, 2.0])
    full = AnisotropicRBF.from_covariance(np.diag(sigma**2))
    np.testing.assert_allclose(full(X, Y), RBF(sigma)(X, Y), rtol=1e-12)
    np.testing.assert_allclose(RBF([0.7] * 3)(X, Y), RBF(0.7)(X, Y), rtol=1e-12)
    S = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 0.5]])
    found = AnisotropicRBF.from_covariance(S)(X[:1], Y[:1])
    d = X[0] - Y[0]
    assert found == pytest.approx(np.exp(-0.5 * d @ np.linalg.solve(S, d)), rel=1e-12)
    with pytest.raises(ParameterError, match="positive semi-definite"):
        AnisotropicRBF([[1.0, 2.0], [2.0, 1.0]])


@pytest.mark.covers("ml_for_data_science:6.1", by="kernels.Cosine")
def test_the_cosine_forgets_how_long_a_document_is():
    assert Cosine()(ONE, TWO) == pytest.approx(0.9838699101, abs=1e-10)
    assert Cosine().distance(ONE, TWO, squared=True) == pytest.approx(0.0322601798, abs=1e-10)
    u, v = np.array(ONE) / 5**0.5, np.array(TWO) / 5
    assert ((u - v) ** 2).sum() == pytest.approx(0.0322601798, abs=1e-10)
    counts = np.array([[3.0, 1.0, 0.0, 2.0]])
    assert Cosine()(counts, 4 * counts) == pytest.approx(1.0)
    assert Linear().distance(counts, 4 * counts)[0, 0] > 10
    assert Cosine()([[0.0, 0.0]], ONE) == 0.0


@pytest.mark.covers("ml_for_data_science:6.1", by="kernels.Spectrum")
def test_the_three_strings_of_the_course():
    pairs = [(0, 1), (0, 2), (1, 2)]
    measures = {
        "edits": (kernels.edit_distance, (4, 8, 11)),
        "substring": (kernels.longest_common_substring, ("AACGGAT", "TTTAACGGAT", "AACGGAT")),
        "distinct": (kernels.common_substrings, (38, 82, 36)),
        "subsequence": (kernels.longest_common_subsequence, (18, 22, 19)),
    }
    for measure, expected in measures.values():
        assert tuple(measure(STRINGS[i], STRINGS[j]) for i, j in pairs) == expected
    three, every = Spectrum(3)(STRINGS), Spectrum(None)(STRINGS)
    assert [three[pair] for pair in pairs] == [16, 28, 18]
    assert np.diag(three).tolist() == [26, 26, 46]
    assert [every[pair] for pair in pairs] == [182, 318, 239]
    assert np.diag(every).tolist() == [397, 385, 769]


@pytest.mark.covers("ml_for_data_science:6.0", by="kernels.check_mercer")
def test_a_similarity_need_not_be_a_mercer_kernel():
    similarity = FromFunction(lambda s, t: -kernels.edit_distance(s, t))
    assert not similarity.mercer
    check = check_mercer(similarity, STRINGS)
    assert not check
    assert check.asymmetry == 0
    K = similarity(STRINGS)
    assert check.vector @ K @ check.vector == pytest.approx(check.smallest)
    assert check_mercer(Spectrum(3), STRINGS)
    assert not check_mercer(lambda x, y: float(x[0] - y[0]), X).holds


@pytest.mark.covers("intro_to_ml:4.17", by="kernels.RBF")
def test_kernels_of_the_introduction():
    assert Linear()([[1.0, 2.0]], [[3.0, -1.0]]) == pytest.approx(1.0)
    kernel = Polynomial(degree=2)
    phi = kernel.features([[1.0, 2.0], [3.0, -1.0]])
    root = 2**0.5
    np.testing.assert_allclose(phi[0], [1, 2 * root, 4, root, 2 * root, 1])
    assert phi[0] @ phi[1] == pytest.approx(4)
    assert kernel([[1.0, 2.0]], [[3.0, -1.0]]) == pytest.approx(4)
    gaussian = RBF.from_denominator(2.0)
    assert gaussian([[0.0]], [[2.0]]) == pytest.approx(0.1353352832, abs=1e-10)
    assert gaussian([[5.0]]) == 1.0


@pytest.mark.covers("intro_to_ml:4.17", by="kernels.ExpSineSquared")
def test_the_periodic_kernel_squares_the_sine():
    frequency, width = 0.5, 0.8
    kernel = ExpSineSquared.from_frequency(frequency, width)
    rows = np.linspace(0, 7, 40)[:, None]
    K = kernel(rows)
    r = np.abs(rows - rows.T)
    np.testing.assert_allclose(K, np.exp(-2 * (np.sin(np.pi * frequency * r) / width) ** 2), rtol=1e-12)
    np.testing.assert_allclose(kernel(rows, rows + 1 / frequency), K, atol=1e-10)  # the period
    assert K.max() == 1.0
    assert check_mercer(kernel, rows)
    printed = np.exp(-2 * np.sin(np.pi * frequency * r) / width) ** 2  # with the square outside
    assert printed.max() > 1
    assert not check_mercer("precomputed", printed)


@pytest.mark.covers("intro_to_ml:4.17", by="kernels.check_mercer")
@pytest.mark.covers("cs443:14.6", by="kernels.check_mercer")
@pytest.mark.covers("cs443:14.7", by="kernels.check_mercer")
def test_sums_products_and_compositions_stay_positive():
    one, two = RBF(0.7), Linear()
    made: list[Kernel] = [
        0.5 * one + 2 * two,
        one * two,
        one.compose(np.tanh),
        two.scaled_by(lambda x: x[0] - 1),
        kernels.from_feature_map(lambda x: x[0] * x[1]),
        (0.1 * two).exp(),
        one.polynomial([1, 0, 3]),
    ]
    for kernel in made:
        assert check_mercer(kernel, X), kernel
    with pytest.raises(RefusalError, match="no kernel"):
        -0.5 * one
    with pytest.raises(RefusalError, match="no kernel"):
        one - two
    check = check_mercer("precomputed", one(X) - two(X))
    assert check.smallest < -1
    assert "not positive semi-definite" in check.statement


@pytest.mark.covers("ml_for_data_science:6.3", by="kernels.Linear")
def test_a_gaussian_is_made_of_three_by_composition():
    sigma = 0.9
    around = lambda x: np.exp(-(x @ x) / (2 * sigma**2))  # noqa: E731
    made = (Linear() * (1 / sigma**2)).exp().scaled_by(around)
    np.testing.assert_allclose(made(X, Y), RBF(sigma)(X, Y), rtol=1e-12)
    assert made.mercer


@pytest.mark.covers("ml_for_data_science:6.3", by="kernels.Bilinear")
def test_a_positive_matrix_between_two_rows_is_a_kernel():
    A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.5]])
    np.testing.assert_allclose(Bilinear(A)(X, Y), X @ A @ Y.T, rtol=1e-10, atol=1e-12)
    assert check_mercer(Bilinear(A), X)
    with pytest.raises(ParameterError, match="positive semi-definite"):
        Bilinear(-A)


@pytest.mark.covers("cs443:14.4", by="kernels.RBF")
def test_the_gram_matrix_is_n_by_n_whatever_the_feature_space():
    for kernel in (Linear(), Polynomial(degree=7), RBF()):
        assert kernel(X).shape == (12, 12)
        assert kernel(X, Y).shape == (12, 7)


@pytest.mark.covers("cs443:14.5", by="kernels.Quadratic")
def test_the_quadratic_kernel_on_three_columns():
    rows = [[1.0, 2.0, 3.0], [4.0, -1.0, 2.0]]
    kernel = Quadratic()
    phi = kernel.features(rows)
    assert phi.shape == (2, 6)
    assert kernel(rows)[0, 1] == pytest.approx(64)
    assert phi[0] @ phi[1] == pytest.approx(64)
    assert Quadratic()([[3.0]], [[2.0]]) == 36.0
    np.testing.assert_allclose(Quadratic().features([[3.0]]), [[9.0]])


@pytest.mark.covers("cs443:14.5", by="kernels.RBF")
def test_features_of_the_gaussian():
    kernel = RBF.from_gamma(1.0)
    rows = np.array([[0.5], [0.3]])
    phi = kernel.features(rows, orders=15)
    assert phi[0] @ phi[1] == pytest.approx(0.96078944, abs=5e-9)
    assert kernel(rows)[0, 1] == pytest.approx(np.exp(-0.04))
    k = np.arange(4)
    expected = np.exp(-0.25) * np.sqrt(2.0**k / [1, 1, 2, 6]) * 0.5**k
    np.testing.assert_allclose(phi[0, :4], expected, rtol=1e-12)
    several = RBF(2.0).features(X, orders=14)
    np.testing.assert_allclose(several @ several.T, RBF(2.0)(X), atol=1e-6)


@pytest.mark.covers("course_summary:4.7", by="kernels.Logistic")
def test_scalings_of_the_summary():
    assert Polynomial.scaled_by_width(2**0.5, 2)(ONE, TWO) == pytest.approx(42.25)
    assert Logistic(sigma=11**0.5)(ONE, TWO) == pytest.approx(0.7310585786, abs=1e-10)
    check = check_mercer(Logistic(), [[1.0], [2.0], [3.0]])
    assert not check.holds
    assert check.smallest == pytest.approx(-0.09725781, abs=5e-9)
    assert check.largest == pytest.approx(2.80098742, abs=5e-9)


def test_far_rows_keep_their_digits():
    near = np.array([[1e8], [1e8 + 1]])
    assert RBF()(near)[0, 1] == pytest.approx(np.exp(-0.5), rel=1e-12)


def test_histograms_must_not_be_negative():
    with pytest.raises(DataError, match="negative"):
        kernels.ChiSquared()([[-1.0, 2.0]])


@pytest.mark.parametrize("kernel", [RBF(2.0), Polynomial(2), Linear()], ids=repr)
def test_the_pivoted_factor_is_within_its_bound(kernel):
    rows = RNG.normal(size=(60, 3))
    K = kernel(rows)
    for rank in (1, 3, 8, None):
        found = pivoted_cholesky(kernel, rows, rank)
        rest = K - found.factor @ found.factor.T
        assert np.linalg.eigvalsh(rest)[0] > -1e-12 * np.trace(K)
        assert np.trace(rest) == pytest.approx(found.error, abs=1e-12 * np.trace(K))
        assert np.linalg.norm(rest, 2) <= found.error + 1e-12 * np.trace(K)
        assert (np.diff(found.errors) <= 0).all()
    assert pivoted_cholesky(Linear(), rows).rank == 3
    if kernel.name != "rbf":  # whose first pivots are all alike, and a matrix alone has no rows to order them
        same = pivoted_cholesky("precomputed", K, 5)
        np.testing.assert_array_equal(same.pivots, pivoted_cholesky(kernel, rows, 5).pivots)


def test_centring_alignment_and_the_median_width():
    rows = RNG.normal(size=(30, 3)) + 5
    mean = rows.mean(axis=0)
    np.testing.assert_allclose(
        kernels.centred_gram(Linear()(rows)), (rows - mean) @ (rows - mean).T, atol=1e-11
    )
    np.testing.assert_allclose(
        kernels.centred_gram(Linear()(Y, rows), Linear()(rows)), (Y - mean) @ (rows - mean).T, atol=1e-11
    )
    y = np.sign(rows[:, 0] - 5)
    assert kernels.alignment(np.outer(y, y) + 3.0, y) == pytest.approx(1.0)
    assert kernels.alignment(RBF(1.0)(rows[:, :1]), y) > kernels.alignment(RBF(1.0)(rows[:, 1:2]), y)
    distances = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
    assert kernels.median_width(rows) == pytest.approx(np.median(distances[np.triu_indices(30, 1)]))
    assert kernels.median_width(np.ones((4, 2))) == 1.0
    assert kernels.median_width(sparse.csr_matrix(rows)) == pytest.approx(kernels.median_width(rows))
