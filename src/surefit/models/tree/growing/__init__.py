"""Growing trees from rows in memory.

``forest_grower`` takes the rows, samples and rules of a forest and calls the native grower, some seeds at a
time; ``forest_samples`` draws the sample of each tree again from its seed, ``forest_errors`` judges trees
by rows that they have not seen, ``binned_search`` grows one tree by bins in large nodes and by all values
in small ones, and ``pruning`` cuts a grown tree back. What comes out are arrays of ``nodes``; estimators in
``trees`` and ``forests`` put names on them.

To add a way of growing, return the same arrays and let an estimator choose it by a parameter.
"""

__all__ = ["binned_search", "forest_errors", "forest_grower", "forest_samples", "pruning"]
