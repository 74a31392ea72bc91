"""Contrasts of the levels of a category.

A matrix of contrasts has a row a level and a column less than levels, so that with an intercept every
level's mean can be told, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from surefit.core.arrays import Matrix
from surefit.core.certificate import Certificate
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.prepare.encoders.encoder import Encoder, counted_as
from surefit.models.prepare.recompute import change, seen
from surefit.stats.category_counts import CategoryCounts

Contrast = Literal["treatment", "sum", "helmert", "polynomial", "difference"]


def contrast_matrix(kind: Contrast, levels: int) -> Matrix:
    """Return the matrix of a contrast, (levels, levels - 1).

    >>> contrast_matrix("helmert", 3)
    array([[-1., -1.],
           [ 1., -1.],
           [ 0.,  2.]])
    """
    return _MATRICES[kind](levels) if levels > 1 else np.zeros((levels, 0))


def contrast_names(kind: Contrast, levels: list[Any]) -> list[str]:
    """Return what each column of the matrix is called, after the column's name."""
    if kind == "polynomial":
        powers = [".Linear", ".Quadratic", ".Cubic"]
        return [powers[k] if k < 3 else f"^{k + 1}" for k in range(len(levels) - 1)]
    letter = {"treatment": "T", "sum": "S", "helmert": "H", "difference": "D"}[kind]
    named = levels[1:] if kind in ("treatment", "helmert") else levels[:-1]
    return [f"[{letter}.{level}]" for level in named]


def _treatment(k: int) -> Matrix:
    """Each level with the first."""
    return np.eye(k)[:, 1:]


def _sum(k: int) -> Matrix:
    """Each level but the last with the mean of all."""
    return np.vstack([np.eye(k - 1), -np.ones(k - 1)])


def _helmert(k: int) -> Matrix:
    """Each level with the mean of those before it."""
    steps = np.arange(1, k)
    return np.where(np.arange(k)[:, None] < steps, -1.0, np.eye(k)[:, 1:] * steps)


def _polynomial(k: int) -> Matrix:
    """Orthonormal polynomials of the level's place: a straight trend, a bend, and so on."""
    places = np.arange(k) - (k - 1) / 2
    Q, R = np.linalg.qr(np.vander(places, increasing=True))
    return (Q * np.sign(np.diagonal(R)))[:, 1:]


def _difference(k: int) -> Matrix:
    """Each level with the one before it."""
    place, step = np.arange(k)[:, None], np.arange(1, k)
    return np.where(place >= step, step / k, step / k - 1.0)


_MATRICES: Mapping[str, Callable[[int], Matrix]] = {
    "treatment": _treatment,
    "sum": _sum,
    "helmert": _helmert,
    "polynomial": _polynomial,
    "difference": _difference,
}


@dataclass(frozen=True, slots=True)
class ContrastEncoderParameters:
    """The levels of each column, their weights, and the matrix that stands for them."""

    categories: list[NDArray[Any]]
    counts: list[NDArray[np.float64]]
    contrast_matrices: list[NDArray[np.float64]]
    n_samples_seen: Any


class ContrastEncoder(Encoder):
    r"""Turn each category of k levels into k - 1 numbers: :math:`l_i \mapsto` row i of its contrast matrix.

    contrast: "treatment" compares each level with the first, "sum" with the mean of all, "helmert" with the
    mean of those before it, "difference" with the one before it; "polynomial" has trends over ordered levels.
    categories: "auto" or a list of levels a column, in the order wanted. handle_unknown: an "error", or zeros
    ("ignore"). ``contrast_matrices_`` has a matrix a column; they are those of R, patsy and formulaic.

    >>> from surefit import ContrastEncoder
    >>> encoder = ContrastEncoder("sum").fit([["a"], ["b"], ["c"]])
    >>> encoder.transform([["c"], ["a"]])
    array([[-1., -1.],
           [ 1.,  0.]])
    >>> encoder.get_feature_names_out().tolist()
    ['x0[S.a]', 'x0[S.b]']
    """

    accepts = Accepts(missing=True, sparse=False, tables=True, cells=True)
    learns = ContrastEncoderParameters

    contrast_matrices_: list[NDArray[np.float64]]

    def __init__(
        self,
        contrast: Contrast = "treatment",
        *,
        categories: Literal["auto"] | list[Any] = "auto",
        handle_unknown: Literal["error", "ignore"] = "error",
    ) -> None:
        self.contrast = contrast
        self.categories = categories
        self.handle_unknown = handle_unknown

    def _finish(self, statistic: CategoryCounts, schema: Schema) -> Learned:
        levels = self._known_levels(list(statistic.levels), self.handle_unknown == "error")
        counts = [
            counted_as(known, found, sums)
            for known, found, sums in zip(levels, statistic.levels, statistic.counts, strict=True)
        ]
        parameters = ContrastEncoderParameters(levels, counts, self._matrices(levels), seen(statistic.weight))
        return Learned(parameters, self._certificate(statistic.rows * np.finfo(float).eps))

    def _matrices(self, levels: list[NDArray[Any]]) -> list[NDArray[np.float64]]:
        return [contrast_matrix(self.contrast, len(known)) for known in levels]

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        counted = super()._certify(source, engine)
        again = zip(self.contrast_matrices_, self._matrices(self.categories_), strict=True)
        return self._certificate(max(counted.value, *(change(one, two) for one, two in again), 0.0))

    def _transform(self, X: Any) -> NDArray[np.float64]:
        codes = self._codes(X, self.categories_, self.handle_unknown == "error")
        blocks = [
            np.vstack([matrix, np.zeros((1, matrix.shape[1]))])[codes[:, j]]  # -1, unknown, is the last row
            for j, matrix in enumerate(self.contrast_matrices_)
        ]
        return np.hstack(blocks)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The name of the column, and what it compares."""
        check_is_fitted(self)
        inputs = _check_feature_names_in(self, input_features)
        return np.array(
            [
                f"{name}{end}"
                for name, levels in zip(inputs, self.categories_, strict=True)
                for end in contrast_names(self.contrast, levels.tolist())
            ],
            dtype=object,
        )
