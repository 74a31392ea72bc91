"""Coefficients that lie in several convex sets at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError
from surefit.core.parameters import Count, validate
from surefit.penalties.arrays import coefficients, in_type_of, rounding
from surefit.penalties.base import CASE_COLUMNS, Array, Penalty
from surefit.penalties.half_space import HalfSpace
from surefit.penalties.intersection_dykstra import Projection, nearest_common_point, projection_certificate
from surefit.penalties.l2_ball import L2Ball
from surefit.penalties.nonnegative import NonNegative


class Intersection(Penalty):
    r"""The constraint that w lies in each of the sets; its projection is Dykstra's.

    Each set in turn gets back what it took away the last time, and projects. Unlike plain projections in
    turn, this ends in the *nearest* common point; ``certificate`` tells how far from it at most.

    >>> both = Intersection([NonNegative(), HalfSpace([1.0, 1.0], 1.0)])
    >>> both.prox([2.0, -1.0], step=1.0)
    array([1., 0.])
    """

    name = "intersection"
    constraint: ClassVar[bool] = True

    def __init__(self, sets: list[Any] | tuple[Any, ...], max_rounds: Count = 3_000) -> None:
        self.sets = sets
        self.max_rounds = max_rounds
        validate(self)
        for number, each in enumerate(sets):
            if not (isinstance(each, Penalty) and each.constraint and each.convex):
                raise ParameterError(
                    f"Intersection: sets[{number}] is {each!r}; give convex constraints, such as Box()."
                )
        if not sets:
            raise ParameterError("Intersection: sets is empty; give at least one constraint.")

    def value(self, w: ArrayLike) -> float:
        """Return 0 where no set is farther away than rounding, and infinity elsewhere."""
        point = coefficients(w)
        slack = 8 * len(point) * rounding(w) * np.abs(point).max(initial=0.0)
        return 0.0 if max(self.distances(point)) <= slack else np.inf

    def distances(self, w: ArrayLike) -> list[float]:
        """Return how far each set is from w.

        >>> Intersection([NonNegative(), L2Ball(1.0)]).distances([0.0, 3.0])
        [0.0, 2.0]
        """
        point = coefficients(w)
        return [float(np.linalg.norm(point - each.prox(point, 1.0))) for each in self.sets]

    def prox(self, v: ArrayLike, step: float) -> Array:
        """Return the nearest point of all sets, whatever the step."""
        point = coefficients(v)
        if max(self.distances(point)) == 0.0:
            return in_type_of(point.copy(), v)
        columns = point.reshape(len(point), -1).T
        # The first search leaves roundings of v, which may be far away; the second only those of the answer.
        nearest = [self.search(self.search(column).point).point for column in columns]
        return in_type_of(np.array(nearest).T.reshape(point.shape), v)

    def certificate(self, v: ArrayLike, tolerance: float = 1e-10) -> Certificate:
        """Project v, and return how far the answer can be from the nearest point, with its witness.

        >>> found = Intersection([NonNegative(), L2Ball(1.0)]).certificate([3.0, -1.0])
        >>> found.holds, found.witness["point"]
        (True, array([1., 0.]))
        """
        start = coefficients(v)
        found = self.search(start)
        return projection_certificate(self.sets, start, found.point, found.corrections, tolerance)

    def search(self, v: Vector) -> Projection:
        """Return the nearest common point to v with the corrections that prove it."""
        found = nearest_common_point(self.sets, v, self.max_rounds)
        if not found.settled:
            distances = self.distances(found.point)
            worst = int(np.argmax(distances))
            raise DataError(
                f"Intersection: after {found.rounds} rounds the projection has not converged, "
                f"{distances[worst]:.3g} away from sets[{worst}]; the sets may have no point in common: "
                "enlarge one, or raise max_rounds."
            )
        return found

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws: a polyhedron, and one with a curved side."""
        normal = np.linspace(1.0, 2.0, CASE_COLUMNS)
        yield cls([NonNegative(), HalfSpace(normal, 1.5)])
        yield cls((HalfSpace(normal, -0.5), L2Ball(1.0)))
