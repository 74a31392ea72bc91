"""Comparing models: tests against other libraries and brute force, their false alarms, and tie groups."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.stats
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge as TheirRidge
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

import surefit
from surefit import resample
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.evaluate.compare import compare
from surefit.evaluate.compare.difference_tests import (
    bayesian_correlated_t,
    corrected_t_test,
    delong_test,
    five_by_two_test,
    mcnemar_test,
    paired_t_test,
)
from surefit.evaluate.compare.multiple_testing import adjust_pvalues, tie_groups

RNG = np.random.default_rng(2)
ROWS = 150
X = RNG.normal(size=(ROWS, 3))
Y = X @ [1.0, -1.0, 0.5] + RNG.normal(size=ROWS)
SIDE = (Y > 0).astype(int)


@pytest.mark.parametrize(("b", "c"), [(9, 2), (4, 4), (0, 7), (30, 12), (1, 0)])
def test_mcnemar_is_that_of_statsmodels(b: int, c: int) -> None:
    truth = np.ones(b + c + 5)
    one, two = (np.r_[np.full(b, first), np.full(c, 1 - first), np.ones(5)] for first in (1, 0))
    table = [[5, b], [c, 0]]
    assert mcnemar_test(truth, one, two, method="exact").pvalue == pytest.approx(
        mcnemar(table).pvalue, abs=1e-12
    )
    if b != c:  # where statsmodels corrects a difference of none, away from none
        approximate = mcnemar(table, exact=False, correction=True)
        assert mcnemar_test(truth, one, two, method="chi2").pvalue == pytest.approx(
            approximate.pvalue, abs=1e-12
        )
    # The mid-p value counts half of the probability of the observed split in each tail.
    split = scipy.stats.binom(b + c, 0.5)
    wanted = min(1.0, 2 * (split.cdf(min(b, c)) - split.pmf(min(b, c)) / 2))
    assert mcnemar_test(truth, one, two).pvalue == pytest.approx(wanted, abs=1e-12)


def test_mcnemar_counts_weights_and_has_nothing_to_say_of_equals() -> None:
    y, one, two = RNG.integers(2, size=(3, 40))
    weight = RNG.integers(0, 4, size=40)
    repeated = [np.repeat(part, weight) for part in (y, one, two)]
    assert mcnemar_test(y, one, two, sample_weight=weight).pvalue == pytest.approx(
        mcnemar_test(*repeated).pvalue
    )
    for method in ("exact", "mid-p", "chi2"):
        assert mcnemar_test(y, one, one, method=method).pvalue == 1.0  # type: ignore[arg-type]
    with pytest.raises(DataError, match="whole numbers"):
        mcnemar_test(y, one, two, sample_weight=np.full(40, 0.5))


@pytest.mark.parametrize("ties", [False, True])
def test_delongs_test_is_the_brute_force_over_pairs(ties: bool) -> None:
    y = RNG.permutation(np.repeat([0, 1], [35, 30]))
    one, two = (RNG.normal(size=(2, 65)) + y) if not ties else np.round(RNG.normal(size=(2, 65)) + y)
    won = [
        (s[y == 1][:, None] > s[y == 0][None]) + 0.5 * (s[y == 1][:, None] == s[y == 0][None])
        for s in (one, two)
    ]
    gap = won[0] - won[1]
    variance = np.var(gap.mean(axis=1), ddof=1) / 30 + np.var(gap.mean(axis=0), ddof=1) / 35
    found = delong_test(y, one, two)
    assert found.statistic == pytest.approx(gap.mean() / np.sqrt(variance), rel=1e-9)
    assert delong_test(y, one, 3 * one + 1).pvalue == 1.0


def test_t_tests_are_those_of_scipy() -> None:
    one, two = RNG.normal(size=(2, 30))
    wanted = scipy.stats.ttest_rel(one, two)
    assert paired_t_test(one, two).pvalue == pytest.approx(wanted.pvalue, rel=1e-10)
    assert corrected_t_test(one - two, 0.0).pvalue == pytest.approx(wanted.pvalue, rel=1e-10)
    corrected = corrected_t_test(one - two, 0.5)
    assert corrected.statistic == pytest.approx(wanted.statistic / np.sqrt(30 * (1 / 30 + 0.5)), rel=1e-10)
    assert corrected_t_test([0.0, 0.0], 0.5).pvalue == 1.0
    assert corrected_t_test([0.1, 0.1], 0.5).pvalue == 0.0


def test_the_5x2_tests_follow_their_formulas() -> None:
    d = RNG.normal(size=(5, 2))
    spread = np.var(d, axis=1, ddof=1).sum()
    t, f = five_by_two_test(d, statistic="t"), five_by_two_test(d)
    assert t.statistic == pytest.approx(d[0, 0] / np.sqrt(spread / 5))
    assert t.pvalue == pytest.approx(2 * scipy.stats.t.sf(abs(t.statistic), 5))
    assert f.statistic == pytest.approx((d**2).sum() / (2 * spread))
    assert f.pvalue == pytest.approx(scipy.stats.f.sf(f.statistic, 10, 5))
    with pytest.raises(DataError, match=r"shape \(2, 5\)"):
        five_by_two_test(d.T)


def test_the_bayesian_test_is_a_t_distribution_cut_in_three() -> None:
    d = RNG.normal(0.02, 0.03, size=10)
    odds = bayesian_correlated_t(d, 1 / 9, rope=0.01)
    posterior = scipy.stats.t(9, d.mean(), np.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1)))
    wanted = [posterior.cdf(-0.01), posterior.cdf(0.01) - posterior.cdf(-0.01), posterior.sf(0.01)]
    np.testing.assert_allclose([odds.worse, odds.alike, odds.better], wanted, rtol=1e-9)
    # Without a rope, the one-sided p-value of the corrected t test is the chance of being worse.
    alone = bayesian_correlated_t(d, 1 / 9, rope=0.0)
    assert 2 * min(alone.worse, alone.better) == pytest.approx(corrected_t_test(d, 1 / 9).pvalue, rel=1e-9)
    assert str(bayesian_correlated_t([0.0, 0.0], 0.5)) == "worse 0.000, alike 1.000, better 0.000"


@pytest.mark.parametrize(
    ("ours", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")]
)
def test_adjusted_p_values_are_those_of_statsmodels(ours: Any, theirs: str) -> None:
    for values in (RNG.random(12) ** 3, [0.01, 0.01, 0.5, 1.0], [0.3], [0.0, 0.0]):
        np.testing.assert_allclose(
            adjust_pvalues(values, ours), multipletests(values, method=theirs)[1], atol=1e-14
        )
    with pytest.raises(DataError, match="between 0 and 1"):
        adjust_pvalues([1.2])


def test_tie_groups_are_the_largest_sets_of_equals() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 8))
        table = rng.random((size, size)) < 0.6
        table = table | table.T | np.eye(size, dtype=bool)
        cliques = [
            set(chosen)
            for count in range(1, size + 1)
            for chosen in itertools.combinations(range(size), count)
            if all(table[i, j] for i in chosen for j in chosen)
        ]
        largest = sorted(sorted(c) for c in cliques if not any(c < other for other in cliques))
        assert tie_groups(table) == largest


def models() -> dict[str, Any]:
    return {
        "ridge": surefit.Ridge(),
        "their ridge": TheirRidge(1.001),
        "mean": DummyRegressor(),
        "ols": surefit.LinearRegression(),
    }


@pytest.mark.covers("ml_for_data_science:1.7", "intro_to_ml:7.13", "course_summary:9.6", by="compare")
def test_models_that_are_alike_share_a_group_and_the_simplest_is_taken() -> None:
    found = surefit.compare(models(), X, Y, metrics=["mean_squared_error", "r2_score"])
    assert found.names[-1] == "mean"
    assert set(found.as_good_as_best) == {"ridge", "their ridge", "ols"}
    assert found.letters()[-1] not in found.letters()[:-1]
    assert found.simplest == "ridge"
    costs = {"ridge": 3, "their ridge": 2, "mean": 0, "ols": 4}
    assert surefit.compare(models(), X, Y, metrics="r2_score", complexity=costs).simplest == "their ridge"
    frame = found.to_frame()
    assert list(frame["rank"]) == [1, 2, 3, 4]
    assert list(frame["model"]) == list(found.names)
    assert frame["mean_squared_error"].is_monotonic_increasing
    assert frame["worse_than_best"].iloc[-1] > 0.99
    assert "cannot be told apart; take ridge" in repr(found)
    with pytest.raises(DataError, match="no entry for ols"):
        surefit.compare(models(), X, Y, complexity={"ridge": 1, "their ridge": 2, "mean": 0})


@pytest.mark.parametrize(
    ("test", "metric", "split"),
    [
        ("corrected_t", "accuracy_score", 5),
        ("bayes", "accuracy_score", 5),
        ("5x2cv_t", "log_loss", 5),
        ("5x2cv_f", "log_loss", 5),
        ("mcnemar", "accuracy_score", 5),
        ("delong", "roc_auc_score", resample.HoldOut(0.4, random_state=0)),
        ("paired_t", "log_loss", resample.HoldOut(0.4, random_state=0)),
        ("auto", "roc_auc_score", resample.HoldOut(0.4, random_state=0)),
        ("auto", "accuracy_score", resample.HoldOut(0.4, random_state=0)),
    ],
)  # fmt: skip
def test_every_test_finds_a_large_difference_and_none_where_there_is_none(
    test: Any, metric: str, split: Any
) -> None:
    candidates = [surefit.GaussianNB(), surefit.GaussianNB(), surefit.MajorityClassifier()]
    found = surefit.compare(candidates, X, SIDE, test=test, metrics=metric, split=split)
    assert found.names == ("GaussianNB", "GaussianNB 2", "MajorityClassifier")
    assert found.pvalues[0, 1] == 1.0
    assert found.pvalues[0, 2] < 0.05
    assert found.groups == [[0, 1], [2]]


def test_sources_and_pipelines_are_compared_too() -> None:
    table = pa.table({**{f"x{k}": X[:, k] for k in range(3)}, "y": Y})
    pair = {
        "line": surefit.make_pipeline(surefit.StandardScaler(), surefit.Ridge()),
        "mean": surefit.MeanRegressor(),
    }
    found = surefit.compare(pair, table, "y", split=5, metrics="r2_score")
    assert found.names == ("line", "mean")
    assert found.pvalues[0, 1] < 0.01


@pytest.mark.parametrize(
    "given",
    [
        {"test": "mcnemar"},
        {"test": "delong"},
        {"test": "paired_t"},
        {"test": "5x2cv_f"},
        {"split": resample.HoldOut(random_state=0)},
        {"split": [(np.arange(90), np.arange(90, ROWS))]},
        {"test": "mcnemar", "groups": "who", "split": 3},
    ],
    ids=["mcnemar", "delong", "paired t", "5x2cv", "hold-out", "one pair", "groups"],
)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weights"])
def test_tests_of_single_rows_are_those_of_memory_where_the_table_is_read(given: Any, weighted: bool) -> None:
    weight, who = RNG.integers(1, 4, ROWS).astype(float), RNG.integers(12, size=ROWS)
    columns = {f"x{k}": X[:, k] for k in range(3)}
    table = pa.table({**columns, "w": weight, "who": who, "y": SIDE})
    pair = {"logit": surefit.LogisticRegression(), "tree": surefit.DecisionTreeClassifier(max_depth=2)}
    source = surefit.read(table, target="y", weight="w" if weighted else None, columns=["x0", "x1", "x2"])
    read = surefit.compare(pair, source, **given)
    held = surefit.compare(
        pair,
        X,
        SIDE,
        sample_weight=weight if weighted else None,
        **{**given, **({"groups": who} if "groups" in given else {})},
    )
    assert read.names == held.names
    np.testing.assert_allclose(read.pvalues, held.pvalues, rtol=1e-6)
    assert repr(read) == repr(held)


def test_groups_of_a_table_that_is_read_stay_together() -> None:
    who = np.repeat(np.arange(30), 5)
    table = pa.table({"x": RNG.normal(size=ROWS), "who": who, "y": RNG.normal(size=30)[who]})
    source = surefit.read(table, target="y", columns=["x"])
    pair = {"line": surefit.Ridge(), "mean": surefit.MeanRegressor()}
    found = surefit.compare(pair, source, split=resample.GroupKFold(3), groups="who", metrics="r2_score")
    assert [test for _, test in found.results["line"].sizes] == [50, 50, 50]
    with pytest.raises(ValueError, match="groups"):
        surefit.compare(pair, source, split=resample.GroupKFold(3), metrics="r2_score")


def test_a_pipeline_is_named_by_its_last_step() -> None:
    scaled = surefit.make_pipeline(surefit.StandardScaler(), surefit.Ridge())
    assert list(compare.name_models([scaled, surefit.Ridge()])) == ["Ridge", "Ridge 2"]


def test_what_is_said_of_the_best() -> None:
    found = surefit.compare(models(), X, Y, metrics="r2_score", split=3)
    assert "cannot be told apart; take ridge." in repr(found)
    alone = surefit.compare(
        {"line": surefit.Ridge(), "mean": surefit.MeanRegressor()},
        X,
        Y,
        split=resample.HoldOut(random_state=0),
    )
    assert "line is best." in repr(alone)
    assert "1 fold\n" in repr(alone)
    assert "1 pair," in repr(alone)
    bayes = surefit.compare(models(), X, Y, metrics="r2_score", split=3, test="bayes")
    assert "p: of being as good as the best, by Bayesian correlated t" in repr(bayes)


@pytest.mark.parametrize("metric", ["r2_score", "root_mean_squared_error"])
def test_scores_made_of_squared_errors_are_paired_by_these(metric: str) -> None:
    given: dict[str, Any] = {"split": resample.HoldOut(random_state=0), "test": "paired_t"}
    found, plain = (
        surefit.compare(models(), X, Y, metrics=name, **given) for name in (metric, "mean_squared_error")
    )
    assert found.names == plain.names
    np.testing.assert_array_equal(found.pvalues, plain.pvalues)


def test_delong_takes_the_area_and_refuses_before_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = {"logit": surefit.LogisticRegression(), "nb": surefit.GaussianNB()}
    assert surefit.compare(pair, X, SIDE, test="delong", split=3).metric == "roc_auc_score"
    monkeypatch.setattr(surefit.GaussianNB, "fit", None)
    with pytest.raises(RefusalError, match="two classes"):
        surefit.compare(pair, X, np.arange(ROWS) % 3, test="delong")
    with pytest.raises(RefusalError, match="ROC curves"):
        surefit.compare(pair, X, SIDE, test="delong", metrics="accuracy_score")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"models": [surefit.Ridge()]}, ParameterError, "at least two models"),
        ({"test": "magic"}, ParameterError, "test='magic'"),
        ({"correction": "magic"}, ParameterError, "correction='magic'"),
        ({"test": "mcnemar"}, RefusalError, "compares labels"),
        ({"test": "delong"}, RefusalError, "areas under ROC curves"),
        ({"test": "paired_t", "metrics": "max_error"}, RefusalError, "not a mean over rows"),
        ({"test": "5x2cv_f", "groups": np.arange(ROWS)}, ParameterError, "leave groups out"),
        (
            {"test": "corrected_t", "split": resample.HoldOut(), "metrics": "mean_squared_error"},
            RefusalError,
            "no variance between folds",
        ),
        (
            {"test": "paired_t", "split": resample.RepeatedKFold(n_splits=2, n_repeats=2)},
            RefusalError,
            "tested once",
        ),
    ],
)
def test_a_test_that_does_not_suit_is_refused(change: dict[str, Any], error: Any, message: str) -> None:
    given: dict[str, Any] = {"models": models(), "X": X, "y": Y, "metrics": "r2_score", **change}
    with pytest.raises(error, match=message):
        surefit.compare(**given)


def false_alarms(draws: int) -> dict[str, float]:
    """How often each test, at 10 %, tells two lines apart that are equally good, each by its own column."""
    rng = np.random.default_rng(11)
    found: dict[str, list[bool]] = {"plain t": [], "corrected t": [], "5x2cv F": [], "McNemar": []}
    for _ in range(draws):
        y = rng.integers(2, size=60)
        scores = rng.normal(size=(2, 60)) + y
        one, two = (scores > 0.5).astype(int)
        found["McNemar"].append(mcnemar_test(y, one, two).pvalue < 0.1)
        Z = rng.normal(size=(60, 2))
        target = Z.sum(axis=1) + rng.normal(size=60)
        differences = []
        for _ in range(5):
            order = rng.permutation(60)
            for test, train in ((order[:30], order[30:]), (order[30:], order[:30])):
                errors = []
                for column in (0, 1):
                    x = np.column_stack([np.ones(60), Z[:, column]])
                    fit = np.linalg.lstsq(x[train], target[train], rcond=None)[0]
                    errors.append(np.mean((target[test] - x[test] @ fit) ** 2))
                differences.append(errors[0] - errors[1])
        d = np.array(differences)
        found["plain t"].append(corrected_t_test(d, 0.0).pvalue < 0.1)
        found["corrected t"].append(corrected_t_test(d, 1.0).pvalue < 0.1)
        found["5x2cv F"].append(five_by_two_test(d.reshape(5, 2)).pvalue < 0.1)
    return {name: float(np.mean(alarms)) for name, alarms in found.items()}


def test_equal_models_are_rarely_told_apart() -> None:
    """Of 300 draws a share of 10 % has a deviation of 1.7 %; four of them are allowed above."""
    shares = false_alarms(300)
    assert shares["plain t"] > 0.2  # what the correction is for
    for name in ("corrected t", "5x2cv F", "McNemar"):
        assert shares[name] <= 0.1 + 4 * 0.0173, name


@pytest.mark.slow
def test_equal_models_are_told_apart_no_more_often_than_the_level_says() -> None:
    shares = false_alarms(2000)
    for name in ("corrected t", "McNemar"):
        assert shares[name] <= 0.12, name
    # Halves of a repetition are taken for independent, which they are nearly: 12 % in place of 10 %.
    assert shares["5x2cv F"] <= 0.15
