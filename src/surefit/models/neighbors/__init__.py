"""Neighbours: answers by the rows that are nearest, and by prototypes of them.

A fit holds the rows and makes them ready to be asked who is near; ``distances/search`` does the asking, and
says how it chose to. Rows come and go without a rebuild (``rows.py``), and those of a source too large for
memory stay where they are and are searched batch by batch::

    rows --HeldRows--> nearest, within --places.py--> who counts how much --vote or mean--> answers

``base.py`` is what all share: parameters, proof, diagnosis and the methods that ask; ``weights.py`` is how
much a neighbour counts by its distance. ``nearest_centroid.py`` and ``lvq.py`` keep a few prototypes of each
class in place of all rows. To add one: a file here with a class below ``NeighborModel``, which says what it
makes of the neighbours of a row.
"""

__all__ = ["classifier", "lvq", "nearest_centroid", "regressor", "transformers", "unsupervised"]
