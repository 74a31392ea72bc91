"""k-means and its relatives: clusters that have a centre.

``base.py`` is the face of every model that puts a row to its nearest centre, with its certificate: neither
half step, to the nearest centre or to the mean, changes anything. ``passes.py`` is what an iteration asks of
rows: in memory they keep labels and bounds between iterations, a source adds up one statistic a pass.
``starts.py`` draws first centres, ``lloyd.py`` iterates from them. Each other file is one model.

An iteration over rows in memory and over a source computes the same numbers: sums are kept to twice double
precision, and the nearest centre is exact, so neither chunks nor bounds show.
"""

__all__ = ["base", "kmeans", "voronoi"]
