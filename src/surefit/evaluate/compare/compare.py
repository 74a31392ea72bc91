"""Compare models fairly: on the same rows, by a test that knows them, allowing for the number of models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.public import public
from surefit.core.registry import lookup
from surefit.data.door import is_streamed
from surefit.evaluate.compare.difference_tests import (
    Odds,
    TestResult,
    bayesian_correlated_t,
    corrected_t_test,
    delong_test,
    five_by_two_test,
    mcnemar_test,
    paired_t_test,
)
from surefit.evaluate.compare.leaderboard import Comparison
from surefit.evaluate.compare.multiple_testing import CORRECTIONS, Correction, adjust_pvalues, tie_groups
from surefit.evaluate.cross_validation.cross_validate import cross_validate, cross_validate_read
from surefit.evaluate.cross_validation.result import CrossValidation
from surefit.evaluate.rows.dataset import ReadRows
from surefit.evaluate.scoring.fold import chosen_metrics, classes_of
from surefit.evaluate.scoring.intervals import rows_tested
from surefit.evaluate.search.regularization_path import last_step
from surefit.metrics.base import Metric
from surefit.metrics.usual import usual_metrics
from surefit.resample.choose import pairs_of
from surefit.resample.folds import RepeatedKFold, RepeatedStratifiedKFold
from surefit.resample.hold_out import HoldOut

Test = Literal["auto", "corrected_t", "paired_t", "mcnemar", "delong", "5x2cv_t", "5x2cv_f", "bayes"]
OF_ROWS = ("mcnemar", "delong", "paired_t")  # of rows tested once
TESTS = ("auto", "corrected_t", "paired_t", "mcnemar", "delong", "5x2cv_t", "5x2cv_f", "bayes")


@public
def compare(
    models: Mapping[str, Any] | Iterable[Any],
    X: Any,
    y: Any = None,
    *,
    split: Any = 10,
    metrics: Any = None,
    test: Test = "auto",
    correction: Correction = "holm",
    level: float = 0.95,
    rope: float = 0.01,
    complexity: Mapping[str, float] | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    **options: Any,
) -> Comparison:
    """Cross-validate models on the same folds and say which can be told apart, by the first of ``metrics``.

    test: "corrected_t" (the default for folds), "bayes" (the posterior of the difference, with the region
    ``rope`` that is as good as none), "5x2cv_t", "5x2cv_f" (which take their own folds); of the rows tested
    once, "mcnemar", "delong" (by roc_auc_score) and "paired_t", the defaults for a single hold-out; over a
    table that is read these keep a number for each row and model. correction: for the number
    of pairs: "holm", "bonferroni", "bh" or "none". complexity: by name, for Occam's choice among the models
    as good as the best; without it the one listed first. options are those of ``cross_validate``.

    >>> import surefit
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> models = {"ridge": surefit.Ridge(0.01), "ols": surefit.LinearRegression()}
    >>> models["mean"] = surefit.MeanRegressor()
    >>> surefit.compare(models, X, y, metrics="r2_score")
    3 models by r2_score (higher is better), 10 folds
       model  r2_score  95 % interval        p         group
    1  ols    0.4839    [0.3601, 0.6077]               a
    2  ridge  0.4836    [0.3601, 0.6071]     0.941     a
    3  mean   -0.01057  [-0.02293, 0.00179]  1.43e-05  b
    p: against the best, by corrected resampled t, 3 pairs, correction holm.
    ols and ridge cannot be told apart; take ridge.
    """
    if test not in TESTS:
        raise ParameterError(f"test={test!r} must be one of {', '.join(TESTS)}.")
    if correction not in CORRECTIONS:
        raise ParameterError(f"correction={correction!r} must be one of {', '.join(CORRECTIONS)}.")
    named = name_models(models)
    first = next(iter(named.values()))
    if metrics is None and test == "delong":
        metrics = _compared_by_delong()
    streamed = is_streamed(X, y, sample_weight)
    labels = None if streamed else classes_of(first, y)
    _refuse_unsuited(test, *next(iter(chosen_metrics(first, metrics, labels).items())), labels)
    if streamed and _wants_answers(test, split):
        if options.keys() - {"n_jobs"}:  # a table is read by all threads at once
            raise ParameterError(
                f"test={test!r} of a table that is read in batches does not support "
                f"{', '.join(options)}: leave it out."
            )
        table = ReadRows.of(first, X, y, sample_weight)
        y, sample_weight, labels = table.y, table.weight, classes_of(first, table.y)
        pairs = table.pairs(
            _own_split(split, test, groups, labels, random_state), groups, **_by(labels, random_state)
        )
        results = {
            name: cross_validate_read(model, table, pairs, metrics=metrics, level=level)
            for name, model in named.items()
        }
    else:
        split = _own_split(split, test, groups, labels, random_state)
        if not streamed:
            split, groups = pairs_of(split, X, y, groups, **_by(labels, random_state)), None
        given = {
            "split": split,
            "groups": groups,
            "sample_weight": sample_weight,
            "random_state": random_state,
        }
        results = {
            name: cross_validate(model, X, y, metrics=metrics, level=level, **given, **options)
            for name, model in named.items()
        }
    return rank(
        results,
        test=test,
        correction=correction,
        level=level,
        rope=rope,
        complexity=complexity,
        y=y,
        sample_weight=sample_weight,
    )


def rank(
    results: Mapping[str, CrossValidation],
    *,
    test: Test = "auto",
    correction: Correction = "holm",
    level: float = 0.95,
    rope: float = 0.01,
    complexity: Mapping[str, float] | None = None,
    y: Any = None,
    sample_weight: Any = None,
) -> Comparison:
    """Put cross-validations on the same folds in order, and say which models can be told apart."""
    metric = next(iter(next(iter(results.values())).metrics))
    judge = _Judge(results, metric, test, rope, y, sample_weight)
    order = sorted(results, key=lambda name: -judge.sign * _worth(results[name], metric, judge.sign))
    return judge.ranked(order, list(results), level, correction, complexity)


def name_models(models: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    """Give each model a name: its own, or its class's, a pipeline its last step's, numbered where several.

    >>> import surefit
    >>> list(name_models([surefit.Ridge(), surefit.Ridge(2.0), surefit.Lasso()]))
    ['Ridge', 'Ridge 2', 'Lasso']
    """
    if isinstance(models, Mapping):
        found = {str(name): model for name, model in models.items()}
    else:
        found = {}
        for model in models:
            own = type(last_step(model)[0]).__name__
            name, number = own, 2
            while name in found:
                name, number = f"{own} {number}", number + 1
            found[name] = model
    if len(found) < 2:
        raise ParameterError("a comparison needs at least two models.")
    return {name: clone(model) for name, model in found.items()}


def _own_split(split: Any, test: str, groups: Any, labels: Any, state: Any) -> Any:
    """The split that a test takes: 5x2cv halves the rows five times."""
    if not test.startswith("5x2cv"):
        return split
    if groups is not None:
        raise ParameterError("the 5x2cv tests halve rows at random: leave groups out, or choose another.")
    halves = RepeatedStratifiedKFold if labels is not None else RepeatedKFold
    return halves(n_splits=2, n_repeats=5, random_state=state)


def _compared_by_delong() -> str:
    """The usual metric that DeLong's test is for."""
    usual = usual_metrics("study", "classification", two_classes=True)
    found: dict[str, Any] = {name: lookup("metric", name) for name in usual}
    return next(name for name, metric in found.items() if metric.compared_by == "delong")


