"""Linear models learnt row by row.

``epochs`` runs over the rows of a source for one problem, or for one a class side by side;
``objective_parts`` has losses and penalties by name, and the proofs of what epochs end at. ``base`` is what
the estimators share: it makes the problems, runs the epochs, sets rows aside to stop by, updates by
``partial_fit``, and certifies; ``projection`` leads each step back into bounds and orders. ``regressor``
and ``classifier`` are the estimators by stochastic gradients, ``perceptron`` adds rows on the wrong side
until there is none.

To add one, derive from ``base`` and say which losses it has and what its targets are.
"""
