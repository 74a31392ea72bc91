"""Losses with kinks: quantile, hinge, epsilon-insensitive and absolute losses.

``scaling`` writes an objective as piecewise-linear ``rows`` of scaled columns (over ``mean_reflection``
where columns are far from zero), which also cap weights and aggregate rows that are plainly on one side.
``frisch_newton`` drives an ``interior`` point near the answer and ends on a ``face``, solved exactly, or at
a vertex; ``highs`` finds the vertex by the simplex method, ``reweighting`` is iteratively reweighted least
squares, and ``primal_dual`` smooths kinks less and less, with ordered levels too.

To add one: a class below ``Solver`` that needs a loss with kinks.
"""

__all__ = ["frisch_newton", "mean_reflection", "reweighting"]
