"""Penalties and constraint sets: what an objective adds to the mean loss.

A penalty is a function of the coefficients ``w``, a vector of p entries or a p × K matrix; the free intercept
is never among them. A constraint is a penalty too: zero inside its set, infinite outside, and its proximal
step is the projection. Solvers see the contract in ``base`` alone::

    gradient step --v--> penalty.prox(v, step) --w--> subdifferential_distance(w, g): is it the answer?
                                                      conjugate(u), dual_scaling(u):  how far from it at most?

``coordinate_table`` holds the one formula behind every penalty that treats each coefficient alone and is
convex: a row of (l1, l2, lower, upper), which compiled solvers read. ``tabulated`` makes a penalty of such a
table, ``weighted`` one with a strength and column weights; ``convex_set`` makes one of a set and its
projection.

    >>> from surefit.penalties import L1
    >>> L1(1.0).prox([3.0, -0.5, -2.0], step=1.0)
    array([ 2.,  0., -1.])

To add one: a file here with a class that gives itself a ``name`` and writes ``value`` and ``prox``, or just
``table``; what else exists in closed form is optional, and ``cases`` yields some for the laws.
"""

from __future__ import annotations

from surefit.core.registry import members_door
from surefit.penalties.base import Penalty as Penalty

__getattr__, __dir__ = members_door(__name__, "penalty")
