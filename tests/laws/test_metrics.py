"""What holds for every metric: it adds up over any split, weights are repetitions, perfect is best."""

from __future__ import annotations

import functools
import inspect
import pickle
import pkgutil
from collections.abc import Callable
from operator import add
from typing import Any, get_args

import numpy as np
import pytest

import surefit.metrics
from surefit.core.errors import DataError, ParameterError
from surefit.core.registry import members
from surefit.data.batches.batch import Batch
from surefit.metrics.base import Metric, Task
from surefit.metrics.cases import Case

METRICS: dict[str, type[Metric]] = dict(members("metric"))  # type: ignore[arg-type]
each_metric = pytest.mark.parametrize("cls", METRICS.values(), ids=METRICS.keys())


def each_case(law: Callable[[Metric, Case], None]) -> Callable[..., None]:
    """Hold a law for every case of a metric, in one test a metric; a failure names its case."""

    @functools.wraps(law)
    def over_cases(cls: type[Metric]) -> None:
        cases = list(cls.cases(np.random.default_rng(5)))
        assert cases
        for number, case in enumerate(cases):
            try:
                law(cls(**case.options), case)
            except Exception as error:
                error.add_note(f"case {number} of {cls.name}: {case.options}")
                raise

    over_cases.__signature__ = inspect.signature(over_cases, follow_wrapped=False)  # type: ignore[attr-defined]
    return each_metric(over_cases)


