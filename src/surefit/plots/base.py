"""What all charts share: data that are small enough, the theme, and files that need no network."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from surefit.core.errors import DataError, ParameterError
from surefit.plots.theme import CONFIG

if TYPE_CHECKING:
    import altair

    Chart: TypeAlias = altair.TopLevelMixin

MOST_ROWS = 5000


def rows_of(columns: Mapping[str, ArrayLike]) -> pa.Table:
    """Put columns of equal length into the form that a chart carries; what is not finite becomes missing."""
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    count = max(map(len, arrays.values()))
    if count > MOST_ROWS:
        raise DataError(
            f"a chart of {count} rows would be large and slow; aggregate or thin them to {MOST_ROWS} first."
        )
    return pa.table({name: _column(array) for name, array in arrays.items()})


def _column(array: NDArray[Any]) -> pa.Array:
    if array.dtype.kind == "f":
        return pa.array(array, mask=~np.isfinite(array))
    return pa.array(array.tolist())


def thinned(values: NDArray[np.float64], most: int = 1000) -> NDArray[np.intp]:
    """Choose at most ``most`` points of a line so that it looks the same: the first, the last, and the
    highest and lowest of each stretch.

    >>> thinned(np.array([0.0, 9.0, 1.0, 1.0, 1.0, -5.0, 1.0, 2.0]), most=6)
    array([0, 1, 5, 7])
    """
    if len(values) <= most:
        return np.arange(len(values))
    kept = {0, len(values) - 1}
    for stretch in np.array_split(np.arange(len(values)), (most - 2) // 2):
        seen = stretch[np.isfinite(values[stretch])]
        if len(seen):
            kept |= {int(seen[np.argmin(values[seen])]), int(seen[np.argmax(values[seen])])}
    return np.array(sorted(kept), dtype=np.intp)


def score_range(values: ArrayLike) -> list[float]:
    """From where to where an axis of scores goes: a little beyond them, past 0 and 1 only where they are.

    >>> score_range([0.6, 0.96, 1.0, np.nan]), score_range([-0.1, 0.9]), score_range([3.0, 3.0])
    ([0.584, 1.0], [-0.14, 0.94], [2.97, 3.03])
    """
    found = np.asarray(values, dtype=np.float64)
    found = found[np.isfinite(found)]
    low, high = (float(found.min()), float(found.max())) if len(found) else (0.0, 1.0)
    room = 0.04 * (high - low) if high > low else 0.01 * (abs(low) or 1.0)
    bottom = 0.0 if 0.0 <= low < room else low - room
    top = 1.0 if 1.0 - room < high <= 1.0 else high + room
    return [round(bottom, 12), round(top, 12)]


def styled(chart: Any) -> Any:
    """Dress a finished chart in the theme."""
    return chart.configure(**CONFIG)


def below(count: int) -> Any:
    """The legend of curves: below, so that a chart stays narrow; none for a single one."""
    import altair as alt

    return alt.Legend(orient="bottom", columns=2, labelLimit=220) if count > 1 else None


def to_svg(chart: Chart) -> str:
    """Return the chart as an SVG picture.

    >>> from surefit import Trace
    >>> trace = Trace()
    >>> for _ in trace.iterations(3):
    ...     trace.record(objective=1.0)
    >>> to_svg(trace.plot()).startswith("<svg")
    True
    """
    import vl_convert

    # No address is allowed, so that a chart cannot fetch anything while it is drawn.
    return str(vl_convert.vegalite_to_svg(_spec(chart), vl_version=_version(), allowed_base_urls=[]))


def to_png(chart: Chart, scale: float = 2.0) -> bytes:
    """Return the chart as a PNG picture; ``scale=2`` is sharp on most screens."""
    import vl_convert

    return bytes(
        vl_convert.vegalite_to_png(_spec(chart), vl_version=_version(), scale=scale, allowed_base_urls=[])
    )


def to_html(chart: Chart, title: str = "surefit") -> str:
    """Return the chart as one HTML page with tooltips, which holds all that it needs."""
    import vl_convert

    # Text such as a column's name may hold "</script>": as an escape it stays text.
    spec = json.dumps(_spec(chart)).replace("<", "\\u003c")
    libraries = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", _version())
    return _PAGE.format(title=html.escape(title), libraries=libraries, spec=spec)


def save(chart: Chart, path: str | Path) -> Path:
    """Write the chart to a file whose ending says how: .svg, .png or .html."""
    path = Path(path)
    writers = {
        ".svg": lambda: to_svg(chart).encode(),
        ".png": lambda: to_png(chart),
        ".html": lambda: to_html(chart).encode(),
    }
    if path.suffix.lower() not in writers:
        raise ParameterError(
            f"a chart cannot be saved as {path.name!r}: let the name end in .svg, .png or .html."
        )
    path.write_bytes(writers[path.suffix.lower()]())
    return path


def _spec(chart: Chart) -> dict[str, Any]:
    """Return the chart in Vega-Lite, checked against its schema but for the rows, which take far longer."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    type(chart).validate(spec | {"datasets": {name: [] for name in spec.get("datasets", {})}})
    return spec


def _version() -> str:
    """The version of Vega-Lite that altair writes, as vl-convert names it."""
    import altair

    return ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])


# The policy forbids the page to load anything; Vega compiles the chart's own expressions, hence unsafe-eval.
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data: blob:; \
script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'">
<title>{title}</title>
</head>
<body>
<div id="chart"></div>
<script>{libraries}</script>
<script>
const spec = {spec};
const actions = {{export: true, source: false, compiled: false, editor: false}};
vegaEmbed("#chart", spec, {{renderer: "svg", actions: actions}});
</script>
</body>
</html>
"""
