"""A fitted tree written down for others.

``conditions`` says what each split asks, in the names and levels of the data; ``formats`` writes text,
JSON, SQL and Python from these conditions, each of which says the same as ``predict``; ``leaf_boxes`` gives
the leaves as boxes with weights, so that the tree is a sum of basis functions. All take arrays of ``nodes``
and know no estimator; the methods that users call are in ``trees.base``.

To add a format, write a function in ``formats`` that takes nodes, conditions and answers, and a method that
calls it.
"""

__all__ = ["conditions", "formats", "leaf_boxes"]
