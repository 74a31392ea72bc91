"""Factor models: a few directions, or factors, that stand for many columns.

``components.py`` is the face of every model whose axes are principal ones: it maps rows to scores and back,
and knows the normal distribution that the axes stand for. ``pca.py`` chooses how to find the axes (moments,
triangular factor, singular vectors, block Krylov), ``spectrum.py`` how many to keep, and ``optimality.py``
proves that no others are better; ``incremental_pca.py`` takes rows in pieces. The algebra is in
``solvers/linalg/principal_axes.py`` and ``solvers/linalg/randomized_svd.py``.
"""

__all__ = ["optimality", "pca"]
