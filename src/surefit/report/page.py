"""The page: sections in their order, one style sheet, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from surefit.core.errors import DataError, FormatError, SurefitError
from surefit.core.files import atomic
from surefit.core.printable_text import visible
from surefit.plots.theme import AT_NIGHT
from surefit.report import parts
from surefit.report.svg import PALETTE
from surefit.study.predictions import Predictions
from surefit.study.record import Record

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
SECTIONS = ("answer", "audit", "columns", "leaderboard", "model", "errors", "certificate", "reproduce")
MOST_BYTES = 2_000_000


def render(record: Record, predictions: Predictions | None = None) -> str:
    """Return the report as one HTML page; without predictions it lacks what is drawn from them."""
    found = [(name, *_section(name, record, predictions)) for name in SECTIONS]
    style = _style()
    page = (
        _templates()
        .get_template("page.html")
        .render(record=record, sections=found, style=Markup(style), policy=_policy(style))
    )
    if len(page.encode()) > MOST_BYTES:
        raise DataError(
            f"the report would take {len(page.encode()) / 1e6:.1f} MB, above the limit of 2 MB: draw it "
            "without predictions."
        )
    return page


def _section(name: str, record: Record, predictions: Predictions | None) -> tuple[str, dict[str, Any]]:
    """The title and the content of a section; a record from elsewhere may contradict itself."""
    section = import_module(f"surefit.report.{name}")
    try:
        return section.TITLE, section.content(record, predictions)
    except SurefitError:
        raise
    except (ValueError, TypeError, IndexError, KeyError) as error:
        raise FormatError(f"the section {name!r} cannot be drawn from this record: {error}.") from error


def write(record: Record, predictions: Predictions | None, path: str | Path) -> Path:
    """Write the report to a file, whole or not at all."""
    page = render(record, predictions)
    with atomic(path) as file:
        file.write(page.encode())
    return Path(path)


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    found.filters |= {
        "cell": parts.cell,
        "rough": parts.rough,
        "visible": visible,
        "said": _said,
        "day": _day,
    }
    found.tests |= {"a_number": parts.is_number, "marked": lambda value: isinstance(value, parts.Marked)}
    return found


def _said(text: Any) -> str:
    """A sentence that may quote the table: long, but not without end."""
    return visible(text, 700)


def _day(moment: str) -> str:
    """An ISO moment without the seconds that nobody reads."""
    return visible(moment, 40).replace("T", " ")[:16]


def _style() -> str:
    """The style sheet, with the palette of the charts put in front of it."""
    day = "".join(f"--{name}:{colour};" for name, colour in PALETTE.items())
    night = "".join(f"--{name}:{AT_NIGHT[colour]};" for name, colour in PALETTE.items())
    # Paper is white whatever the screen is, so the night is for screens alone.
    palette = f":root{{{day}}}\n@media screen and (prefers-color-scheme: dark){{:root{{{night}}}}}\n"
    return palette + (FOLDER / "style.css").read_text(encoding="utf-8")


def _policy(style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
