"""Rows to learn from and to ask about, in memory or read in batches, behind one face.

A function that judges models turns X, y and weights into a ``dataset`` once; what is written against its
``fit`` and ``ask`` then works on arrays, frames and tables larger than memory, with the same numbers.
``source_models`` fits and asks any model over a source and hands out weights under the names that a model
wants, ``batch_changes`` replaces targets or columns as batches pass, ``column_changes`` does so for a table
in memory, and ``frames`` gives results back as data frames.

To add a change of batches: a small class in ``batch_changes`` that takes a batch and returns one.
"""

__all__ = ["batch_changes", "column_changes", "dataset", "frames", "source_models"]
