"""Mean squares with a penalty of single coefficients, one set of numbers each.

``coordinate_descent`` and ``closed_form`` are the solvers. The former asks ``problems`` whether columns or
sums are the faster: a matrix in memory goes to ``columns``, which grows a ``working_set``, and sums go to
``sums``. Both end in ``gram_descent``, coordinate descent on a Gram matrix with exact last steps, and are
proved by ``table_gap``. ``homotopy`` follows the lasso through all its strengths. Bounds and ordered levels
are arrays of ``level_limits``: ``active_set`` minimises one quadratic within them, ``constrained_homotopy``
follows its path.

To add a penalty, give it a coordinate table; to add a solver, a class with a name, its needs and ``solve``.
"""

__all__ = [
    "active_set",
    "columns",
    "constrained_homotopy",
    "homotopy",
    "level_limits",
    "problems",
    "sums",
    "working_set",
]
