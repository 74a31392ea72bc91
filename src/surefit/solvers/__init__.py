"""Solvers: from statistics and objectives to parameters, with the numbers that prove them.

Nothing here reads data: a solver is handed sums, or an objective that reads for it. Sub-packages, each
below those that call it:

* ``linalg``: what a matrix does to vectors, and least squares, ridges and their relatives in closed form.
* ``program``: linear and quadratic programmes, with primal, dual and proof.
* ``conditions``: what holds at a point of any function, measured.
* ``objective``: mean loss plus penalty, or a function of one's own; the contract ``Solver`` of those who
  minimise one; the ``gap`` that proves the answer; and ``choose``, which says who suits.
* ``squares`` and ``tasks``: mean squares with a penalty, of one target and of several; whole paths.
* ``newton``, ``first_order``: smooth losses, by second derivatives or by gradients alone.
* ``kinked``: piecewise-linear losses, solved exactly. ``svm``: support vector machines from their dual.
* ``likelihood``: Fisher's scoring, Firth's penalty, and likelihoods with more parameters than coefficients.
* ``methods``: the algorithms of the courses, for any function; ``methods.minimize`` is their door.

An estimator binds an ``Objective``, asks ``choose`` or names a solver, and gets a ``Solution``: the packed
point, its certificate and the trace. To add a solver: a file in the fitting sub-package with a class below
:class:`~surefit.solvers.objective.solver.Solver` that has a ``name``, its ``needs`` and ``solve``.
"""
