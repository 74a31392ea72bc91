"""The report in a real browser: nothing runs, nothing leaves, everything fits and can be read."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import records

from surefit import report
from surefit.study.predictions import Predictions

ATTACKS = {
    "markup": (
        "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
        "<svg onload=document.title='ran'><a href=javascript:alert(1)>x</a>"
        '"><iframe src="https://example.com"></iframe><style>@import "https://example.com/a.css";</style>'
        "</style></title></textarea><link rel=stylesheet href=https://example.com/b.css>"
        "<meta http-equiv=refresh content='0;url=https://example.com'>"
    ),
    "quotes": '"\'`\\" onmouseover="alert(1)" style=\'background:url(https://example.com/c.png)\' {{7*7}}',
    "controls": "\x00\x07\x1b[31m\u202eright to left\u2066\u200f\u2028\x85",
    "length": "W" * 10_000,
}
WIDTHS = (375, 1280)
SCHEMES = ("light", "dark")


@cache
def sound_page() -> str:
    return report.render(*records.regression())


@cache
def hostile_page() -> str:
    """A report of two classes with an attack in every name, cell, class and sentence."""
    record, answers = records.two_classes()
    bad = tuple(ATTACKS.values())
    spoilt = Predictions(
        answers.row,
        answers.fold,
        np.array([records.spoil(name, bad) for name in answers.truth]),
        np.array([records.spoil(name, bad) for name in answers.prediction]),
        answers.probabilities,
        tuple(records.spoil(name, bad) for name in answers.classes),
    )
    return report.render(records.hostile(record, *bad), spoilt)


@dataclass
class Watched:
    """A page with all that it tried to do."""

    page: Any
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


@contextmanager
def opened(
    browser: Any, folder: Path, content: str, width: int = 1280, scheme: str = "light"
) -> Iterator[Watched]:
    place = folder / "report.html"
    place.write_bytes(content.encode())
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    watched = Watched(context.new_page())

    def caught(route: Any) -> None:
        if route.request.url == place.as_uri():
            route.continue_()
        else:
            watched.requests.append(route.request.url)
            route.abort()

    context.route("**/*", caught)
    watched.page.on("console", lambda message: watched.messages.append(message.text))
    watched.page.on("pageerror", lambda error: watched.messages.append(str(error)))
    watched.page.on("dialog", lambda dialog: (watched.dialogs.append(dialog.message), dialog.dismiss()))
    watched.page.goto(place.as_uri())
    yield watched
    context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_runs_leaves_or_overflows(browser: Any, tmp_path: Path, width: int) -> None:
    content = hostile_page()
    assert content.count("<figure") == 10
    with opened(browser, tmp_path, content, width) as seen:
        assert overflow(seen.page) <= 0
        seen.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        seen.page.mouse.move(width / 2, 300)
        seen.page.wait_for_timeout(50)
        assert (seen.requests, seen.messages, seen.dialogs) == ([], [], [])
        assert seen.page.title() != "ran"
        assert seen.page.locator("script, iframe, img, link, base, svg a, svg image").count() == 0
        assert seen.page.locator("main > section").count() == 8
        assert overflow(seen.page) <= 0


def overflow(page: Any) -> int:
    """By how many pixels the page can be scrolled sideways."""
    found: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return found


def brightness(page: Any) -> int:
    """Of the corner of a screenshot: one pixel, the strongest of its colours."""
    picture = page.screenshot(clip={"x": 2, "y": 2, "width": 1, "height": 1})
    start = picture.index(b"IDAT")
    size = int.from_bytes(picture[start - 4 : start])
    pixel = zlib.decompressobj().decompress(picture[start + 4 : start + 4 + size])
    return max(pixel[1:4])  # after the filter of the one line


def test_the_policy_stops_what_escaping_would_have_missed(browser: Any, tmp_path: Path) -> None:
    """The second line: with an attack put into the page as it is, still nothing runs and nothing leaves."""
    attack = ATTACKS["markup"].partition("<meta")[0]  # a policy has no word on where a page may lead
    content = sound_page().replace("<main>", f"<main>{attack}", 1)
    assert "<script>" in content
    with opened(browser, tmp_path, content) as seen:
        for _ in range(600):  # messages come when the browser finds the time
            seen.page.wait_for_timeout(100)
            if sum("Content Security Policy" in message for message in seen.messages) >= 4:
                break
        assert seen.page.title() != "ran"
        assert (seen.requests, seen.dialogs) == ([], [])
        assert sum("Content Security Policy" in message for message in seen.messages) >= 4


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_page_fits_and_can_be_read(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    with opened(browser, tmp_path, sound_page(), width, scheme) as seen:
        assert seen.messages == []
        assert overflow(seen.page) <= 0
        faint = seen.page.evaluate(FAINT_WORDS)
        assert faint == []
        assert seen.page.evaluate(SMALLEST_LETTERS) >= 8
        shown = brightness(seen.page)
        assert shown == 255 if scheme == "light" else shown < 40


def test_tables_open_and_the_contents_lead_to_their_sections(browser: Any, tmp_path: Path) -> None:
    with opened(browser, tmp_path, sound_page()) as seen:
        closed = seen.page.locator("figure details:not([open])").first
        assert not closed.locator("table").is_visible()
        closed.locator("summary").click()
        assert seen.page.locator("figure details[open] table").first.is_visible()
        seen.page.get_by_role("link", name="The certificate").click()
        assert seen.page.url.endswith("#certificate")
        assert seen.page.locator(":target").get_attribute("id") == "certificate"
        pictures = seen.page.get_by_role("img")
        assert pictures.count() == seen.page.locator("figure").count()


def test_paper_is_white_and_has_no_menu(browser: Any, tmp_path: Path) -> None:
    with opened(browser, tmp_path, sound_page(), scheme="dark") as seen:
        seen.page.emulate_media(media="print", color_scheme="dark")
        assert brightness(seen.page) == 255
        assert not seen.page.locator("nav").is_visible()
        seen.page.set_viewport_size({"width": 690, "height": 1000})  # of A4 within its margins
        assert overflow(seen.page) <= 0
        pages = seen.page.pdf(format="A4").count(b"/Type /Page\n")
        assert 3 <= pages <= 12


SMALLEST_LETTERS = """Math.min(...[...document.querySelectorAll('svg text')].map(text =>
  parseFloat(getComputedStyle(text).fontSize) * Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b)))"""
FAINT_WORDS = """(() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const linear = c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const light = rgb => rgb.slice(0, 3).map(c => linear(c / 255))
    .reduce((sum, c, k) => sum + c * [.2126, .7152, .0722][k], 0);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const colour = channels(getComputedStyle(e).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || ['title', 'desc'].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const colour = channels(element.closest('svg') ? style.fill : style.color);
    const [a, b] = [light(colour), light(behind(element))].sort((x, y) => y - x);
    const contrast = (a + .05) / (b + .05);
    if (contrast < 4.5) found.push([walk.currentNode.textContent.slice(0, 40), contrast]);
  }
  return found;
})()"""
