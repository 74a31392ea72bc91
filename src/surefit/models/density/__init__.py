"""Densities without a formula: kernels around the rows, histograms, the empirical distribution.

A fit keeps its rows (``stats/row_set.py``), so it takes more rows later, gives rows back and merges exactly.
``smoothing.py`` holds the smoothing kernels, their constants in d dimensions and the sums over rows;
``kernel_density.py`` is the density, ``kde_classifier.py`` one of each class, ``kernel_regression.py`` local
averages and local lines of a target, ``histogram_density.py`` a grid, ``empirical_distribution.py`` the
shares of values. To add one: a file here; a kernel goes into ``smoothing.py``.
"""

__all__ = ["kernel_density", "smoothing"]
