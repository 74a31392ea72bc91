"""How many clusters there are, how far apart, and what each of them is.

``choice.py`` fits a model for each number of clusters and compares them by silhouette, gap statistic,
stability and BIC, in one call. ``separation.py`` holds clusters to the Good Clustering Principle.
``description.py`` says in words what sets each cluster apart, column by column. To add a criterion: a
function in ``choice.py`` and its name in ``CRITERIA``.
"""

__all__ = ["choice", "description", "separation"]
