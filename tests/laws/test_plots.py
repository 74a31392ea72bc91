"""What holds for every chart: it is small, needs no network, cannot run code from data, and can be read."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest
from tests.laws.charts import tables_in

from surefit import Trace
from surefit.core.errors import DataError, ParameterError
from surefit.plots import plot_trace, save, theme, to_html, to_png, to_svg
from surefit.plots.base import MOST_ROWS, rows_of, styled, thinned

HOSTILE = "</script><script>alert(1)</script><b>&"


def trace_of(objective: Any = None, gap: Any = None) -> Trace:
    trace = Trace()
    for i in trace.iterations(len(objective if objective is not None else gap)):
        trace.record(
            objective=None if objective is None else float(objective[i]),
            gap=None if gap is None else float(gap[i]),
            passes=2 * i + 1,
        )
    return trace


FALLING = trace_of(1 + 0.5 ** np.arange(30), 0.5 ** np.arange(30))


def panels(chart: Any) -> list[dict[str, Any]]:
    return [panel["layer"][0] for panel in chart.to_dict()["vconcat"]]


def hostile_chart() -> Any:
    data = rows_of({"x": [1.0, 2.0], "name": [HOSTILE, "b"]})
    return styled(alt.Chart(data, title=HOSTILE).mark_bar().encode(x="x:Q", y=alt.Y("name:N", title=HOSTILE)))


def test_a_picture_has_every_word() -> None:
    words = re.sub(r"<[^>]+>", "\n", to_svg(FALLING.plot(tolerance=1e-8))).split("\n")
    for text in ("Convergence over 30 iterations", "Objective", "Gap to the optimum, at most", "Iteration"):
        assert words.count(text) == 1
    assert "tolerance 1e-8" in words
    assert any("gap 1.9e-9 (within the tolerance) · 59 passes over the data · " in word for word in words)


def test_a_picture_in_pixels_is_as_large_as_asked() -> None:
    one, two = (to_png(FALLING.plot(), scale=scale) for scale in (1, 2))
    assert one.startswith(b"\x89PNG\r\n\x1a\n")
    sizes = [np.frombuffer(png[16:24], dtype=">u4") for png in (one, two)]
    assert sizes[0][0] >= theme.WIDTH
    np.testing.assert_allclose(sizes[1], 2 * sizes[0], atol=2)


def test_a_page_holds_all_that_it_needs() -> None:
    page = to_html(FALLING.plot())
    seen: list[tuple[str, list[str]]] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.append((tag, [name for name, _ in attrs]))

    Tags().feed(page)
    assert [tag for tag, _ in seen].count("script") == 2
    assert not [tag for tag, names in seen if {"src", "href"} & set(names)]
    assert "default-src 'none'" in page
    assert "window.vegaEmbed" in page
    assert json.loads(re.search(r"const spec = (.*);\n", page)[1]) == FALLING.plot().to_dict()


def test_text_from_data_stays_text() -> None:
    page = to_html(hostile_chart(), title=HOSTILE)
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert page.count("</script>") == 2
    picture = to_svg(hostile_chart())
    assert "alert(1)" in picture
    assert "<script" not in picture


def test_a_chart_fetches_nothing() -> None:
    away = alt.Chart("http://127.0.0.1:9/table.csv").mark_point().encode(x="x:Q")
    with pytest.raises(ValueError, match=r"127\.0\.0\.1"):
        to_svg(away)
    with pytest.raises(ValueError, match=r"127\.0\.0\.1"):
        to_png(away)


@pytest.mark.parametrize(
    ("name", "start"), [("a.svg", b"<svg"), ("b.PNG", b"\x89PNG"), ("c.html", b"<!DOCTYPE html>")]
)
def test_the_ending_says_how_to_save(tmp_path: Path, name: str, start: bytes) -> None:
    assert save(FALLING.plot(), tmp_path / name).read_bytes().startswith(start)


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"'a\.docx': let the name end in .svg, .png or .html"):
        save(FALLING.plot(), tmp_path / "a.docx")
    assert not list(tmp_path.iterdir())


def test_too_many_rows_are_refused() -> None:
    assert len(rows_of({"x": np.zeros(MOST_ROWS)})) == MOST_ROWS
    with pytest.raises(DataError, match=r"5001 rows .* aggregate or thin"):
        rows_of({"x": np.zeros(MOST_ROWS + 1)})


def test_what_is_not_finite_is_missing() -> None:
    values = rows_of({"x": [1.0, np.nan, np.inf], "name": ["a", "b", "c"]}).to_pylist()
    assert values == [{"x": 1.0, "name": "a"}, {"x": None, "name": "b"}, {"x": None, "name": "c"}]


@pytest.mark.parametrize("count", [3, 100, 101, 5000])
def test_a_thinned_line_keeps_its_ends_and_its_extremes(count: int) -> None:
    values = np.random.default_rng(count).normal(size=count)
    values[count // 3] = np.nan
    kept = thinned(values, most=100)
    assert len(kept) <= 100
    assert (np.diff(kept) > 0).all()
    assert {0, count - 1, int(np.nanargmin(values)), int(np.nanargmax(values))} <= set(kept.tolist())


def test_a_long_trace_makes_a_small_chart() -> None:
    long = trace_of(np.linspace(9, 1, 20_000), np.geomspace(1, 1e-9, 20_000))
    tables = tables_in(long.plot())
    assert len(tables) == 2
    assert all(len(rows) <= 1000 for rows in tables)
    assert [rows[-1]["iteration"] for rows in tables] == [20_000, 20_000]


def test_only_what_was_measured_is_drawn() -> None:
    titles = [
        [panel["encoding"]["y"]["title"] for panel in panels(plot_trace(trace))]
        for trace in (FALLING, trace_of([3.0, 2.0]), trace_of(gap=[1.0, 0.1]), trace_of([3.0], [0.0]))
    ]
    objective, gap = "Objective", "Gap to the optimum, at most"
    assert titles == [[objective, gap], [objective], [gap], [objective]]
    for empty in (Trace(), trace_of(gap=[np.nan])):
        with pytest.raises(DataError, match="neither objective nor gap"):
            plot_trace(empty)


@pytest.mark.parametrize(
    ("objective", "scale"), [([300.0, 1.0], "log"), ([30.0, 1.0], "linear"), ([300.0, -1.0], "linear")]
)
def test_the_axis_of_the_objective_suits_it(objective: list[float], scale: str) -> None:
    assert panels(plot_trace(trace_of(objective)))[0]["encoding"]["y"]["scale"]["type"] == scale


def test_a_gap_of_zero_is_drawn_at_the_bottom_and_says_so() -> None:
    chart = plot_trace(trace_of(gap=[1.0, 1e-3, 0.0, -1e-18]))
    [rows] = tables_in(chart)
    assert [row["drawn"] for row in rows] == [1.0, 1e-3, 1e-4, 1e-4]
    assert [row["value"] for row in rows] == [1.0, 1e-3, 0.0, -1e-18]
    assert ">0</text>" in to_svg(chart)


def test_lines_stand_out_from_the_background() -> None:
    """At least 3 to 1, as the web's guidelines ask of graphics."""

    def luminance(colour: str) -> float:
        channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    for colour in (*theme.COLOURS[:3], theme.INK, theme.FADED):
        assert 1.05 / (luminance(colour) + 0.05) >= 3


def test_charts_are_loaded_only_when_drawn() -> None:
    program = """import sys
import surefit.plots
from surefit import Trace
print("altair" in sys.modules, "vl_convert" in sys.modules)"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["False", "False"]
