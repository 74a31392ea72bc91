"""Which models can be told apart.

``compare`` cross-validates models on the same folds, takes the test that suits their scores out of
``difference_tests`` (corrected t, McNemar, DeLong, 5x2, or the probability that one is better), allows for
the number of pairs by ``multiple_testing``, and returns a ``leaderboard``.

To add a test of two models: a function in ``difference_tests`` that returns its result, and its name where
``compare`` chooses.
"""

__all__ = ["compare", "difference_tests", "leaderboard", "multiple_testing"]
