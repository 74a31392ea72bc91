"""What holds for every generator: the seed decides, the shapes are right, and the truth explains the data."""

import doctest
import importlib
import pkgutil
from dataclasses import fields, is_dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pytest

from surefit import datasets
from surefit.core.errors import ParameterError, RegistryError
from surefit.core.registry import members
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.glm import FAMILIES
from surefit.data.datasets.generators.network import GARDEN, Node

GENERATORS = members("generator")
# 5 standard errors are passed once in two million draws; what is exact stays far below one rounding allowed.
FAR = 5.0
SETTINGS = [
    *((name, {}) for name in GENERATORS),
    *(("generalized_linear", {"family": family, "rows": 5000}) for family in FAMILIES),
    *(("drifting_series", {"drift": drift, "memory": 0.9}) for drift in ("none", "gradual", "sudden")),
    ("sparse_regression", {"rows": 3000, "correlation": -0.8, "snr": 0.5}),
    ("sparse_regression", {"rows": 20, "columns": 200, "informative": 3, "correlation": 0.5}),
    ("ill_conditioned", {"condition": 1e9}),
    ("ill_conditioned", {"rows": 2, "columns": 1, "condition": 1}),
    ("blobs", {"clusters": 7, "columns": 5, "rows": 11}),
    ("gaussian_mixture", {"columns": 6, "components": 4, "separation": 0.5, "rows": 3000}),
    ("rings", {"rings": 4, "noise": 0.5, "rows": 3000}),
    ("spirals", {"arms": 3, "noise": 0.2, "rows": 2000}),
    ("moons", {"noise": 0.5, "rows": 2000}),
    ("checkerboard", {"flip": 0.0, "cells": 1}),
    ("xor", {"order": 3, "irrelevant": 4, "flip": 0.4, "rows": 3000}),
    ("steps", {"columns": 1, "depth": 6, "rows": 3000}),
    ("ordinal", {"levels": 2, "rows": 3000}),
    ("low_rank", {"observed": 1.0, "rank": 1}),
    ("contaminated", {"share": 0.0}),
    ("categorical_table", {"categories": 1, "numeric": 0, "levels": 30, "missing": 0.0}),
    ("topic_counts", {"topics": 10, "length": 5.0, "rows": 500}),
    ("bayes_net", {"rows": 20_000}),
]


def arrays(drawn: Any) -> dict[str, np.ndarray]:
    """Return all arrays of a draw, the columns of a frame among them."""
    found = {}
    for field in fields(drawn):
        value = getattr(drawn, field.name)
        if isinstance(value, np.ndarray):
            found[field.name] = value
        elif hasattr(value, "columns"):
            for column in nw.from_native(value).iter_columns():
                found[f"{field.name}.{column.name}"] = np.array([str(cell) for cell in column.to_list()])
    return found


def same(one: Any, other: Any) -> bool:
    first, second = arrays(one), arrays(other)
    return first.keys() == second.keys() and all(
        np.array_equal(first[key], second[key], equal_nan=first[key].dtype.kind == "f") for key in first
    )


@pytest.mark.parametrize("name", GENERATORS)
def test_the_seed_decides_everything(name: str) -> None:
    draw = GENERATORS[name].draw
    assert same(draw(rows=30, random_state=7), draw(rows=30, random_state=7))
    assert same(draw(rows=30, random_state=7), draw(rows=30, random_state=np.random.default_rng(7)))
    assert not same(draw(rows=30, random_state=7), draw(rows=30, random_state=8))
    assert same(draw(rows=30), draw(rows=30, random_state=0))


@pytest.mark.parametrize("name", GENERATORS)
def test_no_global_random_state_is_used(name: str) -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    GENERATORS[name].draw(rows=20)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("rows", [1, 2, 57])
@pytest.mark.parametrize("name", sorted(GENERATORS.keys() - {"ill_conditioned"}))  # it needs rows > columns
def test_any_number_of_rows_comes_in_the_right_shape(name: str, rows: int) -> None:
    drawn = GENERATORS[name].draw(rows=rows)
    assert is_dataclass(drawn)
    assert len(drawn.X) == rows
    if not hasattr(drawn.X, "columns"):
        assert drawn.X.ndim == 2
        assert drawn.X.flags.c_contiguous
    if hasattr(drawn, "y"):
        assert drawn.y.shape == (rows,)
    assert drawn.surprise()


@pytest.mark.parametrize("name", GENERATORS)
def test_numbers_are_float64_or_int64_and_finite(name: str) -> None:
    drawn = GENERATORS[name].draw()
    for key, value in arrays(drawn).items():
        if key.startswith("X.") or value.dtype == bool:
            continue
        assert value.dtype in (np.float64, np.int64), key
        seen = value[drawn.observed] if name == "low_rank" and key == "X" else value
        assert np.isfinite(seen).all(), key


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("name", "parameters"), SETTINGS)
def test_the_truth_explains_the_data(name: str, parameters: dict[str, Any], seed: int) -> None:
    found = datasets.draw(name, **parameters, random_state=seed).surprise()
    assert found
    assert max(found.values()) < FAR, found