def assert_equal_scores(one: Any, two: Any) -> None:
    # Sums of n terms in another order differ by n units in the last place at the most.
    for a, b in zip(columns(one), columns(two), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def assert_same_scores(one: Any, two: Any) -> None:
    for a, b in zip(columns(one), columns(two), strict=True):
        np.testing.assert_array_equal(a, b)


def columns(score: Any) -> tuple[Any, ...]:
    """A curve is several columns, a score one."""
    return tuple(part for part in score if part is not None) if isinstance(score, tuple) else (score,)


def weights(case: Case, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 4, size=len(case.truth))


def joined_at_random(parts: list[Any], rng: np.random.Generator) -> Any:
    """Add up in a random tree, in random order."""
    while len(parts) > 1:
        one, two = (parts.pop(int(rng.integers(len(parts)))) for _ in range(2))
        parts.append(one + two)
    return parts[0]


@each_case
def test_any_split_order_and_tree_gives_the_same_score(metric: Metric, case: Case) -> None:
    rng, some_weights = np.random.default_rng(2), weights(case).astype(float)
    for weight, pieces in ((None, 2), (None, 7), (some_weights, 5), (some_weights, len(case.truth))):
        whole = metric(case.truth, case.prediction, weight)
        rows = np.array_split(rng.permutation(len(case.truth)), pieces)
        parts = [
            metric.of(case.truth[some], case.prediction[some], None if weight is None else weight[some])
            for some in rows
        ]
        assert_equal_scores(metric.finish(joined_at_random(parts, rng)), whole)


@each_case
def test_no_rows_change_nothing(metric: Metric, case: Case) -> None:
    nothing = metric.of(case.truth[:0], case.prediction[:0])
    statistic = metric.of(case.truth, case.prediction)
    score = metric.finish(statistic)
    assert_same_scores(metric.finish(nothing + statistic), score)
    assert_same_scores(metric.finish(statistic + nothing), score)


@each_case
def test_a_weight_is_a_repetition(metric: Metric, case: Case) -> None:
    weight = weights(case)
    repeated = metric(np.repeat(case.truth, weight, axis=0), np.repeat(case.prediction, weight, axis=0))
    assert_equal_scores(metric(case.truth, case.prediction, sample_weight=weight), repeated)


@each_case
def test_batches_of_a_source_give_the_same_score(metric: Metric, case: Case) -> None:
    """A source has codes for labels, and predictions come one batch at a time."""
    classes, target = None, case.truth
    if metric.task in {"classification", "probability"} or (
        metric.task == "score" and case.prediction.ndim == 2
    ):
        classes = np.unique(
            target if metric.task == "classification" else case.options.get("labels", case.truth)
        )
        target = np.searchsorted(classes, target)
    weight = weights(case).astype(float)
    statistics = []
    for start in range(0, len(target), 13):
        rows = slice(start, start + 13)
        batch = Batch(np.zeros((len(target[rows]), 2)), target[rows], weight[rows], start)
        prediction = case.prediction[rows]
        statistics.append(
            metric.statistic.of(batch, prediction=prediction, classes=classes, **metric.context)
        )
    assert_equal_scores(
        metric.finish(functools.reduce(add, statistics)),
        metric(case.truth, case.prediction, sample_weight=weight),
    )


@each_case
def test_nothing_is_better_than_perfect(metric: Metric, case: Case) -> None:
    if metric.better is None:
        return
    sign = 1 if metric.better == "higher" else -1
    perfect, score = (np.asarray(metric(case.truth, guess)) for guess in (case.perfect, case.prediction))
    assert (sign * perfect >= sign * score).all()
    assert not np.array_equal(perfect, score)


@each_case
def test_the_inputs_stay_as_they_are(metric: Metric, case: Case) -> None:
    weight = weights(case).astype(float)
    before = [array.copy() for array in (case.truth, case.prediction, weight)]
    for array in (case.truth, case.prediction, weight):
        array.flags.writeable = False
    metric(case.truth, case.prediction, sample_weight=weight)
    for array, copy in zip((case.truth, case.prediction, weight), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@each_case
def test_metric_and_statistic_travel_between_processes(metric: Metric, case: Case) -> None:
    statistic = metric.of(case.truth, case.prediction)
    arrived, value = pickle.loads(pickle.dumps((metric, statistic)))
    assert_same_scores(arrived.finish(value), metric.finish(statistic))


@each_metric
def test_a_metric_is_found_under_its_name_and_shown_with_its_options(cls: type[Metric]) -> None:
    assert type(getattr(surefit.metrics, cls.name)) is cls
    assert cls.name in dir(surefit.metrics)
    assert repr(cls()).startswith(f"{cls.name}(")
    assert cls.task in get_args(Task)


def test_no_metric_is_hidden_by_a_file_of_its_name() -> None:
    files = {module.name for module in pkgutil.iter_modules(surefit.metrics.__path__)}
    assert not files & set(METRICS)


def test_an_unknown_metric_gets_the_nearest_one() -> None:
    with pytest.raises(AttributeError, match="'r2_scores': did you mean 'r2_score'"):
        surefit.metrics.r2_scores  # noqa: B018


def first_case(cls: type[Metric]) -> Case:
    return next(cls.cases(np.random.default_rng(0)))


SPOILT: list[tuple[Callable[..., Any], str]] = [
    (lambda y, p: (y, p[:-1], None), "has 60 rows and y_pred has 59"),
    (lambda y, p: (y[:0], p[:0], None), "y_true has no rows"),
    (lambda y, p: (y, p, np.zeros(60)), "every sample_weight is zero"),
    (lambda y, p: (y, p, -np.ones(60)), "sample_weight of row 0 is -1"),
    (lambda y, p: (y, p, np.r_[np.ones(59), np.nan]), "sample_weight of row 59 is nan"),
    (lambda y, p: (y, p, np.ones(59)), r"sample_weight has shape \(59,\)"),
    (lambda y, p: (y.reshape(len(y), 1, -1), p, None), "y_true has 3 dimensions"),
]


@each_metric
def test_bad_input_gets_one_clear_sentence(cls: type[Metric]) -> None:
    case = first_case(cls)
    metric = cls(**case.options)
    for spoil, message in SPOILT:
        with pytest.raises(DataError, match=f"^{cls.name}: .*{message}"):
            metric(*spoil(case.truth, case.prediction))


@each_metric
def test_a_prediction_that_is_no_number_is_named(cls: type[Metric]) -> None:
    case = first_case(cls)
    broken = case.prediction.astype(float)
    broken[7] = np.nan
    with pytest.raises(DataError, match=f"^{cls.name}: y_pred of row 7 is "):
        cls(**case.options)(case.truth, broken)


@each_metric
def test_a_wrong_option_is_named(cls: type[Metric]) -> None:
    case = first_case(cls)
    for option in cls().options:
        with pytest.raises(ParameterError, match=f"{cls.__name__}: {option}="):
            cls()(case.truth, case.prediction, **{option: object()})


@pytest.mark.parametrize(
    ("truth", "prediction", "message"),
    [
        (["a", "b"], [0, 1], "y_true are text and those of y_pred numbers"),
        ([0, 1], [0.2, 1.0], "y_pred of row 0 is 0.2, which is no label"),
        (np.array(["a", None], dtype=object), ["a", "b"], "of type NoneType and str"),
        ([[0, 1], [1, 0]], [[0, 1], [1, 1]], "must be one label a row"),
    ],
)
def test_what_is_no_label_is_refused(truth: Any, prediction: Any, message: str) -> None:
    for name in ("accuracy_score", "balanced_accuracy_score", "confusion_matrix"):
        with pytest.raises(DataError, match=message):
            getattr(surefit.metrics, name)(truth, prediction)


@pytest.mark.parametrize(
    ("truth", "chances", "options", "message"),
    [
        ([0, 1], [0.2, 1.2], {}, "y_pred of row 1 is 1.2; probabilities lie between 0 and 1"),
        ([0, 0], [0.2, 0.2], {}, "y_true holds only the label 0"),
        ([0, 1], np.full((2, 3), 1 / 3), {}, "of 3 classes, but there are 2: 0, 1"),
        (["a", "b"], [[0.5, 0.5]] * 2, {"labels": ["b", "a"]}, "labels must be distinct and sorted"),
        (["a", "z"], [[0.5, 0.5]] * 2, {"labels": ["a", "b"]}, "y_true of row 1 is z, which is not among"),
    ],
)
def test_what_is_no_probability_is_refused(truth: Any, chances: Any, options: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        surefit.metrics.log_loss(truth, chances, **options)


def test_probabilities_that_do_not_sum_to_one_are_warned_about() -> None:
    from surefit.core.errors import SurefitWarning

    with pytest.warns(SurefitWarning, match="row 1 sum to 0.9"):
        surefit.metrics.log_loss([0, 1], [[0.5, 0.5], [0.5, 0.4]])


def test_numbers_of_outputs_must_agree() -> None:
    with pytest.raises(DataError, match="y_true has 2 outputs and y_pred has 1"):
        surefit.metrics.mean_squared_error(np.zeros((3, 2)), np.zeros(3))
    with pytest.raises(ParameterError, match="one weight for each of the 2 outputs"):
        surefit.metrics.mean_squared_error(np.zeros((3, 2)), np.zeros((3, 2)), multioutput=[1.0])
    with pytest.raises(DataError, match="none of labels"):
        surefit.metrics.confusion_matrix([0, 1], [0, 1], labels=[4, 5])
    with pytest.raises(DataError, match="y_true must hold numbers"):
        surefit.metrics.r2_score(["a", "b"], [1.0, 2.0])
