"""Distances: how far apart two rows, words or objects are, and who is near.

A distance is a value: it has parameters, takes what it needs from the rows that are searched (``fitted``),
and turns two tables into a matrix. Where it is a norm of differences on rows that are changed first (scaled,
rotated, brought to length 1), it says so in ``native``, and compiled code searches::

    X --distance.fitted--> distance --search.build--> index --nearest, within, graph--> who is near
    X, Y --distance(X, Y)--> (n, m)

Every distance is here under the name of its class, and ``as_distance`` takes scikit-learn's names, functions
and kernels::

    >>> from surefit.distances import Manhattan, as_distance
    >>> Manhattan()([[0.0, 0.0]], [[3.0, 4.0]])
    array([[7.]])
    >>> as_distance("edit")(["kitten"], ["sitting"])
    array([[3.]])

``search`` has the trees and the plain comparison of all pairs, and the rule that chooses among them. To add a
distance: a file here with a class below :class:`~surefit.distances.base.Distance` that gives itself a
``name`` and writes ``_between``; ``native`` where compiled code can count it. The laws of distances find it.
"""

from __future__ import annotations

from surefit.core.registry import members_door
from surefit.distances.base import Distance as Distance
from surefit.distances.base import Native as Native
from surefit.distances.conversion import as_distance as as_distance

__getattr__, __dir__ = members_door(__name__, "distance")
