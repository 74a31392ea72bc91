"""What every metric declares of itself is true, and is all that the rest of the library asks about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any, ClassVar, get_args

import numpy as np
import pytest
from numpy.typing import NDArray

import surefit
from surefit.core import registry
from surefit.core.registry import members
from surefit.evaluate.scoring.interval_base import within_range
from surefit.evaluate.scoring.row_means import mean_interval, wilson_interval
from surefit.metrics.base import METHODS, ComparedBy, MeanForm, Metric, Purpose
from surefit.metrics.cases import Case
from surefit.metrics.classification import Hits
from surefit.metrics.sums import MeanMetric
from surefit.metrics.usual import OF_TASK, usual_metric, usual_metrics
from surefit.plots.words import metric_words
from surefit.study.race.metric_choice import told_of

METRICS: dict[str, type[Metric]] = dict(members("metric"))  # type: ignore[arg-type]
each_metric = pytest.mark.parametrize("cls", METRICS.values(), ids=METRICS.keys())


def each_case(law: Callable[[Metric, Case], None]) -> Callable[..., None]:
    """Hold a law for every case of a metric that is one score, in one test a metric."""

    def over_cases(cls: type[Metric]) -> None:
        for number, case in enumerate(cls.cases(np.random.default_rng(7))):
            try:
                law(cls(**case.options), case)
            except Exception as error:
                error.add_note(f"case {number} of {cls.name}: {case.options}")
                raise

    over_cases.__name__, over_cases.__doc__ = law.__name__, law.__doc__
    return each_metric(over_cases)


def worst(case: Case, rng: np.random.Generator) -> NDArray[Any]:
    """Predictions that have nothing to do with the truth."""
    return rng.permutation(case.prediction)


@each_case
def test_scores_lie_within_the_range_declared(metric: Metric, case: Case) -> None:
    if metric.better is None:
        return
    low, high = metric.value_range
    for guess in (case.prediction, case.perfect, worst(case, np.random.default_rng(3))):
        score = np.asarray(metric(case.truth, guess), dtype=float)
        # A mean of n terms at the end of the range may be a few units in the last place beyond it.
        assert ((score >= low - 1e-12) & (score <= high + 1e-12) | np.isnan(score)).all()


@each_case
def test_the_mean_of_row_values_is_the_score(metric: Metric, case: Case) -> None:
    values = metric.row_values(case.truth, case.prediction)
    if values is None:
        return
    assert values.shape == (len(case.truth),)
    score = np.mean(np.asarray(metric(case.truth, case.prediction)))
    mean = values.mean()
    # The terms are the same, and only the order in which they are added differs.
    np.testing.assert_allclose(np.sqrt(mean) if metric.mean_form == "root" else mean, score, rtol=1e-12)
    if metric.zero_or_one:
        assert np.isin(values, [0, 1]).all()


@each_case
def test_the_mean_of_row_losses_makes_the_score(metric: Metric, case: Case) -> None:
    losses = metric.row_losses(case.truth, case.prediction)
    if losses is None:
        return
    assert losses.shape == (len(case.truth),)
    if metric.mean_form == "explained" and np.ptp(case.truth) == 0:
        return  # where the variance is 0 there is no share of it
    variance = np.var(case.truth) if metric.mean_form == "explained" else np.nan
    score = metric.of_mean_loss(losses.mean(), variance)
    np.testing.assert_allclose(score, metric(case.truth, case.prediction), rtol=1e-9)
    perfect = metric.row_losses(case.truth, case.perfect)
    assert perfect is not None
    assert (perfect <= losses).all()


@each_case
def test_models_with_equal_paired_values_have_equal_scores(metric: Metric, case: Case) -> None:
    values = metric.paired_values(case.truth, case.prediction)
    assert values is None or values.shape == (len(case.truth),)
    assert values is not None or metric.row_values(case.truth, case.prediction) is None


@each_case
def test_a_share_is_the_score(metric: Metric, case: Case) -> None:
    share = metric.share(case.truth, case.prediction)
    if share is None:
        return
    assert (share.rows.shape, share.hits.shape) == (case.truth.shape, case.truth.shape)
    rate = np.asarray(share.hits, dtype=float)[share.rows].mean()
    np.testing.assert_allclose(rate, metric(case.truth, case.prediction), rtol=1e-12)
    assert metric.value_range == (0.0, 1.0)


@each_metric
def test_what_is_declared_is_one_of_what_there_is(cls: type[Metric]) -> None:
    assert cls.words
    assert cls.words == cls.words.strip()
    assert "_" not in cls.words
    assert cls.compared_by in get_args(ComparedBy)
    assert cls.mean_form in get_args(MeanForm)
    assert set(cls.told) <= set(get_args(Purpose))
    assert cls.bounded[0] < cls.bounded[1]
    assert not cls.told or cls.better is not None
    assert not cls.zero_or_one or cls.bounded == (0.0, 1.0)
    assert set(cls().methods) <= set().union(*METHODS.values())
    assert cls.compared_by != "mcnemar" or cls.task == "classification"
    assert cls.compared_by != "delong" or cls.task == "score"


def test_words_tell_metrics_apart() -> None:
    words = [cls.words for cls in METRICS.values()]
    assert len(set(words)) == len(words)
    assert [metric_words(name) for name in METRICS] == words


@pytest.mark.parametrize("purpose", get_args(Purpose))
@pytest.mark.parametrize("task", OF_TASK)
def test_places_among_the_metrics_told_of_are_those_of_a_list(purpose: Purpose, task: Any) -> None:
    names = usual_metrics(purpose, task, two_classes=True)
    assert sorted(METRICS[name].told[purpose] for name in names) == list(range(1, len(names) + 1))


def test_the_metrics_told_of_by_default() -> None:
    assert usual_metrics("evaluation", "classification") == ["accuracy_score", "log_loss"]
    assert usual_metrics("study", "regression") == [
        "root_mean_squared_error",
        "mean_absolute_error",
        "r2_score",
    ]
    assert usual_metrics("study", "classification", two_classes=True) == [
        "accuracy_score",
        "balanced_accuracy_score",
        "log_loss",
        "brier_score_loss",
        "roc_auc_score",
        "average_precision_score",
        "expected_calibration_error",
    ]
    assert usual_metrics("fitted", "regression") == [
        "r2_score",
        "root_mean_squared_error",
        "mean_absolute_error",
    ]
    assert usual_metrics("fitted", "classification", two_classes=True)[-2:] == ["log_loss", "roc_auc_score"]


# Two metrics that nothing else in the library knows of.
@pytest.fixture(scope="module")
def invented() -> Iterator[tuple[type[Metric], type[Metric]]]:
    class SameFirstLetter(Metric):
        """The share of labels that begin with the right letter."""

        __module__ = "surefit.metrics.invented"
        name = "same_first_letter"
        words = "share of right first letters"
        task = "classification"
        better = "higher"
        statistic = Hits
        bounded = (0.0, 1.0)
        zero_or_one = True
        compared_by = "mcnemar"
        told: ClassVar[Any] = {"study": 99}

        def _admit(self, y_true: Any, y_pred: Any) -> Any:
            pair = super()._admit(y_true, y_pred)
            return pair._replace(
                truth=pair.truth.astype("U1"), prediction=np.asarray(pair.prediction).astype("U1")
            )

        def _row_values(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
            return np.asarray(truth == prediction)

        def _row_losses(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
            return np.asarray(truth != prediction)

        def finish(self, statistic: Hits) -> float:
            return statistic.right / statistic.weight if statistic.weight > 0 else float("nan")

    class MeanCubicError(MeanMetric):
        """The mean of the third power of absolute errors."""

        __module__ = "surefit.metrics.invented"
        name = "mean_cubic_error"

        def _value(self, truth: Any, guess: Any) -> Any:
            return np.abs(truth - guess) ** 3

        def _row_losses(self, truth: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any] | None:
            return self._row_values(truth, prediction)

    yield SameFirstLetter, MeanCubicError
    for name in ("same_first_letter", "mean_cubic_error"):
        del registry._members["metric"][name]


def letters(rng: np.random.Generator, rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    names = np.array(["ant", "ape", "bee"])
    truth = rng.choice(names, rows)
    return truth, np.where(rng.random(rows) < 0.7, truth, rng.choice(names, rows))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_an_invented_metric_has_the_interval_that_it_declares(invented: Any, rng: Any) -> None:
    share, cubic = (cls() for cls in invented)
    truth, guess = letters(rng, 80)
    found = surefit.score_interval("same_first_letter", truth, guess)
    hits = share.row_values(truth, guess).sum()
    assert found.method == "Wilson"
    assert (found.low, found.high) == wilson_interval(hits, 80.0)
    y = rng.normal(size=80)
    answer = y + rng.normal(size=80)
    found = surefit.score_interval("mean_cubic_error", y, answer)
    assert found.method == "t of a mean"
    assert (found.low, found.high) == mean_interval(np.abs(y - answer) ** 3, None, 0.95)[1:3]
    assert (share.value_range, cubic.value_range) == ((0.0, 1.0), (0.0, inf))
    assert within_range(cubic, -1.0, 7.0) == (0.0, 7.0)


def test_an_invented_metric_has_words_and_is_told_of(invented: Any) -> None:
    assert metric_words("same_first_letter") == "share of right first letters"
    assert metric_words("mean_cubic_error") == "mean cubic error"
    assert "same_first_letter" in told_of(None)
    assert "same_first_letter" not in usual_metrics("evaluation", "classification")
    assert usual_metric("classification") == "accuracy_score"


def test_an_invented_metric_compares_models(invented: Any, rng: Any) -> None:
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    models = {"logistic": surefit.LogisticRegression(), "constant": surefit.MajorityClassifier()}
    split = [(np.arange(80), np.arange(80, 120))]
    found = surefit.compare(models, X, y, metrics="same_first_letter", split=split)
    assert found.tests[0, 1].method == "McNemar (mid-p)"
    assert found.best == "logistic"
    lines = {"ridge": surefit.Ridge(), "mean": surefit.MeanRegressor()}
    target = X @ [2.0, 1.0] + rng.normal(size=120)
    found = surefit.compare(lines, X, target, metrics="mean_cubic_error", split=split)
    assert found.tests[0, 1].method == "paired t"
    assert (found.best, found.better) == ("ridge", "lower")


def test_an_invented_metric_serves_search_and_importance(invented: Any, rng: Any) -> None:
    X = rng.normal(size=(120, 2))
    y = X @ [2.0, 0.0] + rng.normal(size=120)
    model = surefit.Ridge().fit(X[:80], y[:80])
    found = surefit.permutation_importance(model, X[80:], y[80:], metric="mean_cubic_error")
    assert found.method == "rows"
    assert found.low[0] > 0
    search = surefit.GridSearch(surefit.Ridge(), {"alpha": [0.1, 10.0]}, scoring="mean_cubic_error")
    assert np.isfinite(search.fit(X, y).best_score_)