def _by(labels: Any, state: Any) -> dict[str, Any]:
    return {"classes": labels is not None, "random_state": state}


def _wants_answers(test: str, split: Any) -> bool:
    """Whether rows are compared one by one, as those of a single hold-out are, or are halved by class."""
    alone = isinstance(split, HoldOut) or (isinstance(split, Sequence) and len(split) == 1)
    return (test == "auto" and alone) or test in OF_ROWS or test.startswith("5x2cv")


def _refuse_unsuited(test: str, name: str, metric: Any, labels: Any) -> None:
    """Refuse a test of something other than the metric, before any model is fitted."""
    if test in OF_ROWS and not isinstance(metric, Metric):
        raise RefusalError(f"test={test!r} needs a metric of surefit's, and {name} is a function.")
    if test == "mcnemar" and metric.task != "classification":
        raise RefusalError(f"McNemar's test compares labels, which {name} does not: choose another.")
    if test == "delong" and (metric.compared_by != "delong" or (labels is not None and len(labels) > 2)):
        raise RefusalError(
            "DeLong's test compares areas under ROC curves of two classes: take roc_auc_score, and another "
            "test for more classes."
        )


def _worth(result: CrossValidation, metric: str, sign: float) -> float:
    value = result.intervals[metric].estimate
    return value if np.isfinite(value) else -sign * np.inf


