"""Charts from plain values: they show what they are given, and the same as those from live objects."""

from __future__ import annotations

import numpy as np
import pytest
from tests.laws.charts import rows_with

import surefit
from surefit import metrics
from surefit.core.errors import DataError
from surefit.core.printable_text import visible
from surefit.plots import (
    plot_answers,
    plot_dependence,
    plot_importance,
    plot_roc,
    plot_threshold,
    plot_worths,
)
from surefit.plots.scores.threshold import cost_by_threshold
from surefit.plots.words import labels

RNG = np.random.default_rng(0)
SIDE = RNG.integers(2, size=300)
CHANCE = np.clip(0.3 + 0.4 * SIDE + 0.3 * RNG.normal(size=300), 0, 1)
X = RNG.normal(size=(60, 3))
MODEL = surefit.LinearRegression().fit(X, X @ [1.0, 2.0, 0.0])


@pytest.mark.parametrize("costs", [(1.0, 1.0), (1.0, 5.0), (3.0, 0.0)])
def test_the_cost_at_a_threshold_is_that_of_the_answers(costs: tuple[float, float]) -> None:
    weight = RNG.integers(0, 3, size=300)
    at, cost = cost_by_threshold(SIDE, CHANCE, costs, weight, steps=11)
    for threshold, found in zip(at, cost, strict=True):
        alarm = threshold <= CHANCE
        price = costs[0] * (alarm & (SIDE == 0)) + costs[1] * (~alarm & (SIDE == 1))
        assert found == pytest.approx(np.average(price, weights=weight))
    again = cost_by_threshold(np.repeat(SIDE, weight), np.repeat(CHANCE, weight), costs, steps=11)[1]
    np.testing.assert_allclose(again, cost)


def test_a_threshold_chart_marks_the_one_chosen() -> None:
    rows = rows_with(plot_threshold(SIDE, CHANCE, costs=(1.0, 4.0), threshold=0.2), "cost")
    assert len(rows) == 101
    mark = rows_with(plot_threshold(SIDE, CHANCE, threshold=0.25), "words")
    assert mark == [{"at": 0.25, "words": "0.25"}]
    with pytest.raises(DataError, match="y has 3"):
        plot_threshold([0, 1, 2], [0.1, 0.2, 0.3])
    with pytest.raises(DataError, match="between 0 and 1"):
        plot_threshold([0, 1], [0.1, 1.2])


def test_classes_are_each_held_against_their_own_truth() -> None:
    truths = {"a": SIDE, "b": 1 - SIDE}
    rows = rows_with(plot_roc(truths, {"a": CHANCE, "b": CHANCE}), "order")
    area = metrics.roc_auc_score(SIDE, CHANCE)
    assert {row["model"] for row in rows} == {f"a  {area:.3f}", f"b  {1 - area:.3f}"}


def test_an_importance_is_the_same_from_its_values() -> None:
    found = surefit.permutation_importance(MODEL, X, X @ [1.0, 2.0, 0.0])
    given = plot_worths(found.names, found.mean, found.low, found.high)
    assert rows_with(given, "mean") == rows_with(plot_importance(found), "mean")


def test_the_largest_either_way_are_drawn() -> None:
    mean = np.array([5.0, 0.1, -4.0, 0.2])
    chart = plot_worths(list("abcd"), mean, mean, mean, most=2)
    assert [row["name"] for row in rows_with(chart, "name")] == ["a", "c"]
    assert "the 2 largest of 4" in chart.to_dict()["title"]["subtitle"]


def test_a_dependence_is_the_same_from_its_values() -> None:
    found = surefit.partial_dependence(MODEL, X, 0)
    given = plot_answers(found.column, found.values, found.mean, found.low, found.high)
    assert rows_with(given, "low") == rows_with(plot_dependence(found), "low")


def test_levels_are_not_joined_by_a_line() -> None:
    chart = plot_answers("colour", ["red", "blue"], [1.0, 2.0], [0.5, 1.5], [1.5, 2.5])
    assert {layer["mark"]["type"] for layer in chart.to_dict()["layer"]} == {"rule", "point"}
    assert [row["at"] for row in rows_with(chart, "at")] == ["red", "blue"]


def test_names_stay_different_and_short() -> None:
    names = ["x" * 50 + str(k) for k in range(12)]
    assert len(set(labels(names))) == 12
    assert max(map(len, labels(names))) <= 28
    assert labels(["a", "a"]) == ["a", "a #2"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é ü 漢字 עברית", "plain é ü 漢字 עברית"),
        ("a\u202eb", "a\\u202eb"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\ud800", "\\ud800"),
        ("\ufffe", "\\ufffe"),
        ("\u2028", "\\u2028"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
)
def test_what_acts_is_spelt_out_and_nothing_else(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_long_text_is_cut_to_what_was_asked_for() -> None:
    assert visible("ab" * 5000, 7) == "ababab…"
    assert len(visible("\u202e" * 5000, 20)) == 20
    assert visible("exactly", 7) == "exactly"
