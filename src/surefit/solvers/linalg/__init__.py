"""Linear algebra: what matrices do to vectors, and least squares in closed form.

``singular_values``, ``principal_axes`` and ``randomized_svd`` take a matrix apart, ``norms`` says how far
it stretches. ``least_squares`` finishes Gram matrices and triangular factors, ``ridge`` does so with
squares for all strengths at once, ``nonnegative_least_squares`` under sign constraints,
``secular_equation`` in a ball, ``conjugate_gradient`` where no Gram matrix fits, ``positive_solve`` large
symmetric systems. ``column_order`` says how a matrix stands in memory. Sums or arrays come in, a frozen
solution goes out, and nothing here knows an objective.

To add one: a file with a function of arrays that returns a dataclass.
"""

__all__ = [
    "column_order",
    "conjugate_gradient",
    "least_squares",
    "nonnegative_least_squares",
    "norms",
    "positive_solve",
    "principal_axes",
    "randomized_svd",
    "ridge",
    "secular_equation",
    "singular_values",
]
