"""Evaluate: put models together and judge them; here, pipelines that work over sources as over arrays.

A pipeline fits each transformer on the rows that the one before it gives, and the last step on what comes out
of all. Rows in memory go scikit-learn's way. A source stays a source: each transformer maps its batches as
they pass, so that nothing but a batch is in memory, and every step's fit is a pass of its own.
``original_scale.py`` says what the coefficients behind a pipeline's steps mean for the columns before them.
"""
