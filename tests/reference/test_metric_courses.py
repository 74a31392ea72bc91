"""Metrics as the courses teach them: worked numbers, identities, and what a slip in a text should say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from surefit import metrics
from surefit.core.errors import DataError, SurefitWarning

RNG = np.random.default_rng(21)
COUNTS = [8, 2, 20, 70]  # hits, misses, false alarms, correct rejections
TRUTH, GUESS = np.repeat([1, 1, 0, 0], COUNTS), np.repeat([1, 0, 1, 0], COUNTS)
RANKED = np.array([1, 1, 0, 1, 0, 0]), np.array([0.9, 0.8, 0.7, 0.6, 0.4, 0.2])


@pytest.mark.covers("intro_to_ml:7.2", by="metrics.root_mean_squared_log_error")
def test_the_three_forms_of_rmsle() -> None:
    rmsle = metrics.root_mean_squared_log_error
    assert rmsle([10.0], [5.0], form="log") ** 2 == pytest.approx(0.4804530139, abs=1e-10)
    assert rmsle([10.0], [15.0], form="log") ** 2 == pytest.approx(0.1644019539, abs=1e-10)
    truth, guess = RNG.gamma(2.0, size=(2, 50))
    logs = np.log(truth) - np.log(guess)
    assert rmsle(truth, guess, form="log_sum") == pytest.approx(np.sqrt((logs**2).sum()), rel=1e-13)
    assert rmsle(truth, guess, form="log") == pytest.approx(np.sqrt((logs**2).mean()), rel=1e-13)
    for form in ("log1p", "log", "log_sum"):
        assert rmsle(truth, guess, form=form) == pytest.approx(rmsle(guess, truth, form=form), rel=1e-13)
    for data in (([1.0, 0.0], [1.0, 1.0]), ([1.0, 1.0], [1.0, -0.5])):
        with pytest.raises(DataError, match=r"of row 1 is .*above 0"):
            rmsle(*data, form="log")


@pytest.mark.covers("course_summary:9.2", by="metrics.mean_absolute_error")
@pytest.mark.covers("course_summary:9.2", by="metrics.mean_squared_error")
@pytest.mark.covers("cs443:2.3", by="metrics.mean_absolute_error")
def test_mean_absolute_error_is_convex_and_robust() -> None:
    y = RNG.normal(size=81)
    mae = metrics.mean_absolute_error
    candidates = np.linspace(-3, 3, 601)
    best = candidates[np.argmin([mae(y, np.full(81, c)) for c in candidates])]
    assert best == pytest.approx(np.median(y), abs=0.011)  # the grid has steps of 0.01
    outlier = np.r_[y[1:], 1000.0]
    moved = candidates[np.argmin([mae(outlier, np.full(81, c)) for c in candidates])]
    assert abs(moved - best) < 0.2
    u, v = RNG.normal(size=(2, 81))
    for share in np.linspace(0.1, 0.9, 9):
        assert mae(y, share * u + (1 - share) * v) <= share * mae(y, u) + (1 - share) * mae(y, v) + 1e-14
    assert metrics.mean_squared_error([0.0, 0.0], [1.0, 3.0]) == 5.0
    assert mae([0.0, 0.0], [1.0, 3.0]) == 2.0


@pytest.mark.covers("intro_to_ml:7.6", by="metrics.precision_score")
@pytest.mark.covers("intro_to_ml:7.6", by="metrics.recall_score")
@pytest.mark.covers("intro_to_ml:7.7", by="metrics.f1_score")
@pytest.mark.covers("intro_to_ml:7.8", by="metrics.false_positive_rate")
@pytest.mark.covers("intro_to_ml:7.8", by="metrics.specificity_score")
def test_the_rates_of_a_classifier_that_always_says_yes() -> None:
    truth, always = np.repeat([1, 0], [90, 10]), np.ones(100, dtype=int)
    assert metrics.precision_score(truth, always) == 0.9
    assert metrics.recall_score(truth, always) == 1.0
    assert metrics.f1_score(truth, always) == pytest.approx(18 / 19, rel=1e-15)
    assert metrics.false_positive_rate(truth, always) == 1.0
    assert metrics.specificity_score(truth, always) == 0.0


@pytest.mark.covers("course_summary:9.3", by="metrics.confusion_matrix")
@pytest.mark.covers("course_summary:9.3", by="metrics.false_negative_rate")
@pytest.mark.covers("course_summary:9.3", by="metrics.balanced_accuracy_score")
def test_rates_of_the_four_counts() -> None:
    matrix = metrics.confusion_matrix(TRUTH, GUESS, layout="prediction")
    assert matrix.tolist() == [[8, 20], [2, 70]]  # rows are predictions, 1 before 0
    assert metrics.precision_score(TRUTH, GUESS) == pytest.approx(0.2857142857, abs=1e-10)
    assert metrics.recall_score(TRUTH, GUESS) == 0.8
    assert metrics.false_negative_rate(TRUTH, GUESS) == pytest.approx(2 / 10, rel=1e-15)
    assert metrics.accuracy_score(TRUTH, GUESS) == 0.78
    tpr, tnr = metrics.recall_score(TRUTH, GUESS), metrics.specificity_score(TRUTH, GUESS)
    assert metrics.balanced_accuracy_score(TRUTH, GUESS) == pytest.approx((tpr + tnr) / 2, rel=1e-14)
    assert metrics.negative_predictive_value(TRUTH, GUESS) == pytest.approx(70 / 72, rel=1e-15)
    assert metrics.false_discovery_rate(TRUTH, GUESS) == pytest.approx(20 / 28, rel=1e-15)


def test_identities_of_rates() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth, guess = rng.integers(2, size=(2, 40))
        weight = rng.uniform(0.1, 2, size=40)
        rate = {
            name: getattr(metrics, name)(truth, guess, sample_weight=weight)
            for name in (
                "recall_score",
                "false_negative_rate",
                "specificity_score",
                "false_positive_rate",
                "precision_score",
                "false_discovery_rate",
                "f1_score",
                "jaccard_score",
            )
        }
        assert rate["recall_score"] + rate["false_negative_rate"] == pytest.approx(1, abs=1e-14)
        assert rate["specificity_score"] + rate["false_positive_rate"] == pytest.approx(1, abs=1e-14)
        assert rate["precision_score"] + rate["false_discovery_rate"] == pytest.approx(1, abs=1e-14)
        p, r, j = rate["precision_score"], rate["recall_score"], rate["jaccard_score"]
        assert rate["f1_score"] == pytest.approx(2 * p * r / (p + r), rel=1e-13)
        assert rate["f1_score"] == pytest.approx(2 * j / (1 + j), rel=1e-13)
        risk = metrics.zero_one_loss(truth, guess, sample_weight=weight)
        assert risk == pytest.approx(
            1 - metrics.accuracy_score(truth, guess, sample_weight=weight), abs=1e-14
        )
        assert risk == pytest.approx(
            metrics.misclassification_cost(truth, guess, sample_weight=weight), abs=1e-14
        )


@pytest.mark.covers("intro_to_ml:1.3", by="metrics.zero_one_loss")
@pytest.mark.covers("intro_to_ml:1.4", by="metrics.misclassification_cost")
def test_empirical_risk_nears_the_risk_of_a_known_joint_table() -> None:
    joint = np.array([[0.3, 0.1], [0.2, 0.4]])  # of truth and prediction
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])
    draws = RNG.choice(4, size=200_000, p=joint.ravel())
    truth, guess = draws // 2, draws % 2
    error = metrics.zero_one_loss(truth, guess)
    # Five standard errors of a share of 200 000 rows.
    assert error == pytest.approx(0.3, abs=5 * np.sqrt(0.3 * 0.7 / 200_000))
    assert error == pytest.approx(1 - metrics.accuracy_score(truth, guess), abs=1e-15)
    cost = metrics.misclassification_cost(truth, guess, costs=costs)
    assert cost == pytest.approx((joint * costs).sum(), abs=5 * 5 / np.sqrt(200_000))
    exact = metrics.misclassification_cost(
        [0, 0, 1, 1], [0, 1, 0, 1], sample_weight=joint.ravel(), costs=costs
    )
    assert exact == pytest.approx(1.1, rel=1e-14)


@pytest.mark.covers("intro_to_ml:7.9", by="metrics.roc_curve")
@pytest.mark.covers("intro_to_ml:7.9", by="metrics.roc_auc_score")
@pytest.mark.covers("course_summary:9.5", by="metrics.roc_auc_score")
def test_worked_roc_curves() -> None:
    fpr, tpr, thresholds = metrics.roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    np.testing.assert_array_equal(
        np.column_stack([fpr, tpr]), [[0, 0], [0, 0.5], [0.5, 0.5], [0.5, 1], [1, 1]]
    )
    assert metrics.roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) == 0.75
    fpr, tpr, thresholds = metrics.roc_curve(*RANKED, drop_intermediate=False)
    wanted = np.array([[0, 0], [0, 1], [0, 2], [1, 2], [1, 3], [2, 3], [3, 3]]) / 3
    np.testing.assert_allclose(np.column_stack([fpr, tpr]), wanted, rtol=1e-15)
    assert metrics.roc_auc_score(*RANKED) == pytest.approx(8 / 9, rel=1e-15)
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    assert (np.diff(thresholds) < 0).all()


@pytest.mark.covers("course_summary:9.4", by="metrics.equal_error_rate")
def test_the_equal_error_rate() -> None:
    assert metrics.equal_error_rate(*RANKED) == pytest.approx(1 / 3, rel=1e-15)
    assert metrics.equal_error_rate([0, 1], [0.0, 1.0]) == 0.0
    assert metrics.equal_error_rate([1, 0], [0.0, 1.0]) == 1.0
    assert metrics.equal_error_rate([0, 1, 0, 1], [0.5] * 4) == 0.5  # half way along the only line
    with pytest.raises(DataError, match="one label only"):
        metrics.equal_error_rate([1, 1], [0.1, 0.2])


@pytest.mark.parametrize("tied", [False, True])
def test_the_area_is_a_rank_statistic(tied: bool) -> None:
    truth = RNG.integers(2, size=300)
    score = truth + RNG.normal(size=300)
    score = np.round(score, 1) if tied else score
    area = metrics.roc_auc_score(truth, score)
    pairs = mannwhitneyu(score[truth == 1], score[truth == 0]).statistic / (truth.sum() * (1 - truth).sum())
    assert area == pytest.approx(pairs, rel=1e-14)
    for rescaled in (3 * score - 100, np.exp(score), np.arctan(score)):
        assert metrics.roc_auc_score(truth, rescaled) == area
    assert metrics.roc_auc_score(truth, -score) == pytest.approx(1 - area, abs=1e-14)
    assert metrics.roc_auc_score(1 - truth, score) == pytest.approx(1 - area, abs=1e-14)
    assert metrics.roc_auc_score(truth, np.zeros(300)) == 0.5
    fpr, tpr, _ = metrics.roc_curve(truth, score)
    assert np.trapezoid(tpr, fpr) == pytest.approx(area, abs=1e-14)


def test_cut_scores_bound_what_they_hide() -> None:
    truth = RNG.integers(2, size=5000)
    score = truth + RNG.normal(size=5000) * 2
    for name in ("roc_auc_score", "average_precision_score"):
        exact = getattr(metrics, name)(truth, score)
        widths = []
        for points in (20, 200, 2000):
            metric = type(getattr(metrics, name))(max_points=points)
            statistic = metric.of(truth, score)
            low, high = metric.bounds(statistic)
            assert len(statistic.tables[0].score) <= points
            assert low <= exact <= high
            widths.append(high - low)
        assert widths[0] > widths[1] > widths[2] > 0
        metric = type(getattr(metrics, name))(max_points=5000)
        assert metric.bounds(metric.of(truth, score)) == (exact, exact)
    fpr, tpr, thresholds = metrics.roc_curve(truth, score, max_points=100)
    for x, y, threshold in zip(fpr[1:], tpr[1:], thresholds[1:], strict=True):
        assert x == np.mean(score[truth == 0] >= threshold)  # a point of the exact curve
        assert y == np.mean(score[truth == 1] >= threshold)


def test_the_threshold_of_least_cost() -> None:
    chance = RNG.random(20_000)
    truth = RNG.random(20_000) < chance
    for false_positive, false_negative in ((1.0, 1.0), (1.0, 4.0), (3.0, 1.0)):
        costs = {"false_positive_cost": false_positive, "false_negative_cost": false_negative}
        threshold, cost = metrics.cost_optimal_threshold(truth, chance, **costs)
        table = [[0, false_positive], [false_negative, 0]]
        assert cost == pytest.approx(
            metrics.misclassification_cost(truth, chance >= threshold, costs=table), rel=1e-12
        )
        best = false_positive / (false_positive + false_negative)
        others = [
            metrics.misclassification_cost(truth, chance >= t, costs=table) for t in (best, 0.1, 0.5, 0.9)
        ]
        assert cost <= min(others) + 1e-12
        assert threshold == pytest.approx(best, abs=0.1)


def test_gains_lift_and_distance() -> None:
    truth, score = RANKED
    taken, gained, _ = metrics.cumulative_gains_curve(truth, score)
    np.testing.assert_allclose(gained, np.array([0, 1, 2, 2, 3, 3, 3]) / 3)
    shares, lift, _ = metrics.lift_curve(truth, score)
    np.testing.assert_allclose(lift, gained[1:] / taken[1:])
    assert lift[-1] == shares[-1] == 1.0
    assert metrics.ks_statistic(truth, score) == pytest.approx(2 / 3, rel=1e-15)


@pytest.mark.covers("course_summary:10.6", by="metrics.silhouette_score")
def test_the_silhouette_of_four_points() -> None:
    points, labels = np.array([[0.0], [1.0], [4.0], [6.0]]), [0, 0, 1, 1]
    assert metrics.silhouette_score(points, labels) == pytest.approx(0.6537337662, abs=1e-10)
    for clusters in ([0, 0, 0, 0], [0, 1, 2, 3]):
        with pytest.raises(DataError, match="it takes two or more clusters"):
            metrics.silhouette_score(points, clusters)
    assert -1 <= metrics.silhouette_score(points, [0, 1, 0, 1]) < 0


@pytest.mark.covers("course_summary:10.7", by="metrics.rand_score")
def test_the_rand_index_of_six_points() -> None:
    truth, guess = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]
    assert metrics.rand_score(truth, guess) == pytest.approx(2 / 3, rel=1e-15)
    # Of fifteen pairs: two together in both, eight apart in both, four in the first only, one in the second.
    assert (metrics.pair_confusion_matrix(truth, guess) / 2).tolist() == [[8, 1], [4, 2]]
    assert metrics.rand_score(guess, truth) == metrics.rand_score(truth, guess)
    assert metrics.rand_score(truth, ["b", "b", "b", "a", "a", "a"]) == 1.0


def test_calibration_error_of_honest_and_boastful_probabilities() -> None:
    chance = RNG.random(50_000)
    truth = (RNG.random(50_000) < chance) * 1
    honest = metrics.expected_calibration_error(truth, chance)
    assert honest < 0.02  # a bin of 5000 rows is off by 0.007 in the mean
    boastful = metrics.expected_calibration_error(truth, np.where(chance > 0.5, 1.0, 0.0))
    assert boastful == pytest.approx(0.25, abs=0.01)
    assert metrics.maximum_calibration_error(truth, chance) >= honest


def test_one_label_alone() -> None:
    with pytest.warns(SurefitWarning, match="one label only, so there is no area"):
        assert np.isnan(metrics.roc_auc_score([1, 1], [0.1, 0.2]))
    with pytest.warns(SurefitWarning, match="no positive row"):
        assert metrics.average_precision_score([0, 0], [0.1, 0.2]) == 0.0
    with pytest.raises(DataError, match="y_true holds 3 labels; one column of scores is for two classes"):
        metrics.roc_auc_score([0, 1, 2], [0.1, 0.2, 0.3])
    with pytest.raises(DataError, match="so average='binary' is not defined"):
        metrics.precision_score([0, 1, 2], [0, 1, 2])
    with pytest.raises(DataError, match="pos_label=1 is neither of the labels a, b"):
        metrics.precision_score(["a", "b"], ["a", "a"])


def test_scores_by_group() -> None:
    groups = np.array(["x", "y", "x", "y", "x", "z"])
    scores = metrics.mean_absolute_error(RANKED[0], RANKED[1], by=groups)
    assert list(scores) == ["x", "y", "z"]
    for name, score in scores.items():
        rows = groups == name
        assert score == metrics.mean_absolute_error(RANKED[0][rows], RANKED[1][rows])
    some = metrics.accuracy_score([1, 1, 0], [1, 0, 0], [1.0, 1.0, 0.0], by=[5, 5, 6])
    assert some == {5: 0.5}  # a group without weight has no row that counts
    with pytest.raises(DataError, match="by has 2 rows"):
        metrics.accuracy_score([1, 1, 0], [1, 0, 0], by=[5, 5])


def test_digits_far_from_zero_stay() -> None:
    truth = 1e6 + RNG.normal(size=2000)
    guess = truth + 0.1 * RNG.normal(size=2000)
    exact = np.asarray(truth, dtype=np.longdouble)
    for power in (1, 2):
        metric = type(metrics.d2_tweedie_score)(power=power)
        whole = metric(truth, guess)
        pieces = [metric.of(truth[k::7], guess[k::7]) for k in range(7)]
        total = pieces[0]
        for piece in pieces[1:]:
            total = total + piece
        # A deviance near its mean is a square over mean^power, and the powers cancel in the ratio.
        near = 1 - float(((exact - guess) ** 2).sum() / ((exact - exact.mean()) ** 2).sum())
        assert whole == pytest.approx(near, rel=1e-5)
        assert metric.finish(total) == pytest.approx(whole, rel=1e-8)
