"""The rules of diagnosis, one a file.

A rule names the ``needs`` it has of the evidence, yields :class:`~surefit.core.diagnosis.Finding` values,
and carries a ``triggering_case`` and a ``clean_case`` for its law. Evidence keys in use:

- ``column_names``: names of the columns, or None; ``column_moments``: weighted mean, scatter, minimum and
  maximum of each;
- ``target_moments``: the same for the target; ``rows``: how many rows; ``class_weights``: the class labels
  and the weight of each; ``class_moments``: the moments of each column within each class;
- ``dropped_columns``: names of columns that are left out, each with the reason;
- ``cells``: the weight of all rows, and that of each column's missing cells;
- ``condition``: the condition number of the columns, scaled to one length; ``penalty``: the least alpha of a
  ridge; ``null_space``: directions in which the columns cancel; ``correlation`` of the columns;
- ``leverage`` of the rows;
- ``separation``: the mean loss of a classifier at the end, and that of a constant;
- ``separating``: how a linear programme found two classes to be told apart, the columns, and rows on the
  border; ``class_rows``: labels, the rows of each class, and how many columns there are;
- ``pearson``: Pearson's sum of a family with a known variance, its degrees of freedom, and the family;
  ``cooks_distance`` of the rows; ``link_test``: the score test of the squared score, and the link;
- ``member_errors``: the correlation of the errors of two members of an ensemble, their number and kind;
- ``objective_and_at_zero``: of a fit row by row, with the coefficients learnt and without any;
- ``trace`` and ``certificate`` of the fit.
"""

__all__ = ["imbalanced_classes"]
