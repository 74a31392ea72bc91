"""Transformers that keep some of the columns; in a pipeline they choose anew in each fold.

``filters`` keep columns by scores of their own (``column_scores`` and ``binned_information`` for rows in
memory, ``streamed_scores`` for sums over batches, both on the statistics of ``column_tests``),
``variance_threshold`` those that vary, ``wrappers`` and ``stochastic_wrappers`` the subsets on which the
model itself does best (``subset_scores``), and ``embedded`` those that a fitted model uses.
``leak_demonstration`` shows on noise what choosing outside of the folds does.

To add a filter score: a function in ``column_scores`` and its name in ``filters.NAMED``; to add a selector:
a class derived from ``filters.Selector``.
"""
