"""Drawings built anew out of what is known to be harmless, in colours that follow the page."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from markupsafe import Markup, escape

from surefit.core.errors import FormatError
from surefit.plots import theme

MOST_CHARACTERS = 1_500_000
PALETTE = {
    name.lower(): getattr(theme, name)
    for name in (
        "BLUE", "VERMILION", "GREEN", "PURPLE", "ORANGE", "SKY", "INK", "FADED", "GRID", "PAPER", "HEAT",
    )
}  # fmt: skip

_SHAPES = {"g", "path", "rect", "line", "circle", "text", "tspan", "polygon", "polyline", "ellipse"}
_COLOURS = {"fill", "stroke"}
_WORDS = {
    "text-anchor": r"start|middle|end",
    "font-weight": r"normal|bold|\d{3}",
    "font-style": r"normal|italic",
    "stroke-linecap": r"butt|round|square",
    "stroke-linejoin": r"miter|round|bevel",
    "display": r"none|inline",
}
_NUMBERS = {
    "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "cx", "cy", "r", "rx", "ry", "width", "height", "opacity",
    "fill-opacity", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-dashoffset",
    "stroke-miterlimit", "font-size", "points", "viewBox",
}  # fmt: skip
_NUMERIC = re.compile(r"[-+\d.,eE\s]*(?:px)?")
_PATH = re.compile(r"[MmLlHhVvCcSsQqTtAaZz\d\s,.eE+-]*")
_TRANSFORM = re.compile(r"(?:\s*(?:translate|rotate|scale)\([-+\d.,eE\s]*\))*\s*")
_COLOUR = re.compile(r"none|transparent|white|black|#[0-9a-fA-F]{3}|#[0-9a-fA-F]{6}|rgb\([\d\s,.]*\)")
_LONG = re.compile(r"(-?\d+\.\d\d)\d+(?!\d*e)")
_VARIABLES = {colour.lower(): f"var(--{name})" for name, colour in PALETTE.items()}
_VARIABLES |= {"white": "var(--paper)", "#ffffff": "var(--paper)"}


def picture(drawing: str, key: str, title: str, description: str = "") -> Markup:
    """Return the drawing as an element for the page, with its words for those who do not see it.

    >>> hostile = '<svg viewBox="0 0 9 9" onload="x()"><script>x()</script><rect fill="#0072B2"/></svg>'
    >>> print(picture(hostile, "one", "A <box>"))
    <svg viewBox="0 0 9 9" role="img" aria-labelledby="one-title"><title id="one-title">A &lt;box&gt;</title>\
<rect fill="var(--blue)"></rect></svg>
    """
    root = _parsed(drawing)
    known = _attributes(root)
    size = known.get("viewBox") or f"0 0 {known.get('width', '100')} {known.get('height', '100')}"
    width = (
        f' width="{known["width"]}" height="{known["height"]}"' if {"width", "height"} <= set(known) else ""
    )
    named = f"{key}-title {key}-words" if description else f"{key}-title"
    words = f'<title id="{escape(key)}-title">{escape(title)}</title>'
    if description:
        words += f'<desc id="{escape(key)}-words">{escape(description)}</desc>'
    inside = "".join(_drawn(child) for child in root)
    return Markup(  # of parts that are known attributes or escaped
        f'<svg viewBox="{size}"{width} role="img" aria-labelledby="{escape(named)}">{words}{inside}</svg>'
    )


def _parsed(drawing: str) -> ElementTree.Element:
    if len(drawing) > MOST_CHARACTERS:
        raise FormatError(f"a drawing of {len(drawing):,} characters is too large for a report.")
    if "<!" in drawing:  # a document type can define entities that grow without end
        raise FormatError("the drawing is not plain SVG: it declares a document type.")
    try:
        root = ElementTree.fromstring(drawing)
    except ElementTree.ParseError as error:
        raise FormatError(f"the drawing is not SVG: {error}.") from None
    if _tag(root) != "svg":
        raise FormatError(f"the drawing is not SVG: it begins with {_tag(root)!r}.")
    return root


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _drawn(element: ElementTree.Element) -> str:
    tag = _tag(element)
    if tag not in _SHAPES or element.get("display") == "none":
        return ""
    known = _attributes(element)
    if tag == "path" and element.get("class") in {"background", "foreground"} and not set(known) & _COLOURS:
        return ""  # vega frames every group with a path that nothing is seen of
    children = "".join(_drawn(child) + str(escape(child.tail or "")).strip() for child in element)
    words = str(escape(element.text or "")) if tag in {"text", "tspan"} else ""
    if tag == "g" and not children:
        return ""
    return f"<{tag}{_written(known)}>{words}{children}</{tag}>"


def _attributes(element: ElementTree.Element) -> dict[str, str]:
    found = {}
    for name, value in element.attrib.items():
        if name in _COLOURS and _COLOUR.fullmatch(value):
            found[name] = _VARIABLES.get(value.lower(), value)
        elif (
            (name in _NUMBERS and _NUMERIC.fullmatch(value))
            or (name in _WORDS and re.fullmatch(_WORDS[name], value))
            or (name == "d" and _PATH.fullmatch(value))
            or (name == "transform" and _TRANSFORM.fullmatch(value))
        ):
            found[name] = _LONG.sub(r"\1", value)
    return found


def _written(attributes: dict[str, str]) -> str:
    return "".join(f' {name}="{value}"' for name, value in attributes.items())
