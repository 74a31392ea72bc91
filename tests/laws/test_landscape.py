"""The picture of a path over contours: contours lie on their level, and the path is all there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.laws.charts import tables_in

import surefit
from surefit.core.errors import DataError
from surefit.optimize import ConstrainedProblem
from surefit.penalties import L2Ball, Simplex
from surefit.plots import plot_landscape, to_svg
from surefit.plots.base import MOST_ROWS
from surefit.plots.landscape import MOST, contour_segments, outside_bands
from surefit.plots.theme import ORANGE

GRID = np.linspace(-2, 2, 41)


def test_contours_of_a_bowl_are_circles() -> None:
    values = GRID[None, :] ** 2 + GRID[:, None] ** 2
    found = contour_segments(GRID, GRID, values, np.array([0.25, 1.0]))
    for x, y in (("x", "y"), ("x2", "y2")):
        np.testing.assert_allclose(np.hypot(found[x], found[y]), 0.5 * (found["rank"] + 1), atol=0.01)
    round_the_circle = np.hypot(found["x2"] - found["x"], found["y2"] - found["y"])
    assert round_the_circle[found["rank"] == 1].sum() == pytest.approx(2 * np.pi, rel=0.01)


def test_cells_outside_the_domain_have_no_contour() -> None:
    with np.errstate(all="ignore"):
        values = np.log(GRID[None, :]) + 0 * GRID[:, None]
    found = contour_segments(GRID, GRID, values, np.array([-0.5]))
    assert len(found["x"])
    np.testing.assert_allclose(found["x"], np.exp(-0.5), atol=0.02)


def test_many_contours_stay_below_the_limit_of_rows() -> None:
    values = np.sin(20 * GRID[None, :]) * np.sin(20 * GRID[:, None])
    found = contour_segments(GRID, GRID, values, np.linspace(-0.9, 0.9, 13))
    assert 1000 < len(found["x"]) <= MOST < MOST_ROWS


def spots(chart: Any) -> list[dict[str, Any]]:
    """The points at the start and the end, in order."""
    return [row for table in tables_in(chart) for row in table if row.get("words") in ("start", "end")]


@pytest.mark.parametrize("solver", ["bfgs", "fista", "newton"])
def test_the_path_of_a_method_is_drawn_from_start_to_end(solver: str) -> None:
    found = surefit.minimize(lambda x: (x[0] - 1) ** 2 + 10 * (x[1] + 1) ** 2, [3.0, 2.0], solver=solver)
    chart = found.trace.plot(1e-8)
    marks = {row["words"]: (row["x"], row["y"]) for row in spots(chart)}
    assert marks["start"] == (3.0, 2.0)
    assert marks["end"] == pytest.approx((1.0, -1.0), abs=1e-3)
    assert "evaluation" in chart.to_dict()["title"]["subtitle"]
    assert "start" in to_svg(chart)


def test_one_variable_or_three_have_no_landscape() -> None:
    for start in ([2.0], [1.0, 2.0, 3.0]):
        found = surefit.minimize(lambda x: x @ x + np.sum(x**4), start, keep_points=True)
        assert len(found.trace.plot().to_dict()["vconcat"]) == 2
    with pytest.raises(DataError, match="points of two variables"):
        plot_landscape(lambda x: x @ x, [[1.0, 2.0, 3.0]])


def test_a_path_that_does_not_move_has_a_picture_too() -> None:
    assert "start" in to_svg(plot_landscape(lambda x: x @ x, [[1e6, 1e6], [1e6, 1e6]]))


def layers_of(found: Any) -> list[dict[str, Any]]:
    layers: list[dict[str, Any]] = found.trace.plot(1e-8).to_dict()["vconcat"][-1]["layer"]
    return layers


def marks(found: Any) -> list[str]:
    return [layer["mark"]["type"] for layer in layers_of(found)]


def test_what_a_set_forbids_is_shaded_to_its_edge() -> None:
    x, y = np.linspace(-2, 2, 41), np.linspace(-1.5, 1.5, 41)
    bands = outside_bands(lambda p: p @ p <= 1, x, y)
    area = ((bands["x2"] - bands["x"]) * (bands["y2"] - bands["y"])).sum()
    assert area == pytest.approx(12 - np.pi, rel=2e-3)
    inner = np.abs(np.concatenate([bands["x"], bands["x2"]])) < 1.9
    middle = np.tile(0.5 * (bands["y"] + bands["y2"]), 2)
    radius = np.hypot(np.concatenate([bands["x"], bands["x2"]]), middle)[inner]
    np.testing.assert_allclose(radius, 1, atol=1e-4)


def test_constraints_are_drawn_below_the_path() -> None:
    def f(x: Any) -> Any:
        return (x[0] - 2) ** 2 + (x[1] - 1) ** 2

    ball = surefit.minimize(f, [0.0, 0.0], constraint=L2Ball(1.0), convex=True)
    assert marks(ball)[0] == "rect"
    thin = surefit.minimize(f, [0.5, 0.5], constraint=Simplex(), convex=True)
    assert marks(thin)[0] == "line"
    circle = ConstrainedProblem(f, lambda x: x @ x - 1)
    assert marks(surefit.minimize(circle, [0.0, 0.5]))[0] == "rect"
    on_it = ConstrainedProblem(f, None, lambda x: x @ x - 1)
    assert layers_of(surefit.minimize(on_it, [0.0, 0.5]))[0]["mark"]["color"] == ORANGE
    free = surefit.minimize(f, [0.0, 0.5])
    assert layers_of(free)[0]["mark"]["type"] == "rule"
    assert layers_of(free)[0]["mark"].get("color") is None
