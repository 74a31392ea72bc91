"""Evaluate: put models together, judge them, choose among them and among their columns.

A pipeline fits each transformer on the rows that the one before it gives, and the last step on what comes out
of all. Rows in memory go scikit-learn's way. A source stays a source: each transformer maps its batches as
they pass, so that nothing but a batch is in memory, and every step's fit is a pass of its own.
``cross_validate*.py`` fit copies of a whole model fold by fold and keep scores and answers, ``intervals*.py``
put an interval around any score, ``conformal*.py`` around any prediction, ``bounds*.py`` bound what rows can
say, and ``compare*.py`` test which models can be told apart. To add an interval: a file that makes one, and
its place in ``intervals.score_interval``; a test of two models likewise in ``compare``.

``rows*.py`` put one face on rows in memory and on tables that are read in batches: fit some of the rows, ask
about others. What is written against it works on both, with the same numbers. ``source_models.py`` fits and
asks any model over a source; one that cannot read it learns from rows that are loaded, up to a limit.
``original_scale.py`` says what the coefficients behind a pipeline's steps mean for the columns before them.

``search_*.py`` try candidates on the folds of a cross-validation, along one warm path a fold where only a
strength differs, and correct the score of the chosen one. ``curves*.py`` score along an axis and say in words
what ails a fit; ``bias_variance*.py`` learn again and again to split the loss;
``complexity.py`` counts the parameters that a model effectively has; ``averaging.py`` answers with
all models. ``select_*.py`` are transformers that keep columns, by scores of their own (filters), by the model
on rows left out (wrappers) or by its weights (embedded); in a pipeline they choose anew in each fold.
``importance*.py`` and ``dependence.py`` ask what a fitted model makes of its columns (``held_columns.py``
changes one of any table in memory).
"""
