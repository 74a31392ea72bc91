"""Solvers: from statistics and objectives to parameters, with the numbers that prove them.

Nothing here reads data: a solver is handed sums, or an objective that reads for it. ``least_squares``
finishes Gram matrices and triangular factors; ``ridge`` does so with a penalty, for all its
strengths at once; ``nonnegative`` under sign constraints; ``homotopy`` follows the lasso through all its
strengths, and ``secular`` solves in a ball. ``singular_values`` and ``norms`` say what a matrix
does to vectors, and to errors of the data. ``linear_program`` and ``quadratic_program`` are front ends of
``program``; ``conditions`` measures what holds at a point of any function.

Squares with a penalty a coefficient have an engine of their own: ``squared_columns`` over a matrix in memory,
by working sets (``working_set``), and ``squared_sums`` over moments. Both end in ``quadratic``, coordinate
descent with exact steps, and are proved by ``table_gap``. Targets that share their columns have
``task_columns``; within bounds and orders ``task_within``, which splits (``task_splitting``), ends on a face
(``task_face``) and is proved by ``task_gap``. One quadratic within bounds and orders (``level_limits``) has
``quadratic_within``, by active sets, and ``path_within`` for all strengths of its absolute values.

Mean loss plus penalty is an ``objective``, and ``base`` the contract of those who minimise one: ``newton``
and ``proximal_newton`` (whose loop is ``second_order``), ``lbfgs``, ``closed_form``, ``coordinate_descent``,
``fista``, ``proximal_gradient`` and ``primal_dual`` (which ends on an ``ordered_face`` where levels are
ordered). Few of many columns matter: ``column_newton``; sparse rows of an SVM: ``dual_coordinates``. Losses
of straight pieces: ``frisch_newton`` (an interior point that ends on a face, in ``kinked_*``, of columns
``turned`` where they are far from zero), ``highs`` for a vertex, ``reweighting`` as taught. Likelihoods of
their own: ``fisher_scoring`` (with ``valleys`` and ``flat_directions`` where a loss is not convex),
``firth``, ``joint`` (thresholds, a dispersion) and ``scaled_newton`` (a scale). Many rows begin ``sampled``,
many targets go ``by_output``, those of two classes in ``many_logits``. They stop when the ``gap`` proves the
answer (``free_directions``: where nothing is penalised; ``slope_rounding``: what rounding excuses);
``choose`` says which suits. To add one: a file with a class below :class:`~surefit.solvers.base.Solver` that
has a ``name``, its ``needs`` and ``solve``.

A function of one's own is an objective too (``function``, with what it can prove in ``function_proof``;
``constrained`` where constraints are functions). ``methods`` holds the algorithms of the courses for it, and
``minimize`` is their door; ``line_search``, ``backtracking`` and ``exact_line_search`` say how far to go.
"""
