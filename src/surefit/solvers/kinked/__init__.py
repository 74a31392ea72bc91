"""Losses with kinks: quantiles, hinges, tubes and absolute errors.

``scaling`` takes an objective to ``rows`` of straight pieces in units of their own (over
``mean_reflection`` where columns are far from zero), which also caps weights and lumps rows that are
plainly on one side. ``frisch_newton`` drives an ``interior`` point near the answer and ends on a ``face``,
solved exactly, or at a vertex; ``highs`` asks a simplex for the vertex, ``reweighting`` is the method as
taught, and ``primal_dual`` rounds kinks off less and less, with ordered levels too.

To add one: a class below ``Solver`` that needs a loss with kinks.
"""
