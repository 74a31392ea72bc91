"""Fisher's scoring: Newton's method with the expected second derivatives, which never bend down."""

from __future__ import annotations

from typing import Any, ClassVar

from surefit.solvers.base import Needs
from surefit.solvers.proximal_newton import ProximalNewton


class FisherScoring(ProximalNewton):
    r"""Iteratively reweighted least squares with a line search, for generalised linear models of any link.

    The loss is half a deviance, whose expected curvature :math:`\mu'(z)^2 / V(\mu)` is never negative though
    the loss may not be convex: every step goes downhill, to a point that is stationary.

    >>> from surefit.losses.families import Gamma
    >>> from surefit.losses.family_loss import FamilyLoss
    >>> from surefit.losses.links import Inverse
    >>> from surefit.penalties import NoPenalty
    >>> from surefit.solvers.objective import Objective
    >>> loss = FamilyLoss(Gamma(), Inverse())
    >>> objective = Objective.of_arrays([[0.0], [1.0], [2.0]], [1.0, 0.5, 1 / 3], loss, NoPenalty())
    >>> FisherScoring().solve(objective).x.round(6)
    array([1., 1.])
    """

    needs: ClassVar[Needs] = Needs(loss=("smooth", "observed_curvature"), penalty=("convex",))

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.name = "fisher_scoring"  # type: ignore[misc]  # not listed: no loss that is chosen by name needs it