class _Judge:
    """Tests pairs of results by one metric."""

    def __init__(
        self, results: Mapping[str, CrossValidation], metric: str, test: str, rope: float, y: Any, weight: Any
    ) -> None:
        self.results, self.name, self.rope = results, metric, rope
        one = next(iter(results.values()))
        self.metric = one.metrics[metric]
        self.better = getattr(self.metric, "better", "higher")
        self.sign = -1.0 if self.better == "lower" else 1.0
        self.folds = len(one.folds)
        self.y = y
        self.weight = None if weight is None or isinstance(weight, str) else np.asarray(weight, dtype=float)
        self.test = self._suited() if test == "auto" else test

    def _suited(self) -> str:
        if self.folds > 1:
            return "corrected_t"
        return str(getattr(self.metric, "compared_by", "paired_t"))

    def pair(self, one: str, two: str) -> TestResult:
        """Test two models."""
        if self.test in OF_ROWS:
            return self._by_rows(one, two)
        differences = self._differences(one, two)
        if self.test.startswith("5x2cv"):
            return five_by_two_test(differences.reshape(5, 2), statistic="t" if self.test[-1] == "t" else "F")
        if self.test == "bayes":
            odds = self._odds(one, two)
            likeliest = max(odds.worse, odds.better)
            return TestResult(likeliest, 1 - likeliest, "Bayesian correlated t", float(differences.mean()))
        return corrected_t_test(differences, self.results[one].test_share)

    def _differences(self, one: str, two: str) -> NDArray[np.float64]:
        if self.folds < 2:
            raise RefusalError(
                "a single fold has no variance between folds: choose mcnemar, delong or paired_t."
            )
        mine, yours = (self.results[name].scores[self.name] for name in (one, two))
        return np.asarray(self.sign * (mine - yours))

    def _odds(self, one: str, two: str) -> Odds:
        return bayesian_correlated_t(
            self._differences(one, two), self.results[one].test_share, rope=self.rope
        )

    def _by_rows(self, one: str, two: str) -> TestResult:
        found: list[Any] = []
        metric: Any = self.metric
        _refuse_unsuited(self.test, self.name, metric, None)
        for name in (one, two):
            result = self.results[name]
            if result.pairs is None:
                raise RefusalError(
                    f"test={self.test!r} needs the predictions for each row, which were not stored."
                )
            tested = np.concatenate([test for _, test in result.pairs])
            if len(np.unique(tested)) < len(tested):
                raise RefusalError(f"test={self.test!r} needs each row to be tested once; take corrected_t.")
            found.append(rows_tested(metric, result.folds, result.pairs, self.y, self.weight))
        (truth, mine, weight), (_, yours, _) = found
        if self.test == "mcnemar":
            return mcnemar_test(truth, mine, yours, sample_weight=weight)
        if self.test == "delong":
            columns = [answer[:, -1] if np.ndim(answer) == 2 else answer for answer in (mine, yours)]
            classes = max(np.shape(answer)[1] if np.ndim(answer) == 2 else 2 for answer in (mine, yours))
            _refuse_unsuited(self.test, self.name, metric, range(classes))
            return delong_test(truth, columns[0], columns[1], weight)
        values = [metric.paired_values(truth, answer) for answer in (mine, yours)]
        if values[0] is None or values[1] is None:
            raise RefusalError(
                f"{self.name} is not a mean over rows, so no paired test of rows applies; take corrected_t."
            )
        return paired_t_test(values[0], values[1], weight)

    def ranked(
        self,
        order: list[str],
        given: list[str],
        level: float,
        correction: Correction,
        complexity: Mapping[str, float] | None,
    ) -> Comparison:
        """Test all pairs, adjust, and find the groups."""
        pairs = list(combinations(range(len(order)), 2))
        tests = {(i, j): self.pair(order[i], order[j]) for i, j in pairs}
        raw = [test.pvalue for test in tests.values()]
        adjusted = adjust_pvalues(raw, "none" if self.test == "bayes" else correction)
        table = np.ones((len(order), len(order)))
        for (i, j), pvalue in zip(pairs, adjusted, strict=True):
            table[i, j] = table[j, i] = pvalue
        odds = {(i, j): self._odds(order[i], order[j]) for i, j in pairs} if self.folds > 1 else {}
        equals = [name for k, name in enumerate(order) if table[0, k] > 1 - level]
        cost: dict[str, float] = {name: float(k) for k, name in enumerate(given)}
        if complexity is not None:
            missing = [name for name in order if name not in complexity]
            if missing:
                raise DataError(f"complexity has no entry for {', '.join(missing)}; give each model one.")
            cost = {name: float(complexity[name]) for name in order}
        return Comparison(
            tuple(order),
            self.name,
            self.better,
            {name: self.results[name] for name in order},
            tests,
            table,
            odds,
            tie_groups(table > 1 - level),
            min(equals, key=cost.__getitem__),
            level,
            "none" if self.test == "bayes" else correction,
        )
