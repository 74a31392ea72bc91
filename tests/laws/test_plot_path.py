"""The charts of a path say what was found, name what can be told apart, and refuse what is no path."""

from __future__ import annotations

import numpy as np
import pytest

import surefit
from surefit.core.errors import DataError
from surefit.plots import plot_choice, plot_path, to_svg


def path(columns=4):
    X = np.random.default_rng(0).normal(size=(60, columns))
    y = X[:, :3] @ [3.0, -2.0, 0.5] + np.random.default_rng(1).normal(size=60)
    return X, y, surefit.lasso_path(X - X.mean(axis=0), y - y.mean(), alphas=30, eps=1e-2)


def test_names_appear_and_the_chosen_strength_is_marked():
    _, _, (alphas, coefs, _) = path()
    svg = to_svg(plot_path(alphas, coefs, ["größe", "<b>", "c", "d"], chosen=alphas[5]))
    assert "größe" in svg
    assert "<b>" not in svg
    assert "&lt;b>" in svg or "&lt;b&gt;" in svg
    assert "chosen:" in svg


def test_many_columns_stay_within_what_a_chart_holds():
    rng = np.random.default_rng(2)
    chart = plot_path(np.geomspace(1, 1e-3, 500), rng.normal(size=(3000, 500)))
    assert "the 6 largest named" in chart.to_dict()["title"]["subtitle"]


def test_the_order_of_strengths_does_not_matter():
    _, _, (alphas, coefs, _) = path()
    assert to_svg(plot_path(alphas, coefs)) == to_svg(plot_path(alphas[::-1], coefs[:, ::-1]))


def test_choice_marks_the_best_and_the_careful_one():
    X, y, _ = path()
    model = surefit.ElasticNetCV(l1_ratio=[0.5, 1.0], cv=5, alphas=30).fit(X, y)
    svg = to_svg(plot_choice(model))
    assert "least error" in svg
    assert "one standard error" in svg


def test_what_is_no_path_is_refused():
    with pytest.raises(DataError, match="columns, strengths"):
        plot_path([1.0, 0.5], np.zeros((3, 4)))
    with pytest.raises(DataError, match="one a column"):
        plot_path([1.0, 0.5], np.ones((2, 2)), ["a"])
    with pytest.raises(DataError, match="LassoCV"):
        plot_choice(surefit.Lasso())
