"""Methods: the algorithms of the courses, one readable file each, on any function or objective.

A method is a solver that asks an objective only for values, gradients, Hessians and proximal steps, so it
runs on a :class:`~surefit.solvers.function.FunctionObjective` and on the mean loss of a table alike.
:func:`surefit.minimize` makes the former and calls one by its name.

``base`` holds what they share: a loop that steps, records, asks for a proof and ends. A method writes how one
point follows from the last. ``step_sizes`` are the rules for how far to go.

To add one: a file here with a class that has a ``name``, its ``needs``, and ``_steps``; the laws run it on
functions whose minimum is known.
"""
