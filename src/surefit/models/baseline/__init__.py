"""Baselines: what can be said without looking at the columns. Every other model has to beat them.

``MeanRegressor`` answers the mean of the target, ``MajorityClassifier`` the heaviest class; their scores
are the zero of any comparison.
"""

__all__ = ["majority"]
