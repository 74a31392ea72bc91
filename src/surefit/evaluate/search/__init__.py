"""Searches over parameters: candidates are tried on the folds of a cross-validation and one is taken.

``base`` is the estimator that all share and the table of its results; ``grid``, ``randomized`` and
``halving`` say which candidates there are and when. ``candidate_fits`` fits and scores them on a fold,
along one warm ``regularization_path`` where only a strength differs; ``choice`` takes the best or the
simplest that cannot be told from it, and ``selection_bias`` corrects the score of the chosen one, the best
of many being too good.

To add a search: a class derived from ``base.Search`` that lists candidates; it is registered by its class.
"""

__all__ = ["choice", "halving", "regularization_path", "selection_bias"]
