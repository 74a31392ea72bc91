"""Clusters: groups of rows that are closer to each other than to the rest, without a target to learn from.

``hierarchy`` merges or splits step by step and keeps the tree; ``density`` joins what is close and many, and
calls the rest noise; ``spectral`` cuts a graph of similarities by the eigenvectors of its Laplacian.

Every model has ``labels_``, one for each fitted row, and ``predict``, which tells rows that come later which
group they would join; its docstring says by what rule. ``compared_rows.py`` is what models share that compare
all rows with each other and so take them in memory.

To add one: a file in the folder of its kind with a class that derives from ``RowsCompared``, or from
``Estimator`` where rows can stream.
"""

__all__ = ["hierarchy"]
