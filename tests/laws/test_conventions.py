"""The conversions of docs/conventions.md: each row of its tables is read from the page and holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import sklearn.linear_model as peers
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from surefit import Ridge
from surefit.losses import Squared
from surefit.metrics import mean_squared_error

PAGE = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text(encoding="utf-8")

# What the symbols of the page are called in Python; the parts of an objective are functions of w.
NAMES = {
    "Σ r²": "squares", "Σ loss": "loss", "‖w‖²": "ridge", "‖w‖₁": "absolute", "λ": "lam", "ρ": "rho",
    "σ²": "noise", "τ²": "prior", "β": "width", "½": "half", "μ": "mu",
}  # fmt: skip
SYMBOLS = {"lam": 0.37, "rho": 0.6, "noise": 1.7, "prior": 0.4, "width": 0.9, "half": 0.5, "n": 30.0}
ATOM = re.compile(
    "|".join([*map(re.escape, NAMES), r"alpha|l1_ratio|C|n|c|a", r"\d+", r"[-+*/()]"]).replace(r"\ ", " ")
)
PRIORS = {
    "normal noise of variance σ², prior `w ~ N(0, τ² I)`": "squares/(2*noise) + ridge/(2*prior)",
    "normal noise of variance σ², Laplace prior of scale β": "squares/(2*noise) + absolute/width",
}


def python(text: str) -> str:
    """Turn a formula of the page into Python: symbols get names, what stands side by side is multiplied."""
    text = text.strip("` ").replace("·", " ")
    atoms = ATOM.findall(text)
    assert "".join(atoms).replace(" ", "") == text.replace(" ", ""), f"{text!r} has a symbol of its own"
    found: list[str] = []
    for atom in (NAMES.get(atom, atom) for atom in atoms):
        ended = bool(found) and (found[-1].isalnum() or found[-1].isidentifier() or found[-1] == ")")
        if ended and (atom.isalnum() or atom.isidentifier() or atom == "("):
            found.append("*")
        found.append(atom)
    return "".join(found)


def rows(heading: str) -> Iterator[list[str]]:
    """The rows of the first table below a heading, after its own."""
    lines = PAGE.split(heading, 1)[1].splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("|"))
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def written(cell: str) -> str:
    return PRIORS[cell] if cell in PRIORS else python(cell)


OBJECTIVES = {name: cell for names, cell in rows("## Objectives") for name in re.findall("`(\\w+)`", names)}
INNER = "half/n*squares + half*mu*ridge"
CONVERSIONS = [
    *((cell, python(OBJECTIVES["Ridge"]), "alpha", to) for cell, to, _ in rows("**Squared penalty.**")),
    *((cell, INNER, "mu", to) for cell, _, to in rows("**Squared penalty.**")),
    *((cell, python(OBJECTIVES["Lasso"]), "alpha", to) for cell, to in rows("**Absolute penalty.**")),
    *((cell, python(OBJECTIVES["SVC"]), "C", to) for cell, to in rows("**Classification losses**")),
]


def at(point, **values) -> dict[str, float]:
    """The parts of an objective at a point: w, after the sums of squares and of another loss."""
    squares, loss, *w = point
    parts = {"squares": squares, "loss": loss, "ridge": np.sum(np.square(w)), "absolute": np.abs(w).sum()}
    return {**SYMBOLS, **parts, **values}


def points(count=20) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(0)
    return iter(np.abs(rng.normal(size=(count, 6))))


def test_the_tables_are_there():
    assert len(CONVERSIONS) == 8 + 8 + 5 + 5
    assert {"Ridge", "Lasso", "ElasticNet", "LogisticRegression", "LinearSVC", "SVC"} <= OBJECTIVES.keys()
    assert python("1/(2n) Σ r² + ½ λ ‖w‖²") == "1/(2*n)*squares+half*lam*ridge"
    with pytest.raises(AssertionError, match="a symbol of its own"):
        python("Σ r² + Ω(w)")


@pytest.mark.parametrize(
    ("cell", "ours", "parameter", "conversion"),
    CONVERSIONS,
    ids=[f"{parameter} of {cell}" for cell, _, parameter, _ in CONVERSIONS],
)
def test_an_objective_is_a_multiple_of_ours_at_the_converted_parameter(cell, ours, parameter, conversion):
    value = eval(python(conversion), dict(SYMBOLS))
    ratios = [eval(written(cell), at(p)) / eval(ours, at(p, **{parameter: value})) for p in points()]
    assert ratios[0] > 0
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-13)
    wrong = [eval(written(cell), at(p)) / eval(ours, at(p, **{parameter: 1.5 * value})) for p in points()]
    assert np.ptp(wrong) > 1e-3 * wrong[0]  # another parameter is another objective


def test_both_penalties_convert_together():
    (text,) = re.findall(r"\*\*Both\.\*\* (.*)", PAGE)
    cell, alpha, ratio = re.match(r"`(.*?)` is `ElasticNet\(alpha=(.*), l1_ratio=(.*)\)`", text).groups()
    values = {name: eval(python(to), dict(SYMBOLS)) for name, to in (("alpha", alpha), ("l1_ratio", ratio))}
    ours = python(OBJECTIVES["ElasticNet"])
    ratios = [eval(written(cell), at(p)) / eval(ours, at(p, **values)) for p in points()]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-13)


def table(n=30, p=4):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, p)) + 1.0
    return X, X @ np.array([1.0, -2.0, 0.0, 0.5]) + rng.normal(size=n) + 3.0


FITTED = [
    *((cell, Ridge, {}, to) for cell, to, _ in rows("**Squared penalty.**")),
    *((cell, peers.Lasso, {"tol": 1e-12}, to) for cell, to in rows("**Absolute penalty.**")),
]


@pytest.mark.parametrize(
    ("cell", "cls", "options", "conversion"),
    FITTED,
    ids=[f"{cls.__name__} {cell}" for cell, cls, *_ in FITTED],
)
def test_a_fit_at_the_converted_parameter_minimises_the_objective_as_written(cell, cls, options, conversion):
    X, y = table()
    model = cls(alpha=eval(python(conversion), dict(SYMBOLS)), **options).fit(X, y)

    def objective(b, w):
        return eval(written(cell), at([np.sum((y - X @ w - b) ** 2), 0.0, *w]))

    least = objective(model.intercept_, model.coef_)
    rng = np.random.default_rng(3)
    for size in (1e-1, 1e-3):
        for step in size * rng.normal(size=(40, 5)):
            # What a step of this size adds is far above rounding, whichever way it goes.
            assert objective(model.intercept_ + step[0], model.coef_ + step[1:]) > least


def test_the_objectives_of_classes_are_those_of_scikit_learn():
    """An objective as the page writes it is least where scikit-learn's class of that name says."""
    X, y = table()
    for name, options in {"Lasso": {"alpha": 0.2}, "ElasticNet": {"alpha": 0.2, "l1_ratio": 0.6}}.items():
        model = getattr(peers, name)(**options, tol=1e-12).fit(X, y)

        def objective(b, w, name=name, options=options):
            return eval(python(OBJECTIVES[name]), at([np.sum((y - X @ w - b) ** 2), 0.0, *w], **options))

        least = objective(model.intercept_, model.coef_)
        for step in 1e-3 * np.random.default_rng(4).normal(size=(40, 5)):
            assert objective(model.intercept_ + step[0], model.coef_ + step[1:]) > least


def test_widths_of_kernels_and_the_metric_that_is_no_objective():
    X = table()[0]
    variance = 1.7
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    np.testing.assert_allclose(
        np.exp(-squares / (2 * variance)), rbf_kernel(X, gamma=1 / (2 * variance)), rtol=1e-12
    )
    np.testing.assert_allclose(
        (1 + X @ X.T / variance) ** 3, polynomial_kernel(X, gamma=1 / variance, coef0=1, degree=3), rtol=1e-12
    )
    y, z = table()[1], np.zeros(30)
    assert mean_squared_error(y, z) == pytest.approx(2 * np.mean(Squared().value(y, z)), rel=1e-14)
