"""Trees of clusters: merged from single rows upwards, or split from all rows downwards.

``agglomerative.py`` is the model: it takes merges from the kernel in ``core/native/clusters/linkage.py``, or
along the edges of a graph (``connectivity.py``). ``merge_tree.py`` is the tree that all of them leave: cuts,
order of leaves, cophenetic distances. ``recheck.py`` computes heights again, from the definitions.
Trees split from the top come from ``BisectingKMeans`` among the models of centres, in the same form.
"""

__all__ = ["agglomerative", "merge_tree"]
