"""The comparison of families within a budget of seconds.

``candidates`` asks the registry which families suit the task, ``metric_choice`` which metrics and how many
folds, ``row_budget`` measures how many rows each family can afford; ``race`` then runs every family on the
same folds, again and again while the time lasts. A fold chooses settings inside of its training rows
(``nested_fold``), or reads a table larger than memory (``streamed_fold``); finished folds lie in a
``checkpoint``, and ``leaderboard`` says who can be told apart and what the best score is worth.

To add a family: a model class that declares a ``candidate``; nothing here changes.
"""

__all__ = [
    "candidates",
    "checkpoint",
    "leaderboard",
    "metric_choice",
    "nested_fold",
    "race",
    "row_budget",
    "streamed_fold",
]
