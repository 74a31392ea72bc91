"""Drawings on the report: built anew from what is harmless, in colours for day and night."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.e2e.pages import parsed
from tests.laws.charts import rows_with

from surefit.core.errors import FormatError
from surefit.plots import plot_answers, plot_confusion, plot_scores, plot_worths, theme, to_svg, tree
from surefit.report import page as page_module
from surefit.report import svg
from surefit.report.svg import picture

SPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
FRAME = f'<svg {SPACES} viewBox="0 0 9 9">{{}}</svg>'


@pytest.mark.parametrize(
    "bad",
    [
        "<script>alert(1)</script>",
        "<style>* { fill: url(https://example.com) }</style>",
        "<foreignObject><body onload='alert(1)'/></foreignObject>",
        "<image href='https://example.com/a.png'/>",
        "<use href='#x'/>",
        "<a href='javascript:alert(1)'><path d='M0,0'/></a>",
        "<animate attributeName='href' values='javascript:alert(1)'/>",
        "<set attributeName='onload' to='alert(1)'/>",
        "<iframe src='https://example.com'/>",
    ],
)
def test_an_element_that_is_not_known_is_left_out(bad: str) -> None:
    kept = parsed(picture(FRAME.format(f"{bad}<g>{bad}<path d='M1,1'/></g>"), "k", "t"))
    assert [element.tag for element in kept.all()] == ["svg", "title", "g", "path"]
    assert "alert" not in kept.text


@pytest.mark.parametrize(
    "attribute",
    [
        "onload='alert(1)'",
        "onclick='alert(1)'",
        "style='fill:red'",
        "href='javascript:alert(1)'",
        "xlink:href='https://example.com'",
        "class='x'",
        "id='main'",
        "fill='url(#x)'",
        "fill='url(https://example.com/)'",
        "stroke='javascript:alert(1)'",
        "transform='translate(1) url(x)'",
        "d='M0,0\"&gt;&lt;script&gt;'",
        "width='expression(alert(1))'",
        "font-weight='bold;x:y'",
    ],
)
def test_an_attribute_that_is_not_known_is_left_out(attribute: str) -> None:
    [kept] = parsed(picture(FRAME.format(f"<rect {attribute} height='3'/>"), "k", "t")).all("rect")
    assert kept.attributes == {"height": "3"}


def test_words_stay_words() -> None:
    drawing = FRAME.format("<text>&lt;b&gt; &amp; &quot;</text><g>hidden</g>")
    kept = parsed(picture(drawing, "k", "<i>", '"'))
    assert [element.text for element in kept.all("text", "title", "desc")] == ["<i>", '"', '<b> & "']
    assert "hidden" not in kept.text


@pytest.mark.parametrize(
    ("drawing", "why"),
    [
        ("", "not SVG"),
        ("<svg", "not SVG"),
        ("<html></html>", "begins with 'html'"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>', "document type"),
        ("<svg>" + " " * svg.MOST_CHARACTERS + "</svg>", "too large"),
    ],
    ids=["empty", "cut", "page", "typed", "large"],
)
def test_what_is_no_drawing_is_refused(drawing: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        picture(drawing, "k", "t")


def test_a_chart_looks_the_same_after_it() -> None:
    """Every shape and word of a real chart is kept; colours become the page's."""
    before = to_svg(plot_worths(["a", "b"], [1.0, 2.0], [0.5, 1.5], [1.5, 2.5]))
    after = str(picture(before, "k", "t"))
    for tag in ("text", "line"):
        assert len(re.findall(f"<{tag}[ >]", after)) == len(re.findall(f"<{tag}[ >]", before))
    assert before.count(theme.BLUE) == after.count("var(--blue)") > 0
    assert not re.findall("#[0-9a-fA-F]{6}", after)


