"""The report as a page: what stands in it, that nothing in it can act, and that it stays small."""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import records
from tests.e2e.pages import Element, parsed

from surefit import metrics, report
from surefit.cli.report import command
from surefit.core.errors import DataError
from surefit.core.printable_text import visible
from surefit.report import page as page_module
from surefit.report.parts import cell, shell_word
from surefit.study.predictions import Predictions
from surefit.study.record import ColumnRecord, FindingRecord, Record

KINDS = ("regression", "two_classes", "many_classes")
NOTHING = Predictions(np.arange(0), np.arange(0), np.arange(0), np.arange(0))


@cache
def study(kind: str) -> tuple[Record, Predictions]:
    found: tuple[Record, Predictions] = getattr(records, kind)()
    return found


@cache
def drawn(kind: str) -> str:
    return report.render(*study(kind))


@cache
def taken_apart(kind: str) -> Element:
    return parsed(drawn(kind))


@cache
def without_charts() -> Record:
    """A record with everything but what is drawn, so that a page takes no time."""
    record, _ = study("regression")
    chosen = replace(record.chosen, coefficients=())
    return replace(record, chosen=chosen, leaderboard=record.leaderboard[-1:], importance=(), dependence=())


def section(page: Element, name: str) -> Element:
    [found] = [part for part in page.all("section") if part.attributes["id"] == name]
    return found


