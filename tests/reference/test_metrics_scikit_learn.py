"""Every metric that scikit-learn has, against it: random, weighted, tied and degenerate rows, each option."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics

from surefit import metrics

ROWS = 90
WEIGHTS = ["none", "real", "some zero"]
each_weight = pytest.mark.parametrize("kind", WEIGHTS)


def rng_of(*seed: int) -> np.random.Generator:
    return np.random.default_rng(list(seed))


def weight_of(kind: str, rows: int = ROWS) -> np.ndarray | None:
    if kind == "none":
        return None
    return rng_of(1).uniform(0.1, 3, rows) if kind == "real" else rng_of(2).integers(0, 3, rows) * 1.0


def check(name: str, *data: Any, rtol: float = 1e-11, **options: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = getattr(sklearn.metrics, name)(*data, **options)
        ours = getattr(metrics, name)(*data, **options)
    ours, wanted = (score if isinstance(score, tuple) else (score,) for score in (ours, wanted))
    for one, two in zip(ours, wanted, strict=True):
        if two is None:
            assert one is None
        else:
            np.testing.assert_allclose(one, two, rtol=rtol, atol=1e-12)


NUMBERS = [
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "median_absolute_error",
    "mean_pinball_loss",
    "d2_pinball_score",
    "d2_absolute_error_score",
    "explained_variance_score",
    "mean_squared_log_error",
    "root_mean_squared_log_error",
]


@each_weight
@pytest.mark.parametrize("outputs", [None, 3])
@pytest.mark.parametrize("name", NUMBERS)
def test_errors_of_numbers(name: str, outputs: int | None, kind: str) -> None:
    rng = rng_of(3)
    shape = (ROWS,) if outputs is None else (ROWS, outputs)
    truth = rng.gamma(2.0, size=shape)
    guess = truth * rng.uniform(0.5, 1.5, size=shape)
    if "log" not in name:
        truth, guess = np.round(truth, 1) - 1, guess - 1  # ties, and numbers below zero
    ways: list[Any] = ["uniform_average", "raw_values", *([[0.2, 1.0, 3.0]] if outputs else [])]
    extra = [{"alpha": alpha} for alpha in (0.0, 0.3, 1.0)] if "pinball" in name else [{}]
    for way, more in itertools.product(ways, extra):
        check(name, truth, guess, sample_weight=weight_of(kind), multioutput=way, **more)


@pytest.mark.parametrize("force_finite", [True, False])
def test_explained_variance_of_constants(force_finite: bool) -> None:
    truth = np.column_stack([np.full(6, 2.0), np.full(6, 2.0), np.arange(6.0)])
    guess = truth + [[1.0, k % 2, 1.0] for k in range(6)]
    check("explained_variance_score", truth, guess, multioutput="raw_values", force_finite=force_finite)
    check("explained_variance_score", truth[:, 2], guess[:, 2], multioutput="variance_weighted")


def test_scores_of_a_constant_target() -> None:
    constant, away = np.full(8, 3.0), np.arange(8.0)
    for name in ("d2_pinball_score", "d2_absolute_error_score"):
        check(name, constant, away)
        check(name, constant, constant)
    assert metrics.d2_tweedie_score(constant, away + 1, power=1) == 0.0
    assert metrics.d2_tweedie_score(constant, constant, power=1) == 1.0


def test_the_greatest_error() -> None:
    truth, guess = rng_of(4).normal(size=(2, ROWS))
    check("max_error", truth, guess)
    guess[5] = 99.0
    weight = np.ones(ROWS)
    weight[5] = 0
    assert metrics.max_error(truth, guess, sample_weight=weight) < 99


@each_weight
@pytest.mark.parametrize("power", [-1.5, 0, 1, 1.3, 2, 3])
def test_deviances(power: float, kind: str) -> None:
    rng = rng_of(5)
    truth, guess = rng.gamma(2.0, size=(2, ROWS)) + 1e-3
    if 1 <= power < 2:
        truth[:20] = 0
    weight = weight_of(kind)
    check("mean_tweedie_deviance", truth, guess, sample_weight=weight, power=power)
    check("d2_tweedie_score", truth, guess, sample_weight=weight, power=power)
    if power in (1, 2):
        check(f"mean_{['', 'poisson', 'gamma'][int(power)]}_deviance", truth, guess, sample_weight=weight)


NAMES = {
    "binary": np.array([0, 1]),
    "boolean": np.array([False, True]),
    "signed": np.array([-1.0, 1.0]),
    "text": np.array(["no", "perhaps", "yes"]),
    "many": np.arange(7) * 50,
    "far apart": np.array([-7, 0, 10**12]),
}
each_names = pytest.mark.parametrize("names", NAMES.values(), ids=NAMES.keys())
RATES = ["precision_score", "recall_score", "f1_score", "fbeta_score", "jaccard_score"]


def labels_of(names: np.ndarray, seed: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = rng_of(seed)
    truth = names[rng.integers(len(names), size=ROWS)]
    return truth, np.where(rng.random(ROWS) < 0.5, truth, names[rng.integers(len(names), size=ROWS)])


@each_weight
@each_names
@pytest.mark.parametrize("name", RATES)
def test_rates(name: str, names: np.ndarray, kind: str) -> None:
    truth, guess = labels_of(names)
    more: dict[str, Any] = {"beta": 0.5} if name == "fbeta_score" else {}
    for average, labels in itertools.product(["micro", "macro", "weighted", None], [None, names[::-1][:2]]):
        options = {"average": average, "labels": labels, **more}
        check(name, truth, guess, sample_weight=weight_of(kind), **options)
    if len(names) == 2:
        for positive in names:
            check(name, truth, guess, sample_weight=weight_of(kind), pos_label=positive, **more)


@each_weight
@each_names
def test_agreement(names: np.ndarray, kind: str) -> None:
    truth, guess = labels_of(names)
    weight = weight_of(kind)
    for name in ("matthews_corrcoef", "hamming_loss", "zero_one_loss", "multilabel_confusion_matrix"):
        check(name, truth, guess, sample_weight=weight)
    check("zero_one_loss", truth, guess, sample_weight=weight, normalize=False)
    for weights in (None, "linear", "quadratic"):
        check("cohen_kappa_score", truth, guess, sample_weight=weight, weights=weights)
        check("cohen_kappa_score", truth, guess, sample_weight=weight, weights=weights, labels=names[:2])
    for average, beta in itertools.product((None, "macro", "weighted", "micro"), (1.0, 2.0)):
        options = {"average": average, "beta": beta}
        check("precision_recall_fscore_support", truth, guess, sample_weight=weight, **options)
    if len(names) == 2:
        check("class_likelihood_ratios", truth, guess, sample_weight=weight)


@pytest.mark.parametrize("zero_division", [0, 1, np.nan, "warn"])
@pytest.mark.parametrize("average", ["binary", "micro", "macro", "weighted", None])
@pytest.mark.parametrize("name", RATES)
def test_nothing_by_nothing(name: str, average: str | None, zero_division: Any) -> None:
    if name == "jaccard_score" and zero_division is np.nan:
        return  # scikit-learn knows no NaN there
    more: dict[str, Any] = {"beta": 2.0} if name == "fbeta_score" else {}
    options = {"average": average, "zero_division": zero_division, **more}
    rows = [([0, 0, 0], [0, 0, 0]), ([1, 1, 1], [0, 0, 0]), ([0, 0], [1, 1]), ([0, 1], [0, 0])]
    for truth, guess in rows if average == "binary" else [*rows, ([0, 1, 2], [0, 0, 5]), ([2, 2], [3, 3])]:
        check(name, truth, guess, **options)


def test_a_rate_without_value_warns() -> None:
    from surefit.core.errors import SurefitWarning

    with pytest.warns(SurefitWarning, match="precision_score is 0/0 for 1 of 1 labels"):
        assert metrics.precision_score([1, 1], [0, 0]) == 0.0
    assert np.isnan(metrics.specificity_score([1, 1], [1, 0], zero_division=np.nan))


@each_weight
@pytest.mark.parametrize("tied", [False, True])
def test_curves(tied: bool, kind: str) -> None:
    rng = rng_of(7)
    truth = rng.integers(2, size=ROWS)
    score = truth + rng.normal(size=ROWS)
    score = np.round(score) if tied else score
    weight = weight_of(kind)
    for name, drop in itertools.product(("roc_curve", "precision_recall_curve", "det_curve"), (True, False)):
        for given, positive in ((truth, None), (2 * truth - 1, None), (np.array(["a", "b"])[truth], "a")):
            options = {"pos_label": positive, "drop_intermediate": drop}
            check(name, given, score.astype(np.float64), sample_weight=weight, **options)
    for positive in (0, 1):
        check("average_precision_score", truth, score, sample_weight=weight, pos_label=positive)
    for most in (None, 0.05, 0.5, 1.0):
        check("roc_auc_score", truth, score, sample_weight=weight, max_fpr=most)
        check("roc_auc_score", truth, score.astype(np.float32), sample_weight=weight, max_fpr=most)
        check("roc_auc_score", np.array(["a", "b"])[truth], score, sample_weight=weight, max_fpr=most)


@each_weight
def test_areas_of_several_classes(kind: str) -> None:
    names = np.array(["a", "b", "c", "d"])
    truth = names[np.r_[np.arange(4), rng_of(8).integers(4, size=ROWS - 4)]]
    chances = rng_of(9).dirichlet(np.ones(4), size=ROWS)
    weight = weight_of(kind)
    if kind == "some zero":
        weight[:4] = 1  # type: ignore[index]
    for average in ("macro", "weighted", "micro", None):
        options = {"average": average, "sample_weight": weight}
        check("roc_auc_score", truth, chances, multi_class="ovr", **options)
        check("average_precision_score", truth, chances, **options)
    for average in ("macro", "weighted"):
        check("roc_auc_score", truth, chances, multi_class="ovo", average=average)


@each_weight
def test_probabilities(kind: str) -> None:
    weight = weight_of(kind)
    for classes in (2, 3, 5):
        truth = np.r_[np.arange(classes), rng_of(10).integers(classes, size=ROWS - classes)]
        chances = rng_of(11).dirichlet(np.ones(classes), size=ROWS)
        for half in ("auto", True, False):
            check("brier_score_loss", truth, chances, sample_weight=weight, scale_by_half=half)
        for name in ("d2_log_loss_score", "d2_brier_score"):
            check(name, truth, chances, sample_weight=weight)
        if classes > 2:
            scores = np.round(3 * chances)  # ties
            for k, normalize in itertools.product((1, 2, 3), (True, False)):
                options = {"k": k, "normalize": normalize, "sample_weight": weight}
                check("top_k_accuracy_score", truth, scores, **options)
            check("hinge_loss", truth, 4 * chances, sample_weight=weight)
        else:
            check("brier_score_loss", truth, chances[:, 1], sample_weight=weight)
            check("brier_score_loss", truth, chances[:, 1], sample_weight=weight, pos_label=0)
            check("hinge_loss", truth, 4 * chances[:, 1] - 2, sample_weight=weight)


def test_calibration_curves() -> None:
    truth, chances = rng_of(12).integers(2, size=ROWS), rng_of(13).random(ROWS)
    chances[:10] = np.repeat([0.0, 0.2, 0.4, 0.6, 1.0], 2)  # on the edges
    for bins, strategy in itertools.product((1, 5, 10), ("uniform", "quantile")):
        wanted = sklearn.calibration.calibration_curve(truth, chances, n_bins=bins, strategy=strategy)
        ours = metrics.calibration_curve(truth, chances, n_bins=bins, strategy=strategy)
        for one, two in zip(ours, wanted, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-12)


@each_weight
@pytest.mark.parametrize("tied", [False, True])
def test_rankings(tied: bool, kind: str) -> None:
    rng = rng_of(14)
    relevant = rng.integers(2, size=(ROWS, 6))
    relevant[0], relevant[1] = 0, 1
    score = rng.normal(size=(ROWS, 6))
    score = np.round(score) if tied else score
    weight = weight_of(kind)
    for name in ("coverage_error", "label_ranking_loss", "label_ranking_average_precision_score"):
        check(name, relevant, score, sample_weight=weight)
    graded = rng.integers(4, size=(ROWS, 6))
    graded[3] = 0
    for k, ignore in itertools.product((None, 1, 3), (False,) if tied else (False, True)):
        check("dcg_score", graded, score, k=k, ignore_ties=ignore, sample_weight=weight)
        check("ndcg_score", graded, score, k=k, ignore_ties=ignore, sample_weight=weight)
    check("dcg_score", graded, score, log_base=10, sample_weight=weight)


PARTITIONS = [
    "rand_score",
    "adjusted_rand_score",
    "mutual_info_score",
    "normalized_mutual_info_score",
    "adjusted_mutual_info_score",
    "homogeneity_score",
    "completeness_score",
    "v_measure_score",
    "fowlkes_mallows_score",
]


@pytest.mark.parametrize("name", PARTITIONS)
def test_partitions(name: str) -> None:
    rng = rng_of(15)
    for one, two in itertools.product((1, 2, 7, 40), repeat=2):
        check(name, rng.integers(one, size=ROWS), rng.integers(two, size=ROWS), rtol=1e-9)
    check(name, [0, 0, 1, 1], [1, 1, 0, 0])
    check(name, [0, 1, 2, 3], [3, 2, 1, 0])
    check(name, [0, 0, 0, 0], [0, 1, 2, 3])
    check(name, ["a", "a", "b"], [5, 6, 6])
    if "mutual" in name and name != "mutual_info_score":
        for method in ("min", "max", "geometric"):
            truth, guess = rng.integers(4, size=(2, ROWS))
            check(name, truth, guess, average_method=method, rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_clusters(offset: float) -> None:
    rng = rng_of(16)
    labels = rng.integers(4, size=ROWS)
    labels[0] = 9  # alone in its cluster
    points = rng.normal(size=(ROWS, 3)) + labels[:, None] + offset
    # Theirs expands squares, which loses digits far from zero.
    rtol = 1e-9 if offset == 0 else 1e-3
    for name in ("silhouette_score", "davies_bouldin_score", "calinski_harabasz_score"):
        check(name, points, labels, rtol=rtol)
    check("davies_bouldin_score", np.zeros((4, 2)), [0, 0, 1, 1])
    check("calinski_harabasz_score", np.array([[0.0], [0], [1], [1]]), [0, 0, 1, 1])
