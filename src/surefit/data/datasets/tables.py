"""Real tables, read from the files inside scikit-learn's wheel and typed: no network, no copy of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np

from surefit.core.errors import RegistryError
from surefit.data.datasets.frames import FrameKind, category, frame_of, numbers

Task = Literal["classification", "regression"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A real table: the whole ``frame``, its ``X`` and ``y``, and what is known of it.

    ``target`` is the name of the column to predict, or a tuple of names when there are several.
    """

    name: str
    frame: Any
    target: str | tuple[str, ...]
    task: Task
    description: str

    @property
    def X(self) -> Any:
        """The frame without its target."""
        targets = [self.target] if isinstance(self.target, str) else list(self.target)
        return nw.from_native(self.frame, eager_only=True).drop(*targets).to_native()

    @property
    def y(self) -> Any:
        """The target: one column, or a frame of several."""
        frame = nw.from_native(self.frame, eager_only=True)
        if isinstance(self.target, str):
            return frame.get_column(self.target).to_native()
        return frame.select(*self.target).to_native()

    def __repr__(self) -> str:
        rows, columns = nw.from_native(self.frame, eager_only=True).shape
        return f"Dataset({self.name!r}: {rows} rows, {columns} columns, {self.task} of {self.target!r})"


@dataclass(frozen=True)
class _Recipe:
    read: Callable[[Any], dict[str, Any]]
    target: str | tuple[str, ...]
    task: Task
    description: str


def _plain(name: str) -> str:
    return name.lower().replace(" (cm)", "").replace(" ", "_").replace("/", "_")


def _numeric(bunch: Any) -> dict[str, Any]:
    return {_plain(name): numbers(bunch.data[:, k]) for k, name in enumerate(bunch.feature_names)}


def _classes(target: str) -> Callable[[Any], dict[str, Any]]:
    def read(bunch: Any) -> dict[str, Any]:
        levels = [str(level) for level in bunch.target_names]
        return {**_numeric(bunch), target: category(bunch.target.astype(np.int32), levels)}

    return read


def _diabetes(bunch: Any) -> dict[str, Any]:
    names = ["age", "sex", "bmi", "bp", "tc", "ldl", "hdl", "tch", "ltg", "glu"]
    columns = {name: numbers(bunch.data[:, k]) for k, name in enumerate(names)}
    columns["sex"] = category(bunch.data[:, 1].astype(np.int32) - 1, ["1", "2"])
    return {**columns, "progression": numbers(bunch.target)}


def _linnerud(bunch: Any) -> dict[str, Any]:
    body = {_plain(name): numbers(bunch.target[:, k]) for k, name in enumerate(bunch.target_names)}
    return {**_numeric(bunch), **body}


_RECIPES: dict[str, _Recipe] = {
    "breast_cancer": _Recipe(
        _classes("diagnosis"),
        "diagnosis",
        "classification",
        "Ten properties of the cell nuclei in a fine needle aspirate of a breast mass, each as mean over "
        "the nuclei, standard error and worst value (mean of the three largest), and whether the mass was "
        "malignant (212) or benign (357). 569 rows, 30 numbers, 1 label. Wisconsin diagnostic data: "
        "Street, Wolberg and Mangasarian, 1993.",
    ),
    "diabetes": _Recipe(
        _diabetes,
        "progression",
        "regression",
        "Patients at a base line, and a measure of how far their diabetes had progressed a year later. In "
        "physical units: age in years, sex (two codes whose meaning was not published), body mass index, "
        "mean blood pressure, and six blood values: total cholesterol, low and high density lipoproteins, "
        "the ratio of total to high density, the logarithm of triglycerides, glucose. 442 rows, 10 "
        "columns, 1 target. Efron, Hastie, Johnstone and Tibshirani, Least angle regression, 2004.",
    ),
    "digits": _Recipe(
        _classes("digit"),
        "digit",
        "classification",
        "Handwritten digits from 13 writers on 8 × 8 pixels with ink from 0 to 16; pixel_r_c is row r, "
        "column c. 1797 rows, 64 whole numbers, 1 label. The test part of the optical recognition data of "
        "Alpaydin and Kaynak, 1998.",
    ),
    "iris": _Recipe(
        _classes("species"),
        "species",
        "classification",
        "Length and width, in centimetres, of the sepals and petals of 50 irises of each of three species."
        " 150 rows, 4 numbers, 1 label. Anderson's flowers in Fisher's paper of 1936; the copy in the UCI "
        "repository has two rows wrong.",
    ),
    "linnerud": _Recipe(
        _linnerud,
        ("weight", "waist", "pulse"),
        "regression",
        "Twenty men of a fitness club: chin-ups, sit-ups and jumps they did, and their weight (pounds), "
        "waist (inches) and pulse. 20 rows, 3 columns, 3 targets, all whole numbers. A. C. Linnerud, "
        "printed in Tenenhaus, 1998.",
    ),
    "wine": _Recipe(
        _classes("cultivar"),
        "cultivar",
        "classification",
        "Thirteen chemical measurements of wines of one Italian region, from three cultivars (59, 71 and "
        "48 wines). 178 rows, 13 numbers, 1 label. Forina and others, Parvus, 1991.",
    ),
}


def load(name: str, *, as_: FrameKind = "auto") -> Dataset:
    """Return a real table as a typed frame: labels as categories, whole numbers as integers.

    >>> load("iris", as_="arrow")
    Dataset('iris': 150 rows, 5 columns, classification of 'species')
    >>> load("diabetes", as_="arrow").X.column_names[:4]
    ['age', 'sex', 'bmi', 'bp']
    """
    if name not in _RECIPES:
        from difflib import get_close_matches

        near = get_close_matches(str(name), _RECIPES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(_RECIPES)}."
        raise RegistryError(f"there is no table named {name!r}: {hint}")
    from sklearn import datasets as shipped

    recipe = _RECIPES[name]
    bunch = shipped.load_diabetes(scaled=False) if name == "diabetes" else getattr(shipped, f"load_{name}")()
    frame = frame_of(recipe.read(bunch), as_)
    return Dataset(name, frame, recipe.target, recipe.task, recipe.description)


def table_names() -> tuple[str, ...]:
    """Return the names of the real tables."""
    return tuple(sorted(_RECIPES))
