"""Clusters as parts of a graph of similarities with few and weak edges between them.

``similarity.py`` makes the graph (kernel, nearest neighbours, a radius, or given) and finds the smallest
eigenvalues of its Laplacian, whose eigenvectors are nearly constant on such parts. ``embedding.py`` gives the
eigenvectors as columns, ``clustering.py`` groups their rows.
"""

__all__ = ["clustering", "embedding"]
