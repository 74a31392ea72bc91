"""How good a model is for rows that it has not seen.

``cross_validate`` cuts the rows, runs the folds of ``scoring.fold`` (of ``source_folds`` for tables that
are read in batches), keeps finished ones in a ``fold_store``, and returns a ``result`` with scores,
intervals and answers; ``leaks`` says where it could be fooled. ``nested`` chooses inside of each fold,
``bootstrap`` draws rows with replacement, and ``permutation_test`` asks whether anything was learnt at all.

To add a way to resample: a splitter in ``surefit.resample``; a new estimate made of folds is a module here
that calls ``run_folds``.
"""

__all__ = ["cross_validate", "fold_store", "leaks", "result", "source_folds"]
