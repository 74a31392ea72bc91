"""Methods: the algorithms of the courses, one readable file each, on any function or objective.

A method is a solver that asks an objective only for values, gradients, Hessians and proximal steps, so it
runs on a :class:`~surefit.solvers.objective.function.FunctionObjective` and on the mean loss of a table
alike. ``minimize`` makes the former and calls one by its name.

``base`` holds what they share: a loop that steps, records, asks for a proof and ends. A method writes how one
point follows from the last. ``terms`` are what stochastic ones draw from, ``lipschitz`` bounds their steps,
and ``line`` is an objective along a direction. Solvers of tables with similar names stand elsewhere:
``damped_newton``, ``limited_memory_bfgs`` and ``block_coordinate_descent`` are the methods as taught.

To add one: a file here with a class that has a ``name``, its ``needs``, and ``_steps``; the laws run it on
functions whose minimum is known.
"""

__all__ = ["base", "bfgs", "damped_newton", "minimize"]
