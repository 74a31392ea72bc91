"""Factor models: a few directions, or factors, that stand for many columns.

``components.py`` is the face of every model whose axes are principal ones: it maps rows to scores and back,
and knows the normal distribution that the axes stand for. ``pca.py`` chooses how to find the axes (moments,
triangular factor, singular vectors, block Krylov), ``spectrum.py`` how many to keep, and ``optimality.py``
proves that no others are better; ``incremental_pca.py`` takes rows in pieces, ``truncated_svd.py`` rows that
are not centred, ``probabilistic_pca.py`` rows with gaps; ``component_count.py`` says how many axes there are.
The algebra is in ``solvers/linalg/principal_axes.py`` and ``solvers/linalg/randomized_svd.py``.

``factor_analysis.py`` gives each column its own noise, ``fast_ica.py`` makes sources independent, ``nmf.py``
adds up nonnegative parts. ``tsne.py`` and ``umap.py`` make pictures of neighbourhoods, on the ground of
``embedding.py``. Those that go back and forth over the rows gather them by ``rows_of_source.py``.
"""

__all__ = ["optimality", "pca"]
