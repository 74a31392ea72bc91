"""What linear models of every kind share.

``base`` predicts from coefficients and an intercept, ``class_scores`` does so for classes. ``mean_loss`` is
the road from a source to a proved answer for whatever minimises mean loss plus penalty, ``nonsmooth_loss``
gathers the rows of nonsmooth losses, whose solvers need all of them in memory. On that road ``constraints``
bounds or orders coefficients, ``offset`` adds given values to scores, ``penalised_intercept`` and
``sparse_coefficients`` change how the parameters are kept, ``leverage`` looks for rows and columns that
deserve a second look, and ``separation`` for separable classes, which have no finite estimate.
``label_columns`` takes targets of several labels, ``candidate_strengths`` reads penalties to choose from,
``fold_moments`` gathers sums fold by fold, and ``normal_equations`` are those of least squares, from sums.
Nothing here imports a family of models.

To add a piece, make sure that models of two families need it; otherwise it belongs to the one that does.
"""

__all__ = [
    "base",
    "candidate_strengths",
    "class_scores",
    "constraints",
    "fold_moments",
    "label_columns",
    "leverage",
    "mean_loss",
    "nonsmooth_loss",
    "normal_equations",
    "offset",
    "penalised_intercept",
    "separation",
    "sparse_coefficients",
]
