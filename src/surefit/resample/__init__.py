"""Resampling: which rows to learn from and which to test on.

A split is an object with ``split(X, y, groups)``, which yields pairs of row numbers (train, test); it works
wherever scikit-learn takes a ``cv``. scikit-learn's own splitters are wrapped under their names, with
declared parameters; ``HoldOut``, ``TrainValidationTest`` and ``Bootstrap`` are ours::

    >>> from surefit.resample import KFold
    >>> [test.tolist() for train, test in KFold(3).split(range(5))]
    [[0, 1], [2, 3], [4]]

``choose.py`` turns what a user gives as a split (a number, a splitter, pairs) into pairs of row numbers, and
refuses a pair that shares a row.

A table that does not fit in memory has no list of row numbers: ``source_folds`` cuts a source into folds that
are sources themselves, each reading only its own rows, batch by batch; ``split_source`` does so for any
splitter, from one pass over the column that it goes by (rows drawn again are read again: ``CountRule``);
``source_sample`` draws some of its rows.

Weighted draws invert the cumulative weight (``draws``), so that weight equals repetition; each replicate
draws from a stream of its own (``streams``), so that the numbers do not depend on who draws first.

To add a split: a file here with a class that declares its parameters and fills ``split`` and
``get_n_splits``; to wrap another of scikit-learn's, only the parameters. It is exported by being defined.
"""

from __future__ import annotations

from surefit.core.registry import members_door
from surefit.resample.base import Split as Split
from surefit.resample.source_split import source_sample as source_sample
from surefit.resample.sources import source_folds as source_folds

__getattr__, __dir__ = members_door(__name__, "split")
