"""Who is near: an index over rows, and the questions that it answers.

``build(X, distance)`` chooses how to search (``choose.py`` says by what, in figures) and returns an index::

    index.nearest(Q, k)             --> Found(distance, index), both (m, k)
    index.within(Q, radius)         --> Lists(start, index, distance), as CSR
    index.nearest_graph(k), index.radius_graph(r)  --> scipy CSR of the rows among themselves

``Q=None`` asks for the rows themselves, none of which is its own neighbour. Equal distances are ordered by
row number, and all ways of searching give the same sets: those of comparing all pairs in float64.

``native.py`` searches where a distance is a norm of differences, ``by_values.py`` wherever it is not. The
door is ``choose.py``.

    >>> import numpy as np
    >>> from surefit.distances import search
    >>> search.build(np.array([[0.0], [1.0], [3.0]])).nearest([[2.0]], 2)
    Found(distance=array([[1., 1.]]), index=array([[1, 2]]))
"""

from __future__ import annotations

from surefit.distances.search.choose import ALGORITHMS as ALGORITHMS
from surefit.distances.search.choose import build as build
from surefit.distances.search.index import Found as Found
from surefit.distances.search.index import Index as Index
from surefit.distances.search.index import Lists as Lists

__all__ = ["ALGORITHMS", "Found", "Index", "Lists", "build"]
