"""Reports of odd studies: records and answers that are small, broken, or contradict themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests import records
from tests.e2e.pages import Element, parsed

from surefit import report
from surefit.core.errors import FormatError
from surefit.study.predictions import Predictions
from surefit.study.record import Record


def plain() -> Record:
    """A record of which nothing is drawn."""
    record, _ = records.regression()
    chosen = replace(record.chosen, coefficients=())
    return replace(record, chosen=chosen, leaderboard=record.leaderboard[-1:], importance=(), dependence=())


def classes() -> Record:
    return replace(plain(), task="classification", positive="b", classes=("a", "b"))


def section(page: str, name: str) -> Element:
    [found] = [part for part in parsed(page).all("section") if part.attributes["id"] == name]
    return found


def charts(page: str) -> list[str]:
    return [str(one.one("title").attributes["id"]) for one in parsed(page).all("figure")]


def answers(truth: list[object], prediction: list[object], chance: list[float] | None = None) -> Predictions:
    rows = np.arange(len(truth))
    shares = None if chance is None else np.column_stack([1 - np.array(chance), chance])
    names = () if chance is None else ("a", "b")
    return Predictions(rows, rows, np.array(truth), np.array(prediction), shares, names)


def test_one_row_has_a_page() -> None:
    assert charts(report.render(plain(), answers([1.0], [2.0]))) == ["errors-residuals-title"]
    assert charts(report.render(classes(), answers(["a"], ["b"], [0.5]))) == ["errors-confusion-title"]


def test_answers_that_are_no_numbers_are_left_out() -> None:
    page = report.render(plain(), answers([1.0, 2.0, np.nan, 4.0], [1.0, np.inf, 3.0, 4.0]))
    assert "2 rows; root mean squared error 0" in section(page, "errors").text
    assert charts(report.render(plain(), answers([np.nan], [np.nan]))) == []


def test_rows_without_probabilities_are_left_out_of_curves() -> None:
    given = answers(["a", "b", "a", "b"], ["a", "b", "a", "a"], [0.1, 0.9, np.nan, 0.4])
    page = report.render(classes(), given)
    assert charts(page) == [
        "errors-confusion-title",
        "errors-roc-title",
        "errors-precision-recall-title",
        "errors-calibration-title",
    ]
    only = answers(["a", "b"], ["a", "b"], [0.1, np.nan])
    assert charts(report.render(classes(), only)) == ["errors-confusion-title"]


def test_values_of_every_size_have_a_page() -> None:
    for scale in (1e-100, 1e-12, 1e12, 1e100):
        values = (scale * np.linspace(1, 2, 60)).tolist()
        assert charts(report.render(plain(), answers(values, values[::-1]))) == ["errors-residuals-title"]


def test_a_record_that_contradicts_itself_is_refused_in_a_sentence() -> None:
    record, _ = records.regression()
    short = replace(record.dependence[0], mean=record.dependence[0].mean[:3])
    with pytest.raises(FormatError, match="the section 'model' cannot be drawn from this record"):
        report.render(replace(plain(), dependence=(short,)), None)
    with pytest.raises(FormatError, match="the section 'errors' cannot be drawn"):
        report.render(plain(), answers(["a"], ["b"]))


TREES = {
    "empty": "",
    "cut": "<svg",
    "page": "<html></html>",
    "typed": '<!DOCTYPE svg [<!ENTITY a "b">]><svg/>',
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_a_tree_that_cannot_be_read_is_left_out_and_its_rules_stay(tree: str) -> None:
    chosen = replace(plain().chosen, tree=tree, rules="x <= 1\n  yes\n<b>no</b>")
    part = section(report.render(replace(plain(), chosen=chosen), None), "model")
    assert not part.all("figure")
    assert [row.text for row in part.all("td")][:3] == ["x <= 1", "  yes", "<b>no</b>"]


def test_the_command_names_the_weights_and_the_rows_that_were_fitted_to() -> None:
    base = replace(plain(), weight="how often", files={**records.FILES, "sample": "sample.parquet"})
    said = " ".join(section(report.render(base, None), "certificate").text.split())
    assert "surefit verify model.safetensors sample.parquet --target price --weight 'how often'" in said
