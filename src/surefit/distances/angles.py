"""Angles between rows, and between places on a globe."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError
from surefit.core.native.neighbours.norms import Norm
from surefit.distances.base import Distance, Native


def _of_length_one(X: Matrix) -> Matrix:
    """Rows of length 1, and one more column, which is 1 for rows of zeros alone."""
    largest = np.abs(X).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(X, largest, out=np.zeros_like(X, dtype=np.float64), where=largest > 0)
    size = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    none = size == 0
    return np.ascontiguousarray(np.hstack([scaled / np.where(none, 1.0, size), none.astype(np.float64)]))


def _half_square(d: Any) -> Any:
    return d * d / 2


def _of_half_square(c: Any) -> Any:
    return np.sqrt(2 * np.maximum(c, 0.0))


class Cosine(Distance):
    r"""One less the cosine of the angle: :math:`d(x, y) = 1 - x'y / (|x| |y|)`, half the squared distance
    of the rows brought to length 1.

    A row of zeros is 1 away from all others, and 0 from another row of zeros.

    >>> Cosine()([[1.0, 0.0]], [[1.0, 1.0], [0.0, 2.0]]).round(4)
    array([[0.2929, 1.    ]])
    """

    name = "cosine"
    metric = False

    def native(self) -> Native:
        """Return the Euclidean norm of rows of length 1."""
        return Native(Norm(), _of_length_one, _half_square, _of_half_square)

    def _between(self, X: Any, Y: Any) -> Matrix:
        from scipy.sparse import csr_array

        def scaled(rows: Any) -> Any:
            rows = csr_array(rows, dtype=np.float64)
            size = np.sqrt(rows.multiply(rows).sum(axis=1))
            return rows.multiply(
                np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)[:, None]
            ).tocsr(), size

        (left, a), (right, b) = scaled(X), scaled(Y)
        found = 1 - (left @ right.T).toarray()
        found[np.ix_(a == 0, b == 0)] = 0.0
        return np.asarray(np.clip(found, 0.0, 2.0))


class Correlation(Distance):
    """One less the correlation of two rows.

    >>> Correlation()([[1.0, 2.0, 3.0]], [[2.0, 4.0, 6.0], [3.0, 2.0, 1.0]]).round(4)
    array([[0., 2.]])
    """

    name = "correlation"
    metric = False

    def native(self) -> Native:
        """Return the Euclidean norm of centred rows of length 1."""
        return Native(
            Norm(),
            lambda X: _of_length_one(X - X.mean(axis=1, keepdims=True)),
            _half_square,
            _of_half_square,
        )


class Haversine(Distance):
    r"""The angle between two places on a globe, given as latitude and longitude in radians.

    >>> Haversine()([[0.0, 0.0]], [[0.0, np.pi / 2]]).round(4)
    array([[1.5708]])
    """

    name = "haversine"

    def native(self) -> Native:
        """Return the Euclidean norm of points in space, whose chords become arcs."""
        return Native(
            Norm(),
            _on_the_globe,
            lambda chord: 2 * np.arcsin(np.minimum(chord / 2, 1.0)),
            lambda arc: 2 * np.sin(np.clip(arc, 0.0, np.pi) / 2),
        )

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make places."""
        return np.column_stack([rng.uniform(-1.5, 1.5, n), rng.uniform(-3.0, 3.0, n)])


def _on_the_globe(X: Matrix) -> Matrix:
    if X.shape[1] != 2:
        raise DataError(f"Haversine takes latitude and longitude, two columns, and X has {X.shape[1]}.")
    latitude, longitude = X[:, 0], X[:, 1]
    return np.column_stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
    )
