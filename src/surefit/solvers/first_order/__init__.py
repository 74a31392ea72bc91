"""Solvers that ask for gradients alone, for tables with too many columns for second derivatives.

``lbfgs`` guesses curvature from its last steps, ``proximal_gradient`` steps down the loss and then towards
the penalty, in lengths that suit the columns, and ``fista`` does so from a point ahead. How far to go along
a direction is said by ``wolfe_line_search`` (to the strong Wolfe conditions), ``backtracking`` (to
Armijo's) and ``exact_line_search`` (to where the slope vanishes). ``rates`` says how many steps a proved
rate of convergence asks for.

To add one: a class below ``Solver`` with a name, its needs and ``solve``, which streams if it asks the
objective for nothing but ``at`` and ``prox``.
"""

__all__ = ["backtracking", "exact_line_search", "lbfgs", "rates", "wolfe_line_search"]
