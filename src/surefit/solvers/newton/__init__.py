"""Newton's method for smooth losses of tables.

``second_order`` is the loop that ``newton`` (squares alone) and ``proximal_newton`` (any convex penalty)
share: second derivatives at a point, the minimum of their model, a step towards it. ``quadratic_model``
minimises that model with its penalty, ``ordered_quadratic_model`` over ordered levels. Where columns are
too many for a square there are ``column_newton``, by working sets, and ``row_newton``, with one unknown a
row, whose systems ``row_system`` solves.

To add one: a class below ``SecondOrder`` with a name, its needs, and how it minimises the model.
"""

__all__ = ["ordered_quadratic_model", "proximal_newton", "quadratic_model", "row_system", "second_order"]
