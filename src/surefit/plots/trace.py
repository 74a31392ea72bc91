"""How a fit went: objective and gap, iteration by iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.trace import Event, Trace
from surefit.plots.base import rows_of, styled, thinned
from surefit.plots.landscape import landscape_panel
from surefit.plots.theme import BLUE, FADED, VERMILION, WIDTH
from surefit.plots.words import duration, number, ticks

MOST_DOTS = 60  # with more iterations than this, dots run into each other


def plot_trace(trace: Trace, tolerance: float | None = None) -> Any:
    """Draw objective and gap over the iterations; the gap, and an objective that falls a hundredfold, on a
    logarithmic axis. ``tolerance`` adds the line that the gap has to get below. Of a function of two
    variables whose points were kept, the path over its contours is drawn below.

    >>> from surefit import Trace
    >>> trace = Trace()
    >>> for i in trace.iterations(20):
    ...     trace.record(objective=1 + 0.5**i, gap=0.5**i)
    >>> chart = plot_trace(trace, tolerance=1e-5)
    >>> chart.to_dict()["title"]["text"]
    'Convergence over 20 iterations'
    """
    import altair as alt

    objective, gap, residual = (trace.column(name) for name in ("objective", "gap", "residual"))
    panels = []
    if (gap > 0).any():
        panels.append(_panel("Gap to the optimum, at most", gap, VERMILION, "log", tolerance))
    elif (residual > 0).any():
        panels.append(_panel("Gradient, relative", residual, VERMILION, "log", tolerance))
    if np.isfinite(objective).any():
        low, high = np.nanmin(objective), np.nanmax(objective)
        scale = "log" if low > 0 and high / low > 100 else "linear"
        panels.insert(0, _panel("Objective", objective, BLUE, scale, bottom=not panels))
    last = trace.last
    if not panels or last is None:
        raise DataError("the trace has neither objective nor gap to draw: this fit took no iterations.")
    path = _path(trace)
    if path is not None and trace.landscape is not None:
        panels.append(landscape_panel(trace.landscape, path))
    count = f"{len(trace):,} iteration{'s' if len(trace) != 1 else ''}"
    title = alt.TitleParams(f"Convergence over {count}", subtitle=_at_the_end(trace, last, tolerance))
    return styled(alt.vconcat(*panels, spacing=18).properties(title=title))


def _path(trace: Trace) -> NDArray[np.float64] | None:
    """Return the points of a function of two variables, the start first; None where they are not kept."""
    kept = [np.asarray(event.learned) for event in trace if isinstance(event.learned, np.ndarray)]
    if trace.landscape is None or len(trace.landscape.start) != 2 or not kept:
        return None
    return np.array([trace.landscape.start, *kept])


def _panel(
    name: str,
    values: NDArray[np.float64],
    colour: str,
    scale: str,
    tolerance: float | None = None,
    bottom: bool = True,
) -> Any:
    """One quantity over the iterations; only the panel at the bottom names the axis that they share."""
    import altair as alt

    drawn = values
    if scale == "log":  # which has no zero: what is not above it lies at the bottom, and says so
        drawn = np.where(values <= 0, values[values > 0].min() / 10, values)
    kept = thinned(np.log(drawn) if scale == "log" else drawn)
    data = rows_of({"iteration": kept + 1, "drawn": drawn[kept], "value": values[kept]})
    base = alt.Chart(data, width=WIDTH, height=190).encode(
        x=_iterations(len(values), "Iteration" if bottom else None),
        y=alt.Y(
            "drawn:Q",
            title=name,
            scale=alt.Scale(type=scale, zero=False, padding=6),
            axis=alt.Axis(format="~e" if scale == "log" else _decimals(values), tickCount=5),
        ),
        tooltip=[
            alt.Tooltip("iteration:Q", title="Iteration", format=",d"),
            alt.Tooltip("value:Q", title=name, format=".6~g"),
        ],
    )
    few = len(values) <= MOST_DOTS
    layers = [base.mark_line(color=colour, strokeWidth=2 if few else 1.5)]
    if few:
        layers.append(base.mark_point(color=colour))
    if scale == "log" and (values <= 0).any():
        first = int(np.flatnonzero(values <= 0)[0]) + 1
        zero = base.transform_filter(f"datum.iteration == {first}").mark_text(color=colour, dy=-10)
        layers.append(zero.encode(text=alt.value("0")))
    if tolerance is not None:
        layers += _tolerance_line(tolerance)
    return alt.layer(*layers)


def _iterations(count: int, title: str | None) -> Any:
    import altair as alt

    domain = [1, count] if count > 1 else [0.5, 1.5]
    axis = alt.Axis(values=ticks(count), format=",d", labels=title is not None)
    return alt.X("iteration:Q", title=title, axis=axis, scale=alt.Scale(domain=domain, nice=False, padding=8))


def _decimals(values: NDArray[np.float64]) -> str:
    """Plain numbers on a linear axis, unless they are very large or very small."""
    largest = float(np.nanmax(np.abs(values)))
    return ",~r" if 1e-3 <= largest < 1e7 or largest == 0 else "~e"


def _tolerance_line(tolerance: float) -> list[Any]:
    import altair as alt

    line = alt.Chart(rows_of({"tolerance": [tolerance], "words": [f"tolerance {number(tolerance, 2)}"]}))
    at = alt.Y("tolerance:Q")
    rule = line.mark_rule(color=FADED, strokeDash=[5, 4]).encode(y=at)
    words = line.mark_text(color=FADED, align="left", baseline="bottom", dx=4, dy=-3)
    return [rule, words.encode(y=at, x=alt.value(0), text="words:N")]


def _at_the_end(trace: Trace, last: Event, tolerance: float | None) -> str:
    said = []
    if last.objective is not None:
        said.append(f"objective {number(last.objective, 7)}")
    if last.gap is not None:
        place = "" if tolerance is None else " (within" if last.gap <= tolerance else " (not within"
        said.append(f"gap {number(last.gap, 2)}{place and f'{place} the tolerance)'}")
    if last.passes is not None:
        one = "pass over the data" if trace.landscape is None else "evaluation"
        many = "passes over the data" if trace.landscape is None else "evaluations"
        said.append(f"{last.passes:,} {one if last.passes == 1 else many}")
    return "At the end: " + " · ".join([*said, duration(last.seconds)])
