"""``surefit.datasets``: data to learn on, with a known answer where that can be had.

Three kinds, a verb each. ``load`` gives a real table as a typed frame. ``draw`` draws data from a stated
truth and hands over both; a generator can also be called by its class, ``datasets.Blobs.draw(...)``.
``fixture`` gives a worked example of a few rows with the numbers that must come out. ``names`` lists what
there is.

    >>> from surefit import datasets
    >>> datasets.load("iris").target
    'species'
    >>> datasets.draw("xor", rows=100, flip=0.1).bayes_error
    0.1
    >>> datasets.fixture("four_points_on_a_line").answers["slope"]
    1.2
"""

from __future__ import annotations

from typing import Any, Literal

from surefit.core.registry import lookup, members
from surefit.data.datasets.fixtures.base import Fixture, all_fixtures, fixture
from surefit.data.datasets.generators.base import Generated
from surefit.data.datasets.generators.boards import Checkerboard, Parity, Separable
from surefit.data.datasets.generators.curves import Moons, Rings, Spirals
from surefit.data.datasets.generators.glm import GeneralizedLinear
from surefit.data.datasets.generators.linear import Contaminated, IllConditioned, SparseRegression
from surefit.data.datasets.generators.lowrank import LowRank
from surefit.data.datasets.generators.mixtures import Blobs, GaussianMixture
from surefit.data.datasets.generators.network import Network
from surefit.data.datasets.generators.ordinal import Ordinal
from surefit.data.datasets.generators.series import DriftingSeries
from surefit.data.datasets.generators.smooth import Steps, Wave
from surefit.data.datasets.generators.table import CategoricalTable
from surefit.data.datasets.generators.topics import TopicCounts
from surefit.data.datasets.tables import Dataset, load, table_names

__all__ = [
    "Blobs",
    "CategoricalTable",
    "Checkerboard",
    "Contaminated",
    "Dataset",
    "DriftingSeries",
    "Fixture",
    "GaussianMixture",
    "GeneralizedLinear",
    "Generated",
    "IllConditioned",
    "LowRank",
    "Moons",
    "Network",
    "Ordinal",
    "Parity",
    "Rings",
    "Separable",
    "SparseRegression",
    "Spirals",
    "Steps",
    "TopicCounts",
    "Wave",
    "draw",
    "fixture",
    "load",
    "names",
]


def draw(name: str, **parameters: Any) -> Any:
    """Draw data from a stated truth by the generator's name; each has parameters of its own.

    >>> drawn = draw("sparse_regression", rows=50, columns=10, informative=2, random_state=1)
    >>> drawn.X.shape, drawn.support.shape
    ((50, 10), (2,))
    """
    generator: Any = lookup("generator", name)
    return generator.draw(**parameters)


def names(kind: Literal["table", "generator", "fixture"] = "table") -> tuple[str, ...]:
    """List what there is: the real tables, the generators, or the worked examples.

    >>> names()
    ('breast_cancer', 'diabetes', 'digits', 'iris', 'linnerud', 'wine')
    """
    if kind == "table":
        return table_names()
    return tuple(members("generator") if kind == "generator" else all_fixtures())
