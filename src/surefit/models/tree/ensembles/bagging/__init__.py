"""Averages of members that were fitted to rows drawn again and again.

``draws`` says which rows and columns each member is given, from a stream of random numbers of its own;
``base`` fits the members, judges them by rows that they were not given with ``errors``, and certifies the
result; ``classifier`` and ``regressor`` are the estimators, which say how answers are averaged and scored.

To add another average, derive from ``base`` as ``regressor`` does.
"""
