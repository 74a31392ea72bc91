"""Clusters: groups of rows that are near each other, found without a target.

A family is a folder of its own. ``kmeans/`` has the models whose clusters have a centre: k-means and its
relatives (in batches, bisecting, on a line, fuzzy, constrained, with kernels, about medoids). ``hierarchy/``
merges or splits step by step and keeps the tree; ``density/`` joins what is close and many, and calls the
rest noise; ``spectral/`` cuts a graph of similarities by the eigenvectors of its Laplacian. How many
clusters there are is chosen in ``evaluate/clusters``, how good they are measured in ``metrics``, and what
sets each apart is said by ``evaluate/clusters`` too.

``compared_rows.py`` is what models share that compare all rows with each other, and so take them in memory.

To add one: a folder, or a file in the folder of its family, with a class that derives from ``Estimator``, or
from ``RowsCompared``, and has ``labels_``; its certificate says what the clusters are optimal, stationary or
exact for.
"""
