"""The limit theorems drawn: means that settle, and standardised sums beside the normal distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from surefit.evaluate.theory.limits import RunningMeans, StandardisedSums
from surefit.plots.base import rows_of, styled
from surefit.plots.theme import FADED, INK, VERMILION, WIDTH

MOST_SEQUENCES = 10
POINTS = 121  # of a smooth line


def plot_running_means(found: RunningMeans, *, width: int = WIDTH) -> Any:
    """Draw the mean of the first n draws of each sequence, and the expected value that they settle at.

    >>> from surefit.probability import die, law_of_large_numbers
    >>> plot_running_means(law_of_large_numbers(die().variable(), 500)).to_dict()["title"]["text"]
    'Means of the first n draws'
    """
    import altair as alt

    lines: dict[str, list[Any]] = {"n": [], "mean": [], "sequence": []}
    for place, means in enumerate(found.means[:MOST_SEQUENCES]):
        kept = np.unique(np.geomspace(1, len(means), POINTS * 3).astype(int)) - 1
        lines["n"] += found.n[kept].tolist()
        lines["mean"] += means[kept].tolist()
        lines["sequence"] += [str(place)] * len(kept)
    means = (
        alt.Chart(rows_of({name: np.array(values) for name, values in lines.items()}))
        .mark_line(strokeWidth=1, color=FADED)
        .encode(
            x=alt.X("n:Q", title="Draws", scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=5)),
            y=alt.Y("mean:Q", title="Mean so far", scale=alt.Scale(zero=False)),
            detail="sequence:N",
        )
    )
    expected = (
        alt.Chart(rows_of({"mean": [found.expected]})).mark_rule(color=VERMILION).encode(y=alt.Y("mean:Q"))
    )
    title = alt.TitleParams("Means of the first n draws", subtitle="The line is the expected value")
    return styled((means + expected).properties(title=title, width=width, height=260))


def plot_standardised_sums(found: StandardisedSums, *, width: int = WIDTH) -> Any:
    """Draw the empirical distribution function of standardised sums of n draws, and the normal one.

    >>> from surefit.probability import central_limit, die
    >>> plot_standardised_sums(central_limit(die().variable(), (1, 30))).to_dict()["title"]["text"]
    'Standardised sums of n draws'
    """
    import altair as alt

    lines: dict[str, list[Any]] = {"z": [], "share": [], "n": []}
    for size, draws in zip(found.n, found.draws, strict=True):
        grid = np.linspace(-3.5, 3.5, 4 * POINTS)
        lines["z"] += grid.tolist()
        lines["share"] += (np.searchsorted(draws, grid, side="right") / len(draws)).tolist()
        lines["n"] += [str(int(size))] * len(grid)
    sizes = [str(int(size)) for size in found.n]
    sums = (
        alt.Chart(rows_of({name: np.array(values) for name, values in lines.items()}))
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=alt.X("z:Q", title="Standardised sum"),
            y=alt.Y("share:Q", title="Share of sums up to here", axis=alt.Axis(format="%", tickCount=5)),
            color=alt.Color("n:N", title="n", sort=sizes),
        )
    )
    curve = np.linspace(-3.5, 3.5, POINTS)
    normal = (
        alt.Chart(rows_of({"z": curve, "share": norm.cdf(curve)}))
        .mark_line(color=INK, strokeDash=[4, 3], strokeWidth=1)
        .encode(x="z:Q", y="share:Q")
    )
    title = alt.TitleParams("Standardised sums of n draws", subtitle="Dashed: the normal distribution")
    return styled((sums + normal).properties(title=title, width=width, height=260))
