"""Clusters: groups of rows that are near each other, found without a target.

A family is a folder of its own. ``kmeans/`` has the models whose clusters have a centre: k-means and its
relatives (in batches, bisecting, on a line, fuzzy, constrained, with kernels, about medoids). How many
clusters there are is chosen in ``evaluate/clusters``, how good they are measured in ``metrics``, and what
sets each apart is said by ``evaluate/clusters`` too.

To add one: a folder, or a file in the folder of its family, with a class that derives from ``Estimator`` and
has ``labels_``; its certificate says what the clusters are optimal, or stationary, for.
"""

__all__ = ["kmeans"]