@settings(max_examples=4, deadline=None, derandomize=True)
@given(st.text(min_size=1, max_size=50), st.sampled_from(['\\"', "\\", "</text>", "]]>", "\x00\ufffe\ud800"]))
def test_no_name_breaks_a_chart(name: str, bad: str) -> None:
    bad = name + bad
    charts = [
        plot_answers(bad, [1.0, 2.0], [1.0, 2.0], [0.0, 1.0], [2.0, 3.0], answer=bad),
        plot_answers(bad, [bad, bad + "2"], [1.0, 2.0], [0.0, 1.0], [2.0, 3.0]),
        plot_worths([bad, bad + "2"], [1.0, 2.0], [0.0, 1.0], [2.0, 3.0], said=""),
    ]
    for chart in charts:
        tags = {element.tag for element in parsed(picture(to_svg(chart), "k", "t")).all()}
        assert tags <= {"svg", "title", "g", "path", "rect", "line", "text"}


def test_long_names_that_begin_alike_stay_apart() -> None:
    names = [f"{'a' * 10_000}{k}" for k in range(3)]
    chart = plot_scores(names, [(0.9, 0.8, 1.0), (0.5, 0.4, 0.6), (0.4, 0.3, 0.5)], best=names[:2])
    rows = rows_with(chart, "model")
    assert len({row["model"] for row in rows}) == 3
    assert max(len(row["model"]) for row in rows) <= 28
    truth = np.array(names)
    labels = {row["true"] for row in rows_with(plot_confusion(truth, truth), "true")}
    assert len(labels) == 3


def rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], dtype=float)


def contrast(one: np.ndarray, two: np.ndarray) -> float:
    def luminance(channels: np.ndarray) -> float:
        share = channels / 255
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    dark, light = sorted([luminance(one), luminance(two)])
    return (light + 0.05) / (dark + 0.05)


def variables(theme_name: str) -> dict[str, np.ndarray]:
    """The colours of the style sheet by day or by night."""
    style = page_module._style()
    night = [part.split("}")[0] for part in style.split("prefers-color-scheme: dark)")[1:]]
    day = [
        part.split("}")[0] for part in re.split(r"@media screen[^{]*\{\s*:root", style)[0].split(":root")[1:]
    ]
    day += [
        part.split("}")[0] for part in style.split(":root")[1:] if "color-scheme: light" in part.split("}")[0]
    ]
    found = dict(re.findall(r"--(\w+):\s*(#[0-9a-fA-F]{6})", " ".join(day)))
    if theme_name == "night":
        found |= dict(re.findall(r"--(\w+):\s*(#[0-9a-fA-F]{6})", " ".join(night)))
    return {name: rgb(colour) for name, colour in found.items()}


@pytest.mark.parametrize("time", ["day", "night"])
def test_words_can_be_read(time: str) -> None:
    """At least 4.5 to 1, as the web's guidelines ask of words; lines and marks 3 to 1."""
    colours = variables(time)
    assert {"good", "warn", "bad", "link", "card", "line", "ink", "faded", "paper", "heat"} <= set(colours)
    for words in ("ink", "faded", "good", "warn", "bad", "link"):
        for ground in ("paper", "card"):
            assert contrast(colours[words], colours[ground]) >= 4.5, (words, ground)
    for mark in ("blue", "vermilion", "green"):
        assert contrast(colours[mark], colours["paper"]) >= 3, mark
    assert contrast(colours["blue"], colours["paper"]) >= 4.5  # the letters of the leaderboard
    for share in np.linspace(0, theme.DEEPEST, 9):  # cells of a confusion
        cell = share * colours["heat"] + (1 - share) * colours["paper"]
        assert contrast(colours["ink"], cell) >= 4.5, share
    for name in ("blue", "vermilion", "green", "purple", "orange", "sky"):  # boxes of a tree
        box = tree.DEEPEST * colours[name] + (1 - tree.DEEPEST) * colours["paper"]
        assert contrast(colours["ink"], box) >= 4.5, name
