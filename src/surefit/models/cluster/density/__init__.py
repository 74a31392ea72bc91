"""Clusters of any shape, as places where rows lie close together; what lies alone is noise.

``dbscan.py`` has one distance for all of the table: over a grid in one to three columns (the kernel in
``core/native/clusters/density.py``), by pairs elsewhere.
"""

__all__ = ["dbscan"]