def rows_of(table: Element) -> list[list[str]]:
    return [[" ".join(entry.text.split()) for entry in row.all("td")] for row in table.one("tbody").all("tr")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_landmarks_headings_and_links_that_lead_somewhere(kind: str) -> None:
    assert drawn(kind).startswith("<!DOCTYPE html>")
    page = taken_apart(kind)
    assert page.one("html").attributes["lang"] == "en"
    body = page.one("body")
    assert [child.tag for child in body.children] == ["header", "nav", "main", "footer"]
    levels = [int(heading.tag[1]) for heading in page.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip([0, *levels], levels, strict=False))
    sections = [part.attributes["id"] for part in page.all("section")]
    assert sections == list(page_module.SECTIONS)
    ids = [element.attributes["id"] for element in page.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    links = [link.attributes["href"] for link in page.all("a")]
    assert links == [f"#{name}" for name in sections]
    for part in page.all("section"):
        assert part.attributes["aria-labelledby"] in ids


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_on_the_page_can_act(kind: str) -> None:
    page = taken_apart(kind)
    tags = {element.tag for element in page.all()}
    assert not tags & {"script", "iframe", "object", "embed", "form", "input", "link", "base", "img", "use"}
    names = {name for element in page.all() for name in element.attributes}
    assert not {name for name in names if name.startswith("on")}
    assert not names & {"src", "style", "action", "srcdoc", "xlink:href"}
    assert "url(" not in drawn(kind)
    assert "javascript:" not in drawn(kind)


def test_the_policy_allows_the_one_style_sheet_and_nothing_else() -> None:
    page = taken_apart("regression")
    head = page.one("head").children
    policy = next(
        one for one in head if (one.attributes.get("http-equiv") or "") == "Content-Security-Policy"
    )
    assert head.index(policy) < head.index(page.one("style"))
    digest = base64.b64encode(hashlib.sha256(page.one("style").text.encode()).digest()).decode()
    rules = dict(rule.strip().split(" ", 1) for rule in (policy.attributes["content"] or "").split(";"))
    assert rules == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest}'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


@pytest.mark.parametrize(
    ("kind", "charts"),
    [
        ("regression", ["leaderboard-scores", "model-weights-0", "model-importance", "model-dependence-0",
                        "model-dependence-1", "model-dependence-2", "errors-residuals"]),
        ("two_classes", ["leaderboard-scores", "model-tree", "model-importance", "model-dependence-0",
                         "model-dependence-1", "errors-confusion", "errors-roc", "errors-precision-recall",
                         "errors-calibration", "errors-threshold"]),
        ("many_classes", ["leaderboard-scores", "model-weights-0", "model-weights-1", "model-weights-2",
                          "model-importance", "model-dependence-0", "model-dependence-1", "errors-confusion",
                          "errors-roc", "errors-calibration"]),
    ],
)  # fmt: skip
def test_every_chart_has_words_and_a_table_behind_it(kind: str, charts: list[str]) -> None:
    figures = taken_apart(kind).all("figure")
    assert [figure.one("title").attributes["id"] for figure in figures] == [
        f"{name}-title" for name in charts
    ]
    assert len(taken_apart(kind).all("svg")) == len(figures)
    for figure in figures:
        drawing = figure.one("svg")
        assert drawing.attributes["role"] == "img"
        named = (drawing.attributes["aria-labelledby"] or "").split()
        assert named[0] == figure.one("title").attributes["id"]
        assert figure.one("title").text.strip()
        assert len(drawing.all("path", "line", "rect")) >= 3
        behind = figure.one("details")
        assert len(rows_of(behind.one("table"))) >= 1


def test_the_answer_comes_first() -> None:
    record, _ = study("regression")
    answer = section(taken_apart("regression"), "answer")
    assert taken_apart("regression").one("main").children[0] is answer
    said = [" ".join(line.one("span").text.split()) for line in answer.one("ol").all("li")]
    assert said == list(record.answer)
    assert "0.836" in answer.text  # the score that allows for the choice, and not the best of many
    assert "holds" in answer.text


def test_the_leaderboard_is_the_records() -> None:
    table = section(taken_apart("regression"), "leaderboard").all("table")[0]
    rows = rows_of(table)
    assert [row[:5] for row in rows[:2]] == [
        ["Elastic net", "0.842", "0.821 to 0.863", "a", "–"],
        ["Ridge regression chosen", "0.838", "0.816 to 0.86", "a", "0.41"],
    ]
    assert rows[-1][0] == "Mean of the target baseline"
    assert "The target has values at or below zero." in section(taken_apart("regression"), "leaderboard").text


def test_the_confusion_behind_its_chart_is_the_metrics() -> None:
    _, answers = study("many_classes")
    [figure] = [
        one
        for one in taken_apart("many_classes").all("figure")
        if one.one("title").attributes["id"] == "errors-confusion-title"
    ]
    shown = [[int(entry) for entry in row[1:]] for row in rows_of(figure.one("table"))]
    assert shown == metrics.confusion_matrix(answers.truth, answers.prediction).tolist()


def test_every_part_of_the_record_is_on_the_page() -> None:
    record, _ = study("two_classes")
    words = " ".join(taken_apart("two_classes").text.split())
    for said in (
        *(finding.message for finding in (*record.audit, *record.chosen.diagnosis)),
        *(finding.remedy for finding in record.audit),
        record.chosen.why,
        record.resampling,
        record.environment.command,
        record.table.digest,
        record.environment.machine,
        "It does not hold. One split can be improved.",
        "a sample of 5000 rows",
        "answer 'leaves' from a probability of 0.2 on",
        "surefit verify model.safetensors customers.parquet --target churn",
        *(column.name for column in record.columns),
    ):
        assert said in words, said
    program = section(taken_apart("two_classes"), "reproduce").all("pre")[1].text
    assert program.splitlines() == record.environment.script.splitlines()


def test_a_page_without_answers_says_so_and_lacks_what_is_drawn_from_them() -> None:
    record = replace(without_charts(), worst=())
    for answers in (None, NOTHING):
        part = section(parsed(report.render(record, answers)), "errors")
        assert not part.all("figure")
        assert "were not kept" in part.text


def test_a_study_in_which_nothing_could_be_fitted_has_a_page() -> None:
    record = replace(without_charts(), audit=(), chosen=replace(without_charts().chosen, certificate=None))
    page = parsed(report.render(record, None))
    assert "No model could be scored." in page.text
    assert "found nothing to object to" in section(page, "audit").text
    assert "makes no claim" in section(page, "certificate").text


def test_one_class_alone_and_more_classes_than_can_be_drawn_have_a_page() -> None:
    _, answers = study("two_classes")
    bare = replace(without_charts(), task="classification", positive="leaves", classes=("leaves", "stays"))
    one = answers.truth == "leaves"
    alone = Predictions(
        answers.row[one],
        answers.fold[one],
        answers.truth[one],
        answers.prediction[one],
        answers.probabilities[one],
        answers.classes,
    )
    figures = parsed(report.render(bare, alone)).all("figure")
    assert [figure.one("title").attributes["id"] for figure in figures] == ["errors-confusion-title"]
    names = np.array([f"c{k:02}" for k in range(40)])
    many = Predictions(np.arange(40), np.zeros(40, dtype=int), names, names[::-1])
    part = section(parsed(report.render(bare, many)), "errors")
    assert not part.all("figure")
    assert len(rows_of(part.all("table")[0])) == 40


def test_a_huge_study_makes_a_small_page() -> None:
    base = without_charts()
    long = "name " * 2000
    columns = tuple(
        ColumnRecord(f"{k} {long}", "category", long, k, k, True, ((long, long),) * 50) for k in range(10_000)
    )
    finding = FindingRecord(
        "code", "warning", long, long, (long,) * 10_000, {f"{k}": 1.0 for k in range(999)}
    )
    record = replace(
        base,
        columns=columns,
        audit=(finding,) * 500,
        leaderboard=base.leaderboard * 500,
        worst=study("regression")[0].worst * 500,
        environment=replace(base.environment, script="x = 1\n" * 200_000),
        chosen=replace(base.chosen, diagnosis=(finding,) * 500, rules=f"{long}\n" * 5000),
    )
    page = report.render(record, None)
    assert 100_000 < len(page.encode()) < 2_000_000
    assert "and 9,800 more rows" in page


def test_what_would_be_too_large_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "report.html"
    report.write(without_charts(), None, place)
    before = place.read_bytes()
    monkeypatch.setattr(page_module, "MOST_BYTES", 1000)
    with pytest.raises(DataError, match="above the limit of 2 MB"):
        report.write(without_charts(), None, place)
    assert place.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_same_record_gives_the_same_page_after_a_file() -> None:
    again = Record.from_json(without_charts().to_json())
    assert report.render(again, None) == report.render(without_charts(), None)


HARMLESS = "plain"
ACTS = ["<script>", "</style>", "-->", "<!--", "{{7*7}}", "{% x %}", "'", '"', "&lt;", "]]>", "</td>", "\\"]


@cache
def shape_of(bad: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Which elements the page has, with which attributes, when that text is everywhere."""
    page = parsed(report.render(records.hostile(without_charts(), bad), None))
    return tuple((element.tag, tuple(element.attributes)) for element in page.all())


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.one_of(
        st.text(min_size=1, max_size=30).filter(str.strip),
        st.lists(
            st.sampled_from(ACTS),
            min_size=1,
        ).map("".join),
    )
)  # fmt: skip
def test_no_text_changes_the_page_around_it(bad: str) -> None:
    assert shape_of(bad) == shape_of(HARMLESS)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.text(max_size=60))
def test_text_arrives_as_it_is_with_what_acts_spelt_out(bad: str) -> None:
    page = parsed(report.render(replace(without_charts(), target=bad), None)) if bad.strip() else None
    shown = visible(bad, 80)
    if page is not None:
        assert shown.split() == page.one("h1").one("bdi").text.split()
    assert not re.search("[\x00-\x08\x0e-\x1f\u202a-\u202e\u2066-\u2069\u2028]", shown)


@pytest.mark.parametrize(
    "text", ["price", "my table.csv", "it's", "a\nb", "tab\there", 'do "not"', "$HOME", "é"]
)
def test_a_command_can_be_pasted(text: str) -> None:
    import subprocess

    word = shell_word(text)
    assert visible(word) == word
    if not word.startswith("$'"):
        assert shlex.split(word) == [text]
    done = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert done.stdout.decode() == text


def test_numbers_are_written_for_readers() -> None:
    shown = [cell(value) for value in (np.float64(0.5).item(), -3, 1e-9, float("nan"), None, "", False)]
    assert shown == ["0.5", "−3", "1e-9", "–", "–", "", "no"]


class TestVerb:
    def test_a_folder_becomes_a_page(self, tmp_path: Path) -> None:
        without_charts().save(tmp_path / "report.json")
        done = CliRunner().invoke(command, [str(tmp_path)])
        assert done.exit_code == 0
        assert str(tmp_path / "report.html") in done.stdout
        assert "predictions.parquet is not there" in done.stderr
        assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.render(without_charts(), None)

    def test_a_record_goes_where_it_is_told(self, tmp_path: Path) -> None:
        record, answers = replace(without_charts(), worst=()), study("regression")[1]
        record.save(tmp_path / "report.json")
        answers.save(tmp_path / "predictions.parquet")
        out = tmp_path / "page.html"
        done = CliRunner().invoke(command, [str(tmp_path / "report.json"), "--out", str(out), "--json"])
        assert done.exit_code == 0
        assert '"report"' in done.stdout
        assert "Every one of 900 answers" in out.read_text(encoding="utf-8")

    @pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 99}', '{"version": 1}'])
    def test_what_is_no_record_ends_in_one_sentence(self, tmp_path: Path, content: str) -> None:
        (tmp_path / "report.json").write_text(content, encoding="utf-8")
        done = CliRunner().invoke(command, [str(tmp_path)])
        assert done.exit_code == 1
        assert done.stderr.splitlines()[-1].startswith("surefit: ")
        assert "Traceback" not in done.output
        assert not (tmp_path / "report.html").exists()

    def test_a_missing_folder_is_named(self, tmp_path: Path) -> None:
        done = CliRunner().invoke(command, [str(tmp_path / "nowhere")])
        assert done.exit_code == 1
        assert "nowhere" in done.stderr
