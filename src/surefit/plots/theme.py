"""The one look of all charts: light, plain, and told apart by readers who do not see all colours."""

from __future__ import annotations

from typing import Any

# The palette of Okabe and Ito without its yellow and black, distinct for every kind of colour vision; the
# strongest on white come first.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
)
COLOURS = [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY]
INK, FADED, GRID, PAPER = "#1B1F24", "#57606A", "#E6E8EB", "#FFFFFF"
HEAT, DEEPEST = "#0070B4", 0.8  # of cells that words stand on: at its deepest, ink can still be read on it
WIDTH = 560  # of a chart, in pixels: fits a page and a notebook

# What each colour becomes on a dark page, as bright there as it is dark on paper.
AT_NIGHT = {
    BLUE: "#5CB3F0",
    VERMILION: "#FF9152",
    GREEN: "#3CC79C",
    PURPLE: "#E3A0C6",
    ORANGE: "#F2B63C",
    SKY: "#8CCBF2",
    INK: "#E8ECF1",
    FADED: "#A3ADB8",
    GRID: "#2B323B",
    PAPER: "#14181D",
    HEAT: "#1F6FB2",
}

_FONT = "Arial, Liberation Sans, DejaVu Sans, sans-serif"

CONFIG: dict[str, Any] = {
    # Vega-Lite writes an axis title into an expression that describes each mark, and a backslash before a
    # quote in a column's name would end the string there.
    "aria": False,
    "font": _FONT,
    "background": PAPER,
    "padding": 12,
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "color": INK,
        "fontSize": 16,
        "fontWeight": "bold",
        "subtitleColor": FADED,
        "subtitleFontSize": 12,
        "subtitlePadding": 6,
        "offset": 16,
    },
    "axis": {
        "domainColor": FADED,
        "gridColor": GRID,
        "labelColor": FADED,
        "labelFontSize": 12,
        "labelPadding": 4,
        "tickColor": FADED,
        "tickSize": 4,
        "titleColor": INK,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titlePadding": 10,
    },
    "axisX": {"grid": False},
    "axisY": {"domain": False, "ticks": False},
    "legend": {"labelColor": INK, "labelFontSize": 12, "titleColor": FADED, "titleFontWeight": "normal"},
    "range": {"category": COLOURS},
    "line": {"strokeWidth": 2, "strokeJoin": "round"},
    "point": {"filled": True, "opacity": 1, "size": 36},
}
