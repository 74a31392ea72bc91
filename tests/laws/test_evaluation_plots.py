"""Charts of scores: they show the numbers of the metrics, stay small, and refuse what cannot be read."""

from __future__ import annotations

import numpy as np
import pytest
from tests.laws.charts import rows_with, tables_in

import surefit
from surefit import metrics
from surefit.core.errors import DataError
from surefit.plots import (
    plot_calibration,
    plot_comparison,
    plot_confusion,
    plot_curve,
    plot_dependence,
    plot_precision_recall,
    plot_residuals,
    plot_roc,
    plot_scores,
    to_svg,
)
from surefit.plots.base import MOST_ROWS
from surefit.plots.words import number

RNG = np.random.default_rng(0)
SIDE = RNG.integers(2, size=20_000)
CHANCE = np.clip(0.3 + 0.4 * SIDE + 0.3 * RNG.normal(size=20_000), 0, 1)
X = RNG.normal(size=(60, 2))
Y = X @ [1.0, 2.0] + RNG.normal(size=60)
PAIR = {"line": surefit.Ridge(), "mean": surefit.MeanRegressor()}


CHARTS = {
    "confusion": lambda: plot_confusion(SIDE, CHANCE > 0.5),
    "roc": lambda: plot_roc(SIDE, {"one": CHANCE, "two": -CHANCE}),
    "precision-recall": lambda: plot_precision_recall(SIDE, CHANCE),
    "calibration": lambda: plot_calibration(SIDE, np.column_stack([1 - CHANCE, CHANCE])),
    "residuals, few": lambda: plot_residuals(Y, X.sum(axis=1)),
    "residuals, many": lambda: plot_residuals(RNG.normal(size=20_000), CHANCE),
    "comparison": lambda: plot_comparison(surefit.compare(PAIR, X, Y, metrics="r2_score", split=5)),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_small_and_can_be_drawn(name: str) -> None:
    chart = CHARTS[name]()
    assert all(len(table) <= MOST_ROWS for table in tables_in(chart))
    assert to_svg(chart).startswith("<svg")


def test_the_cells_of_a_confusion_are_the_matrix() -> None:
    truth, guess = RNG.choice(list("abc"), size=(2, 50))
    rows = rows_with(plot_confusion(truth, guess, normalize="none"), "true", "predicted")
    wanted = metrics.confusion_matrix(truth, guess)
    assert [row["rows"] for row in rows] == wanted.ravel().tolist()
    assert [(row["true"], row["predicted"]) for row in rows[:2]] == [("a", "a"), ("a", "b")]


def test_the_curve_is_the_metrics_and_goes_from_corner_to_corner() -> None:
    rows = rows_with(plot_roc(SIDE[:200], CHANCE[:200]), "order")
    fpr, tpr, _ = metrics.roc_curve(SIDE[:200], CHANCE[:200])
    np.testing.assert_array_equal([(row["x"], row["y"]) for row in rows], np.column_stack([fpr, tpr]))
    thinned = rows_with(plot_roc(SIDE, CHANCE), "order")
    assert (thinned[0]["x"], thinned[-1]["y"]) == (0.0, 1.0)
    assert f"{metrics.roc_auc_score(SIDE, CHANCE):.3f}" in thinned[0]["model"]


def test_a_bin_shows_its_share_and_weights_count() -> None:
    weight = RNG.integers(0, 3, size=300)
    y, p = SIDE[:300], CHANCE[:300]
    one = rows_with(plot_calibration(y, p, n_bins=4, sample_weight=weight), "share")
    two = rows_with(plot_calibration(np.repeat(y, weight), np.repeat(p, weight), n_bins=4), "share")
    for mine, yours in zip(one, two, strict=True):
        for key in ("predicted", "share", "low", "high", "rows"):
            assert mine[key] == pytest.approx(yours[key])
    top = p >= 0.75
    assert one[-1]["share"] == pytest.approx(np.average(y[top], weights=weight[top]))


def test_counted_cells_hold_every_row() -> None:
    rows = rows_with(CHARTS["residuals, many"](), "rows")
    assert sum(row["rows"] for row in rows) == 20_000


def test_a_comparison_shows_the_leaderboard() -> None:
    found = surefit.compare(PAIR, X, Y, metrics="r2_score", split=5)
    rows = rows_with(plot_comparison(found), "group")
    assert [row["model"] for row in rows] == ["line", "mean"]
    assert [row["good"] for row in rows] == [True, False]
    assert rows[0]["score"] == found.intervals[0].estimate


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(DataError, match="31 classes"):
        plot_confusion(np.arange(31), np.arange(31))
    with pytest.raises(DataError, match="7 curves"):
        plot_roc(SIDE, {str(k): CHANCE for k in range(7)})
    with pytest.raises(DataError, match="7 curves"):
        plot_calibration(SIDE, {str(k): CHANCE for k in range(7)})
    with pytest.raises(DataError, match="2 outputs"):
        plot_residuals(np.zeros((3, 2)), np.zeros((3, 2)))
    with pytest.raises(DataError, match="between 0 and 1"):
        plot_calibration([0, 1], [0.5, 1.5])


def test_classes_in_words_have_both_curves() -> None:
    words, score = ["no", "no", "yes", "yes"], [0.1, 0.4, 0.35, 0.8]
    for draw in (plot_roc, plot_precision_recall):
        in_words = draw(words, score).to_dict()["title"]["subtitle"]
        assert in_words == draw([0, 0, 1, 1], score).to_dict()["title"]["subtitle"]


def test_an_axis_of_scores_ends_where_they_can_end() -> None:
    def ends(*scores: tuple[float, float, float]) -> list[float]:
        chart = plot_scores([str(k) for k in range(len(scores))], scores).to_dict()
        return chart["layer"][0]["encoding"]["x"]["scale"]["domain"]

    assert ends((0.9, 0.8, 1.0), (0.5, 0.4, 0.6))[1] == 1.0
    assert ends((0.1, 0.0, 0.2), (0.5, 0.4, 0.6))[0] == 0.0
    low, high = ends((0.4, -0.2, 1.5))  # scores that do go beyond
    assert low < -0.2
    assert high > 1.5


def test_the_words_of_a_choice_are_drawn_over_all_lines() -> None:
    curve = surefit.complexity_curve(surefit.Ridge(), X, Y, "alpha", [1e-3, 0.1, 1.0, 10.0, 1e4])
    assert curve.values[curve.careful] > curve.values[curve.best]  # the larger alpha is the simpler fit
    marks = [layer["mark"]["type"] for layer in plot_curve(curve).to_dict()["layer"]]
    assert marks[-6:] == ["rule", "rule", "text", "text", "text", "text"]


def test_years_are_written_as_years() -> None:
    years = np.arange(1990.0, 2020.0)[:, None]
    model = surefit.Ridge().fit(years, years[:, 0])
    chart = plot_dependence(surefit.partial_dependence(model, years, 0)).to_dict()
    assert chart["layer"][-1]["encoding"]["x"]["axis"]["format"] == "~f"
    assert number(2003.0, 4) == "2003"
    assert number(20_030.0, 6) == "20,030"
