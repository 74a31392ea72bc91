"""Statistics: values that add up.

A statistic is what one pass over the data is for. ``of(batch)`` makes it from some rows, ``+`` joins two,
and joining is associative, so rows may be cut anywhere and read anywhere. The statistic of no rows changes
nothing when added. Values are frozen.

To add one: a file here with a class that gives itself a ``name``, its fields, ``of`` and ``__add__``; the
laws over the registry then test it: any split, order and tree of merges, no rows, weights as repetition.
"""
