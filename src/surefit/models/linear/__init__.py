"""Linear models: a weighted sum of the columns, fitted in many ways.

``common`` is what all of them share: prediction, constraints, and the road from a source over mean loss and
penalty to a proved answer. ``inference`` adds standard errors, tests and intervals where theory holds. The
families: ``squares`` (least squares and ridge, from sums), ``sparse`` (lasso, elastic net, exact paths),
``bayesian`` (a prior, and a distribution for an answer), ``glm`` (a family and a link), ``classification``
(logistic regression, and many classes made of two), ``robust`` (quantiles and Huber's loss), ``svm`` and
``sgd`` (row by row). ``linear_model`` leaves loss and penalty to the user.

Families import ``common`` and ``inference``; ``squares`` lends its sums and folds to the others, and no two
of them import each other. To add a model, find the family whose road it takes, and read the essay there.
"""

__all__ = ["classification", "common", "sparse", "squares"]
