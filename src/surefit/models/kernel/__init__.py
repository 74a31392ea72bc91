"""Kernel machines: models whose answer is a weighted sum of kernel values with training rows.

``svm`` are the support vector machines, whose weights are mostly zero. Every model here takes the kernels of
:mod:`surefit.kernels`, their names, and kernel values that somebody else has computed, and holds all rows in
memory. To add a family: a folder here, with an essay in its ``__init__.py``.
"""

__all__ = ["svm"]
