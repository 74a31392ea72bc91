"""Statistics: values that add up.

A statistic is what one pass over the data is for. ``of(batch)`` makes it from some rows, ``+`` joins two,
and joining is associative, so rows may be cut anywhere and read anywhere. The statistic of no rows changes
nothing when added. Values are frozen, and ``values.py`` writes them into files.

``moments.py`` and ``triangular.py`` are what least squares is made of, ``curvature.py`` what a step of a
solver is; ``double_double.py`` and ``rounding.py`` say how the moments know their own error.
``docs/statistics.md`` lists them all, with their bounds.

To add one: a file here with a class that gives itself a ``name``, its fields, ``of`` and ``__add__``, and,
where ``of`` needs a context, ``law_contexts``. The laws over the registry then test it: any split, order and
tree of merges, no rows, weights as repetition, subtracting, saving.
"""
