"""Bayes classifiers: a distribution of the columns for each class, turned round by Bayes' rule.

A fit counts and averages within each class, in one pass, so it takes more rows later and merges exactly. The
model is generative: it also samples rows. To add one: a statistic grouped by class in ``stats/``, and a file
here that finishes it into densities. ``naive_rule.py`` is the rule itself, for columns of any distributions,
mixed as you like.
"""

__all__ = ["categorical_nb", "class_covariances", "counted", "gaussian_nb", "generative"]