@pytest.mark.parametrize("name", GENERATORS)
def test_data_that_do_not_belong_to_the_truth_are_a_surprise(name: str) -> None:
    drawn = GENERATORS[name].draw(random_state=3)
    wrong = {"y": drawn.y[::-1]} if hasattr(drawn, "y") else {"X": drawn.X[:, ::-1]}
    if name == "low_rank":  # the columns must stay with what is observed
        wrong = {"left": drawn.left[::-1]}
    assert max(replace(drawn, **wrong).surprise().values()) > FAR


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_is_at_hand_by_its_class(name: str) -> None:
    cls = GENERATORS[name]
    assert getattr(datasets, cls.__name__) is cls
    assert cls.__name__ in datasets.__all__


@pytest.mark.parametrize("name", ["checkerboard", "xor", "rings", "blobs"])
def test_the_bayes_error_is_the_error_of_the_posterior(name: str) -> None:
    more = {"rings": {"noise": 0.3}, "blobs": {"clusters": 2, "box": 1.0}}.get(name, {"flip": 0.2})
    drawn = datasets.draw(name, rows=20_000, **more, random_state=4)
    wrong = drawn.posterior(drawn.X).argmax(axis=1) != drawn.y
    assert 0.01 < drawn.bayes_error < 0.5
    assert surprise.total(wrong, drawn.bayes_error, drawn.bayes_error * (1 - drawn.bayes_error)) < FAR


def test_least_squares_finds_the_planted_coefficients() -> None:
    drawn = datasets.SparseRegression.draw(rows=400, columns=30, informative=6, correlation=0.6)
    A = np.column_stack([np.ones(400), drawn.X[:, drawn.support]])
    found, residual, *_ = np.linalg.lstsq(A, drawn.y, rcond=None)
    errors = drawn.noise * np.sqrt(np.diag(np.linalg.inv(A.T @ A)))
    truth = np.concatenate([[drawn.intercept], drawn.coefficients[drawn.support]])
    assert (np.abs(found - truth) < 4 * errors).all()
    assert residual[0] / (400 - 7) == pytest.approx(drawn.optimal_risk, rel=0.2)
    assert set(np.flatnonzero(drawn.coefficients)) == set(drawn.support)


def test_the_signal_to_noise_ratio_is_the_one_asked_for() -> None:
    drawn = datasets.SparseRegression.draw(rows=20_000, correlation=0.7, snr=3.0)
    assert np.var(drawn.X @ drawn.coefficients) / drawn.noise**2 == pytest.approx(3.0, rel=0.05)


def test_the_mixture_integrates_to_one() -> None:
    drawn = datasets.GaussianMixture.draw(rows=10, columns=1, components=3)
    grid = np.linspace(drawn.means.min() - 10, drawn.means.max() + 10, 20_001)
    assert np.trapezoid(np.exp(drawn.log_density(grid[:, None])), grid) == pytest.approx(1.0, abs=1e-9)


def test_the_errors_of_a_series_follow_their_recursion() -> None:
    drawn = datasets.DriftingSeries.draw(rows=1000, memory=0.9, noise=1.0, random_state=5)
    error = drawn.y - (drawn.X * drawn.coefficients).sum(axis=1)
    assert np.corrcoef(error[1:], error[:-1])[0, 1] == pytest.approx(0.9, abs=0.05)


def test_the_network_knows_its_own_probabilities() -> None:
    drawn = datasets.Network.draw(rows=5)
    rows, probability = drawn.joint()
    assert len(rows) == 2 * 2 * 2 * 3 * 2
    assert probability.sum() == pytest.approx(1.0, abs=1e-14)
    rain = 0.6 * 0.2 + 0.4 * 0.7
    assert drawn.marginal("rain") == pytest.approx([1 - rain, rain], abs=1e-14)
    assert drawn.marginal("season", {"rain": 1})[1] == pytest.approx(0.4 * 0.7 / rain, abs=1e-14)


def test_a_network_that_runs_in_a_circle_is_refused() -> None:
    nodes = {"a": Node(("b",), np.full((2, 2), 0.5)), "b": Node(("a",), np.full((2, 2), 0.5))}
    with pytest.raises(ParameterError, match="'a' has the parent 'b'"):
        datasets.Network.draw(nodes=nodes)
    assert tuple(GARDEN) == datasets.Network.draw(rows=1).names


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("blobs", {"rows": 0}, r"Blobs.draw: rows=0 is not allowed; it must be a whole number in \[1, inf\)"),
        ("moons", {"noise": float("nan")}, "noise=nan"),
        ("xor", {"flip": 0.5}, r"flip=0.5 is not allowed; it must be a number in \[0, 0.5\)"),
        ("generalized_linear", {"family": "tweedie"}, "family='tweedie'"),
        ("generalized_linear", {"family": "poisson", "dispersion": 2.0}, "has no dispersion"),
        ("sparse_regression", {"columns": 3, "informative": 4}, "informative=4 is more than columns=3"),
        ("ill_conditioned", {"rows": 10, "columns": 10}, "at least 11 rows"),
        ("ill_conditioned", {"columns": 1}, "one column has condition 1"),
        ("categorical_table", {"as_": "csv"}, "as_='csv'"),
        ("wave", {"random_state": "today"}, "random_state='today'"),
    ],
)
def test_a_wrong_parameter_is_named(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        datasets.draw(name, **parameters)


def test_an_unknown_generator_gets_the_nearest_name() -> None:
    with pytest.raises(RegistryError, match="did you mean 'moons'"):
        datasets.draw("moon")


@pytest.mark.parametrize(
    "module",
    ["surefit.data.datasets"]
    + [found.name for found in pkgutil.walk_packages(datasets.__path__, "surefit.data.datasets.")],
)
def test_the_examples_run(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0
