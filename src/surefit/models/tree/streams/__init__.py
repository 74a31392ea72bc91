"""Growing trees from tables larger than memory.

Passes over a source add up whole sums for each node, a level of all trees at a time: ``setup`` decides
whether a source is streamed and looks at it first, ``tree_stream`` makes the passes, ``tree_growth`` and
``boosted_growth`` grow one tree from the sums, and ``level_search`` reads the best split of a node off
them. ``errors`` adds up what trees say of rows that they have not seen, and compares leaves with their rows.
The estimators in ``trees``, ``forests`` and ``boosting`` call these for tables larger than memory.

To add a criterion for streams, say in ``targets.node_sums`` what rows add, and score it in
``level_search``.
"""

__all__ = ["boosted_growth", "errors", "setup"]
