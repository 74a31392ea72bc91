"""Predictions that hold the truth as often as they say, around any model.

Rows are set aside, a fitted model answers for them, and the ranks of their errors (``nonconformity``) say
how wide an interval (``regressor``) or how large a set of classes (``classifier``) has to be for new rows.

To add one: an estimator here that derives from ``Saved``, takes its quantile from
``nonconformity.conformal_quantile``, and proves its coverage on the rows set aside.
"""
