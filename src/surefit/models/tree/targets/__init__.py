"""What trees are grown for.

``base`` is the estimator that turns rows into a matrix, and says what its parameters mean for the growers;
``classes`` and ``numbers`` add targets of classes, with their weights, and of numbers, centred and scaled.
For tables larger than memory, ``facts`` learns what must be known of a target from one pass, ``node_sums``
says what rows add to the sums of their nodes, and ``exact_sums`` adds without rounding, so that batches and
their order change no bit.

To add a kind of target, derive from ``base`` as ``numbers`` does, and say in ``node_sums`` what its rows
add.
"""

__all__ = ["base", "classes", "exact_sums", "facts", "node_sums", "numbers"]
