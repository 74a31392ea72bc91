"""Evaluate: put models together, judge them, choose among them and among their columns.

``pipeline.py`` fits each transformer on the rows that the one before it gives, and the last step on what
comes out of all. Rows in memory go scikit-learn's way. A source stays a source: each transformer maps its
batches as they pass, so that nothing but a batch is in memory, and every step's fit is a pass of its own.
``fit_formula.py`` makes such a pipeline from a formula, ``model_averaging.py`` answers with all models at
once, ``fixed_threshold.py`` puts a threshold of one's own on any classifier, ``oversampling.py`` copies
rows of rarer classes before it learns, and ``persistence.py`` is the base of all choosers that go into a
model file.

The folders build on each other, in this order. ``rows/`` puts one face on rows in memory and on tables that
are read in batches; what is written against it works on both, with the same numbers. ``scoring/`` scores a
fitted model, or one fold, and puts an interval around any score. ``cross_validation/`` fits copies of a
whole model fold by fold and keeps scores and answers. ``search/`` tries candidates on these folds and
corrects the score of the chosen one; ``compare/`` tests which models can be told apart; ``select/`` has
transformers that keep columns, by scores of their own (filters), by the model on rows left out (wrappers)
or by its weights (embedded). ``curves/`` scores along an axis, says in words what ails a fit and splits its
loss; ``conformal/`` puts intervals around predictions; ``explain/`` asks what a fitted model makes of its
columns; ``theory/`` bounds what rows can say. To add a way to judge models: a module in the folder whose
question it answers, written against ``rows/``.
"""
