"""The page of a grouping: sizes, stability, what sets each group apart, and a picture in two components."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from surefit.core.files import atomic
from surefit.core.printable_text import visible
from surefit.plots.base import rows_of, styled, to_svg
from surefit.plots.clusters import plot_cluster_choice
from surefit.plots.theme import COLOURS, WIDTH
from surefit.study.grouping import Grouping

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src
data:"> <title>Groups of {{ name }}</title>
<style>body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;line-height:1.5}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid
#ccc; vertical-align:top}td.n{text-align:right}svg{max-width:100%;height:auto}</style></head><body>
<h1>{{ clusters }} groups of rows in {{ name }}</h1>
<p>{{ rows }} rows. {% if stability is not none %}Groups of two thirds of the rows agree to {{ stability }}
(1 is the same groups, 0 is chance). {% endif %}{{ certificate }}</p>
<h2>What sets each group apart</h2>
<table><tr><th>group</th><th>rows</th><th>share</th><th>compared with all other rows</th></tr>
{% for g in groups %}<tr><td>{{ g.label }}</td><td class="n">{{ g.size }}</td><td class="n">{{ g.share }}</td>
<td>{% for words in g.apart %}{{ words }}<br>{% else %}no column sets it apart{% endfor %}</td></tr>
{% endfor %}</table>
<h2>Rows in two components</h2><p>The picture shows {{ explained }} of the variance.</p>{{ picture }}
{% if choice %}<h2>How many groups</h2>{{ choice }}{% endif %}
<p>This page runs no script and loads nothing.</p></body></html>
"""


def plot_groups(grouping: Grouping) -> Any:
    """Draw rows in two principal components, in the colour of their group."""
    import altair as alt

    points, labels = grouping.picture
    table = rows_of({"x": points[:, 0], "y": points[:, 1], "group": labels.astype(str)})
    legend = alt.Legend(symbolOpacity=1)
    colour = alt.Color("group:N", scale=alt.Scale(range=COLOURS), legend=legend)
    chart = alt.Chart(table).mark_circle(size=22, opacity=0.6)
    chart = chart.encode(
        x=alt.X("x:Q", title="first component"), y=alt.Y("y:Q", title="second component"), color=colour
    )
    return styled(chart.properties(width=WIDTH, height=0.7 * WIDTH))


def render(grouping: Grouping) -> str:
    """Return the report as one HTML page; names and cells of the table are escaped."""
    from jinja2 import Environment
    from markupsafe import Markup

    total = max(float(grouping.sizes.sum()), 1e-300)
    groups = [
        {
            "label": told.label,
            "size": f"{grouping.sizes[told.label]:,g}",
            "share": f"{grouping.sizes[told.label] / total:.0%}",
            "apart": [visible(trait.words) for trait in told.traits],
        }
        for told in grouping.summaries
    ]
    stability = None if np.isnan(grouping.stability) else f"{grouping.stability:.2f}"
    choice = None if grouping.choice is None else Markup(to_svg(plot_cluster_choice(grouping.choice)))
    return (
        Environment(autoescape=True)
        .from_string(_PAGE)
        .render(
            name=visible(grouping.name),
            clusters=len(grouping.sizes),
            rows=f"{len(grouping.labels):,}",
            stability=stability,
            certificate=grouping.model[-1].certificate_.statement,
            groups=groups,
            explained=f"{grouping.explained:.0%}",
            picture=Markup(to_svg(plot_groups(grouping))),
            choice=choice,
        )
    )


def write_groups(grouping: Grouping, path: str | Path) -> Path:
    """Write the report to a file, whole or not at all."""
    page = render(grouping).encode()
    with atomic(path) as file:
        file.write(page)
    return Path(path)
